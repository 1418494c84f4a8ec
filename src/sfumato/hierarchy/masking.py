"""Masking: codes lose their last characters one after the other."""

from collections.abc import Sequence
from typing import ClassVar, Literal

from sfumato.dataclasses import dataclass
from sfumato.errors import HierarchyError, ParameterError, require_int, some
from sfumato.hierarchy.base import Hierarchy, HierarchyBuilder
from sfumato.text import STAR, text_of
from sfumato.typing import Value

_MOST_CHARACTERS = 500_000_000
"""Of all labels together; a note of thousands of characters would have as many levels."""


@dataclass(frozen=True)
class Masking(HierarchyBuilder):
    """Replace more and more characters: 24078 → 2407* → 240** → 24*** → 2**** → `*`.

    For codes whose first characters say the most (postcodes, ICD codes), or with
    `side="left"` those whose last ones do. The top is always a single `*`.

    Values of different lengths are lined up at the side that stays, as if the shorter
    ones ended in blanks: a short value keeps its own name until the mask reaches it.
    With E11 and E11.9 the levels are E11, E11.* → E11** → E1*** → E**** → `*`. That way a
    group never splits again; masking each value by its own length would do that.

    Args:
        levels: Most levels below the top; by default as many as there are characters.
        side: Where the mask begins: `right` or `left`.
        char: The masking character.
        keep: Number of characters at the other side that are never masked, except by the top.
        step: How many characters each level masks more than the one before.
        length: How long the longest value may be; by default as long as it is. Set it
            when later data may hold longer values, so that their labels agree.

    Example:
        >>> h = Masking(keep=3).build("zip", ["22030", "22032", "22045"])
        >>> h.labels[1:]
        (('2203*', '2204*'), ('220**',), ('*',))
    """

    name: ClassVar[str] = "masking"
    title: ClassVar[str] = "Masked codes"
    in_words: ClassVar[str] = "Codes lose their last characters one after the other."
    labels_show_level: ClassVar[bool] = True

    levels: int | None = None
    side: Literal["right", "left"] = "right"
    char: str = STAR
    keep: int = 0
    step: int = 1
    length: int | None = None

    def __post_init__(self) -> None:
        if self.levels is not None:
            require_int("levels", self.levels, at_least=1, why='to have only "*", use star')
        if self.side not in ("right", "left"):
            raise ParameterError("side", self.side, "'right' or 'left'")
        one = isinstance(self.char, str) and len(self.char) == 1
        if not one or self.char.isdigit() or self.char.isspace():
            why = "a masked code must not look like a code"
            raise ParameterError("char", self.char, "one character, no digit and no blank", why=why)
        require_int("keep", self.keep, at_least=0)
        require_int("step", self.step, at_least=1)
        if self.length is not None:
            require_int("length", self.length, at_least=1)

    @property
    def fixed_height(self) -> int | None:
        return None if self.length is None else len(self.lengths(self.length)) + 1

    def build(
        self,
        column: str,
        values: Sequence[Value],
        counts: Sequence[int] | None = None,
    ) -> Hierarchy:
        longest = max((len(text_of(value)) for value in values), default=0)
        length = self.length if self.length is not None else longest
        if longest > length:
            long = [value for value in values if len(text_of(value)) > length]
            raise HierarchyError(
                f"masking {column!r} has length {length}, but {len(long)} of its {len(values)} "
                f"values are longer: {some(long)}. Raise length to {longest} or leave it out."
            )
        shown = self.lengths(length)
        if len(values) * len(shown) * length > _MOST_CHARACTERS:
            raise HierarchyError(
                f"masking {column!r} would make {len(shown)} levels, and labels of {length} "
                f"characters, as many as its longest value has: too much to hold in memory. Say "
                "how many levels there are (levels: 5), or how many characters each masks more "
                "than the one before (step). For texts that are no codes, choose star."
            )

        def path(value: Value) -> tuple[str, ...]:
            text = text_of(value)
            return (*(self._mask(text, characters, length) for characters in shown), STAR)

        return Hierarchy.from_function(column, values, path)

    def lengths(self, length: int) -> list[int]:
        """The number of characters that each level between raw values and top still shows."""
        shown = list(range(length - self.step, self.keep, -self.step))
        if 0 < self.keep < length:
            shown.append(self.keep)
        return shown[: self.levels]

    def _mask(self, text: str, shown: int, length: int) -> str:
        if len(text) < shown:
            return text
        if self.side == "right":
            return text[:shown] + self.char * (length - shown)
        return self.char * (length - shown) + text[len(text) - shown :]

    @classmethod
    def example_values(cls) -> list[Value]:
        return ["22030", "22032", "22045", "22047"]
