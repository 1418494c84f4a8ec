"""Small random tables with policies for local recoding, and what may become of their values."""

from collections import defaultdict
from dataclasses import dataclass
from datetime import date
from typing import Any

import pyarrow as pa
from hypothesis import strategies as st

from sfumato.counts import FrequencySet
from sfumato.hierarchy import Masking, Taxonomy
from sfumato.losses import LOSSES
from sfumato.models import PrivacyModel
from sfumato.partition import PARTITIONERS, BottomUp, Mdav, Mondrian, Partitioner, TopDown
from sfumato.partition import Problem as PartitionProblem
from sfumato.policy import Policy
from sfumato.recode.deciding import counted_columns, make_problem, prepare
from tests.search.problems import DISEASES, MISSING, MODEL_SETS

METHODS: list[Partitioner] = [
    *(kind.example() for kind in PARTITIONERS.values() if kind not in (Mondrian, Mdav)),
    TopDown(best="loss"),
    # What intervals say that end at cuts is tested beside Mondrian itself.
    Mondrian(exact_bounds=True),
    Mondrian(relaxed=True, exact_bounds=True),
    BottomUp(nodes=3),
    Mdav(exact_bounds=True),
]
SINGLES = [models[0] for models in MODEL_SETS if len(models) == 1]
ID = "row"
"""A plain column that says which row a published row was."""


@dataclass(frozen=True)
class Kind:
    """A kind of column: its values, and for each the labels from the raw value to the top."""

    type: pa.DataType
    builder: Any
    paths: dict[Any, list[str]]
    by_hierarchy: bool = True
    """Whether the hierarchy knows all of the values, those the table does not have too."""


def _plain(*values: Any) -> dict[Any, list[str]]:
    return {value: [str(value), "*"] for value in values}


KINDS = {
    "letter": Kind(
        pa.string(),
        Taxonomy({"ab": ["a", "b"], "cd": ["c", "d"]}),
        {v: [v, "ab" if v in "ab" else "cd", "*"] for v in "abcd"},
    ),
    "digit": Kind(
        pa.string(),
        Taxonomy({"low": {"0-1": ["0", "1"], "2": ["2"]}, "high": ["3"]}),
        {
            "0": ["0", "0-1", "low", "*"],
            "1": ["1", "0-1", "low", "*"],
            "2": ["2", "2", "low", "*"],
            "3": ["3", "3", "high", "*"],
        },
    ),
    "zip": Kind(
        pa.string(),
        Masking(keep=3),
        {v: [v, v[:4] + "*", v[:3] + "**", "*"] for v in ("73455", "73456", "73460", "81000")},
        by_hierarchy=False,
    ),
    "age": Kind(pa.int64(), None, _plain(-3, 5, 20, 31, 47), by_hierarchy=False),
    "born": Kind(
        pa.date32(),
        None,
        _plain(date(1980, 1, 1), date(1980, 1, 2), date(2001, 12, 31)),
        by_hierarchy=False,
    ),
    "shape": Kind(pa.string(), None, _plain("round", "square"), by_hierarchy=False),
}
AS_INTERVALS = ("age", "born")
"""What Mondrian publishes as intervals, unless its levels are limited."""


@dataclass(frozen=True)
class Case:
    """A table, as rows over the quasi-identifiers and the disease, and a policy for it."""

    names: tuple[str, ...]
    rows: list[tuple[Any, ...]]
    policy: Policy

    def table(self) -> pa.Table:
        """Make a table, with a column that says which row is which."""
        types = [*(KINDS[name].type for name in self.names), pa.string()]
        columns = [pa.array([row[i] for row in self.rows], t) for i, t in enumerate(types)]
        names = [*self.names, "disease", ID]
        return pa.table([*columns, pa.array(range(len(self.rows)))], names=names)

    def problem(self) -> PartitionProblem:
        """Make what a partitioner is given."""
        counts = FrequencySet.from_rows([*self.names, "disease"], self.rows)
        counts = counts.project(counted_columns(self.policy))
        return make_problem(self.policy, prepare(self.policy, counts))

    def decided(self) -> list[tuple[Any, ...]]:
        """Give the rows that are left to decide on."""
        if self.policy.missing != "suppress":
            return self.rows
        return [row for row in self.rows if None not in row[:-1]]

    def is_interval(self, name: str, method: Partitioner) -> bool:
        """Tell whether a method publishes a column as intervals."""
        limited = self.policy.columns[name].levels is not None
        return (
            isinstance(method, Mondrian | Mdav)
            and name in AS_INTERVALS
            and not limited
            and bool(self.known(name))
        )

    def path(self, name: str, value: object) -> list[str | None]:
        """Give the labels of a value from level 0 to the top."""
        if value is not None:
            return [*KINDS[name].paths[value]]
        return [*[None] * self.height(name), "*"]

    def height(self, name: str) -> int:
        """Give the number of levels above the raw values."""
        return len(next(iter(KINDS[name].paths.values()))) - 1 if self.known(name) else 1

    def levels(self, name: str) -> range:
        """Give the levels at which a column may be published."""
        height = self.height(name)
        low, high = self.policy.columns[name].levels or (0, height)
        return range(min(low, height), min(high, height) + 1)

    def known(self, name: str) -> set[Any]:
        """Give the known values of a column in the rows that are left to decide on."""
        return {row[self.names.index(name)] for row in self.decided()} - {None}

    def domain(self, name: str) -> list[Any]:
        """Give the raw values that losses know of, missing last if it is one of them."""
        there = self.known(name)
        if there and KINDS[name].by_hierarchy:
            there = set(KINDS[name].paths)
        lacking = any(row[self.names.index(name)] is None for row in self.decided())
        return sorted(there) + [None] * lacking


@st.composite
def cases(draw, models=None, missing=None, kinds=None, max_columns=3, max_rows=24):
    """Draw a table and a policy."""
    names = draw(
        st.lists(
            st.sampled_from(list(kinds or KINDS)), min_size=1, max_size=max_columns, unique=True
        )
    )
    row = st.tuples(
        *(st.sampled_from([*KINDS[name].paths, None]) for name in names),
        st.sampled_from(["flu", "hiv", "gout", "cancer", None]),
    )
    rows = draw(st.lists(row, min_size=1, max_size=max_rows))
    rule = draw(st.sampled_from(missing or MISSING))
    limits = st.integers(0, max(len(rows) // 3, 1)) | st.just(0) | st.just(len(rows))
    lacking = sum(None in row[:-1] for row in rows) if rule == "suppress" else 0
    policy = Policy(
        columns={name: draw(rules(name)) for name in names}
        | {
            "disease": {"role": "sensitive", "hierarchy": Taxonomy(DISEASES)},
            ID: "plain",
        },
        models=draw(models if models is not None else model_sets()),
        loss=draw(st.sampled_from([kind.example() for kind in LOSSES.values()])),
        suppression={
            "limit": lacking + draw(limits),
            "rows": draw(st.sampled_from(["remove", "star"])),
        },
        missing=rule,
    )
    return Case(tuple(names), rows, policy)


@st.composite
def rules(draw, name):
    """Draw how a quasi-identifier may be generalised."""
    height = len(next(iter(KINDS[name].paths.values()))) - 1
    rule = {"role": "quasi-identifier", "weight": draw(st.sampled_from([1, 1, 3]))}
    if KINDS[name].builder is not None:
        rule["hierarchy"] = KINDS[name].builder
    if draw(st.integers(0, 3)) == 0:
        low = draw(st.integers(0, height))
        rule["levels"] = [low, draw(st.integers(low, height))]
    return rule


def model_sets() -> st.SearchStrategy[list[PrivacyModel]]:
    """Draw one of the models without a population, two of them, or a set that was written down."""
    one = st.sampled_from(SINGLES)
    two = st.lists(one, min_size=2, max_size=2, unique_by=lambda model: model.name)
    return st.sampled_from(MODEL_SETS) | two


def text(value: object) -> str | None:
    """Write a published cell as a reader sees it."""
    return None if value is None else str(value)


def classes_of(traced: list[tuple[tuple, tuple]]) -> dict[tuple, list[tuple]]:
    """Put traced rows (raw row, published labels) together that are published alike."""
    classes = defaultdict(list)
    for was, labels in traced:
        classes[labels].append(was)
    return classes
