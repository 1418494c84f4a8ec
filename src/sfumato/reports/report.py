"""Report: everything that can be said about a release, for people."""

import datetime as dt
import json
from collections.abc import Callable, Mapping
from os import PathLike
from pathlib import Path
from typing import Any

from sfumato._version import __version__
from sfumato.dataclasses import dataclass
from sfumato.errors import ParameterError
from sfumato.evidence import Key
from sfumato.evidence.keys import signing_key
from sfumato.files import write_file
from sfumato.policy import GivenPolicy
from sfumato.releases.evidence import enclose, is_inside, require_place
from sfumato.reports.dossier import Dossier, open_dossier
from sfumato.reports.sections import CHAPTERS
from sfumato.showing.content import (
    Content,
    ContentTable,
    Document,
    Section,
    Sentence,
    Showable,
    document_to_dict,
    document_to_markdown,
)
from sfumato.tasks.signing import answer_to_sign
from sfumato.typing import Progress, silent


@dataclass(frozen=True, eq=False)
class Report(Showable):
    """Everything dossier about a release, verdict first.

    Example:
        >>> report = Report(Document("Report", "yes", "For all.", True, (), (), "1"))
        >>> report
        <Report: yes, 0 sections>
        >>> report.to_markdown().splitlines()[0]
        '# Report'
    """

    document: Document
    folder: Path | None = None
    """The release it is about; None if that is in memory."""

    @property
    def answer(self) -> str:
        """The answer whether the release may be published: yes, with care, no."""
        return self.document.answer

    def to_html(self) -> str:
        """Return it as one HTML file that fetches nothing."""
        from sfumato.showing.pages import report_page

        return report_page(self.document)

    def to_markdown(self) -> str:
        """Return it as Markdown; drawings are told in words."""
        return document_to_markdown(self.document)

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values that JSON can hold."""
        return document_to_dict(self.document)

    def to_json(self) -> str:
        """Return it as one JSON document."""
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False, allow_nan=False) + "\n"

    def write(self, form: str) -> str:
        """Return it in a form by its name: html, markdown or json."""
        writers: Mapping[str, Callable[[], str]] = {
            "html": self.to_html,
            "markdown": self.to_markdown,
            "json": self.to_json,
        }
        if form not in writers:
            raise ParameterError("format", form, f"one of {', '.join(writers)}")
        return writers[form]()

    def save(
        self, path: str | PathLike[str], *, key: Key | None = None, even_so: bool | str = False
    ) -> Path:
        """Write it as .html, .md or .json; a file of the same name is replaced.

        A public report may also be written into its release, as `report.html`: it is taken into
        the evidence then, and a release that was signed is signed again.

        Args:
            path: The file to write; its ending says in which form.
            key: The private key, or its file: for a report in a release that is signed.
            even_so: Sign the release although the answer is *no*; who signed it before knows that.
        """
        target, text = Path(path), self.write(form_of(Path(path)))
        signer = None if key is None else signing_key(key)
        require_place(self.folder, target, public=self.document.public, key=signer)
        if self.folder is not None and is_inside(self.folder, target):
            folder = self.folder
            return enclose(
                folder, text, signer, answer=lambda: answer_to_sign(folder, even_so=even_so)
            )
        if key is not None:
            raise ParameterError("key", key, "left out unless the report goes into its release")
        write_file(target, text, private="" if self.document.public else "the report")
        return target

    def content(self) -> Content:
        """Return the answer and the titles of the sections."""
        rows = [[section.title, section.how_to_read] for section in self.document.sections]
        sections = ContentTable.of("", ["section", "how to read it"], rows)
        note = Sentence("report.save('report.html') writes it.")
        headline = f"{self.document.title}: may it be published? {self.answer.capitalize()}."
        return Content(headline, (sections, note), self.answer)

    def __repr__(self) -> str:
        return f"<Report: {self.answer}, {len(self.document.sections)} sections>"

    def __str__(self) -> str:
        return self.to_markdown()


_FORMS = {".html": "html", ".htm": "html", ".md": "markdown", ".json": "json"}


def form_of(path: Path) -> str:
    """Return the form that a file's ending stands for.

    >>> form_of(Path("report.md"))
    'markdown'
    """
    if path.suffix.lower() not in _FORMS:
        raise ParameterError("path", path.name, f"a file that ends in {', '.join(_FORMS)}")
    return _FORMS[path.suffix.lower()]


def report(  # noqa: PLR0913 - all but one have a default and are named
    release: object,
    *,
    data: object = None,
    policy: GivenPolicy | None = None,
    ledger: str | PathLike[str] | None = None,
    people_file: object = None,
    population: object = None,
    outside: object = None,
    earlier: object = None,
    date: dt.date | None = None,
    public: bool = False,
    progress: Progress | None = None,
) -> Report:
    """Return one report with everything that can be found out about a release.

    The first page alone says whether it may be published, why, for whom and what to do next, in
    words for readers who know nothing of the method. Behind it stands every check; then who is in
    the release, how sensitive values are spread, what columns tell about each other, what was
    given up for it, what attacks achieve, and what was promised in which files. With the original
    beside it, a report says also what was lost.

    Promises: a public report says nothing that cannot be computed from the release itself,
    names no path, no user and no time. Does not promise that a report with the original may
    be shown to others: it may not.

    Args:
        release: A release, or the folder of one, decoupled or not.
        data: The original table: a path (CSV, Parquet, SPSS, Excel …), pandas, Polars, Arrow.
        policy: The policy the release was made with, or its path.
        ledger: The ledger the release is published through.
        people_file: The people file of a release that counts people; None takes the people that
            the release has when it was just made. Without either, people are not recounted.
        population: A path or table of all people the data was drawn from; None takes the policy's.
        outside: A list of people to be linked with the release, as in `sf.verify`.
        earlier: A release of the same people before this one, or several, as in `sf.verify`.
        date: The day that the first page states; None takes today's.
        public: Make a report for all readers. None of the eight above may be given then: it says
            only what the release says, and is the same on every day.
        progress: Told how far each stage is.

    Example:
        >>> import pyarrow as pa
        >>> import sfumato as sf
        >>> policy = sf.Policy(
        ...     columns={"age": "quasi-identifier", "ill": "sensitive"},
        ...     models=[sf.models.KAnonymity(2)],
        ... )
        >>> table = pa.table({"age": [31, 31, 47], "ill": ["flu", "gout", "flu"]})
        >>> found = sf.report(sf.anonymize(table, policy), public=True)
        >>> found.answer, [section.id for section in found.document.sections][:3]
        ('with care', ['verdict', 'checks', 'people'])
    """
    dossier = open_dossier(
        release,
        data=data,
        policy=policy,
        ledger=ledger,
        people_file=people_file,
        population=population,
        outside=outside,
        earlier=earlier,
        date=date,
        public=public,
    )
    sections: list[Section] = []
    left_out: list[tuple[str, str]] = []
    told = progress or silent
    told("verify", 0, None)
    for number, chapter in enumerate(CHAPTERS):
        if number:
            told(f"report: {chapter.title.lower()}", number, len(CHAPTERS))
        found = chapter.of(dossier)
        if isinstance(found, Section):
            sections.append(found)
        else:
            left_out.append((chapter.title, found.rstrip(".")))
    return Report(
        Document(
            title=_title(dossier),
            answer=dossier.assessment.answer,
            scope=_scope(dossier),
            public=public,
            sections=tuple(sections),
            left_out=tuple(left_out),
            version=__version__,
        ),
        dossier.folder,
    )


def _title(dossier: Dossier) -> str:
    if dossier.public or dossier.folder is None:
        return "Report on a release"
    return f"Report on the release {dossier.folder.resolve().name}"


def _scope(dossier: Dossier) -> str:
    if dossier.public:
        return "For the public: all that is said here can be computed from the release itself."
    beside = [
        name
        for name, value in (
            ("original", dossier.data),
            ("policy", dossier.policy),
            ("ledger", dossier.ledger),
            ("people file", dossier.release.people_file),
            ("population", dossier.population),
            ("list of people", dossier.outside),
            ("earlier releases", dossier.earlier),
        )
        if value is not None
    ]
    if not beside:
        return "For the publisher. With --public there is a version for the public."
    listed = " and the ".join(filter(None, [", the ".join(beside[:-1]), beside[-1]]))
    stand = "stand" if len(beside) > 1 else "stands"
    return f"Not for publication: the {listed} {stand} behind some of the figures here."
