"""Guesses about one person of a decoupled release: combinations, and how likely they are."""

import heapq
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from fractions import Fraction
from functools import cached_property
from itertools import islice
from math import prod
from typing import Any

import numpy as np

from sfumato.counts import Column, FrequencySet
from sfumato.dataclasses import dataclass
from sfumato.decouplings.base import GroupedTables, SensitiveTable
from sfumato.decouplings.likelihood import ABOVE, likelihood, permitted_rows
from sfumato.errors import InputError, ParameterError, UnknownColumnError, UnknownNameError, some
from sfumato.networks.tables import code_of
from sfumato.policy import RiskLevels
from sfumato.showing.content import (
    Cell,
    Content,
    ContentTable,
    Heading,
    Part,
    Sentence,
    Share,
    Showable,
)
from sfumato.text import percent, text_of, text_or_none
from sfumato.typing import Value

# Combinations of values in one group of a decoupled table, likeliest first.


Named = tuple[tuple[str, Value], ...]
"""Columns with a value each."""


@dataclass(frozen=True)
class Combination:
    """A value for each of some sensitive columns, and how likely a person of a group has them.

    Example:
        >>> one = Combination((("age", "30s"),), 5, (("marital", "single"), ("pay", "low")), (2, 4))
        >>> one.probability, print(one)
        marital=single, pay=low: 32 %
        (Fraction(8, 25), None)
    """

    group: Named
    size: int
    """How many people the group has."""

    values: Named
    rows: tuple[int, ...]
    """How many people of the group have each of the values."""

    of: tuple[int, ...] = ()
    """How many have a known value in the column of each: all of them, unless it says otherwise."""

    def __post_init__(self) -> None:
        if not self.of:
            object.__setattr__(self, "of", (self.size,) * len(self.rows))

    @property
    def probability(self) -> Fraction:
        """The probability that a person of the group has all of them: a product of shares."""
        return likelihood(self.rows, self.of)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values that JSON can hold."""
        return {
            "group": plain(self.group),
            "size": self.size,
            "values": plain(self.values),
            "counts": list(self.rows),
            "of": list(self.of),
            **plain_probability(self.probability),
        }

    def __str__(self) -> str:
        return f"{listing(self.values)}: {percent(float(self.probability))}"


@dataclass(frozen=True, eq=False)
class GroupShares:
    """What a group's table says of one sensitive column: its known values, most frequent first.

    Missing values are left out: they hide no person.
    """

    column: Column
    values: tuple[Value, ...]
    rows: tuple[int, ...]

    @cached_property
    def known(self) -> int:
        """The number of people of the group whose value is known."""
        return sum(self.rows)

    @property
    def probabilities(self) -> tuple[Fraction, ...]:
        """The share of each value."""
        return tuple(likelihood([rows], self.known) for rows in self.rows)

    def rows_of(self, value: Value) -> int:
        """Count the people of the group with a value."""
        return dict(zip(self.values, self.rows, strict=True)).get(value, 0)


def share_of(table: SensitiveTable, at: int) -> GroupShares:
    """Read one group's part of a sensitive table."""
    known = table.known
    first, last = np.searchsorted(known.group, [at, at + 1]).tolist()
    order = first + np.argsort(-known.rows[first:last], kind="stable")
    values = tuple(table.column.values[code] for code in known.value[order].tolist())
    return GroupShares(table.column, values, tuple(known.rows[order].tolist()))


def likeliest(group: Named, size: int, shares: Sequence[GroupShares]) -> Iterator[Combination]:
    """Yield a group's combinations, likeliest first, without making all of them.

    A combination is a place in each column's values, which are in falling order. Raising
    one place never makes it likelier, so the next best is always among the successors
    of those given already; a heap holds these. Each has one predecessor (its last raised
    place lowered), so none comes twice. Ties are in the order of places. Where all values of a
    column are missing, there is no combination.

    Args:
        group: The group's name.
        size: Its number of people.
        shares: What its tables say of each column.
    """
    start = (0,) * len(shares)
    known = tuple(share.known for share in shares)

    def entry(places: tuple[int, ...]) -> tuple[int, tuple[int, ...]]:
        # The denominator is the same for all, so the numerator is the order: exact.
        return -prod(s.rows[p] for s, p in zip(shares, places, strict=True)), places

    heap = [entry(start)] if all(known) else []
    while heap:
        _, places = heapq.heappop(heap)
        chosen = list(zip(shares, places, strict=True))
        values = tuple((s.column.name, s.values[p]) for s, p in chosen)
        yield Combination(group, size, values, tuple(s.rows[p] for s, p in chosen), known)
        last = max((i for i, place in enumerate(places) if place), default=0)
        for i in range(last, len(places)):
            if places[i] + 1 < len(shares[i].values):
                heapq.heappush(heap, entry((*places[:i], places[i] + 1, *places[i + 1 :])))


def plain(named: Named) -> dict[str, str | None]:
    """Return columns and values as JSON can hold them."""
    return {name: text_or_none(value) for name, value in named}


def listing(named: Named) -> str:
    """Write columns and values as people do.

    >>> listing((("age", 30), ("ill", None)))
    'age=30, ill=(missing)'
    """
    return ", ".join(f"{name}={show_value(value)}" for name, value in named)


def show_value(value: Value) -> str:
    """Write one value, also a missing one."""
    return "(missing)" if value is None else text_of(value)


def plain_probability(probability: Fraction) -> dict[str, Any]:
    """Return a probability both as a number and exactly.

    >>> plain_probability(Fraction(8, 25))
    {'probability': 0.32, 'exact': '8/25'}
    """
    return {"probability": float(probability), "exact": str(probability)}


_MOST_SHOWN = 10


@dataclass(frozen=True, eq=False)
class Breach(Showable):
    """How likely each guess about a person is whose group, and perhaps more, is known.

    Decoupling leaves no link between sensitive columns, so what is known of one tells nothing
    of another: a guess is as likely as the product of its values' shares in the group. The
    three cases of the method, for counts c_i and n_i people of the group with a known value in
    column i:

    1. the group is known: Π c_i/n_i, `group_only`;
    2. one sensitive value m is known: c_m/n_m, `known_share`;
    3. the group and m are known: Π c_i/n_i over the other columns, `probability_of`.

    (1) = (2) · (3), always. Without missing values n_i is the size of the group. A missing value
    is no guess and hides no person: of four people, two with hiv and two with nothing, hiv is
    believed of every one of them.
    """

    group: Named
    size: int
    """How many people the group has."""

    knows: Named
    """The sensitive values that are known besides the group."""

    known_rows: tuple[int, ...]
    """How many people of the group have each known value."""

    known_of: tuple[int, ...]
    """How many have any known value in the column of each."""

    told: tuple[GroupShares, ...]
    """The other sensitive columns: what the group's tables say of each."""

    matching: FrequencySet | None = None
    """The rows of the table before it was decoupled that fit what is known, if it was given."""

    levels: RiskLevels = field(default_factory=RiskLevels)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are guessed."""
        return tuple(share.column.name for share in self.told)

    @property
    def known_share(self) -> Fraction:
        """Case 2: the probability that a person of the group has what is known."""
        return likelihood(self.known_rows, self.known_of)

    @property
    def possible(self) -> int:
        """The number of combinations there are to choose from."""
        return prod(len(share.values) for share in self.told)

    def share(self, column: str) -> GroupShares:
        """Find what the group's tables say of one column."""
        if column not in self.columns:
            raise UnknownColumnError(column, self.columns, where="the columns that are guessed")
        return self.told[self.columns.index(column)]

    def combination(self, values: Mapping[str, Value]) -> Combination:
        """Return a guess at some columns or all; a value that is not in the group counts 0."""
        found = []
        for name, value in values.items():
            column = self.share(name).column
            found.append((name, column.values[code_of(column, value)]))
        rows = tuple(self.share(name).rows_of(value) for name, value in found)
        known = tuple(self.share(name).known for name, _ in found)
        return Combination(self.group, self.size, tuple(found), rows, known)

    def probability_of(self, values: Mapping[str, Value]) -> Fraction:
        """Case 3, or case 1 if only the group is known: how likely a guess is."""
        return self.combination(values).probability

    def group_only(self, guess: Combination) -> Fraction:
        """Case 1: how likely the guess and what is known are, if only the group is known."""
        return guess.probability * self.known_share

    def combinations(self) -> Iterator[Combination]:
        """Yield the guesses at all columns, likeliest first."""
        return likeliest(self.group, self.size, self.told)

    def likeliest(self, most: int = _MOST_SHOWN) -> list[Combination]:
        """Return the likeliest guesses, without making all of them."""
        return list(islice(self.combinations(), most))

    @property
    def strongest(self) -> Fraction:
        """The probability of the best guess at all columns; 0 if there is none."""
        return next((guess.probability for guess in self.combinations()), Fraction(0))

    @property
    def level(self) -> str:
        """The risk level of the best guess."""
        return self.levels.of(float(self.strongest))

    def before(self, guess: Combination) -> Fraction | None:
        """Return how likely the guess was before decoupling: its share of the rows that fit.

        Only rows count whose values in the guessed columns are known; None if there are none.
        """
        names = tuple(name for name, _ in guess.values)
        of_all = self._rows_known(names)
        if not of_all:
            return None
        if names and names == self.columns:
            rows = self._matching_rows.get(tuple(value for _, value in guess.values), 0)
        else:
            rows = self._rows_with(guess.values)
        return Fraction(rows, of_all)

    def _rows_known(self, names: Sequence[str]) -> int:
        """Count the rows that fit and have a known value in each of some columns."""
        if self.matching is None:
            return 0
        known = np.ones(len(self.matching), dtype=np.bool_)
        for name in names:
            known &= self.matching.codes_of(name) != self.matching.column(name).missing
        return int(self.matching.rows[known].sum())

    @cached_property
    def _matching_rows(self) -> Mapping[tuple[Value, ...], int]:
        """The number of rows that fit with each combination of all columns."""
        if self.matching is None:
            return {}
        columns = self.matching.project(self.columns)
        decoded = zip(
            *(
                [column.values[code] for code in codes.tolist()]
                for column, codes in zip(columns.columns, columns.codes, strict=True)
            ),
            strict=True,
        )
        return dict(zip(decoded, columns.rows.tolist(), strict=True))

    def _rows_with(self, values: Named) -> int:
        matching = self.matching
        return 0 if matching is None else int(matching.rows[_having(matching, values)].sum())

    def permitted_rows(self, guess: Combination, alpha: float) -> int | None:
        """Return how many more people with this combination the group can take.

        -1 if it exceeds alpha already, None if there is no limit.
        """
        return permitted_rows(guess.rows, guess.of, alpha)

    def to_dict(self, *, most: int = _MOST_SHOWN, alpha: float | None = None) -> dict[str, Any]:
        """Return everything as plain values that JSON can hold; `most` limits the combinations."""
        return {
            "group": plain(self.group),
            "size": self.size,
            "knows": plain(self.knows),
            "known_share": plain_probability(self.known_share),
            "level": self.level,
            "columns": {
                share.column.name: [
                    self._plain(self.combination({share.column.name: value}), alpha)
                    for value in share.values[:most]
                ]
                for share in self.told
            },
            "possible": self.possible,
            "combinations": [self._plain(guess, alpha) for guess in self.likeliest(most)],
        }

    def _plain(self, guess: Combination, alpha: float | None) -> dict[str, Any]:
        before = self.before(guess)
        answer: dict[str, Any] = {
            "values": plain(guess.values),
            "counts": list(guess.rows),
            "of": list(guess.of),
            **plain_probability(guess.probability),
            "level": self.levels.of(float(guess.probability)),
            "group_only": plain_probability(self.group_only(guess)),
            "before": None if before is None else plain_probability(before),
        }
        if alpha is not None:
            answer["permitted"] = self.permitted_rows(guess, alpha)
        return answer

    @property
    def headline(self) -> str:
        """The group, its size, and what is known besides."""
        known = f", known besides: {listing(self.knows)}" if self.knows else ""
        return f"{listing(self.group) or 'all people'}: {self.size} people{known}"

    def content(self, *, most: int = _MOST_SHOWN, alpha: float | None = None) -> Content:
        """Return how likely each guess is: column by column, and all together."""
        parts: list[Part] = []
        for share in self.told:
            name = share.column.name
            guesses = [self.combination({name: value}) for value in share.values[:most]]
            parts.append(self._guesses(name, guesses, alpha))
        if len(self.told) > 1:
            parts.append(self._guesses("all together", self.likeliest(most), alpha))
            if self.possible > most:
                text = f"… and {self.possible - most} less likely combinations"
                parts.append(Sentence(text))
        return Content(self.headline, tuple(parts))

    def _guesses(self, title: str, guesses: list[Combination], alpha: float | None) -> ContentTable:
        before = () if self.matching is None else ("before breaking",)
        more = () if alpha is None else ("more may come",)
        rows = []
        for guess in guesses:
            single = len(guess.values) == 1
            row: list[Cell] = [show_value(guess.values[0][1]) if single else listing(guess.values)]
            row += sure_cells(guess, self.levels)
            if before:
                was = self.before(guess)
                row.append("" if was is None else Share(was))
            if alpha is not None:
                row.append(_permitted_text(self.permitted_rows(guess, alpha)))
            rows.append(row)
        return ContentTable.of(
            "", [title, Heading("how surely", bar=20), "level", *before, *more], rows
        )


def sure_cells(guess: Combination, levels: RiskLevels) -> list[Cell]:
    """Return the probability of a guess and its risk level."""
    probability = float(guess.probability)
    return [Share(probability), levels.of(probability)]


def _permitted_text(permitted: int | None) -> str:
    """Return how many more people with a combination a group can take.

    >>> _permitted_text(4), _permitted_text(ABOVE), _permitted_text(None)
    ('4', 'none: above it now', 'any number')
    """
    words = {ABOVE: "none: above it now", None: "any number"}
    return words.get(permitted, str(permitted))


def breach_of(
    grouped: GroupedTables,
    *,
    group: Mapping[str, Value],
    knows: Mapping[str, Value] | None = None,
    counts: FrequencySet | None = None,
    levels: RiskLevels | None = None,
) -> Breach:
    """Return how likely each guess is about a person of a group.

    Args:
        grouped: The published parts.
        group: The person's quasi-identifiers as published; as many as single out a group.
        knows: Sensitive values that are known of the person.
        counts: The table before it was decoupled, if it is at hand: what the same person could
            guess from it stands beside.
        levels: The risk levels.

    Example:
        >>> rows = [("30s", "state", "single", "low")] * 2
        >>> rows += [("30s", "federal", "married", "low"), ("30s", "private", "divorced", "low")]
        >>> rows += [("30s", "local", "separated", "high")]
        >>> counts = FrequencySet.from_rows(["age", "work", "marital", "pay"], rows)
        >>> grouped = GroupedTables.of(counts, ["age"], ["work", "marital", "pay"])
        >>> known = breach_of(grouped, group={"age": "30s"}, knows={"work": "state"}, counts=counts)
        >>> known.probability_of({"marital": "single", "pay": "low"})
        Fraction(8, 25)
        >>> best = known.likeliest(1)[0]
        >>> print(best, "- before breaking:", known.before(best))
        marital=single, pay=low: 32 % - before breaking: 1
    """
    at = find_group(grouped, group)
    size = int(grouped.sizes[at])
    known = [_find_known(grouped, at, name, value) for name, value in (knows or {}).items()]
    told = [name for name in grouped.names if name not in (knows or {})]
    if not told:
        raise ParameterError(
            "knows",
            list(knows or {}),
            "fewer columns than there are sensitive ones",
            why="nothing is left to guess",
        )
    named, here = tuple(pair for pair, _, _ in known), grouped.group_at(at)
    matching = None if counts is None else counts.without(~_having(counts, (*here, *named)))
    return Breach(
        here,
        size,
        named,
        tuple(rows for _, rows, _ in known),
        tuple(of_all for _, _, of_all in known),
        tuple(share_of(grouped.table(name), at) for name in told),
        matching,
        levels or RiskLevels(),
    )


def find_group(grouped: GroupedTables, wanted: Mapping[str, Value]) -> int:
    """Find the one group that has these quasi-identifiers, or raise with those there are."""
    columns = {column.name: i for i, column in enumerate(grouped.quasi_identifiers)}
    agreeing = np.zeros(len(grouped), dtype=np.int64)
    for name, value in wanted.items():
        if name not in columns:
            raise UnknownColumnError(name, columns, where="the quasi-identifiers")
        q = columns[name]
        agreeing += grouped.labels[q] == code_of(grouped.quasi_identifiers[q], value)
    found = np.flatnonzero(agreeing == len(wanted))
    if len(found) == 1:
        return int(found[0])
    asked = listing(tuple(wanted.items())) or "nothing"
    if not len(found):
        near = listing(grouped.group_at(int(np.argmax(agreeing)))) if len(grouped) else "none"
        raise InputError(
            f"no group has {asked}, though each value occurs. The nearest group: {near}."
        )
    rest = [name for name in columns if name not in wanted]
    raise InputError(
        f"{asked} fits {len(found)} groups. Say more, so that one is left: {some(rest)}. "
        f"The first of them: {listing(grouped.group_at(int(found[0])))}."
    )


def _find_known(
    grouped: GroupedTables, at: int, name: str, value: Value
) -> tuple[tuple[str, Value], int, int]:
    """Find a known value in its table, and count it; raise if the group does not have it."""
    table = grouped.table(name)
    found = table.column.values[code_of(table.column, value)]
    share = share_of(table, at)
    rows = share.rows_of(found)
    if not rows:
        raise UnknownNameError(
            "person with value",
            show_value(found),
            [show_value(v) for v in share.values],
            where=f"{name!r} of the group {listing(grouped.group_at(at))}",
        )
    return (name, found), rows, share.known


def _having(counts: FrequencySet, values: Named) -> np.ndarray:
    """Return which combinations of a table have these values."""
    match = np.ones(len(counts), dtype=np.bool_)
    for name, value in values:
        match &= counts.codes_of(name) == code_of(counts.column(name), value)
    return match


@dataclass(frozen=True)
class Holding:
    """A group in which a sensitive value occurs: where a person with it may be.

    Example:
        >>> one = Holding((("age", "30s"),), "work", "state", rows=2, size=5, of=5, total=4)
        >>> one.share, one.belongs
        (Fraction(2, 5), Fraction(1, 2))
    """

    group: Named
    column: str
    value: Value
    rows: int
    size: int
    of: int
    """How many people of the group have a known value."""

    total: int
    """How many people have the value in all groups."""

    @property
    def share(self) -> Fraction:
        """Case 2 of the method: the value's share in the group, of those that are known."""
        return Fraction(self.rows, self.of)

    @property
    def belongs(self) -> Fraction:
        """The probability that a person who has the value is in this group."""
        return Fraction(self.rows, self.total)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values that JSON can hold."""
        return {
            "group": plain(self.group),
            "knows": plain(((self.column, self.value),)),
            "count": self.rows,
            "size": self.size,
            "of": self.of,
            "share": plain_probability(self.share),
            "belongs": plain_probability(self.belongs),
        }


def holders(grouped: GroupedTables, column: str, value: Value) -> list[Holding]:
    """List the groups in which a sensitive value occurs, where it is commonest first.

    Case 2: a person's sensitive value is known, and not the group.
    """
    table = grouped.table(column)
    code = code_of(table.column, value)
    at = np.flatnonzero((table.value == code) & (code != table.column.missing))
    groups, rows = table.group[at], table.rows[at]
    known = table.totals(len(grouped))
    order = np.argsort(-(rows / known[groups]), kind="stable")
    total, found = int(rows.sum()), table.column.values[code]
    return [
        Holding(grouped.group_at(g), column, found, n, int(grouped.sizes[g]), int(known[g]), total)
        for g, n in zip(groups[order].tolist(), rows[order].tolist(), strict=True)
    ]


def holders_content(found: Sequence[Holding], most: int = _MOST_SHOWN) -> Content:
    """Return the groups in which a person with a value may be."""
    heads = ("group", "people", "with the value", Heading("share", bar=20), "the person is there")
    rows = [
        (
            listing(one.group) or "all people",
            one.size,
            one.rows,
            Share(one.share),
            Share(one.belongs),
        )
        for one in found
    ]
    value = listing(((found[0].column, found[0].value),)) if found else "nothing"
    table = ContentTable.of("", heads, rows, most=most)
    return Content(f"{value} occurs in {len(found)} groups:", (table,) if found else ())
