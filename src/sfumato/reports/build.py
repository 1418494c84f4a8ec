"""Report: everything that can be said about a release, for people."""

from os import PathLike

from sfumato._version import __version__
from sfumato.policy import Policy
from sfumato.reports.content import Content, Section
from sfumato.reports.given import Given, given
from sfumato.reports.result import Report
from sfumato.reports.sections import CHAPTERS


def report(
    release: object,
    *,
    data: object = None,
    policy: Policy | str | PathLike[str] | None = None,
    ledger: str | PathLike[str] | None = None,
    public: bool = False,
) -> Report:
    """Put everything that can be found out about a release into one report.

    The verdict comes first; then who is in the release, how sensitive values are spread, what
    columns tell about each other, what was given up for it, what attacks achieve, and what was
    promised in which files. With the original beside it, a report says also what was lost.

    Promises: a public report says nothing that cannot be computed from the release itself,
    names no path, no user and no time. Does not promise that a report with the original may
    be shown to others: it may not.

    Args:
        release: A release, or the folder of one, decoupled or not.
        data: The original table: a path (CSV, Parquet, Feather), pandas, Polars, Arrow.
        policy: The policy the release was made with, or its path.
        ledger: The ledger the release is published through.
        public: Make a report for everybody. None of the three above may be given then.

    Example:
        >>> import pyarrow as pa
        >>> import sfumato as sf
        >>> policy = sf.Policy(
        ...     columns={"age": "quasi-identifier", "ill": "sensitive"},
        ...     models=[sf.models.KAnonymity(2)],
        ... )
        >>> table = pa.table({"age": [31, 31, 47], "ill": ["flu", "gout", "flu"]})
        >>> found = sf.report(sf.anonymize(table, policy), public=True)
        >>> found.answer, [section.id for section in found.content.sections][:3]
        ('yes', ['verdict', 'people', 'shift'])
    """
    known = given(release, data=data, policy=policy, ledger=ledger, public=public)
    sections: list[Section] = []
    left_out: list[tuple[str, str]] = []
    for chapter in CHAPTERS:
        found = chapter.of(known)
        if isinstance(found, Section):
            sections.append(found)
        else:
            left_out.append((chapter.title, found.rstrip(".")))
    return Report(
        Content(
            title=_title(known),
            answer=known.assessment.answer,
            scope=_scope(known),
            public=public,
            sections=tuple(sections),
            left_out=tuple(left_out),
            version=__version__,
        ),
        known.folder,
    )


def _title(known: Given) -> str:
    if known.public or known.folder is None:
        return "Report on a release"
    return f"Report on the release {known.folder.resolve().name}"


def _scope(known: Given) -> str:
    if known.public:
        return "For everybody: all that is said here can be computed from the release itself."
    beside = [
        name
        for name, value in (
            ("original", known.data),
            ("policy", known.policy),
            ("ledger", known.ledger),
        )
        if value is not None
    ]
    if not beside:
        return "For the publisher. With --public there is a version for everybody."
    listed = " and the ".join(filter(None, [", the ".join(beside[:-1]), beside[-1]]))
    stand = "stand" if len(beside) > 1 else "stands"
    return f"Not for publication: the {listed} {stand} behind some of the figures here."
