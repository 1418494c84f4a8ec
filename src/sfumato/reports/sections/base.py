"""The contract of a section: a question, and how its answer is found."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from sfumato.dataclasses import dataclass
from sfumato.errors import SfumatoError
from sfumato.harm import Level
from sfumato.reports.dossier import Dossier
from sfumato.showing.content import Badge, ContentTable, Part, Section


class NotHereError(SfumatoError):
    """A section does not apply; the text says why, in one line."""


@dataclass(frozen=True)
class Chapter:
    """A question, how to read the answer, and the function that finds it.

    Example:
        >>> from pathlib import Path
        >>> def nothing(dossier):
        ...     raise NotHereError("there is nothing to say")
        >>> Chapter("x", "Nothing", "Read on.", nothing).of(Dossier(Path("release")))
        'there is nothing to say'
    """

    id: str
    title: str
    how_to_read: str
    parts: Callable[[Dossier], Sequence[Part]]
    """Answers the question, or raises `NotHereError`."""

    of_people: bool = False
    """Whether it takes each row for a person's: then it is silent on rows that were drawn."""

    def of(self, dossier: Dossier) -> Section | str:
        """Return the section, or the reason why it is not possible."""
        if self.of_people and dossier.drawn is not None:
            return "no row is a person's: a mechanism drew them"
        try:
            return Section(self.id, self.title, self.how_to_read, tuple(self.parts(dossier)))
        except NotHereError as error:
            return str(error)
        except SfumatoError as error:
            # Files that are not what they should be; the verdict says so too.
            if dossier.public:
                return "the files of the release do not allow it"
            return f"it could not be computed: {dossier.without_path(str(error))}"


def without_badges(part: Part) -> Part:
    """Return a part in which levels of probability are plain words.

    Only what the answer goes by is coloured: a guess may be sure and still harm no person, for it
    was as sure before, and red beside green would contradict itself.

    >>> table = ContentTable.of("", ["risk"], [[Badge("very high")], [Badge("holds")]])
    >>> [type(row[0]).__name__ for row in without_badges(table).rows]
    ['str', 'Badge']
    """
    if not isinstance(part, ContentTable):
        return part
    rows = tuple(
        tuple(str(c) if isinstance(c, Badge) and c in _LEVELS else c for c in row)
        for row in part.rows
    )
    return replace(part, rows=rows)


_LEVELS = frozenset(map(str, Level))


def need_original(dossier: Dossier) -> None:
    """Raise if the original, which only the publisher has, was not given."""
    if dossier.data is None:
        raise NotHereError(
            "it needs the original, which a public report never sees"
            if dossier.public
            else "it needs the original: --data original.csv"
        )
