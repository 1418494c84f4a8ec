"""Q-S association hiding: the table in one piece, with sensitive values that no rule leads to.

The method that decoupling is compared with. It pays with the sensitive values, of which the other
decouplings publish every one.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, fields
from functools import cached_property
from itertools import combinations
from typing import Any, ClassVar, Literal, NamedTuple, Self

import numpy as np

from sfumato.counts import FrequencySet, group, sums
from sfumato.dataclasses import dataclass
from sfumato.decouplings.base import DecoupledPart, Decoupling, GroupedTables, Parts
from sfumato.errors import ParameterError, require_int, require_number
from sfumato.hierarchy import HierarchyBuilder, Ladder, Suppress
from sfumato.losses import Attribute, Cells, LocalResult, NormalizedLoss
from sfumato.networks import conditional_table
from sfumato.showing.plain import code, render
from sfumato.tables.derived import DerivedColumn, DerivedTable
from sfumato.text import STAR, fold_spelling, percent, text_of
from sfumato.typing import BoolArray, FloatArray, IntArray, Value

SCOPES = ("values", "column")


@dataclass(frozen=True)
class Thresholds:
    """From when on what a quasi-identifier tells about a sensitive value is a rule.

    Example:
        >>> Thresholds(confidence=0.5, absence=0.9).absence
        0.9
    """

    confidence: float = 0.5
    """What the confidence that a person has a value must exceed."""

    absence: float | None = None
    """What the confidence that a person does not have a value must exceed; None for no such
    rules."""

    support: int = 1
    """Fewest rows with the quasi-identifier values."""

    size: int = 1
    """The most quasi-identifiers that a rule starts from."""

    def __post_init__(self) -> None:
        least, most = {"at_least": 0, "below": 1}, "no confidence exceeds 1"
        require_number("confidence", self.confidence, **least, why=most)
        if self.absence is not None:
            require_number("absence", self.absence, **least, why=most)
        require_int("support", self.support, at_least=1)
        require_int("size", self.size, at_least=1)

    def antecedents(self, quasi_identifiers: Sequence[str]) -> Iterator[tuple[str, ...]]:
        """Yield the sets of columns that rules start from.

        >>> list(Thresholds(size=2).antecedents(["age", "zip"]))
        [('age',), ('zip',), ('age', 'zip')]
        """
        for n in range(1, self.size + 1):
            yield from combinations(quasi_identifiers, n)


class _Labels(NamedTuple):
    """The published labels of a column: one of each text, whatever it stands for."""

    of_value: IntArray
    """The label of each raw value."""

    texts: tuple[str, ...]
    leaves: FloatArray
    """For each label, how many raw values it stands for: of nodes with one name, the fewest."""

    tells: BoolArray
    """Whether it tells anything: the top and a missing value do not."""


class _Rules(NamedTuple):
    """Which labels rules lead to, or away from, and how strong the strongest are."""

    labels: IntArray
    """Labels that some rule is about, each once."""

    associations: int
    disassociations: int
    confidence: float
    absence: float


@dataclass(frozen=True, eq=False)
class HiddenColumn:
    """A sensitive column, generalised value by value."""

    ladder: Ladder
    frequency: IntArray
    levels: IntArray
    """How far up each raw value stands."""

    rules: int
    """How many rules led to a value before, or away from one."""

    disassociations: int
    """How many of them led away from one."""

    rounds: int
    """How often values were raised until none was left."""

    confidence: float = 0.0
    """How surely a quasi-identifier still tells a value."""

    absence: float = 0.0
    """How surely one still tells that a value is not there which is there elsewhere."""

    @property
    def name(self) -> str:
        """The column's name."""
        return self.ladder.column

    @cached_property
    def labels(self) -> Mapping[Value, Value]:
        """The published label of each raw value."""
        return dict(zip(self.ladder.values, _published(self.ladder, self.levels), strict=True))

    @property
    def changed(self) -> bool:
        """Whether any value was generalised."""
        return bool((self.levels > 0).any())

    def leaves(self, *, exact: bool) -> dict[str, int]:
        """Return for each label that tells something how many raw values it stands for."""
        labels = _labels(self.ladder, self.levels, exact=exact)
        shown = zip(labels.texts, labels.leaves.tolist(), labels.tells.tolist(), strict=True)
        return {text: int(leaves) for text, leaves, tells in shown if tells}

    @cached_property
    def cells(self) -> Cells:
        """The column as losses see it."""
        codes = self.ladder.codes[self.levels, np.arange(len(self.levels))]
        labels = group([self.levels, codes], [self.ladder.height + 1, len(self.levels) + 1])
        leaves = np.array(
            [self.ladder.leaves[self.levels[i]][codes[i]] for i in labels.first.tolist()],
            dtype=np.float64,
        )
        together = sums(labels.of_item, self.frequency, labels.n).astype(np.float64)
        return Cells(
            value=np.arange(len(self.levels)),
            level=self.levels.astype(np.float64),
            leaves=leaves[labels.of_item],
            together=together[labels.of_item],
            rows=self.frequency.astype(np.float64),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values that JSON can hold."""
        changed = {v: p for v, p in self.labels.items() if v is not None and p != v}
        return {
            "column": self.name,
            "rules": self.rules,
            "disassociations": self.disassociations,
            "rounds": self.rounds,
            "highest": int(self.levels.max(initial=0)),
            "height": self.ladder.height,
            "published": {text_of(value): text_of(label) for value, label in changed.items()},
        }


def hide_columns(
    counts: FrequencySet,
    quasi_identifiers: Sequence[str],
    sensitive: Sequence[str],
    hierarchies: Mapping[str, Ladder | HierarchyBuilder],
    thresholds: Thresholds,
    *,
    scope: str = "values",
    exact: Sequence[str] = (),
) -> tuple[HiddenColumn, ...]:
    """Generalise sensitive columns, each by itself, until no rule is about one of their labels.

    Args:
        counts: The table.
        quasi_identifiers: The columns others may know.
        sensitive: The columns that must not be learned.
        hierarchies: Theirs, or their ladders; a column without one has its values suppressed.
        thresholds: What a rule is.
        scope: What a rule lifts: `values`, the label it is about and its siblings, in the
            whole table, or `column`, all values by a level.
        exact: The columns in which another spelling is another value.

    Example:
        >>> rows = [("30s", "flu")] * 3 + [("30s", "gout"), ("40s", "flu"), ("40s", "gout")]
        >>> counts = FrequencySet.from_rows(["age", "ill"], rows)
        >>> [ill] = hide_columns(counts, ["age"], ["ill"], {}, Thresholds(0.6))
        >>> ill.rules, ill.labels
        (1, {'flu': '*', 'gout': '*'})
    """
    if scope not in SCOPES:
        raise ParameterError("scope", scope, " or ".join(map(repr, SCOPES)))
    known = list(thresholds.antecedents(quasi_identifiers))
    return tuple(
        _hide(
            _Evidence.of(counts, known, name, thresholds.support),
            _ladder(counts, name, hierarchies),
            thresholds,
            scope,
            exact=name in exact,
        )
        for name in sensitive
    )


@dataclass(frozen=True, eq=False)
class _Evidence:
    """How many rows behind each antecedent that has enough of them have each raw value."""

    frequency: IntArray
    """Rows of each raw value."""

    antecedent: IntArray
    value: IntArray
    rows: IntArray
    support: IntArray
    """Rows of each antecedent."""

    @classmethod
    def of(
        cls, counts: FrequencySet, known: Sequence[tuple[str, ...]], told: str, support: int
    ) -> "_Evidence":
        parts: list[tuple[np.ndarray, ...]] = [(np.zeros(0, dtype=np.int64),) * 4]
        offset = 0
        for names in known:
            table = conditional_table(counts, told, names)
            enough = table.support >= support
            number = np.cumsum(enough) - 1 + offset
            kept = enough[table.combination]
            parts.append(
                (
                    number[table.combination[kept]],
                    table.value[kept].astype(np.int64),
                    table.count[kept],
                    table.support[enough],
                )
            )
            offset += int(enough.sum())
        return cls(counts.value_counts(told), *map(np.concatenate, zip(*parts, strict=True)))


def _ladder(
    counts: FrequencySet, name: str, hierarchies: Mapping[str, Ladder | HierarchyBuilder]
) -> Ladder:
    values = counts.column(name).values
    given = hierarchies.get(name) or Suppress()
    ladder = given if isinstance(given, Ladder) else given.ladder(name, values)
    if ladder.values != values:
        raise ParameterError(
            f"the ladder of {name!r}",
            f"one of {len(ladder.values)} values",
            f"bound to the column's {len(values)} values",
            why="hierarchy.bind(name, counts.column(name).values) makes one",
        )
    return ladder


def _hide(
    evidence: _Evidence, ladder: Ladder, thresholds: Thresholds, scope: str, *, exact: bool
) -> HiddenColumn:
    """Raise what rules are about, round by round; each raises something, so it ends at the top."""
    levels = np.zeros(len(ladder.values), dtype=np.int64)
    first: _Rules | None = None
    rounds = 0
    while True:
        labels = _labels(ladder, levels, exact=exact)
        found = _mine(evidence, labels, thresholds)
        first = first or found
        if not len(found.labels):
            break
        if scope == "column":
            levels = np.minimum(levels + 1, ladder.height)
        else:
            levels = _raise_values(ladder, levels, np.isin(labels.of_value, found.labels))
        rounds += 1
    return HiddenColumn(
        ladder,
        evidence.frequency,
        levels,
        first.associations + first.disassociations,
        first.disassociations,
        rounds,
        found.confidence,
        found.absence,
    )


def _mine(evidence: _Evidence, labels: _Labels, thresholds: Thresholds) -> _Rules:
    """Find the rules there are at some labels."""
    n, label = len(labels.texts), labels.of_value[evidence.value]
    cells = group([evidence.antecedent, label], [len(evidence.support), n])
    rows = sums(cells.of_item, evidence.rows, cells.n)
    label = label[cells.first]
    behind = evidence.support[evidence.antecedent[cells.first]]
    telling = labels.tells[label]
    # One division of whole numbers, so that what equals a threshold does not exceed it.
    likely = rows / (behind * labels.leaves[label])
    led_to = label[telling & (likely > thresholds.confidence)]
    strongest = float(likely[telling].max(initial=0.0))
    if thresholds.absence is None or not len(evidence.support):
        return _Rules(np.unique(led_to), len(led_to), 0, strongest, 0.0)
    total = int(evidence.frequency.sum())
    everywhere = sums(labels.of_value, evidence.frequency, n)
    # A label that is as rare in the whole table tells nothing new where it is not. So there are
    # few labels to look at, and most of their cells need not be there.
    common = labels.tells & ((total - everywhere) / total <= thresholds.absence)
    absent = (behind - rows) / behind
    at = common[label]
    present = sums(label[at], np.ones(int(at.sum()), dtype=np.int64), n)
    weak = at & (absent > thresholds.absence)
    never = np.where(common, len(evidence.support) - present, 0)
    away = never + sums(label[weak], np.ones(int(weak.sum()), dtype=np.int64), n)
    surest = 1.0 if never.any() else float(absent[at].max(initial=0.0))
    found = np.unique(np.concatenate([led_to, np.flatnonzero(away)]))
    return _Rules(found, len(led_to), int(away.sum()), strongest, surest)


def _published(ladder: Ladder, levels: IntArray) -> list[Value]:
    codes = ladder.codes[levels, np.arange(len(levels))].tolist()
    return [ladder.labels[l][c] for l, c in zip(levels.tolist(), codes, strict=True)]


def _labels(ladder: Ladder, levels: IntArray, *, exact: bool) -> _Labels:
    """Number the labels as a reader sees them: what is spelt alike is one."""
    names = _published(ladder, levels)
    codes = ladder.codes[levels, np.arange(len(levels))].tolist()
    numbers: dict[str | None, int] = {}
    texts: list[str] = []
    leaves: list[float] = []
    of_value = np.zeros(len(levels), dtype=np.int64)
    for i, (name, level, at) in enumerate(zip(names, levels.tolist(), codes, strict=True)):
        text = None if name is None else text_of(name)
        key = text if exact or text is None else fold_spelling(text) or None
        number = numbers.setdefault(key, len(numbers))
        stands_for = float(ladder.leaves[level][at])
        if number == len(texts):
            texts.append(text or "")
            leaves.append(stands_for)
        leaves[number] = min(leaves[number], stands_for)
        of_value[i] = number
    tells = np.array([key is not None and key != STAR for key in numbers], dtype=bool)
    return _Labels(of_value, tuple(texts), np.array(leaves, dtype=np.float64), tells)


def _raise_values(ladder: Ladder, levels: IntArray, chosen: BoolArray) -> IntArray:
    """Raise some values to their parents, and with them everything below those."""
    raised = levels.copy()
    for value in np.flatnonzero(chosen & (levels < ladder.height)).tolist():
        level = int(levels[value]) + 1
        siblings = ladder.codes[level] == ladder.codes[level, value]
        raised[siblings] = np.maximum(raised[siblings], level)
    return raised


def publish_labels(counts: FrequencySet, columns: Sequence[HiddenColumn]) -> FrequencySet:
    """Return the table with labels in place of values, counted."""
    values: list[Sequence[Value]] = [column.values for column in counts.columns]
    codes = counts.codes.copy()
    for column in columns:
        at = counts.index(column.name)
        # What was generalised is text, and so is everything beside it.
        labels = [
            text_of(label) if column.changed and label is not None else label
            for label in column.labels.values()
        ]
        places = {label: i for i, label in enumerate(dict.fromkeys(labels))}
        lookup = np.array([places[label] for label in labels], dtype=np.int32)
        codes[at] = lookup[codes[at]] if len(lookup) else 0
        values[at] = tuple(places)
    return FrequencySet.from_codes(counts.names, values, codes, counts.rows)


def loss_of(columns: Sequence[HiddenColumn], rows: int) -> FloatArray:
    """Return the normalised loss of each column: 0 is untouched, 1 is nothing left."""
    attributes = [Attribute(column.ladder, column.frequency) for column in columns]
    nothing = np.zeros(0, dtype=np.int64)
    result = LocalResult([column.cells for column in columns], nothing, [], 0)
    parts = NormalizedLoss().over(attributes, rows).per_attribute_local(result)
    return np.zeros(len(columns)) if parts is None else parts


_STILL_LINKED = (
    "the table is in one piece, so sensitive values reveal as much about each other as before"
)


@dataclass(frozen=True)
class AssociationHiding(Decoupling):
    """Keep the table whole, and generalise sensitive values until no quasi-identifier reveals one.

    Rules lead from a value of a quasi-identifier to a sensitive value (association) or away from
    one (disassociation): more than `confidence` of the people with it have the value, or more than
    `absence` do not have it, although in the whole table that is not so. As long as there is a
    rule, the label that it is about becomes its parent in the hierarchy of its column (the policy
    names it), with everything below that; without a hierarchy it becomes `*`.

    What a rule to a generalised label tells of a person is its confidence spread evenly over the
    raw values the label stands for, which falls as labels grow. (A label's own confidence only
    rises when labels are merged, so counting that, nothing short of the top would ever hide it.)

    Promises: no such rule is left, from one quasi-identifier or from up to `size` together; models
    of class sizes hold as they did, and those of a sensitive column where they still hold.
    Assumes: that all raw values of a label are equally likely to the adversary, and that nothing
    is concluded from what was generalised.
    Does not promise: anything about what one sensitive value tells of another, for rows are whole;
    nor about the people of one class, whom more quasi-identifiers than `size` single out.

    Reference: Weijia and Shangteng, "k-Anonymization without Q-S Associations", 2007, pages
    753-764 of the proceedings of APWeb/WAIM

    Args:
        confidence: What the share of a value among people with a quasi-identifier value may not
            exceed; at least 0, below 1.
        absence: What the share of those without it may not exceed; at least 0, below 1. None
            leaves such rules alone.
        scope: What a rule lifts: "values", the label it is about and its siblings, or "column",
            all values by a level.
        support: Fewest people behind a rule.
        size: The most quasi-identifiers that a rule starts from; the literature takes one.

    Example:
        >>> rows = [("30s", "flu")] * 3 + [("30s", "gout"), ("40s", "flu"), ("40s", "gout")]
        >>> counts = FrequencySet.from_rows(["age", "ill"], rows)
        >>> hiding = AssociationHiding(confidence=0.6)
        >>> parts = hiding.run(counts, ["age"], ["ill"], rng=np.random.default_rng())
        >>> parts.grouped.table("ill").column.values, parts.tables[0].content.rows
        (('*',), 6)
    """

    name: ClassVar[str] = "association-hiding"
    why_no_ledger: ClassVar[str | None] = (
        "its rows are whole, so who knows one value learns the others, and alpha would not bound "
        "that"
    )
    groups: ClassVar[tuple[str, str]] = ("class", "classes")
    in_one_piece: ClassVar[bool] = True
    notes: ClassVar[tuple[str, ...]] = (_STILL_LINKED,)

    confidence: float = 0.5
    absence: float | None = 0.95
    scope: Literal["values", "column"] = "values"
    support: int = 1
    size: int = 1

    def __post_init__(self) -> None:
        self.thresholds  # noqa: B018 - checks them
        if self.scope not in SCOPES:
            raise ParameterError("scope", self.scope, " or ".join(map(repr, SCOPES)))

    @property
    def thresholds(self) -> Thresholds:
        """The limits from which on there is a rule."""
        return Thresholds(self.confidence, self.absence, self.support, self.size)

    def inform(
        self, hierarchies: Mapping[str, HierarchyBuilder], exact: Sequence[str]
    ) -> Decoupling:
        own = {each.name: getattr(self, each.name) for each in fields(AssociationHiding)}
        return _InformedHiding(**own, hierarchies=hierarchies, exact=tuple(exact))

    def run(
        self,
        counts: FrequencySet,
        quasi_identifiers: Sequence[str],
        sensitive: Sequence[str],
        *,
        rng: np.random.Generator,
        plain: Sequence[str] = (),
    ) -> Parts:
        informed = self.inform({}, ())
        return informed.run(counts, quasi_identifiers, sensitive, rng=rng, plain=plain)

    def companions(self, parts: Parts, manifest: Mapping[str, Any]) -> dict[str, str]:
        del parts
        text = render(
            "decouplings/templates/association-hiding/README.md.jinja",
            manifest=manifest,
            groups=self.groups,
            promises=[
                hiding_text({**each, "column": code(each["column"])}).replace("no q", "No q", 1)
                for each in manifest["hiding"]
            ],
            star=STAR,
        )
        return {"README.md": text}

    @classmethod
    def example(cls) -> Self:
        return cls(confidence=0.5, absence=0.95)


@dataclass(frozen=True)
class _InformedHiding(AssociationHiding):
    """The same, with the hierarchies of a policy."""

    hierarchies: Mapping[str, HierarchyBuilder] = field(default_factory=dict)
    exact: tuple[str, ...] = ()

    def run(
        self,
        counts: FrequencySet,
        quasi_identifiers: Sequence[str],
        sensitive: Sequence[str],
        *,
        rng: np.random.Generator,
        plain: Sequence[str] = (),
    ) -> Parts:
        columns = hide_columns(
            counts,
            quasi_identifiers,
            sensitive,
            self.hierarchies,
            self.thresholds,
            scope=self.scope,
            exact=self.exact,
        )
        names = (*quasi_identifiers, *plain, *sensitive)
        published = publish_labels(counts.project(names), columns)
        described = tuple(DerivedColumn(c.name, c.values) for c in published.columns)
        content = DerivedTable.repeat(described, tuple(published.codes), published.rows, rng)
        return Parts(
            GroupedTables.of(published, quasi_identifiers, sensitive),
            "",
            "",
            (DecoupledPart("data", "rows", content),),
            counts=published,
            hiding=tuple(self._record(column) for column in columns),
        )

    def _record(self, column: HiddenColumn) -> dict[str, Any]:
        """Write what is promised of a column, as manifests do."""
        absence = {} if self.absence is None else {"absence": self.absence}
        return {
            "column": column.name,
            "confidence": self.confidence,
            **absence,
            "support": self.support,
            "size": self.size,
            "generalised": column.changed,
            "labels": column.leaves(exact=column.name in self.exact),
        }


def hiding_text(record: Mapping[str, Any]) -> str:
    """Write what is promised of a column in one line.

    >>> hiding_text({"column": "ill", "confidence": 0.5, "absence": 0.95})
    'no quasi-identifier reveals ill with more than 50 %, nor that it is not so with more than 95 %'
    """
    text = f"no quasi-identifier reveals {record['column']} with more than " + percent(
        record["confidence"]
    )
    if record.get("absence") is None:
        return text
    return f"{text}, nor that it is not so with more than {percent(record['absence'])}"
