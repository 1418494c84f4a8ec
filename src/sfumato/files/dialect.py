"""The SQL that verifier and evidence need and that databases write differently."""

from collections.abc import Mapping
from dataclasses import field

from sfumato.dataclasses import dataclass
from sfumato.errors import ParameterError


@dataclass(frozen=True)
class Dialect:
    """How one database writes names, texts and hashes: plain data, filled by its table.

    Templates have `{}` where an expression goes.

    >>> Dialect(text="VARCHAR", collation='"binary"').quote("ward", 'my "own" people')
    '"ward"."my ""own"" people"'
    """

    text: str
    """The type that holds any text."""

    collation: str
    """Under which two texts are equal only if they are the same, whatever the column says."""

    mark: str = '"'
    """The character around a name; doubled inside it."""

    sha256: str | None = None
    """SHA-256 of a text, as small hexadecimal digits; None if tables cannot be signed there."""

    joined_lines: str = "string_agg(line, ' ' ORDER BY line)"
    """All values of the column `line` in a group, in their order, as one text."""

    cells: Mapping[str, str] = field(default_factory=dict)
    """By the form of a column: its cells as text that no setting of a session changes, and no two
    values share."""

    def __post_init__(self) -> None:
        if self.mark not in ('"', "`"):
            raise ParameterError("mark", self.mark, 'one of " and `')
        templates = [*([] if self.sha256 is None else [self.sha256]), *self.cells.values()]
        for template in templates:
            if template.count("{}") != 1:
                raise ParameterError("dialect", template, "SQL with {} where an expression goes")

    def quote(self, *parts: str) -> str:
        """Write a name into a statement: whatever is in it, it stays one name."""
        mark = self.mark
        return ".".join(mark + part.replace(mark, mark * 2) + mark for part in parts)
