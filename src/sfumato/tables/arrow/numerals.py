"""Numbers of a text file that are not written as programs write them: 1.234,5 and 1'234.5.

A column is rewritten only if all its values are numbers in one notation, and no other reading of
them is possible. `1,234` may be a little more than one, or more than a thousand: then the other
columns of the file decide, or the user is asked.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import field

import pyarrow as pa
import pyarrow.compute as pc

from sfumato.dataclasses import dataclass
from sfumato.files.reading import DECIMALS, Reading

BLANKS = " \u00a0\u202f\u2009"
APOSTROPHES = "'\u2019"
_KINDS = {
    ".": ".",
    ",": ",",
    **dict.fromkeys(BLANKS, " "),
    **dict.fromkeys(APOSTROPHES, "'"),
}
"""Marks, and what stands for all of their kind."""

_SIGN = "[-+\u2212]?"
_EXPONENT = "(?:[eE][-+]?[0-9]+)?"
_LIKELY = f"{_SIGN}(?:[0-9][0-9.,{BLANKS}{APOSTROPHES}]*|[.,][0-9]+){_EXPONENT}"
_LIKELY_TEXT = re.compile(_LIKELY)
_PLAIN = (".", "")


def may_be_numbers(values: Iterable[str]) -> bool:
    """Return whether at least half of some texts may be numbers in some notation.

    >>> may_be_numbers(["1", "1.234,5", "k.A."]), may_be_numbers(["1", "Ann", "Bob"])
    (True, False)
    """
    given = list(values)
    likely = sum(_LIKELY_TEXT.fullmatch(value) is not None for value in given)
    return likely * 2 >= len(given) > 0


def _pattern(decimal: str, thousands: str) -> str:
    """Return what numbers look like in a notation, for Arrow. No leading zeros: those are codes."""
    mark = {" ": f"[{BLANKS}]", "'": f"[{APOSTROPHES}]"}.get(thousands, re.escape(thousands))
    whole = "(?:0|[1-9][0-9]*)"
    if thousands:
        # In India the groups after the first have two digits.
        groups = f"[1-9][0-9]{{0,2}}(?:{mark}[0-9]{{3}})+"
        india = f"|[1-9][0-9]?(?:{mark}[0-9]{{2}})+{mark}[0-9]{{3}}" if thousands == "," else ""
        whole = f"(?:0|[1-9][0-9]*|{groups}{india})"
    point = re.escape(decimal)
    return f"^{_SIGN}(?:{whole}(?:{point}[0-9]+)?|{point}[0-9]+){_EXPONENT}$"


def rewrite(array: pa.Array, notation: tuple[str, str]) -> pa.Array:
    """Return numbers in a notation as programs write them; dictionaries stay dictionaries.

    >>> rewrite(pa.array(["1.234,50", "\u2212,5", None]), (",", ".")).to_pylist()
    ['1234.50', '-.5', None]
    """
    if isinstance(array, pa.DictionaryArray):
        values = rewrite(array.dictionary, notation).dictionary_encode()
        # 1.234 and 1234 are one value now.
        return pa.DictionaryArray.from_arrays(values.indices.take(array.indices), values.dictionary)
    decimal, thousands = notation
    if thousands:
        marks = {" ": BLANKS, "'": APOSTROPHES}.get(thousands, thousands)
        for mark in marks:
            array = pc.replace_substring(array, mark, "")
    if decimal != ".":
        array = pc.replace_substring(array, decimal, ".")
    return pc.replace_substring(array, "\u2212", "-")


@dataclass
class Numerals:
    """What is known about the numbers of a column, batch by batch."""

    marks: set[str] = field(default_factory=set)
    """The marks there are, one of each kind."""

    notations: list[tuple[str, str]] | None = None
    """The notations that all values are numbers in; None before the first value."""

    groups: set[int] = field(default_factory=set)
    """How many marks of thousands values have."""

    others: int = 0
    """Values that are numbers in no notation."""

    other: str | None = None
    """One of them."""

    example: str | None = None
    """A value with a mark."""

    def add(self, values: pa.Array) -> None:
        """Add what more values tell, none of them missing."""
        if self.notations is None:
            self.notations = [(decimal, "") for decimal in DECIMALS]
        for mark, kind in _KINDS.items():
            if kind not in self.marks and pc.any(pc.match_substring(values, mark)).as_py():
                self.marks.add(kind)
                # Values so far have no such mark: they are numbers with it if they are without.
                plain = [decimal for decimal, thousands in self.notations if not thousands]
                self.notations += [(decimal, kind) for decimal in plain if decimal != kind]
        fitting = self._fitting(values)
        if not fitting:
            # Some values are no numbers: the others may be.
            likely = pc.match_substring_regex(values, f"^{_LIKELY}$")
            strange = values.filter(pc.invert(likely))
            if len(strange):
                self.others += len(strange)
                self.other = self.other or strange[0].as_py()
                values = values.filter(likely)
                fitting = self._fitting(values)
        self.notations = fitting
        self._look_at(values)

    def _fitting(self, values: pa.Array) -> list[tuple[str, str]]:
        """Return the notations of those so far that all values are numbers in."""
        return [
            each
            for each in self.notations or ()
            if pc.all(pc.match_substring_regex(values, _pattern(*each))).as_py() is not False
        ]

    def _look_at(self, values: pa.Array) -> None:
        """Find how many marks of thousands a few values have, and one with a mark."""
        few = [value for value in values.slice(0, _FEW).to_pylist() if value is not None]
        self.groups |= {sum(map(text.count, f".,{BLANKS}")) for text in few}
        if self.example is None and self.marks:
            marked = pc.match_substring_regex(values, f"[.,{BLANKS}{APOSTROPHES}]")
            found = values.filter(marked).slice(0, 1).to_pylist()
            self.example = found[0] if found else None

    def possible(self, said: Reading) -> list[tuple[str, str]]:
        """Return the notations that make a difference: each mark is one of theirs, and occurs."""
        found = [
            (decimal, thousands)
            for decimal, thousands in self.notations or ()
            if self.marks <= {decimal, thousands}
            and (not thousands or thousands in self.marks)
            and said.decimal in (None, decimal)
            and (said.thousands is None or thousands in ("", said.thousands))
        ]
        # What has no decimal mark is the same with either.
        return [
            each
            for each in found
            if each[0] in self.marks or each[0] == "." or (".", each[1]) not in found
        ]


_FEW = 1000


@dataclass(frozen=True)
class Notations:
    """Which columns are rewritten, and what is to be asked."""

    numbers: Mapping[str, tuple[str, str]]
    """The decimal and the thousands mark of each column that is rewritten."""

    unsure: Mapping[str, str]
    """A value of each column that has two readings."""

    spoilt: Mapping[str, str]
    """A value that is no number of each column of which most are numbers with marks."""


def decide(columns: Mapping[str, Numerals], said: Reading) -> Notations:
    """Return the notation of each column: by itself if that is certain, else as the others say.

    >>> def column(*values):
    ...     found = Numerals()
    ...     found.add(pa.array(values))
    ...     return found
    >>> decide({"pay": column("1,234")}, Reading()).unsure
    {'pay': '1,234'}
    >>> decide({"pay": column("1,234"), "height": column("1,75")}, Reading()).numbers
    {'pay': (',', ''), 'height': (',', '')}
    """
    numbers: dict[str, tuple[str, str]] = {}
    waiting: dict[str, list[tuple[str, str]]] = {}
    for name, each in columns.items():
        found = [] if each.others else each.possible(said)
        if len(found) == 1 and (said.thousands or not _may_be_codes(each, found[0])):
            numbers[name] = found[0]
        elif found and each.marks:
            waiting[name] = found
    decimals = {found[0] for name, found in numbers.items() if found[0] in columns[name].marks}
    unsure: dict[str, str] = {}
    if len(decimals) > 1:
        # In one file 1,5 is a number and 1.5 too: perhaps one of them is a list, or a code.
        for name in [name for name, found in numbers.items() if found[0] == ","]:
            waiting[name] = [numbers.pop(name)]
    for name, found in waiting.items():
        fitting = [each for each in found if decimals == {each[0]}]
        if len(fitting) == 1:
            numbers[name] = fitting[0]
        elif _PLAIN not in found:
            unsure[name] = columns[name].example or ""
    changed = {
        name: numbers[name]
        for name, each in columns.items()
        if each.marks and numbers.get(name, _PLAIN) != _PLAIN
    }
    return Notations(changed, unsure, _spoilt(columns, said))


def _spoilt(columns: Mapping[str, Numerals], said: Reading) -> dict[str, str]:
    """Return a cell that is no number of each column in which the others have marks."""
    return {
        name: each.other
        for name, each in columns.items()
        if each.other is not None and each.marks and {*each.possible(said)} - {_PLAIN}
    }


def _may_be_codes(column: Numerals, notation: tuple[str, str]) -> bool:
    """Return whether numbers in groups may be codes: all have as many groups, and no decimals."""
    decimal, thousands = notation
    return (
        thousands in (" ", ".")
        and thousands != ""
        and decimal not in column.marks
        and len(column.groups) < 2
    )
