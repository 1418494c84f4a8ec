"""Small random problems, and a literal judge for them."""

from dataclasses import dataclass, replace
from itertools import product

import numpy as np
from hypothesis import strategies as st

from sfumato.classes import EquivalenceClasses, classes_from, sensitive_column
from sfumato.counts import FrequencySet, align
from sfumato.hierarchy import Taxonomy
from sfumato.losses import LOSSES
from sfumato.models import (
    MODELS,
    AverageRisk,
    EntropyLDiversity,
    KAnonymity,
    PrivacyModel,
    RecursiveCLDiversity,
    SampleUniqueness,
    TableModel,
    TCloseness,
)
from sfumato.policy import Policy
from sfumato.recode.deciding import make_checker
from sfumato.search import Checker

TREES = {
    "letter": {"ab": ["a", "b"], "cd": ["c", "d"]},
    "digit": {"low": {"0-1": ["0", "1"], "2": ["2"]}, "high": ["3"]},
    "shape": ["round", "square"],
}
DISEASES = {"virus": ["flu", "hiv"], "other": ["gout", "cancer"]}
COLUMNS = [*TREES, "disease"]


def cells(*values: str):
    return st.sampled_from([*values, None])


ROW = st.tuples(
    cells("a", "b", "c", "d"),
    cells("0", "1", "2", "3"),
    cells("round", "square"),
    cells("flu", "hiv", "gout", "cancer"),
)
ROWS = st.lists(ROW, min_size=1, max_size=30)

MODEL_SETS = [
    *(
        [kind.example()]
        for kind in MODELS.values()
        if not kind.needs_population and not kind.needs_numbers and not kind.protects_sets
    ),
    [KAnonymity(3)],
    [KAnonymity(2), EntropyLDiversity("disease", l=1.5)],
    [KAnonymity(2), TCloseness("disease", t=0.4)],
    [RecursiveCLDiversity("disease", c=3, l=2), SampleUniqueness(0.1)],
    [SampleUniqueness(0.2, drawn=True)],
    [SampleUniqueness(0.3, drawn=True), TCloseness("disease", t=0.6)],
    [AverageRisk(0.4), TCloseness("disease", t=0.5, distance="ordered")],
]
MISSING = ["own-value", "matches-any", "suppress"]


@dataclass(frozen=True)
class Problem:
    rows: list[tuple[str | None, ...]]
    policy: Policy
    population: list[tuple[str | None, ...]] | None = None

    def counts(self) -> tuple[FrequencySet, FrequencySet | None]:
        people = None
        if self.population is not None:
            people = FrequencySet.from_rows(list(TREES), self.population)
        return FrequencySet.from_rows(COLUMNS, self.rows), people

    def checker(self) -> Checker:
        counts, people = self.counts()
        # Who is drawn must not differ between two searches that are compared.
        return make_checker(self.policy, counts, people, rng=np.random.default_rng(7))


@st.composite
def problems(draw, models=None, missing=None):
    """A random table with a random policy over it."""
    chosen = draw(st.sampled_from(MODEL_SETS if models is None else models))
    rows = draw(ROWS)
    rule = draw(st.sampled_from(MISSING if missing is None else missing))
    lacking = sum(None in row[:3] for row in rows) if rule == "suppress" else 0
    policy = Policy(
        columns={
            name: {"role": "quasi-identifier", "hierarchy": Taxonomy(tree)}
            for name, tree in TREES.items()
        }
        | {"disease": {"role": "sensitive", "hierarchy": Taxonomy(DISEASES)}},
        models=chosen,
        loss=draw(st.sampled_from([kind.example() for kind in LOSSES.values()])),
        suppression=lacking + draw(st.integers(0, max(len(rows) // 3, 1))),
        missing=rule,
    )
    return Problem(rows, policy)


def generalised(problem: Problem, checker: Checker, node) -> list[tuple]:
    """Rewrite every row by hand; what the policy drops before the search is left out."""
    maps = [
        {v: ladder.labels[level][ladder.codes[level][i]] for i, v in enumerate(ladder.values)}
        for ladder, level in zip(checker.grouping.ladders, node, strict=True)
    ]
    drop = problem.policy.missing == "suppress"
    return [
        (*(mapping[cell] for mapping, cell in zip(maps, row[:3], strict=True)), row[3])
        for row in problem.rows
        if not (drop and None in row[:3])
    ]


def literal_left(problem: Problem, checker: Checker, node) -> list[tuple]:
    """Suppress by the definition: judge, leave out what fails, judge again until all is well.

    What fails whatever it is compared with goes first, then what fails in comparison with
    the rest, and last what the table as a whole cannot bear.
    """
    rows = generalised(problem, checker, node)
    rank = class_order(checker, node)
    models = problem.policy.models
    absorbing = [m.absorbing_part for m in models if m.absorbing_part is not None]
    if problem.policy.missing == "matches-any":
        absorbing = [m for m in absorbing if not isinstance(m, TableModel)]
    per_class = [m for m in models if not isinstance(m, TableModel)]
    per_table = [m for m in models if isinstance(m, TableModel)]
    while failing := failing_tuples(problem, rows, absorbing, rank):
        rows = [row for row in rows if row[:3] not in failing]
    while failing := (
        failing_tuples(problem, rows, per_class, rank)
        or failing_tuples(problem, rows, per_table, rank)
    ):
        rows = [row for row in rows if row[:3] not in failing]
    return rows


def class_order(checker: Checker, node) -> dict[tuple, int]:
    """Number the classes as the checker does: models that break ties go by it."""
    ladders = checker.grouping.ladders
    first = checker.grouping.partition(node).first
    raw = checker.grouping.codes[:, first].T
    return {
        tuple(
            ladder.labels[level][ladder.codes[level][code]]
            for ladder, level, code in zip(ladders, node, codes, strict=True)
        ): i
        for i, codes in enumerate(raw)
    }


def failing_tuples(problem: Problem, rows, models: list[PrivacyModel], rank) -> set[tuple]:
    """Judge every published tuple on the rows an attacker would find for it.

    Where missing values match any, that depends on what the person really has: every whole
    tuple is tried that a published one may stand for. A mean takes the fewest rows of each.
    """
    tuples = sorted({row[:3] for row in rows}, key=lambda key: rank[key])
    failing = set()
    fewest = literal_classes(problem, rows, [fill(key) for key in tuples])
    own = [sum(row[:3] == key for row in rows) for key in tuples]
    fewest = replace(fewest, own=np.array(own))
    wholes = dict.fromkeys(one for key in tuples for one in whole_tuples(problem, rows, key))
    several = {one: [key for key in tuples if fits(problem, key, one)] for one in wholes}
    every = literal_classes(problem, rows, list(several))
    for model in models:
        if isinstance(model, TableModel):
            for verdict, key in zip(model.passes(fewest), tuples, strict=True):
                failing |= set() if verdict else {key}
        else:
            for verdict, keys in zip(model.passes(every), several.values(), strict=True):
                failing |= set() if verdict else set(keys)
    return failing


ELSEWHERE = "a value that no row has"


def fill(key: tuple) -> tuple:
    return tuple(ELSEWHERE if cell is None else cell for cell in key)


def whole_tuples(problem: Problem, rows, key: tuple) -> list[tuple]:
    """What the person of a published tuple may have."""
    if problem.policy.missing != "matches-any":
        return [fill(key)]
    values = [sorted({row[at] for row in rows} - {None}, key=str) for at in range(3)]
    cells = [
        [*some, ELSEWHERE] if cell is None else [cell]
        for some, cell in zip(values, key, strict=True)
    ]
    return list(product(*cells))


def literal_classes(problem: Problem, rows, wholes) -> EquivalenceClasses:
    groups = [
        (str(number).zfill(4), row[3])
        for number, whole in enumerate(wholes)
        for row in rows
        if fits(problem, row[:3], whole)
    ]
    table = FrequencySet.from_rows(["label", "disease"], groups)
    column = sensitive_column(table.column("disease"))
    if column.values:
        tree = Taxonomy(DISEASES).build("disease", column.values).bind("disease", column.values)
        column = sensitive_column(table.column("disease"), tree)
    classes = classes_from(table, ("label",), {"disease": column})
    # Classes are compared with the published rows, each counted once.
    once = FrequencySet.from_rows(["disease"], [(row[3],) for row in rows])
    once, _ = align(once, table.project(["disease"]), ["disease"])
    counts = once.value_counts("disease")
    known = len(column.values)
    reference = np.append(counts[:known], counts[known:].sum())
    entry = classes.sensitive["disease"]
    object.__setattr__(entry, "reference", reference)
    return classes


def fits(problem: Problem, published: tuple, whole: tuple) -> bool:
    """Whether a row may be that of a person with these values."""
    if problem.policy.missing != "matches-any":
        return fill(published) == whole
    return all(a in (None, b) for a, b in zip(published, whole, strict=True))
