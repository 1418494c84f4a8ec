"""Q-S association hiding: generalise sensitive values until quasi-identifiers tell none.

The method that decoupling a table is compared with. It keeps the table whole and pays with
the sensitive values; decoupling publishes every one of them.

Reference: Y. Weijia and H. Shangteng, "k-Anonymization without Q-S Associations", 2007, pages
753-764 of the proceedings of WAIM.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np

from sfumato.content import Content, Listing, Showable
from sfumato.counts import Column, FrequencySet, group, sums
from sfumato.errors import ParameterError, require_int, require_number
from sfumato.hierarchy import HierarchyBuilder, Ladder, Suppress
from sfumato.leaks.breach import listing, plain, show_value
from sfumato.leaks.rules import Entries, exceeding_entries
from sfumato.losses import Attribute, Cells, LocalResult, NormalizedLoss
from sfumato.networks import conditional_table
from sfumato.tables import open_table
from sfumato.text import percent
from sfumato.typing import FloatArray, IntArray, Value


@dataclass(frozen=True, eq=False)
class Association:
    """Values of some quasi-identifiers that tell a sensitive value, with what confidence."""

    known: tuple[Column, ...]
    told: Column
    entries: Entries
    """One entry per rule: the values, the rows with all of it, the rows with what is known."""

    def __len__(self) -> int:
        return len(self.entries)

    @property
    def strongest(self) -> float:
        """The largest confidence."""
        return float(self.entries.posterior.max(initial=0.0))

    def rules(self) -> list[dict[str, Any]]:
        """Return the rules as plain values, the surest first."""
        e = self.entries
        found = []
        for i in np.argsort(-e.posterior, kind="stable").tolist():
            known = tuple(
                (column.name, column.values[code])
                for column, code in zip(self.known, e.known[:, i].tolist(), strict=True)
            )
            told = ((self.told.name, self.told.values[e.value[i]]),)
            found.append(
                {
                    "known": plain(known),
                    "told": plain(told),
                    "confidence": float(e.posterior[i]),
                    "people": int(e.rows[i]),
                    "support": int(e.support[i]),
                    "text": f"{listing(known)} → {listing(told)}",
                }
            )
        return found

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values that JSON can hold."""
        return {
            "known": [column.name for column in self.known],
            "told": self.told.name,
            "strongest": self.strongest,
            "rules": self.rules(),
        }

    def __str__(self) -> str:
        known = ", ".join(column.name for column in self.known)
        return f"{known} → {self.told.name}: {len(self)} rules, up to {percent(self.strongest)}"


def associations_of(
    data: object,
    quasi_identifiers: Sequence[str],
    sensitive: Sequence[str],
    *,
    confidence: float = 0.5,
    support: int = 1,
    size: int = 1,
) -> list[Association]:
    """Mine the rules from quasi-identifier values to a sensitive value.

    A rule's confidence is the share of the sensitive value among the rows with the
    quasi-identifier values. A missing value tells nothing, so no rule leads to it.

    Args:
        data: The table: a path, pandas, Polars, Arrow, or its counts.
        quasi_identifiers: The columns others may know.
        sensitive: The columns that must not be learned.
        confidence: What a rule's confidence must exceed; at least 0, below 1.
        support: Fewest rows with the quasi-identifier values.
        size: How many quasi-identifiers a rule starts from, up to this; the literature
            takes single values.

    Example:
        >>> rows = [("30s", "flu")] * 4 + [("30s", "gout"), ("40s", "flu"), ("40s", "gout")]
        >>> counts = FrequencySet.from_rows(["age", "ill"], rows)
        >>> [found] = associations_of(counts, ["age"], ["ill"])
        >>> print(found, "-", found.rules()[0]["text"])
        age → ill: 1 rules, up to 80 % - age=30s → ill=flu
    """
    _require_mining(confidence, support, size)
    counts = _count(data, (*quasi_identifiers, *sensitive))
    found = [
        _association(counts, known, told, confidence, support)
        for told in sensitive
        for known in _antecedents(quasi_identifiers, size)
    ]
    return [one for one in found if len(one)]


def _count(data: object, names: Sequence[str]) -> FrequencySet:
    return data if isinstance(data, FrequencySet) else open_table(data).count(names)


def _antecedents(quasi_identifiers: Sequence[str], size: int) -> Iterator[tuple[str, ...]]:
    """Yield the sets of columns that rules start from.

    >>> list(_antecedents(["age", "zip"], 2))
    [('age',), ('zip',), ('age', 'zip')]
    """
    for n in range(1, size + 1):
        yield from combinations(quasi_identifiers, n)


def _require_mining(confidence: object, support: object, size: object) -> None:
    """Raise if thresholds make no sense."""
    require_number("confidence", confidence, at_least=0, below=1, why="no confidence exceeds 1")
    require_int("support", support, at_least=1)
    require_int("size", size, at_least=1)


def _association(
    counts: FrequencySet, known: tuple[str, ...], told: str, confidence: float, support: int
) -> Association:
    table = conditional_table(counts, told, known)
    wanted = (table.probability > confidence) & (table.value != table.child.missing)
    return Association(
        table.parents, table.child, exceeding_entries(table, counts, wanted, support)
    )


SCOPES = ("values", "column")
DECOUPLED_LOSS = 0.0
"""The loss of decoupling in the sensitive columns: their values are published as they are."""


@dataclass(frozen=True, eq=False)
class HiddenColumn:
    """A sensitive column, generalised value by value."""

    ladder: Ladder
    frequency: IntArray
    levels: IntArray
    """How far up each raw value stands."""

    rules: int
    """How many rules there were to hide."""

    rounds: int
    """How often values were raised until none was left."""

    @property
    def name(self) -> str:
        """The column's name."""
        return self.ladder.column

    @cached_property
    def labels(self) -> Mapping[Value, Value]:
        """The published label of each raw value."""
        codes = self.ladder.codes[self.levels, np.arange(len(self.levels))].tolist()
        levels = self.levels.tolist()
        published = [self.ladder.labels[l][c] for l, c in zip(levels, codes, strict=True)]
        return dict(zip(self.ladder.values, published, strict=True))

    @cached_property
    def cells(self) -> Cells:
        """The column as losses see it."""
        of_value, _, leaves, _ = _labels(self.ladder, self.levels)
        rows: FloatArray = self.frequency.astype(np.float64)
        together: FloatArray = sums(of_value, self.frequency, len(leaves)).astype(np.float64)
        return Cells(
            value=np.arange(len(rows)),
            level=self.levels.astype(np.float64),
            leaves=leaves[of_value],
            together=together[of_value],
            rows=rows,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values that JSON can hold."""
        changed = {v: p for v, p in self.labels.items() if v is not None and p != v}
        return {
            "column": self.name,
            "rules": self.rules,
            "rounds": self.rounds,
            "highest": int(self.levels.max(initial=0)),
            "height": self.ladder.height,
            "published": {show_value(value): show_value(label) for value, label in changed.items()},
        }


@dataclass(frozen=True, eq=False)
class HiddenTable(Showable):
    """A table whose quasi-identifiers no longer tell sensitive values, and what it cost."""

    counts: FrequencySet
    """The table with its sensitive values generalised."""

    columns: tuple[HiddenColumn, ...]
    confidence: float
    scope: str

    @cached_property
    def losses(self) -> Mapping[str, float]:
        """The normalised loss of each sensitive column: 0 is untouched, 1 is nothing left."""
        parts = _loss(self.columns, self.counts.total)
        return dict(zip((c.name for c in self.columns), parts.tolist(), strict=True))

    @property
    def loss(self) -> float:
        """The mean over the sensitive columns; decoupling costs them nothing."""
        return sum(self.losses.values()) / max(len(self.columns), 1)

    @property
    def rules(self) -> int:
        """The number of rules there were to hide."""
        return sum(column.rules for column in self.columns)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values that JSON can hold."""
        return {
            "confidence": self.confidence,
            "scope": self.scope,
            "rules": self.rules,
            "loss": {"hiding": self.loss, "breaking": DECOUPLED_LOSS},
            "columns": [{**c.to_dict(), "loss": self.losses[c.name]} for c in self.columns],
        }

    def content(self) -> Content:
        """Return what hiding costs, and what it costs each column."""
        head = (
            f"hiding {self.rules} rules above {self.confidence:g} costs {percent(self.loss)} of "
            f"the sensitive values; breaking the table costs {percent(DECOUPLED_LOSS)}"
        )
        lines = [
            f"{c.name}: {c.rules} rules, {percent(self.losses[c.name])} lost, up to level "
            f"{int(c.levels.max(initial=0))} of {c.ladder.height}"
            for c in self.columns
        ]
        return Content(head, (Listing.of(lines, most=len(lines)),) if lines else ())


def hide(
    data: object,
    quasi_identifiers: Sequence[str],
    sensitive: Sequence[str],
    hierarchies: Mapping[str, Ladder | HierarchyBuilder] | None = None,
    *,
    confidence: float = 0.5,
    scope: str = "values",
    support: int = 1,
    size: int = 1,
) -> HiddenTable:
    """Generalise sensitive values until no rule leads from quasi-identifiers to one of them.

    What a rule to a generalised value tells of a person is its confidence spread evenly over
    the raw values the label stands for: that falls as labels grow. (A label's own confidence
    only rises when labels are merged, so counting that, nothing short of the top would
    ever hide a rule.) The top tells nothing and ends it.

    Args:
        data: The table: a path, pandas, Polars, Arrow, or its counts.
        quasi_identifiers: The columns others may know.
        sensitive: The columns that must not be learned.
        hierarchies: Theirs, or their ladders; a column without one has its values suppressed.
        confidence: What may not be exceeded.
        scope: What a rule lifts: `values`, the label it leads to and its siblings, in the
            whole table (the cheaper, and the fairer comparison), or `column`, all values by a
            level.
        support: Fewest rows behind a rule.
        size: How many quasi-identifiers a rule starts from, up to this.

    Example:
        >>> from sfumato.hierarchy import Hierarchy
        >>> work = ["federal", "private", "self", "state"]
        >>> paths = [["public", "*"], ["own", "*"], ["own", "*"], ["public", "*"]]
        >>> ladder = Hierarchy.from_paths(work, paths).bind("work", work)
        >>> rows = [("30s", "state")] * 3 + [("30s", "self"), ("40s", "self"), ("40s", "private")]
        >>> counts = FrequencySet.from_rows(["age", "work"], rows + [("40s", "federal")])
        >>> hidden = hide(counts, ["age"], ["work"], {"work": ladder})
        >>> hidden.columns[0].labels["state"], hidden.columns[0].labels["self"]
        ('public', 'self')
        >>> print(hidden)
        hiding 1 rules above 0.5 costs 19 % of the sensitive values; breaking the table costs 0 %
          work: 1 rules, 19 % lost, up to level 1 of 2
    """
    _require_mining(confidence, support, size)
    if scope not in SCOPES:
        raise ParameterError("scope", scope, " or ".join(map(repr, SCOPES)))
    counts = _count(data, (*quasi_identifiers, *sensitive))
    known = list(_antecedents(quasi_identifiers, size))
    columns = tuple(
        _hide(
            _evidence(counts, known, name, support),
            _ladder(counts, name, hierarchies),
            confidence,
            scope,
        )
        for name in sensitive
    )
    return HiddenTable(_publish_labels(counts, columns), columns, confidence, scope)


@dataclass(frozen=True, eq=False)
class _Evidence:
    """How many rows behind each antecedent have each raw value."""

    column: Column
    frequency: IntArray
    antecedent: IntArray
    value: IntArray
    rows: IntArray
    support: IntArray
    """Rows of each antecedent."""


def _evidence(
    counts: FrequencySet, known: Sequence[tuple[str, ...]], told: str, support: int
) -> _Evidence:
    antecedent, value, rows, behind = [], [], [], []
    offset = 0
    for names in known:
        table = conditional_table(counts, told, names)
        enough = table.support[table.combination] >= support
        antecedent.append(table.combination[enough] + offset)
        value.append(table.value[enough].astype(np.int64))
        rows.append(table.count[enough])
        behind.append(table.support)
        offset += len(table)
    nothing = np.zeros(0, dtype=np.int64)
    return _Evidence(
        counts.column(told),
        counts.value_counts(told),
        *(np.concatenate([nothing, *parts]) for parts in (antecedent, value, rows, behind)),
    )


def _ladder(
    counts: FrequencySet, name: str, hierarchies: Mapping[str, Ladder | HierarchyBuilder] | None
) -> Ladder:
    values = counts.column(name).values
    given = (hierarchies or {}).get(name) or Suppress()
    ladder = given if isinstance(given, Ladder) else given.ladder(name, values)
    if ladder.values != values:
        raise ParameterError(
            f"the ladder of {name!r}",
            f"one of {len(ladder.values)} values",
            f"bound to the column's {len(values)} values",
            why="hierarchy.bind(name, counts.column(name).values) makes one",
        )
    return ladder


def _hide(evidence: _Evidence, ladder: Ladder, confidence: float, scope: str) -> HiddenColumn:
    """Raise what rules lead to, round by round; each raises something, so it ends at the top."""
    levels = np.zeros(len(ladder.values), dtype=np.int64)
    rules = rounds = 0
    while True:
        led_to = _led_to(evidence, ladder, levels, confidence)
        rules = rules or len(led_to)
        if not len(led_to):
            return HiddenColumn(ladder, evidence.frequency, levels, rules, rounds)
        levels = (
            levels + 1 if scope == "column" else _raise_labels(ladder, levels, np.unique(led_to))
        )
        rounds += 1


def _led_to(evidence: _Evidence, ladder: Ladder, levels: IntArray, confidence: float) -> IntArray:
    """Return for each rule a raw value whose label it leads to."""
    of_value, first, leaves, tells = _labels(ladder, levels)
    label = of_value[evidence.value]
    cells = group([evidence.antecedent, label], [len(evidence.support), len(first)])
    rows = sums(cells.of_item, evidence.rows, cells.n)
    label = label[cells.first]
    behind = evidence.support[evidence.antecedent[cells.first]]
    # One division of whole numbers, so that what equals the threshold does not exceed it.
    sure = rows / (behind * leaves[label]) > confidence
    found: IntArray = first[label[sure & tells[label]]]
    return found


def _labels(ladder: Ladder, levels: IntArray) -> tuple[IntArray, IntArray, FloatArray, np.ndarray]:
    """Number the published labels.

    Returns the label of each raw value and, for each label, one raw value, how many it stands
    for, and whether it tells anything: the top and a missing value do not.
    """
    values = np.arange(len(levels))
    codes = ladder.codes[levels, values]
    labels = group([levels, codes], [ladder.height + 1, len(levels) + 1])
    first = labels.first
    leaves = np.array(
        [ladder.leaves[levels[i]][codes[i]] for i in first.tolist()], dtype=np.float64
    )
    missing = Column(ladder.column, ladder.values).missing
    return labels.of_item, first, leaves, (levels[first] < ladder.height) & (first != missing)


def _raise_labels(ladder: Ladder, levels: IntArray, led_to: IntArray) -> IntArray:
    """Raise some labels to their parents, and with them everything below those."""
    raised = levels.copy()
    for value in led_to.tolist():
        level = int(levels[value]) + 1
        siblings = ladder.codes[level] == ladder.codes[level, value]
        raised[siblings] = np.maximum(raised[siblings], level)
    return raised


def _publish_labels(counts: FrequencySet, columns: Sequence[HiddenColumn]) -> FrequencySet:
    values: list[Sequence[Value]] = [column.values for column in counts.columns]
    codes = counts.codes.copy()
    for column in columns:
        at = counts.index(column.name)
        places = {label: i for i, label in enumerate(dict.fromkeys(column.labels.values()))}
        lookup = np.array([places[label] for label in column.labels.values()], dtype=np.int32)
        codes[at] = lookup[codes[at]] if len(lookup) else 0
        values[at] = tuple(places)
    return FrequencySet.from_codes(counts.names, values, codes, counts.rows)


def _loss(columns: Sequence[HiddenColumn], rows: int) -> FloatArray:
    attributes = [Attribute(column.ladder, column.frequency) for column in columns]
    nothing = np.zeros(0, dtype=np.int64)
    result = LocalResult([column.cells for column in columns], nothing, [], 0)
    parts = NormalizedLoss().over(attributes, rows).per_attribute_local(result)
    return np.zeros(len(columns)) if parts is None else parts
