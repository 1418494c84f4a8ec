"""Domains: the values that a column can have, stated and not read off a table.

What is drawn under differential privacy may depend on a table through noisy counts alone. The
cells that are counted are the same whatever the table holds, so a policy states them.
"""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from functools import partial
from itertools import pairwise
from typing import Self

from sfumato.dataclasses import dataclass
from sfumato.hierarchy.intervals import Days, Numbers, Scale
from sfumato.policy.document import Fault, Faults, Schema, read, show, type_schema
from sfumato.policy.parts import Families, Part, setting
from sfumato.text import text_of

MOST_CELLS = 10_000
"""No column has more cells: noise drowns what is counted in so many."""

_MARK: Schema = {"type": ["string", "number", "null"]}
_MARKS: Schema = {"type": ["array", "null"], "items": {"type": ["string", "number"]}}


def _read_mark(value: object) -> str | None:
    """Read a number or a day as the text that it is."""
    if value is None or (isinstance(value, str) and value.strip().lower() in ("", "null", "~")):
        return None
    if isinstance(value, bool | Mapping | list | tuple):
        raise Fault(f"must be a number or a day such as 2020-02-29, got {show(value)}")
    return str(text_of(value))


def _read_marks(value: object) -> tuple[str, ...] | None:
    if value is None:
        return None
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise Fault(f"must be a list as in [20, 40, 65], got {show(value)}")
    return tuple(mark for each in value if (mark := _read_mark(each)) is not None)


def _write_mark(mark: str | None) -> object:
    """Write a mark as people do: whole numbers without quotation marks."""
    return int(mark) if mark is not None and str(mark).lstrip("-").isdecimal() else mark


def _read_values(value: object) -> tuple[str, ...]:
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise Fault(f"must be a list of values as in [female, male], got {show(value)}")
    return tuple(dict.fromkeys("".join(text_of(each)) for each in value))


@dataclass(frozen=True, init=False)
class DomainRule(Part):
    """The values that a column can have, whoever is in the table.

    Categories are listed. Of numbers and days the ends are stated, and cuts between them or the
    width of cells. Within a cell, values are drawn evenly.

    Example:
        >>> DomainRule.read(["female", "male"]).values
        ('female', 'male')
        >>> ages = DomainRule.read({"from": 0, "to": 99, "cuts": [18, 65]})
        >>> ages.scale.what, [str(edge) for edge in ages.edges()]
        ('numbers', ['0', '18', '65', '100'])
    """

    example = "{from: 0, to: 120, cuts: [18, 40, 65]}, or a list of values"

    values: tuple[str, ...] = setting(
        _read_values,
        "The categories of the column.",
        {"type": "array", "items": {"type": ["string", "number", "boolean"]}},
        default=(),
        write=list,
        sparse=True,
    )
    from_: str | None = setting(
        _read_mark,
        "The smallest number or the first day.",
        _MARK,
        default=None,
        write=_write_mark,
        sparse=True,
    )
    to: str | None = setting(
        _read_mark,
        "The largest number or the last day.",
        _MARK,
        default=None,
        write=_write_mark,
        sparse=True,
    )
    cuts: tuple[str, ...] | None = setting(
        _read_marks,
        "Where cells begin between both ends, as in [18, 40, 65]: a cut belongs to the cell above "
        "it. Without cuts and width, those of the finest level of the hierarchy.",
        _MARKS,
        default=None,
        write=lambda cuts: None if cuts is None else list(map(_write_mark, cuts)),
        sparse=True,
    )
    width: str | None = setting(
        _read_mark,
        "In place of cuts: how wide cells are, of days as in 30d.",
        _MARK,
        default=None,
        write=_write_mark,
        sparse=True,
    )
    decimals: int | None = setting(
        partial(read, int | None),
        "How many digits stand after the point of the numbers that are drawn; without it as many "
        "as the ends and the cuts have.",
        {"type": ["integer", "null"], "minimum": 0, "maximum": 9},
        default=None,
        sparse=True,
    )
    missing: bool = setting(
        partial(read, bool),
        "Whether a value may be missing: then that is a category of its own.",
        type_schema(bool),
        default=True,
        sparse=True,
    )
    drafted: bool = setting(
        partial(read, bool),
        "Whether `sfumato init` read it off a table, and no person confirmed it yet: then it is no "
        "public domain, and nothing is drawn from it. Complete it, and remove this.",
        type_schema(bool),
        default=False,
        sparse=True,
    )

    @classmethod
    def _read_short(cls, value: object) -> Self:
        if isinstance(value, Sequence) and not isinstance(value, str):
            return cls(values=value)
        return super()._read_short(value)

    def to_plain(self) -> object:
        """Return what a policy file says for it, in the short form if that says it all."""
        short = self.values and self.missing and not self.drafted
        return list(self.values) if short else super().to_plain()

    @classmethod
    def schema(cls, families: Families) -> Schema:
        """Describe it as JSON Schema: a list of values, or all settings."""
        listed = {"type": "array", "items": {"type": ["string", "number", "boolean"]}}
        return {"anyOf": [listed, super().schema(families)]}

    @property
    def is_line(self) -> bool:
        """Whether it is one of numbers or days."""
        return self.from_ is not None

    @property
    def scale(self) -> Scale:
        """The line that its ends are on."""
        days = Days()
        return days if days.read(str(self.from_)) is not None else Numbers()

    @property
    def digits(self) -> int:
        """How many digits stand after the point of its numbers; none of days."""
        if isinstance(self.scale, Days):
            return 0
        if self.decimals is not None:
            return self.decimals
        marks = (self.from_, self.to, self.width, *(self.cuts or ()))
        read_ = (self.scale.read(mark) for mark in marks if mark is not None)
        exponents = (each.normalize().as_tuple().exponent for each in read_ if each is not None)
        return max([0, *(-each for each in exponents if isinstance(each, int))])

    def edges(self, cuts: Sequence[Decimal] = ()) -> list[Decimal]:
        """Return where its cells begin, and where the last one ends: that is outside.

        Args:
            cuts: The cuts of a hierarchy, for a domain that has none.
        """
        low, high = self._ends()
        step = Decimal(1).scaleb(-self.digits)
        if self.width is not None:
            wide = self.scale.width(self.width)
            assert wide is not None  # noqa: S101 - it was read when it was made
            if (high - low) / wide > MOST_CELLS:
                raise Fault(_too_many(self.width), ("width",))
            inner = [low + wide * n for n in range(1, int((high - low) / wide) + 1)]
        else:
            inner = [*cuts] if self.cuts is None else self._cuts()
        between = [each for each in inner if low < each <= high]
        return [low, *between, high + step]

    def _ends(self) -> tuple[Decimal, Decimal]:
        low, high = self.scale.read(str(self.from_)), self.scale.read(str(self.to))
        if low is None or high is None:
            key = "from" if low is None else "to"
            shown = self.from_ if low is None else self.to
            raise Fault(f"must be a number or a day such as 2020-02-29, got {shown!r}", (key,))
        return low, high

    def _cuts(self) -> list[Decimal]:
        found = []
        for position, mark in enumerate(self.cuts or ()):
            point = self.scale.read(mark)
            if point is None:
                raise Fault(f"must be {self.scale.a_point}, got {mark!r}", ("cuts", position))
            found.append(point)
        return found

    def _contradictions(self, given: Mapping[str, object]) -> Faults:
        if bool(self.values) == self.is_line:
            text = "must list the values of the column, or say from where to where its numbers go"
            return [((), f"{text}, as in {self.example}")]
        if self.values:
            wrong = [key for key in ("to", "cuts", "width", "decimals") if key in given]
            if len(self.values) > MOST_CELLS:
                return [(("values",), _too_many(len(self.values)))]
            return [((key,), "means nothing for listed values: remove it") for key in wrong[:1]]
        if self.to is None:
            return [(("to",), "is missing: the largest number or the last day")]
        try:
            return [*self._setting_faults(), *self._cut_faults()][:1]
        except Fault as fault:
            return [(fault.path, fault.text)]

    def _setting_faults(self) -> Faults:
        if self.cuts is not None and self.width is not None:
            return [(("width",), "cuts are given already: remove one of the two")]
        if self.decimals is not None and not 0 <= self.decimals <= 9:
            return [(("decimals",), f"must be from 0 to 9, got {self.decimals}")]
        if self.width is not None:
            wide = self.scale.width(self.width)
            if wide is None or wide <= 0:
                raise Fault(f"must be {self.scale.a_width}, got {self.width!r}", ("width",))
        return []

    def _cut_faults(self) -> Faults:
        low, high = self._ends()
        cuts = self._cuts()
        if low > high:
            return [(("to",), f"must not be below from, {self.from_}; got {self.to}")]
        if any(a >= b for a, b in pairwise([low, *cuts])) or (cuts and cuts[-1] > high):
            text = f"must rise, from above {self.from_} up to {self.to}"
            return [(("cuts",), f"{text}, got {list(self.cuts or ())}")]
        if len(self.edges()) - 1 > MOST_CELLS:
            return [(("cuts",), _too_many(len(self.edges()) - 1))]
        return []


def _too_many(what: object) -> str:
    return f"makes more than {MOST_CELLS} cells ({what}): take fewer, wider ones"
