"""Undone generalisation: a published column says more of a quasi-identifier than its label."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property
from itertools import chain, combinations
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from sfumato.attacks.at_risk import PeopleFound
from sfumato.attacks.base import (
    MOST_CASES,
    ONE_ROW_EACH,
    Attack,
    Case,
    Outcome,
    is_value,
    priors,
    secrecy_of,
    strongest,
)
from sfumato.attacks.fields import FieldsOfCodes, fields_of, with_fields
from sfumato.attacks.in_step import (
    LabelledColumn,
    StepRelation,
    finest,
    match_values,
    relations_of,
    relations_with,
)
from sfumato.attacks.knowledge import WholeRows
from sfumato.attacks.matching import ExactMatcher, matcher
from sfumato.attacks.overlap import LabelKnowledge, number_items
from sfumato.attacks.target import Target
from sfumato.counts import FrequencySet, PackedKeys, add_up, group, number_keys, sums
from sfumato.dataclasses import dataclass
from sfumato.decouplings.base import LinkedTables
from sfumato.errors import InputError, UnknownColumnError, require_text
from sfumato.harm import HarmRule, Level
from sfumato.policy.adversaries import Knows
from sfumato.policy.remedies import GiveRole, Remedy
from sfumato.schema import Role
from sfumato.text import STAR, join_words, text_of
from sfumato.typing import BoolArray, FloatArray, IntArray, Value

_CELLS = 60_000_000
"""Codes that are held at once, give or take."""

_MOST_USED = 3
"""Relations that are used together; others that say no more are named only."""

_MATCHES = 400_000_000
"""Pairs of a person and a class that are held against each other, where labels overlap."""

_CANDIDATES = 20_000_000
"""Pairs of a person and a class that fit each other, or of a person and a value."""


@dataclass(frozen=True)
class UndoneGeneralisation(Attack):
    """Look for a person's row by a quasi-identifier as exactly as another column tells it.

    Ages are published in ranges of ten years, and beside them a day number of birth. An adversary
    who knows a person's age knows within which 365 days the number lies, and finds the row among
    those: the range does not hide the person. So does an age with decimals, the number of a country
    beside its continent, or a year and a month in two columns.

    All published columns besides the quasi-identifiers are asked, the fields of codes such as
    `AX-1970-0017`, and weighted sums of two of them:
    do they run in step with the labels, or does each of their values stand under one label only, as
    chance would not have it? Where they do, classes are counted again, with the label replaced by
    what the column says. From the release alone that is read off where labels begin and end
    along the column: a label of 10 years over 3 652 days makes 365 days a year. People who know a
    quasi-identifier are taken to know it to the last digit that the ends of labels have, and where
    a column is only a code for labels, to know the code. With the table that the release was made
    of, it is exact: which values of the column go with which true value, and how many rows fit
    each person in all their labels.

    Finds: how many rows fit a person, and whose row is the only one; with `column` what most of the
    rows that fit have in a sensitive column. Who fits fewer rows than promised is of level high
    at least.
    Does not find: what a column says by more than order or one value at a time, such as a
    correlation; what three columns say together, or two that are not added up; rows of people who
    have several; what columns say that are published apart from the quasi-identifiers.

    Args:
        column: The sensitive column that is told; None if it is about the person's row.

    Example:
        >>> rows = [(f"{age // 10}0 to {age // 10}9", 12 * age) for age in range(20, 40)]
        >>> counts = FrequencySet.from_rows(["age", "months"], rows)
        >>> target = Target.of_table(counts, ("age",), ("months",))
        >>> print(UndoneGeneralisation().on(target, HarmRule()).worst[0])
        age=about 20 (1): the row is the person's, 5 % before, 100 % after
    """

    name: ClassVar[str] = "undone-generalisation"
    counts_people: ClassVar[bool] = False
    how: ClassVar[str] = (
        "Takes a column that says more of a quasi-identifier than its label, and looks for the "
        "person's row among those that fit the exact value."
    )

    column: str | None = None

    def __post_init__(self) -> None:
        if self.column is not None:
            require_text("column", self.column)

    @classmethod
    def against(cls, target: Target, rule: HarmRule) -> list[Self]:  # noqa: ARG003 - all alike
        found = None if target.person is not None else undone_of(target)
        if found is None:
            return []
        # In a decoupled release sensitive values do not stand beside what undoes labels.
        told = () if target.counts is None else target.sensitive
        return [cls(), *(cls(n) for n in told if found.used and n not in found.columns)]

    @classmethod
    def why_not(cls, target: Target) -> str:
        if target.person is not None and (found := undone_of(target)) is not None and found.used:
            return ONE_ROW_EACH
        return "no quasi-identifier is generalised beside another column"

    def on(self, target: Target, rule: HarmRule) -> Outcome:
        found = undone_of(target)
        if found is None:
            raise InputError(f"{self.name} cannot be tried: {self.why_not(target)}.")
        self.require_countable(target)
        if self.column is not None and target.counts is None:
            raise InputError(f"{self.name} cannot be tried: its sensitive columns stand apart.")
        if self.column is not None and self.column not in target.sensitive:
            raise UnknownColumnError(self.column, target.sensitive, where="the sensitive columns")
        told = self._tell(target, found, rule)
        rows = found.counts.rows
        people = [int(rows[told.levels == level].sum()) for level in Level]
        worst = _worst(found, told)
        settings: dict[str, Any] = {}
        if found.used:
            settings = {"by": list(found.columns), "undone": list(found.undone)}
        level = Level(int(told.levels.max(initial=0)))
        return Outcome.of_levels(
            self,
            self.column,
            people,
            worst,
            rule,
            of=target.classes.n_people,
            note=found.note,
            unreached=found.unreached,
            settings=settings,
            advice=found.advice if level else "",
            remedies=found.remedies if level else (),
            found=self._people_found(target, rule),
        )

    def _people_found(self, target: Target, rule: HarmRule) -> PeopleFound | None:
        """Return who is at risk; who knows the quasi-identifiers exactly finds them."""
        if target.counts is None:
            return None
        return target.find_rows({Knows.QUASI_IDENTIFIERS: self.flags(target, rule)})

    def flags(self, target: Target, rule: HarmRule) -> BoolArray:
        """Return which combinations of the target's counts have people at risk, or which groups.

        One is at risk if any row of it is, where columns beside it tell rows apart.
        """
        found, counts = undone_of(target), target.counts
        if found is None:
            return np.zeros(len(target.classes if counts is None else counts), dtype=np.bool_)
        worst = self._tell(target, found, rule).levels == Level.VERY_HIGH
        if counts is not None:
            return _among(counts, found.counts, worst)
        groups = FrequencySet(target.columns, target.labels, target.classes.sizes)
        return _among(groups, found.counts, worst)

    def _tell(self, target: Target, found: "Undone", rule: HarmRule) -> "_ToldRows":
        key = (self.name, self.column, rule)
        return target.memoize(
            key,
            lambda _: (
                _links(found, rule)
                if self.column is None
                else _values(target, found, self.column, rule)
            ),
        )


# What undoes which labels, and who fits what.


@dataclass(frozen=True, eq=False)
class Undone:
    """The rows of a release, and the columns that undo labels of its quasi-identifiers."""

    counts: FrequencySet
    quasi_identifiers: tuple[str, ...]
    relations: tuple[StepRelation, ...]
    k: int
    """The size of classes that is promised, or 2."""

    whole: WholeRows | None = None
    source: FrequencySet | None = field(default=None, repr=False)
    """The true values of the quasi-identifiers and the columns, if they are known."""

    left: tuple[str, ...] = ()
    """Columns that were not asked."""

    @cached_property
    def used(self) -> list[StepRelation]:
        """The relations that say most together."""
        return finest(self.relations, _MOST_USED)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that undo something."""
        return tuple(dict.fromkeys(name for each in self.relations for name in each.columns))

    @property
    def undone(self) -> tuple[str, ...]:
        """The quasi-identifiers that are undone."""
        return tuple(dict.fromkeys(each.undone for each in self.relations))

    @property
    def note(self) -> str:
        """Return what undoes what, in words."""
        if not self.relations:
            return "no column says more of a quasi-identifier than its labels"
        how = (
            "counted with the true values of the original"
            if self.exact
            else "read off where labels begin and end; with the original it is exact"
        )
        return f"{join_words([str(each) for each in self.relations], most=6)}; {how}"

    @property
    def advice(self) -> str:
        """Return what to do about it."""
        names = join_words([repr(name) for name in self.columns])
        them = "it" if len(self.columns) == 1 else "them"
        return (
            f"{join_words([str(each) for each in self.relations], most=3)}: leave {names} out, or "
            f"give {them} the role quasi-identifier, so that it is generalised, too."
        )

    @property
    def remedies(self) -> tuple[Remedy, ...]:
        """The same as changes of a policy."""
        roles = (Role.DROPPED, Role.QUASI_IDENTIFIER)
        return tuple(GiveRole(name, role) for role in roles for name in self.columns)

    @property
    def unreached(self) -> str:
        """Return what was not asked."""
        if not self.left:
            return ""
        return f"{len(self.left)} columns were not asked: too many cells ({self.left[0]} and on)"

    @property
    def exact(self) -> bool:
        """Whether true values say which rows fit a person."""
        return self.source is not None and all(each.of_raw is not None for each in self.used)

    @cached_property
    def fits(self) -> "_Fits":
        """Return who fits which rows: one by one where true values are known, else by class."""
        found = _match(self) if self.exact and self.used else None
        return found or _by_class(self)

    @cached_property
    def class_size(self) -> IntArray:
        """The size of the class that each combination is in."""
        classes = self.counts.group_by(self.quasi_identifiers)
        return sums(classes.of_item, self.counts.rows, classes.n)[classes.of_item]


def undone_of(target: Target) -> Undone | None:
    """Return what undoes labels of a release; None if there is nothing to ask."""
    return target.memoize("undone generalisation", _find)


def _find(target: Target) -> Undone | None:
    whole, counts = target.whole, target.counts
    if not target.columns or (counts is None and whole is None) or not target.classes.n_people:
        return None
    names = target.sensitive if whole is None else whole.columns
    if not names:
        return None
    known = target.quasi_identifiers
    most = max(_CELLS // max(target.classes.n_people, 1) - len(known), 1)
    names, left = tuple(names[:most]), tuple(names[most:])
    rows = counts if whole is None else whole.read(names)
    assert rows is not None  # noqa: S101 - one of them is there
    readings = {} if whole is None else whole.readings()
    general = frozenset[str]() if whole is None else whole.general
    labelled = {}
    for name in known:
        column, codes = rows.column(name), rows.codes_of(name).astype(np.int64)
        reading = readings.get(name)
        each = LabelledColumn.published(column, codes, rows.rows, reading)
        if _is_general(each, reading, said=name in general):
            labelled[name] = each
    source = None
    if whole is not None and whole.read_source is not None:
        source = whole.read_source(names)
    true = [] if source is None else [name for name in known if _differs(rows, source, name)]
    if not labelled and not true:
        return None
    found = relations_of(rows, labelled, names)
    if source is not None and true:
        found = _with_true(rows, source, true, names, found)
    found += _by_fields(rows, source, labelled, true, names, found)
    k = 2 if whole is None or whole.k is None else whole.k
    return Undone(rows, known, tuple(found), max(k, 2), whole, source, left)


def _with_true(
    rows: FrequencySet,
    source: FrequencySet,
    true: Sequence[str],
    names: Sequence[str],
    found: Sequence[StepRelation],
) -> list[StepRelation]:
    """Return what undoes labels where true values are known, for as many columns as they are."""
    both = tuple(name for name in names if name in source.names)
    exact = relations_with(source, rows, true, both, found)
    exact = [each for each in exact if _tells(each, rows)]
    # What true values say of a column is better than what its labels do.
    rest = [each for each in found if not {*each.columns} <= {*both}]
    return [*exact, *rest]


def _by_fields(
    rows: FrequencySet,
    source: FrequencySet | None,
    labelled: Mapping[str, LabelledColumn],
    true: Sequence[str],
    names: Sequence[str],
    whole_ones: Sequence[StepRelation],
) -> list[StepRelation]:
    """Return the columns of codes of which some field undoes labels that the whole does not.

    Some rows show in which columns there is something to find; only those are read as a whole.
    """

    def ask(fields: Mapping[str, FieldsOfCodes], most: int | None) -> list[StepRelation]:
        at = slice(None, None, 1 if most is None else max(len(rows) // most, 1))
        split, owner = with_fields(_some_rows(rows, at), fields)
        asked = (len(names) + len(owner)) * max(len(labelled), 1)
        few = {name: replace(each, codes=each.codes[at]) for name, each in labelled.items()}
        found = relations_of(split, few, [*owner], questions=asked)
        if source is not None and true:
            at = slice(None, None, 1 if most is None else max(len(source) // most, 1))
            there = {name: each for name, each in fields.items() if name in source.names}
            true_split, _ = with_fields(_some_rows(source, at), there)
            found = _with_true(split, true_split, true, [*owner], found)
        # A field says what its column does, and no more if that is in step as a whole.
        known = {(each.undone, name) for each in whole_ones for name in each.columns}
        own = [
            replace(each, columns=tuple(dict.fromkeys(owner[name] for name in each.columns)))
            for each in found
        ]
        return [each for each in own if not {(each.undone, n) for n in each.columns} & known]

    fields = fields_of(_some_rows(rows, slice(None, None, max(len(rows) // _SHOWN, 1))), names)
    telling = {name for each in ask(fields, _SHOWN) for name in each.columns} if fields else set()
    fields = {name: each for name, each in fields.items() if name in telling}
    return ask(fields, None) if fields else []


_SHOWN = 2_000
"""Combinations that show which columns of codes have fields that say something."""


def _some_rows(counts: FrequencySet, at: slice) -> FrequencySet:
    """Return some of the combinations, with the values that they have."""
    if at.step == 1:
        return counts
    return FrequencySet(counts.columns, counts.codes[:, at], counts.rows[at]).compact()


def _is_general(labelled: LabelledColumn, known: LabelKnowledge | None, *, said: bool) -> bool:
    """Return whether some labels stand for several values, as far as they can be read."""
    column = labelled.column
    codes = np.flatnonzero(np.bincount(labelled.codes))
    if labelled.line is not None and labelled.line.wide[codes].any():
        return True
    texts = [text_of(v) for v in column.known]
    if any(STAR in text and text != STAR for text in texts):
        return True
    if labelled.line is not None:
        return False
    if known is not None and known.raw is not None:
        raw = {text_of(value) for value in known.raw.known}
        return any(text not in raw and text != STAR for text in texts)
    return said


def _differs(counts: FrequencySet, source: FrequencySet, name: str) -> bool:
    """Return whether a column was published otherwise than it was."""
    if name not in source.names:
        return False
    match = match_values(counts.column(name), source.column(name))
    return bool((match[: len(counts.column(name).known)] < 0).any())


def _tells(relation: StepRelation, counts: FrequencySet) -> bool:
    """Return whether blocks take labels apart."""
    told = relation.of_row >= 0
    codes = counts.codes_of(relation.undone)[told]
    width = len(counts.column(relation.undone).values)
    if not told.any():
        return False
    pieces = group([codes, relation.of_row[told]], [width, int(relation.of_row.max()) + 1])
    return pieces.n > len(np.unique(codes))


@dataclass(frozen=True, eq=False)
class _Fits:
    """Groups of people who fit the same rows, and the rows that fit them."""

    n: int
    size: IntArray
    """How many rows fit the people of each group."""

    alone: IntArray
    """How many of them are in a class that the labels alone would leave."""

    count: Callable[[IntArray, IntArray, int], tuple[IntArray, IntArray, IntArray]]
    """Counts values among the rows that fit: codes of combinations, their weights, how many codes
    there are; returns groups, codes and rows, sorted by group."""

    choose: Callable[[FloatArray], IntArray]
    """The group of each combination, of several that one with the largest score; -1 for none."""

    block: IntArray
    """`block[relation, group]`."""


def _keys(cells: IntArray, width: int, blocks: Sequence[IntArray]) -> PackedKeys:
    sizes = [int(block.max(initial=-1)) + 2 for block in blocks]
    return PackedKeys.of([cells, *(block + 1 for block in blocks)], [width, *sizes])


class _RefinedTable(NamedTuple):
    """Rows counted by a cell and blocks, to be looked up with any block left open."""

    keys: IntArray
    rows: IntArray
    width: int
    sizes: tuple[int, ...]

    @classmethod
    def of(cls, cells: IntArray, width: int, blocks: Sequence[IntArray], rows: IntArray) -> Self:
        sizes = tuple(int(block.max(initial=-1)) + 2 for block in blocks)
        found = number_keys(*PackedKeys.of([cells, *(b + 1 for b in blocks)], [width, *sizes]))
        return cls(found.keys, sums(found.of_item, rows, found.n), width, sizes)

    def find(self, cells: IntArray, blocks: Sequence[IntArray]) -> IntArray:
        """Count the rows with the blocks that are asked for, and those that do not tell theirs."""
        total = np.zeros(len(cells), dtype=np.int64)
        shown = [
            np.where(block + 1 < size, block + 1, 0)
            for block, size in zip(blocks, self.sizes, strict=True)
        ]
        several = range(len(blocks))
        for some in chain.from_iterable(combinations(several, n) for n in range(len(blocks) + 1)):
            codes = [np.zeros_like(b) if i in some else b for i, b in enumerate(shown)]
            key, _ = PackedKeys.of([cells, *codes], [self.width, *self.sizes])
            at = np.minimum(np.searchsorted(self.keys, key), max(len(self.keys) - 1, 0))
            # Where a block that is asked for does not occur, those who do not tell theirs are left.
            fair = np.ones(len(cells), dtype=np.bool_)
            for i, block in enumerate(blocks):
                if i not in some:
                    fair &= (block >= 0) & (block + 1 < self.sizes[i])
            if len(self.keys):
                total += np.where(fair & (self.keys[at] == key), self.rows[at], 0)
        return total


def _by_class(found: Undone) -> _Fits:
    """Form classes with the labels replaced by blocks: an adversary knows the other labels."""
    counts, used = found.counts, found.used
    undone = {each.undone for each in used}
    rest = [name for name in found.quasi_identifiers if name not in undone]
    cells = counts.group_by(rest)
    blocks = [each.of_row for each in used]
    told = np.ones(len(counts), dtype=np.bool_)
    for block in blocks:
        told &= block >= 0
    key = _keys(cells.of_item.astype(np.int64), cells.n, blocks)
    groups = number_keys(*key)
    first = np.zeros(groups.n, dtype=np.int64)
    first[groups.of_item[::-1]] = np.arange(len(counts) - 1, -1, -1)
    table = _RefinedTable.of(cells.of_item.astype(np.int64), cells.n, blocks, counts.rows)
    size = table.find(cells.of_item[first].astype(np.int64), [block[first] for block in blocks])
    # Blocks that are not known take nothing apart.
    size = np.where(told[first], size, np.iinfo(np.int64).max)
    alone = np.zeros(groups.n, dtype=np.int64)
    np.maximum.at(alone, groups.of_item, found.class_size)

    def count(codes: IntArray, weight: IntArray, n: int) -> tuple[IntArray, IntArray, IntArray]:
        some = weight > 0
        cells_ = number_keys(groups.of_item[some] * n + codes[some], max(groups.n * n, 1))
        rows = sums(cells_.of_item, weight[some], cells_.n)
        return cells_.keys // max(n, 1), cells_.keys % max(n, 1), rows

    def choose(score: FloatArray) -> IntArray:
        del score
        return groups.of_item.astype(np.int64)

    shown = np.array([block[first] for block in blocks], dtype=np.int64).reshape(len(blocks), -1)
    return _Fits(groups.n, size, alone, count, choose, shown)


def _match(found: Undone) -> _Fits | None:
    """Compare each person against each row, by labels and true values; None if that is too much."""
    counts, used, source, whole = found.counts, found.used, found.source, found.whole
    assert source is not None  # noqa: S101 - the caller looked
    assert whole is not None  # noqa: S101 - it read the source
    names = found.quasi_identifiers
    shown, people = counts.project(names), source.project(names)
    match = matcher(people, LinkedTables((shown,)), whole.labels)
    if not isinstance(match, ExactMatcher) and len(people) * len(shown) > _MATCHES:
        return None
    pairs = [*match.pairs(people.codes)]
    if not pairs or sum(len(one) for one, _ in pairs) > _CANDIDATES:
        return None
    person, cls = (np.concatenate([each[i] for each in pairs]).astype(np.int64) for i in (0, 1))
    classes = counts.group_by(names)
    of_class = classes.of_item.astype(np.int64)
    blocks = [each.of_row for each in used]
    mine = [_of_raw(each)[people.codes_of(each.undone)] for each in used]
    table = _RefinedTable.of(of_class, classes.n, blocks, counts.rows)
    fitting = table.find(cls, [block[person] for block in mine])
    size = np.bincount(person, weights=fitting, minlength=len(people)).astype(np.int64)
    sizes = sums(of_class, counts.rows, classes.n)
    alone = np.bincount(person, weights=sizes[cls], minlength=len(people)).astype(np.int64)

    def count(codes: IntArray, weight: IntArray, n: int) -> tuple[IntArray, IntArray, IntArray]:
        return _count_matched(found, person, cls, mine, (codes, weight, n), len(people))

    return _Fits(
        len(people),
        size,
        alone,
        count,
        _owners(found, people, person, cls, mine),
        np.array(mine, dtype=np.int64).reshape(len(mine), -1),
    )


def _of_raw(relation: StepRelation) -> IntArray:
    assert relation.of_raw is not None  # noqa: S101 - true values are known
    return relation.of_raw


def _count_matched(
    found: Undone,
    person: IntArray,
    cls: IntArray,
    mine: Sequence[IntArray],
    asked: tuple[IntArray, IntArray, int],
    n_people: int,
) -> tuple[IntArray, IntArray, IntArray]:
    """Count values among the rows that fit each person."""
    codes, weight, n = asked
    counts, blocks = found.counts, [each.of_row for each in found.used]
    of_class = counts.group_by(found.quasi_identifiers)
    sizes = [int(block.max(initial=-1)) + 2 for block in blocks]
    some = np.flatnonzero(weight > 0)
    columns = [of_class.of_item[some].astype(np.int64), *(b[some] + 1 for b in blocks)]
    widths = [of_class.n, *sizes]
    cells = number_keys(*PackedKeys.of(columns, widths))
    entries = number_keys(cells.of_item * n + codes[some], max(cells.n * n, 1))
    rows = sums(entries.of_item, weight[some], entries.n)
    starts = np.searchsorted(entries.keys // max(n, 1), np.arange(cells.n + 1))
    fair = np.ones(len(person), dtype=np.bool_)
    own = [block[person] for block in mine]
    for block, size in zip(own, sizes, strict=True):
        fair &= (block >= 0) & (block + 1 < size)
    key, _ = PackedKeys.of([cls[fair], *(block[fair] + 1 for block in own)], widths)
    at = np.minimum(np.searchsorted(cells.keys, key), max(cells.n - 1, 0))
    there = cells.keys[at] == key if cells.n else np.zeros(len(key), dtype=np.bool_)
    at, who = at[there], person[fair][there]
    width = starts[at + 1] - starts[at]
    if int(width.sum()) > _CANDIDATES:
        width = np.zeros_like(width)
    pair, within = number_items(width)
    entry = starts[at[pair]] + within
    both = number_keys(who[pair] * n + entries.keys[entry] % max(n, 1), max(n_people * n, 1))
    return both.keys // max(n, 1), both.keys % max(n, 1), sums(both.of_item, rows[entry], both.n)


def _owners(
    found: Undone,
    people: FrequencySet,
    person: IntArray,
    cls: IntArray,
    mine: Sequence[IntArray],
) -> Callable[[FloatArray], IntArray]:
    """Return what finds whose a row may be: whose labels fit and whose column has its value.

    Where no person has the value, as in a column that was changed, the block has to do.
    """
    counts, used, source = found.counts, found.used, found.source
    assert source is not None  # noqa: S101 - the caller looked
    names = found.quasi_identifiers
    column = next((n for n in used[0].columns if n in source.names), None)
    classes = counts.group_by(names)
    of_class = classes.of_item.astype(np.int64)
    sides: list[tuple[IntArray, IntArray, IntArray]] = []
    order = np.argsort(person, kind="stable")
    starts = np.searchsorted(person[order], np.arange(len(people) + 1))
    if column is not None:
        each = source.project((*names, column))
        who = each.group_by(names).of_item.astype(np.int64)
        width = np.diff(starts)[who]
        if int(width.sum()) <= _CANDIDATES:
            at, within = number_items(width)
            pair = order[starts[who[at]] + within]
            match = match_values(each.column(column), counts.column(column))
            value = match[each.codes_of(column)][at]
            n = len(counts.column(column).values)
            good = value >= 0
            sides.append(
                (
                    of_class * n + counts.codes_of(column),
                    (cls[pair] * n + value)[good],
                    who[at][good],
                )
            )
    blocks = [relation.of_row for relation in used]
    sizes = [
        max(int(b.max(initial=-1)), int(m.max(initial=-1))) + 2
        for b, m in zip(blocks, mine, strict=True)
    ]
    widths = [classes.n, *sizes]
    sides.append(
        (
            PackedKeys.of([of_class, *(block + 1 for block in blocks)], widths).key,
            PackedKeys.of([cls, *(block[person] + 1 for block in mine)], widths).key,
            person,
        )
    )

    def choose(score: FloatArray) -> IntArray:
        chosen = np.full(len(counts), -1, dtype=np.int64)
        for row_key, keys, owners in sides:
            ranked = np.lexsort((-owners, score[owners], keys))
            key, who = keys[ranked], owners[ranked]
            if not len(key):
                continue
            at = np.searchsorted(key, row_key, "right") - 1
            there = (at >= 0) & (key[np.maximum(at, 0)] == row_key) & (chosen < 0)
            chosen = np.where(there, who[np.maximum(at, 0)], chosen)
        return chosen

    return choose


# What is believed.


@dataclass(frozen=True, eq=False)
class _ToldRows:
    """What is believed of groups of people, and which combination is of which."""

    prior: FloatArray
    posterior: FloatArray
    of_group: IntArray
    """The level of each group."""

    group: IntArray
    """The group of each combination; -1 for none."""

    believed: Callable[[int], str]

    @property
    def levels(self) -> IntArray:
        """The level of each combination."""
        if not len(self.of_group):
            return np.zeros(len(self.group), dtype=np.int64)
        return np.where(self.group >= 0, self.of_group[self.group], 0)


def _nothing(found: Undone) -> _ToldRows:
    none = np.zeros(0)
    return _ToldRows(
        none, none, none.astype(np.int64), np.full(len(found.counts), -1), lambda _: "nothing"
    )


def _sure(found: Undone) -> float:
    """Return how likely all relations hold for a person."""
    return float(np.prod([1 - each.exceptions for each in found.used]))


def _links(found: Undone, rule: HarmRule) -> _ToldRows:
    """Return how surely the row of each group is one person's."""
    if not found.used:
        return _nothing(found)
    fits, total = found.fits, found.counts.total
    # Who is in smaller groups than the labels leave is there by what undoes them.
    smaller = (fits.size > 0) & (fits.size < fits.alone)
    posterior = np.where(smaller, _sure(found) / np.maximum(fits.size, 1), 0.0)
    prior = np.full(fits.n, 1 / total if total > 1 else 0.0)
    # A row that is found is no value learned yet: one in five, as promised so often, is low.
    judging = HarmRule(max(rule.high, rule.moderate), rule.high, rule.very_high)
    levels = judging.levels(prior, posterior)
    few = smaller & (fits.size < found.k)
    levels = np.where(few, np.maximum(levels, int(Level.HIGH)), levels)
    chosen = fits.choose(posterior)
    return _ToldRows(prior, posterior, levels, chosen, lambda _: "the row is the person's")


def _values(target: Target, found: Undone, column: str, rule: HarmRule) -> _ToldRows:
    """Return the value of a sensitive column that harms each group most, if it is believed."""
    if not found.used:
        return _nothing(found)
    fits, counts = found.fits, found.counts
    described = target.classes.counts_of(column)
    own, codes = counts.column(column), counts.codes_of(column).astype(np.int64)
    places = {text_of(value): code for code, value in enumerate(described.column.values)}
    match = np.array(
        [-1 if v is None else places.get(text_of(v), -1) for v in own.values], dtype=np.int64
    )
    value, n = match[codes], len(described.column.values)
    known = np.where(value >= 0, counts.rows, 0)
    who, held, rows = fits.count(np.maximum(value, 0), known, max(n, 1))
    total = np.bincount(who, weights=rows, minlength=fits.n)
    # Rows that do not tell their block may be a person's, too.
    hidden = np.where(fits.size < np.iinfo(np.int64).max, fits.size, 0)
    of_all, _, every = fits.count(np.zeros(len(counts), dtype=np.int64), counts.rows, 1)
    told = np.bincount(of_all, weights=every, minlength=fits.n)
    total = total + np.maximum(hidden - told, 0)
    smaller = (fits.size > 0) & (fits.size < fits.alone)
    keep = smaller[who]
    who, held, rows = who[keep], held[keep], rows[keep]
    prior = priors(described)[held] if n else np.zeros(0)
    posterior = _sure(found) * rows / np.maximum(total[who], 1)
    secret = secrecy_of(described, held)
    best = strongest(rule, who, prior, posterior, secret, fits.n)
    some = best >= 0
    pick = np.maximum(best, 0)

    def pick_best(each: FloatArray) -> FloatArray:
        return np.where(some, each[pick], 0.0) if len(each) else np.zeros(fits.n)

    best_value = np.where(some, held[pick], -1) if len(held) else np.full(fits.n, -1)
    before, after = pick_best(prior), pick_best(posterior)
    levels = rule.judge(
        before, after, found.counts.total, applies=some, secrecy=secrecy_of(described, best_value)
    ).levels
    chosen = fits.choose(levels + after / 2)
    return _ToldRows(before, after, levels, chosen, is_value(described, best_value))


def _worst(found: Undone, told: _ToldRows) -> tuple[Case, ...]:
    """Return the groups that are worst off, each with the rows that are theirs."""
    if not len(told.of_group):
        return ()
    mine = told.group >= 0
    rows = add_up(told.group[mine], found.counts.rows[mine], len(told.of_group))
    gain = told.posterior - told.prior
    order = np.lexsort((-rows, -gain, -told.posterior, -told.of_group))
    order = order[(rows[order] > 0) & (told.posterior[order] > 0)][:MOST_CASES]
    return tuple(
        Case(
            _who(found, told, at),
            max(int(rows[at]), 1),
            told.believed(at),
            float(told.prior[at]),
            float(told.posterior[at]),
            Level(int(told.of_group[at])),
        )
        for at in order.tolist()
    )


def _who(found: Undone, told: _ToldRows, at: int) -> Mapping[str, Value]:
    example = int(np.flatnonzero(told.group == at)[0])
    shown: dict[str, Value] = dict(found.counts.values_at(found.quasi_identifiers, example))
    for each, block in zip(found.used, found.fits.block[:, at].tolist(), strict=True):
        if block >= 0:
            shown[each.undone] = each.show(block)
    return shown


def _among(counts: FrequencySet, rows: FrequencySet, flags: BoolArray) -> BoolArray:
    """Return which combinations of some counts have a row that is marked among finer ones."""
    if counts is rows:
        return flags
    names = [name for name in counts.names if name in rows.names]
    sizes = [len(counts.column(name).values) for name in names]
    own = [counts.codes_of(name).astype(np.int64) for name in names]
    theirs, good = [], np.ones(len(rows), dtype=np.bool_)
    for name in names:
        column = rows.column(name)
        codes = {value: code for code, value in enumerate(counts.column(name).values)}
        match = np.array([codes.get(value, -1) for value in column.values], dtype=np.int64)
        each = match[rows.codes_of(name)]
        good &= each >= 0
        theirs.append(each)
    marked = good & flags
    both = [np.concatenate([a, b[marked]]) for a, b in zip(own, theirs, strict=True)]
    n = len(counts)
    groups = group(both, sizes, n=n + int(marked.sum()))
    hit = np.zeros(groups.n, dtype=np.bool_)
    hit[groups.of_item[n:]] = True
    found: BoolArray = hit[groups.of_item[:n]]
    return found
