"""A finished report, and the forms in which it can be had."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

from sfumato.errors import ParameterError
from sfumato.evidence import Key
from sfumato.evidence.keys import signing_key
from sfumato.fragment import fragment
from sfumato.reports.content import Content
from sfumato.saving import save_text
from sfumato.tasks.enclose import enclose, is_inside, require_place


@dataclass(frozen=True, eq=False)
class Report:
    """What is known about a release, verdict first.

    Example:
        >>> report = Report(Content("Report", "yes", "For all.", True, (), (), "1"))
        >>> report
        <Report: yes, 0 sections>
        >>> report.to_markdown().splitlines()[0]
        '# Report'
    """

    content: Content
    folder: Path | None = None
    """The release it is about; None if that is in memory."""

    @property
    def answer(self) -> str:
        """May the release be published? yes, with care, no."""
        return self.content.answer

    def to_html(self) -> str:
        """Give it as one HTML file that fetches nothing."""
        from sfumato.reports.html import to_html

        return to_html(self.content)

    def to_markdown(self) -> str:
        """Give it as Markdown; drawings are told in words."""
        from sfumato.reports.markdown import to_markdown

        return to_markdown(self.content)

    def to_dict(self) -> dict[str, Any]:
        """Give it as plain values that JSON can hold."""
        from sfumato.reports.plain import to_dict

        return to_dict(self.content)

    def to_json(self) -> str:
        """Give it as one JSON document."""
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False, allow_nan=False) + "\n"

    def write(self, form: str) -> str:
        """Give it in a form by its name: html, markdown or json."""
        writers: Mapping[str, Callable[[], str]] = {
            "html": self.to_html,
            "markdown": self.to_markdown,
            "json": self.to_json,
        }
        if form not in writers:
            raise ParameterError("format", form, f"one of {', '.join(writers)}")
        return writers[form]()

    def save(self, path: str | PathLike[str], *, key: Key | None = None) -> Path:
        """Write it as .html, .md or .json; a file of the same name is replaced.

        A public report may also be written into its release, as `report.html`: it is taken into
        the evidence then, and a release that was signed is signed again.

        Args:
            path: The file to write; its ending says in which form.
            key: The private key, or its file: for a report in a release that is signed.
        """
        target, text = Path(path), self.write(form_of(Path(path)))
        signer = None if key is None else signing_key(key)
        require_place(self.folder, target, public=self.content.public, key=signer)
        if self.folder is not None and is_inside(self.folder, target):
            return enclose(self.folder, text, signer)
        if key is not None:
            raise ParameterError("key", key, "left out unless the report goes into its release")
        return save_text(target, text)

    def _repr_html_(self) -> str:
        rows = [[section.title, section.how_to_read] for section in self.content.sections]
        return fragment(
            f"{self.content.title}: may it be published? {self.answer.capitalize()}.",
            ["section", "how to read it"],
            rows,
            notes=["report.save('report.html') writes it."],
        )

    def __repr__(self) -> str:
        return f"<Report: {self.answer}, {len(self.content.sections)} sections>"

    def __str__(self) -> str:
        return self.to_markdown()


_FORMS = {".html": "html", ".htm": "html", ".md": "markdown", ".json": "json"}


def form_of(path: Path) -> str:
    """Find the form that a file's ending stands for.

    >>> form_of(Path("report.md"))
    'markdown'
    """
    if path.suffix.lower() not in _FORMS:
        raise ParameterError("path", path.name, f"a file that ends in {', '.join(_FORMS)}")
    return _FORMS[path.suffix.lower()]
