"""One person: the groups of a release the person may be in, and what their tables then say."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property
from typing import Any

import numpy as np

from sfumato.conditions import ConditionLine, overlap, unknown_value
from sfumato.counts import Column, FrequencySet, add_up, group
from sfumato.dataclasses import dataclass
from sfumato.decouplings.base import LinkedTables
from sfumato.errors import (
    HierarchyError,
    InputError,
    ParameterError,
    UnknownColumnError,
    require_number,
    suggest,
)
from sfumato.hierarchy import Hierarchy, Ladder
from sfumato.hierarchy.labels import Labels
from sfumato.policy import Policy
from sfumato.releases.opening import Published, PublishedTable, count_columns
from sfumato.schema import Columns
from sfumato.text import STAR, fold_spelling, in_order, is_missing, text_of, text_or_none
from sfumato.typing import BoolArray, CodeArray, FloatArray, IntArray, Value

_KINDS = ("not", "is", "prior", "others")


@dataclass(frozen=True)
class Knowledge:
    """Per sensitive column: values that are ruled out, the value that is known, own beliefs.

    A belief of one's own (`prior`) is what was held likely before the release, in place of the
    shares of all people. By itself it does not change what the release shows: in a class of 100
    people, 95 of whom have hiv, hiv is 95 % likely of each, however rare it is among the public,
    for it was as rare among all 100 of them. Applied to the counts it would count twice. Only if
    the person is known to differ from the others of a class does it tell the person from them:
    then `others` says how likely the value was among those, and each value weighs its count times
    the one over the other (Bayes' rule).

    Example:
        >>> ill = Column("ill", ("cancer", "flu", "gout"))
        >>> known = Knowledge.read({"not": "flu", "prior": {"gout": 0.1}}, [ill])
        >>> print(known)
        not ill=flu; ill=gout with probability 0.1
        >>> shares = np.array([0.25, 0.5, 0.25])
        >>> known.prior(ill, shares).round(3).tolist(), known.weights(ill, shares).tolist()
        ([0.75, 0.0, 0.25], [1.0, 0.0, 1.0])
        >>> knows = {"prior": {"gout": 0.1}, "others": {"gout": 0.4}}
        >>> Knowledge.read(knows, [ill]).weights(ill, shares).tolist()
        [1.5, 1.5, 0.25]
    """

    ruled_out: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    """Codes of the values."""

    held: Mapping[str, int] = field(default_factory=dict)
    believed: Mapping[str, Mapping[int, float]] = field(default_factory=dict)
    of_others: Mapping[str, Mapping[int, float]] = field(default_factory=dict)
    """How likely values are among the others whom the person may be taken for."""

    words: tuple[str, ...] = ()

    @classmethod
    def read(cls, knows: Mapping[str, Any] | None, columns: Sequence[Column]) -> "Knowledge":
        """Read `{"not": ..., "is": ..., "prior": ..., "others": ...}`; see `sfumato.explain`."""
        if knows is None:
            return cls()
        if not isinstance(knows, Mapping):
            raise ParameterError("knows", knows, "a mapping", why=_FORM)
        for kind in knows:
            if kind not in _KINDS:
                hint = suggest(str(kind), _KINDS)
                raise ParameterError("knows", kind, "a mapping with known names", why=hint)
        ruled_out = _ruled_out(knows.get("not", ()), columns)
        held = _read_held(knows.get("is", {}), columns)
        believed = _read_beliefs("prior", knows.get("prior", {}), columns)
        of_others = _read_beliefs("others", knows.get("others", {}), columns)
        for name, shares in of_others.items():
            if name not in believed or min(shares.values()) <= 0:
                raise ParameterError(
                    'knows["others"]',
                    knows["others"],
                    "shares above 0, beside those of the person",
                    why=f'what the person is held to have is "prior": {{{name!r}: ...}}',
                )
        by_name = {column.name: column for column in columns}

        def text(name: str, code: int) -> str:
            return f"{name}={text_of(by_name[name].values[code])}"

        words = [f"not {text(n, code)}" for n, codes in ruled_out.items() for code in codes]
        words += [text(name, code) for name, code in held.items()]
        words += [
            f"{text(name, code)} with probability {share:g}"
            for name, shares in believed.items()
            for code, share in shares.items()
        ]
        words += [
            f"{text(name, code)} with probability {share:g} among others"
            for name, shares in of_others.items()
            for code, share in shares.items()
        ]
        return cls(ruled_out, held, believed, of_others, tuple(words))

    def prior(self, column: Column, shares: FloatArray) -> FloatArray:
        """Return what is believed of each known value before the release.

        The sum is 1, or less if all values of the column are named: what is left is then believed
        of values that no person of the release has.

        Args:
            column: The sensitive column.
            shares: The share of all people that has each value, by code.
        """
        found = _put_beliefs(shares[: len(column.known)], self.believed.get(column.name, {}))
        ruled_out = list(self.ruled_out.get(column.name, ()))
        left = 1 - found[ruled_out].sum()
        found[ruled_out] = 0
        # What is left of beliefs that leave nothing is a rounding error.
        return found / left if left > 1e-12 else np.zeros_like(found)

    def weights(self, column: Column, shares: FloatArray) -> FloatArray:
        """Return how much likelier the person has each value than the others do, by code.

        A missing value is as likely as it was: it may hide any.
        """
        found = np.ones(len(column.values))
        if column.name in self.of_others:
            known = shares[: len(column.known)]
            own = _put_beliefs(known, self.believed[column.name])
            others = _put_beliefs(known, self.of_others[column.name])
            found[: len(own)] = np.divide(own, others, out=np.zeros_like(own), where=others > 0)
        found[list(self.ruled_out.get(column.name, ()))] = 0
        if column.name in self.held:
            found[np.arange(len(found)) != self.held[column.name]] = 0
        return found

    def __bool__(self) -> bool:
        return bool(self.words)

    def __str__(self) -> str:
        return "; ".join(self.words)


def _put_beliefs(shares: FloatArray, believed: Mapping[int, float]) -> FloatArray:
    """Return shares with some replaced by beliefs; other values share what is left as before."""
    found = _normal(shares)
    if believed:
        named = list(believed)
        left = np.ones(len(found), dtype=bool)
        left[named] = False
        found[left] = max(1 - sum(believed.values()), 0.0) * _normal(found[left])
        found[named] = list(believed.values())
    return found


_FORM = (
    'write {"not": value or values} for what it is not, {"is": {column: value}} for what is '
    'known, {"prior": {value: share}} for how likely values are to the adversary; with it, '
    '{"others": {value: share}} for how likely they are among people who differ from the person'
)


def _normal(shares: FloatArray) -> FloatArray:
    total = shares.sum()
    found: FloatArray = shares / total if total else shares.copy()
    return found


def _ruled_out(given: object, columns: Sequence[Column]) -> dict[str, tuple[int, ...]]:
    found: dict[str, list[int]] = {}
    if isinstance(given, Mapping):
        pairs = [(_column(str(name), columns), v) for name, vs in given.items() for v in _list(vs)]
    else:
        pairs = [_holding(value, columns) for value in _list(given)]
    for column, value in pairs:
        codes = found.setdefault(column.name, [])
        code = _code(column, value)
        if code not in codes:
            codes.append(code)
    return {name: tuple(codes) for name, codes in found.items()}


def _read_held(given: object, columns: Sequence[Column]) -> dict[str, int]:
    if not isinstance(given, Mapping):
        raise ParameterError('knows["is"]', given, "a mapping of columns to values", why=_FORM)
    named = [(_column(str(name), columns), value) for name, value in given.items()]
    return {column.name: _code(column, value) for column, value in named}


def _read_beliefs(
    kind: str, given: object, columns: Sequence[Column]
) -> dict[str, dict[int, float]]:
    if not isinstance(given, Mapping):
        raise ParameterError(f'knows["{kind}"]', given, "a mapping of values to shares", why=_FORM)
    found: dict[str, dict[int, float]] = {}
    for key, share in given.items():
        if isinstance(share, Mapping):
            column = _column(str(key), columns)
            pairs = list(share.items())
        else:
            column, value = _holding(key, columns)
            pairs = [(value, share)]
        for value, each in pairs:
            require_number(f'knows["{kind}"][{value!r}]', each, at_least=0, at_most=1)
            found.setdefault(column.name, {})[_code(column, value)] = float(each)
    for name, shares in found.items():
        total = sum(shares.values())
        if total > 1 + 1e-9:
            raise ParameterError(
                f'knows["{kind}"]',
                given,
                f"shares that sum to 1 at most; those of {name!r} do not",
            )
    return found


def _list(given: object) -> list[Value]:
    if isinstance(given, str) or not isinstance(given, Iterable):
        return [given]
    return list(given)


def _column(name: str, columns: Sequence[Column]) -> Column:
    for column in columns:
        if column.name == name:
            return column
    raise UnknownColumnError(name, [c.name for c in columns], where="the sensitive columns")


def _code(column: Column, value: Value) -> int:
    codes = {text_of(each): code for code, each in enumerate(column.known)}
    if isinstance(value, str) and value not in codes:
        value = _respell(value, codes)
    if is_missing(value) or text_of(value) not in codes:
        text = "a missing value" if is_missing(value) else repr(text_of(value))
        hint = suggest("" if is_missing(value) else text_of(value), list(codes))
        raise InputError(f"{column.name}: no person has {text}. {hint}")
    return codes[text_of(value)]


def _respell(text: str, known: Iterable[str]) -> str:
    """Return a text in the spelling that stands for it, or as it is if there is none."""
    folded = fold_spelling(text)
    return next((each for each in known if folded and fold_spelling(each) == folded), text)


def _holding(value: Value, columns: Sequence[Column]) -> tuple[Column, Value]:
    """Find the one column that has a value, which may also be written as `column=value`."""
    text = "" if is_missing(value) else text_of(value)
    having = [column for column in columns if text in map(text_of, column.known)]
    if not having:
        texts = [text_of(each) for column in columns for each in column.known]
        text = _respell(text, texts)
        having = [column for column in columns if text in map(text_of, column.known)]
    if len(having) == 1:
        return having[0], value
    if not having:
        for column in columns:
            if text.startswith(f"{column.name}="):
                return column, text[len(column.name) + 1 :]
        every = dict.fromkeys(text_of(each) for column in columns for each in column.known)
        names = ", ".join(column.name for column in columns)
        raise InputError(f"no person has {text!r} ({names}). {suggest(text, list(every))}")
    names = ", ".join(repr(column.name) for column in having)
    raise InputError(
        f"{text!r} is a value of several columns: {names}. Name the one that is meant: "
        f"'{having[0].name}={text}'."
    )


@dataclass(frozen=True, eq=False)
class PersonTable:
    """One published table, and which of its entries may be the person's."""

    bucket: IntArray
    """The group each entry stands in."""

    people: FloatArray
    """The number of people each entry stands for."""

    fits: BoolArray
    """Whether what is known of the person agrees with the entry."""

    values: Mapping[str, tuple[Column, CodeArray]]
    """The sensitive columns it has, with the value of each entry."""

    agrees: BoolArray | None = None
    """Whether the entry agrees in what the tables before it hold too; None if that is nothing."""


@dataclass(frozen=True, eq=False)
class OnePerson:
    """The adversary's belief about a person who is in the data, given the tables of a release.

    The person is as likely one of the people as another, as far as they fit; entries of different
    tables belong together by the group alone, every way to put them together being as likely.
    So a group weighs as much as it has people, times the share of them that fits in each of
    its tables: of those who agree with the person in what the tables before it hold too, where
    tables overlap.

    Args:
        pieces: The tables. One that holds everything has rows; several hold a group's parts.
        n: How many groups there are.
        weights: Per sensitive column and value, how much likelier the person is known to have
            it than other people are: 0 if the person is known not to.

    Example:
        >>> ill = Column("ill", ("flu", "hiv"))
        >>> codes = np.array([0, 1, 1], dtype=np.int32)
        >>> table = PersonTable(np.array([0, 0, 1]), np.array([3.0, 1.0, 2.0]),
        ...     np.array([True, True, True]), {"ill": (ill, codes)})
        >>> one = OnePerson((table,), 2)
        >>> one.groups.round(2).tolist(), one.posterior("ill").tolist()
        ([0.67, 0.33], [0.5, 0.5])
        >>> OnePerson((table,), 2, weights={"ill": np.array([0.0, 1.0])}).posterior("ill").tolist()
        [0.0, 1.0]
    """

    pieces: Sequence[PersonTable]
    n: int
    weights: Mapping[str, FloatArray] = field(default_factory=dict)

    @cached_property
    def sizes(self) -> FloatArray:
        """The number of people each group has."""
        return add_up(self.pieces[0].bucket, self.pieces[0].people, self.n)

    @property
    def groups(self) -> FloatArray:
        """The probability that the person is in each group; all 0 if no person fits."""
        likely = self.sizes * np.prod(list(self._shares), axis=0)
        total = likely.sum()
        found: FloatArray = likely / total if total else likely
        return found

    def posterior(self, name: str) -> FloatArray:
        """Return how likely the person has each value of a sensitive column, by code.

        All are 0 if no person fits. A missing value is one of the codes.
        """
        at = self._holder(name)
        piece = self.pieces[at]
        column, codes = piece.values[name]
        others = [share for i, share in enumerate(self._shares) if i != at]
        group = self.sizes * np.prod([np.ones(self.n), *others], axis=0)
        entries = self._entries[at] * (group / self._among[at])[piece.bucket]
        likely = add_up(codes, entries, len(column.values))
        total = likely.sum()
        found: FloatArray = likely / total if total else likely
        return found

    def prior(self, name: str) -> FloatArray:
        """Return the share of all people that has each value, by code."""
        piece = self.pieces[self._holder(name)]
        column, codes = piece.values[name]
        people = add_up(codes, piece.people, len(column.values))
        found: FloatArray = people / max(people.sum(), 1)
        return found

    @cached_property
    def _entries(self) -> list[FloatArray]:
        """Per table, how much each entry weighs."""
        found = []
        for at, piece in enumerate(self.pieces):
            weight = piece.people * piece.fits
            for name, (_, codes) in piece.values.items():
                if name in self.weights and self._holder(name) == at:
                    weight = weight * self.weights[name][codes]
            found.append(weight)
        return found

    @cached_property
    def _shares(self) -> list[FloatArray]:
        """Per table, the share of each group that fits."""
        return [
            add_up(piece.bucket, weight, self.n) / among
            for piece, weight, among in zip(self.pieces, self._entries, self._among, strict=True)
        ]

    @cached_property
    def _among(self) -> list[FloatArray]:
        """Per table, the people of each group who agree in what the tables before it hold."""
        found = []
        for piece in self.pieces:
            agreeing = piece.people if piece.agrees is None else piece.people * piece.agrees
            found.append(np.maximum(add_up(piece.bucket, agreeing, self.n), 1))
        return found

    def _holder(self, name: str) -> int:
        """Find the table that has a sensitive column."""
        for at, piece in enumerate(self.pieces):
            if name in piece.values:
                return at
        known = [name for piece in self.pieces for name in piece.values]
        raise UnknownColumnError(name, known, where="the sensitive columns")


_HIDDEN = (
    "What only '*' could stand for is not known to exist: to ask for it, give the policy (-p, "
    "policy=...) or the table (--data, data=...)."
)


@dataclass(frozen=True, eq=False)
class OneOfSeveral:
    """The belief about a person in a table in which people may have several rows.

    The adversary knows a row of the person: some quasi-identifiers, and perhaps sensitive values.
    Every person who has such a row in a class is as likely the one, whatever the number of their
    rows. A value is as likely as the share of them who have it in such a row, so that shares may
    sum to more than 1. What is ruled out, the person has in no such row.

    Args:
        counts: The rows of each person.
        classes: The class of each entry.
        n: How many classes there are.
        person: The column that tells people apart.
        fits: Whether what is known agrees with the entry.
        ruled_out: Per sensitive column the codes that the person has not.

    Example:
        >>> rows = [("ann", "flu"), ("ann", "gout"), ("bob", "flu"), ("bob", "flu")]
        >>> counts = FrequencySet.from_rows(["who", "ill"], rows)
        >>> every = np.ones(3, dtype=bool)
        >>> one = OneOfSeveral(counts, np.zeros(3, dtype=np.int64), 1, "who", every)
        >>> one.shares("ill").tolist(), one.groups.tolist(), one.people
        ([1.0, 0.5], [1.0], 2)
    """

    counts: FrequencySet
    classes: IntArray
    n: int
    person: str
    fits: BoolArray
    ruled_out: Mapping[str, tuple[int, ...]] = field(default_factory=dict)

    @cached_property
    def _who(self) -> IntArray:
        return self.counts.codes_of(self.person).astype(np.int64)

    @cached_property
    def _candidate(self) -> IntArray:
        """The number of each pair of a class and a person in it."""
        people = len(self.counts.column(self.person).values)
        return group([self.classes, self._who], [self.n, people], n=len(self.counts)).of_item

    @cached_property
    def _rows(self) -> BoolArray:
        """The entries of those who may be the person."""
        gone = np.zeros(int(self._candidate.max(initial=-1)) + 1, dtype=np.bool_)
        for name, codes in self.ruled_out.items():
            having = self.fits & np.isin(self.counts.codes_of(name), codes)
            gone[self._candidate[having]] = True
        left: BoolArray = self.fits & ~gone[self._candidate]
        return left

    def _people_with(self, entries: BoolArray) -> IntArray:
        """Return per class the people who have one of some entries."""
        first = np.unique(self._candidate[entries], return_index=True)[1]
        return np.bincount(self.classes[entries][first], minlength=self.n)

    @cached_property
    def sizes(self) -> IntArray:
        """The number of people each class has."""
        return self._people_with(np.ones(len(self.counts), dtype=np.bool_))

    @property
    def groups(self) -> FloatArray:
        """The probability that the person is in each class; all 0 if no person fits."""
        fitting = self._people_with(self._rows)
        shares: FloatArray = fitting / max(int(fitting.sum()), 1)
        return shares

    @property
    def people(self) -> int:
        """The people of the classes that fit, every one once."""
        mine = (self._people_with(self._rows) > 0)[self.classes]
        return len(np.unique(self._who[mine]))

    @property
    def total(self) -> int:
        """All people, every one once."""
        return len(np.unique(self._who))

    def shares(self, name: str) -> FloatArray:
        """Return how likely the person has each known value of a column, by code."""
        column = self.counts.column(name)
        codes, known = self.counts.codes_of(name), len(column.known)
        some = self._rows & (codes != column.missing)
        of = max(int(self._people_with(some).sum()), 1)
        pairs = np.unique(self._candidate[some] * max(known, 1) + codes[some])
        shares: FloatArray = np.bincount(pairs % max(known, 1), minlength=known)[:known] / of
        return shares

    def missing(self, name: str) -> float:
        """Return how likely no value of the person is known."""
        column = self.counts.column(name)
        some = self._rows & (self.counts.codes_of(name) != column.missing)
        every = int(self._people_with(self._rows).sum())
        return 1 - int(self._people_with(some).sum()) / max(every, 1)


@dataclass(frozen=True, eq=False)
class PersonSearch:
    """The published tables, and which of their entries agree with what is known of a person.

    Rows that are all `*` are of people who fit no other class: they are looked at only if no
    others fit, unless such rows are known to be a class that others may be in too.
    """

    opened: Published
    known: Mapping[str, Value]
    policy: Policy | None = None
    data: object = None
    """The original table, for hierarchies that are built from it."""

    matches_any: bool = False
    """Whether a missing label may hide any value."""

    stars_are_people: bool = False
    """Whether no row is suppressed that is shown, so that all `*` is a class."""

    @cached_property
    def tables(self) -> LinkedTables:
        """The tables, over the quasi-identifiers and the sensitive columns."""
        names = (*self.opened.quasi_identifiers, *self.opened.sensitive)
        people = self.opened.people if isinstance(self.opened, PublishedTable) else None
        if people is not None:
            # The same rows; suppressed ones, which say nothing, are not among them.
            return LinkedTables((people.project(names),)).fold(self.opened.folded)
        found = self.opened.counts(names).fold(self.opened.folded)
        tables = tuple(map(self.opened.without_general_stars, found.tables))
        return replace(found, tables=tables)

    @cached_property
    def groups(self) -> list[IntArray]:
        """Per table the group of each entry; in one piece, rows that look alike are a group."""
        if self.tables.group is not None:
            return self.tables.groups
        [table] = self.tables.tables
        names = self.opened.quasi_identifiers
        sizes = [len(table.column(name).values) for name in names]
        return [group([table.codes_of(n) for n in names], sizes, n=len(table)).of_item]

    @cached_property
    def n(self) -> int:
        """The number of groups."""
        return max((int(each.max(initial=-1)) + 1 for each in self.groups), default=0)

    @cached_property
    def pieces(self) -> tuple[PersonTable, ...]:
        """The tables as weights can be put on them."""
        tables, before = self.tables, set[str]()
        columns = Columns(tuple(tables.names(table) for table in tables.tables))
        found = {}
        # Tables may overlap; in this order each does so with one before it.
        for at in columns.join_order or range(len(tables.tables)):
            table = tables.tables[at]
            piece = self._piece(table, self.groups[at], tables.people[at])
            found[at] = replace(piece, agrees=self._agree(table, before))
            before |= {*tables.names(table)}
        return tuple(found[at] for at in range(len(tables.tables)))

    def _agree(self, table: FrequencySet, before: set[str]) -> BoolArray | None:
        """Return which entries agree with the person in what tables before it hold too."""
        shared = [name for name in self.known if name in before and name in table.names]
        if not shared:
            return None
        agrees = np.ones(len(table), dtype=np.bool_)
        for name in shared:
            agrees &= self._fits(name, table.column(name))[table.codes_of(name)]
        return agrees

    @property
    def total(self) -> int:
        """The number of people."""
        return round(float(self.pieces[0].people.sum()))

    def labels_of(self, group: int) -> dict[str, Value]:
        """Return what a class, group or bucket is recognised by."""
        table, names, first = self._recognised
        at = int(first[group])
        return {name: table.column(name).values[table.codes_of(name)[at]] for name in names}

    @cached_property
    def _recognised(self) -> tuple[FrequencySet, list[str], IntArray]:
        """The table whose entries name the groups, by which columns, and each group's first entry.

        Groups of people who look alike are named by their quasi-identifiers.
        """
        names = self.opened.quasi_identifiers
        alike = self.opened.kind.keeps_classes and bool(names)
        at = 0
        if alike:
            at = next(i for i, table in enumerate(self.tables.tables) if names[0] in table.names)
        shown = list(names) if alike else [name for name in [self.tables.group] if name is not None]
        first = np.unique(self.groups[at], return_index=True)[1]
        return self.tables.tables[at], shown, first

    def refuse_strange_values(self) -> None:
        """Raise if something is known of the person that no person can have.

        A number that no row has is no mistake. A word is one unless it is published, a label
        stands for it, or policy or data say that it exists: `*` may hide everything, and says of
        nothing that it is there.
        """
        for name, value in self.known.items():
            labels = self._published(name)
            said = [text for text in map(text_of, labels.known) if text != STAR]
            if value is None or (not said and self.policy is None and self.data is None):
                continue
            line, listed = self._lines.get(name), self._raw_texts(name, value, itself=True)
            if line is not None:
                words = [text for text in listed if line.read(text) is None]
                if line.read(value) is None and text_of(value) not in words:
                    raise line.refuse(name, value, words)
            elif text_of(value) not in {*listed, *said} and not self._is_covered(name, labels):
                hidden = STAR in map(text_of, labels.known) and not listed
                known = list(dict.fromkeys([*listed, *said]))
                if known:
                    raise unknown_value(name, text_of(value), known, more=_HIDDEN * hidden)

    def _is_covered(self, name: str, labels: Column) -> bool:
        """Return whether a label other than a star stands for what is known of the person."""
        telling = Column(name, tuple(each for each in labels.known if text_of(each) != STAR))
        return bool(self._fits(name, telling).any())

    def silent_columns(self) -> list[str]:
        """Return the columns of which something is known and that are published as `*` only."""
        return [
            name
            for name, value in self.known.items()
            if value is not None and {STAR} == {*map(text_of, self._published(name).known)}
        ]

    def _published(self, name: str) -> Column:
        """Return the labels that a column has in all tables it stands in."""
        tables = [table.column(name) for table in self.tables.tables if name in table.names]
        values = {text_or_none(value): value for column in tables for value in column.values}
        return Column(name, tuple(in_order(values.values())))

    @cached_property
    def _lines(self) -> dict[str, ConditionLine]:
        """The line that each column lies on, by its labels, else by what is known of its values."""
        found = {}
        for name, value in self.known.items():
            lines = [] if value is None else ConditionLine.all_of(self._published(name))
            fitting = [line for line in lines if line.read(value) is not None]
            if not lines and self.data is not None:
                line = ConditionLine.of_values(count_columns(self.data, [name]).column(name))
                fitting = [] if line is None else [line]
            if fitting or lines:
                found[name] = [*fitting, *lines][0]
        return found

    def unreadable(self) -> dict[str, list[str]]:
        """Return the columns no label of which stands for the value, with what they do have."""
        found = {}
        for name, value in self.known.items():
            labels = self._published(name)
            if not self._fits(name, labels).any():
                texts = [text_of(label) for label in labels.known]
                found[name] = self._raw_texts(name, value) or texts
        return found

    @cached_property
    def left_out(self) -> int:
        """The number of rows of stars, which are not looked at where others fit."""
        if self.tables.group is not None:
            return 0
        [table], [piece] = self.tables.tables, self.pieces
        silent = self._silent(table)
        return 0 if (piece.fits & silent).any() else int(table.rows[silent].sum())

    def _piece(self, table: FrequencySet, groups: IntArray, people: FloatArray) -> PersonTable:
        fits = np.ones(len(table), dtype=np.bool_)
        for name in self.known:
            if name in table.names:
                fits &= self._fits(name, table.column(name))[table.codes_of(name)]
        if self.tables.group is None:
            silent = self._silent(table)
            fits &= ~silent if (fits & ~silent).any() else True
        values = {
            name: (table.column(name), table.codes_of(name))
            for name in self.opened.sensitive
            if name in table.names
        }
        return PersonTable(groups, people, fits, values)

    def among_people(self, held: Mapping[str, int]) -> OneOfSeveral | None:
        """Return the belief about a person who may have several rows; None if rows are counted.

        Args:
            held: The sensitive values that are known, as codes of the folded columns.
        """
        opened = self.opened
        people = opened.people if isinstance(opened, PublishedTable) else None
        if not isinstance(opened, PublishedTable) or people is None or opened.person is None:
            return None
        counts = people.fold(opened.folded)
        classes = counts.group_by(opened.quasi_identifiers)
        fits = np.ones(len(counts), dtype=np.bool_)
        for name in self.known:
            fits &= self._fits(name, counts.column(name))[counts.codes_of(name)]
        for name, code in held.items():
            fits &= counts.codes_of(name) == code
        return OneOfSeveral(counts, classes.of_item, classes.n, opened.person, fits)

    def _silent(self, table: FrequencySet) -> BoolArray:
        """Return which rows say nothing about whose they are."""
        some = bool(self.opened.quasi_identifiers) and not self.stars_are_people
        silent = np.full(len(table), some, dtype=np.bool_)
        for name in self.opened.quasi_identifiers:
            stars = [v is not None and text_of(v) == STAR for v in table.column(name).values]
            silent &= np.array(stars, dtype=np.bool_)[table.codes_of(name)]
        return silent

    def _fits(self, name: str, labels: Column) -> BoolArray:
        """Return for each label whether the person may have got it."""
        value, line = self.known[name], self._lines.get(name)
        covered = self._labels.read(Column(name, (value,)), labels)
        fits = np.array([len(codes) > 0 for codes in covered], dtype=np.bool_)
        stretch = None if line is None or value is None else line.read(value)
        if line is not None and stretch is not None and line.reader(value) is None:
            # Something between two ends is known: whatever has a part of it may be the person's.
            parts = [line.stretches.get(text_or_none(label) or "") for label in labels.values]
            fits |= [part is not None and overlap(part, stretch) for part in parts]
        return fits

    @cached_property
    def _labels(self) -> Labels:
        ladders = {name: self._ladder(Column(name, (v,))) for name, v in self.known.items()}
        known = {name: ladder for name, ladder in ladders.items() if ladder is not None}
        return Labels(known, self.opened.levels, strict=False, matches_any=self.matches_any)

    def _ladder(self, raw: Column) -> Ladder | None:
        hierarchy = self._hierarchy(raw)
        try:
            return None if hierarchy is None else hierarchy.bind(raw.name, raw.known)
        except HierarchyError:
            # It does not know the value. Intervals and masks can be read all the same.
            return None

    def _hierarchy(self, raw: Column) -> Hierarchy | None:
        described = None if self.policy is None else self.policy.columns.get(raw.name)
        if described is None or described.hierarchy is None or not raw.known:
            return None
        values, rows = raw.known, None
        if self.data is not None:
            counts = count_columns(self.data, [raw.name])
            values = counts.column(raw.name).known
            rows = counts.value_counts(raw.name)[: len(values)].tolist()
        try:
            return described.hierarchy.build(raw.name, values, rows)
        except HierarchyError:
            return None

    def _raw_texts(self, name: str, value: Value, *, itself: bool = False) -> list[str]:
        """Return the raw values that a column can have, as far as anything says so.

        Args:
            name: The column.
            value: What is known of the person; a hierarchy that is computed says nothing of it.
            itself: Whether the value is listed, if it is known from elsewhere.
        """
        hierarchy = self._hierarchy(Column(name, (value,)))
        texts = [] if hierarchy is None else [text_of(each) for each in hierarchy.values]
        own = "" if value is None else text_of(value)
        texts = [] if texts == [own] else texts
        if self.data is not None:
            texts += [text_of(each) for each in count_columns(self.data, [name]).column(name).known]
        return [text for text in dict.fromkeys(texts) if itself or value is None or text != own]
