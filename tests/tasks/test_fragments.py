"""Recoding in fragments: what every fragment keeps by itself, all of them keep together.

Here the workers are this process; Spark's own are tried in `tests/tables/test_spark_fragments.py`.
"""

import pickle
from collections import Counter
from contextlib import contextmanager
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.errors import InfeasibleError, ParameterError, PolicyError, SfumatoError
from sfumato.hierarchy import Intervals, Masking
from sfumato.models import KAnonymity
from sfumato.models.base import NEITHER
from sfumato.partition import PARTITIONERS, cut_into_fragments
from sfumato.policy import Policy
from sfumato.recode import budget, fragments
from sfumato.recode import fragments as solver
from sfumato.recode.budget import MemoryBudget, count_within
from sfumato.recode.deciding import counted_columns, decide_locally, make_problem, prepare
from sfumato.releases.manifest import build_manifest
from sfumato.tables import open_table
from sfumato.tables.sql.counting import StoredSurvey
from sfumato.tables.workers import SolvedTables, Workers
from sfumato.verifier import verify_file
from sfumato.verifier.release import promises_in

pytestmark = pytest.mark.usefixtures("pyspark")


@pytest.fixture(autouse=True)
def _bare(monkeypatch):
    """Let a budget be a number of combinations, so that tiny tables exceed it."""
    monkeypatch.setattr(budget, "_FIXED", 0)
    monkeypatch.setattr(budget, "_SHUFFLED", 10**9)
    monkeypatch.setattr(budget, "_PER_COMBINATION", 1)
    monkeypatch.setattr(budget, "_PER_CELL", 0)


@st.composite
def tables(draw):
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    n, ages = draw(st.integers(30, 120)), draw(st.integers(2, 40))
    lacking = rng.random(n) < draw(st.sampled_from([0, 0.05, 0.3]))
    zips = ["1000", "1001", "1010", "1234", "2000", "2345"]
    return pa.table(
        {
            "age": pa.array(rng.integers(20, 20 + ages, n), pa.int8(), mask=lacking),
            "zip": pa.array(rng.choice(zips[: draw(st.integers(1, 6))], n)),
            "pay": rng.integers(0, draw(st.integers(1, 9)), n),
            "ill": pa.array(rng.choice(["flu", "gout", "hiv"], n, p=[0.5, 0.3, 0.2])),
        }
    )


TABLES = tables()


def no_progress(done: int, total: int | None) -> None:
    """Tell nobody."""


QI = {"role": "quasi-identifier"}
COLUMNS = {
    "age": {**QI, "hierarchy": Intervals(widths=[5, 20])},
    "zip": {**QI, "hierarchy": Masking()},
    "pay": "quasi-identifier",
    "ill": "sensitive",
}
MODELS = [
    [sf.models.KAnonymity(2)],
    [sf.models.KAnonymity(2), sf.models.DistinctLDiversity("ill", 2)],
    [sf.models.TCloseness("ill", 0.4)],
    [sf.models.EnhancedBetaLikeness("ill", 1.5)],
    [sf.models.AverageRisk(0.4)],
]


class Here(Workers):
    """A table whose rows are solved fragment by fragment in this process."""

    kind = "spark"

    def __init__(self, table: pa.Table):
        self.table = table
        self.columns = tuple(table.column_names)
        self.pieces = []

    def type_of(self, name):
        return self.table.schema.field(name).type

    @contextmanager
    def solving(self, division, solve, columns, output):
        solve = pickle.loads(pickle.dumps(solve))
        numbers = [_numbers(self.table, column) for column in division.found.columns]
        of = dict(zip(zip(*division.combinations.tolist(), strict=True),
                      division.fragments.tolist(), strict=True))  # fmt: skip
        coarse = [merged[column] for merged, column in zip(division.merged, numbers, strict=True)][
            : len(division.combinations)
        ]
        fragment = np.array([of.get(row, -1) for row in zip(*map(list, coarse), strict=True)])
        given = {"fragment": fragment, **{f"r{i}": column for i, column in enumerate(numbers)}}
        for i, name in enumerate(self.columns):
            given |= {f"c{i}": self.table[name], f"k{i}": self.table[name]}
        rows = pa.table(given)
        parts = [solve(rows.filter(fragment == i)) for i in range(fragment.max() + 1)]
        made = pa.concat_tables(parts).rename_columns([*columns, "note"])
        notes = [note for note in made["note"].to_pylist() if note]
        published = made.filter([note is None for note in made["note"].to_pylist()])
        self.pieces = [part.filter(pa.compute.is_null(part.columns[-1])) for part in parts]
        every = made.filter([not note for note in made["note"].to_pylist()])
        yield SolvedTables(open_table(published), every, "note", notes)


def _numbers(table, column):
    place = {value: i for i, value in enumerate(column.values)}
    return np.array([place[value] for value in table[column.name].to_pylist()], dtype=np.int64)


def in_fragments(table, policy, method, most):
    """Give the decision, what is published, and the worker's pieces; None if all fits."""
    policy = policy.with_method(method)
    columns = counted_columns(policy)
    limit = MemoryBudget.of(most)
    fitted = count_within(limit, open_table(table), policy, columns, no_progress)
    if not fitted.notes:
        return None
    found = fitted.found
    stored = StoredSurvey(found.columns, found.frequencies, found.sample, found.rows)
    here = Here(table)
    with fragments.decided_in_fragments(
        policy, fitted._replace(found=stored), limit, here, table.column_names, None
    ) as solved:
        return policy, solved, here


def verified(policy, solved, table):
    """Let the verifier recompute everything that a manifest would say."""
    decision = solved.decision
    roles = policy.check_against(table.column_names)
    manifest = build_manifest(policy, roles, decision, reproducible=False)
    starred = solved.rows["note"].to_pylist()
    published = solved.rows.filter([note is None for note in starred]).select(table.column_names)
    manifest = replace(manifest, rows=replace(manifest.rows, suppression="remove"))
    verdict = verify_file(published, promises_in(manifest.claims()))
    assert verdict.holds, str(verdict)
    assert verdict["rows"].status == "holds"
    return manifest, published


@settings(max_examples=60)
@given(
    table=TABLES,
    most=st.integers(15, 60),
    method=st.sampled_from(
        ["top-down", "mondrian", {"method": "mondrian", "relaxed": True}, "bottom-up", "mdav"]
    ),
    models=st.sampled_from(MODELS),
    missing=st.sampled_from(["own-value", "suppress"]),
    limit=st.sampled_from([0, 0.1, 0.5]),
    star=st.booleans(),
    highest=st.sampled_from([None, 1]),
)
def test_fragments_keep_every_promise(table, most, method, models, missing, limit, star, highest):
    columns = COLUMNS
    if highest is not None:
        columns = {**COLUMNS, "zip": {**COLUMNS["zip"], "levels": [0, 2]}}
    policy = Policy(
        columns=columns,
        models=models,
        missing=missing,
        suppression={"limit": limit, "rows": "star" if star else "remove"},
    )
    try:
        found = in_fragments(table, policy, method, most)
    except (InfeasibleError, ParameterError):
        return
    assume(found is not None)
    policy, solved, here = found
    manifest, published = verified(policy, solved, table)
    decision, total = solved.decision, table.num_rows
    # Everybody is published or counted as suppressed, and no more are than may be.
    assert published.num_rows + decision.suppressed == total
    assert decision.suppressed <= policy.suppression.most_rows(total)
    assert solved.rows.num_rows == (total if star else published.num_rows)
    assert decision.recoding.rows == total
    # Each fragment's classes are valid by themselves.
    quasi = len(policy.quasi_identifiers)
    for piece in here.pieces:
        sizes = Counter(zip(*(c.to_pylist() for c in piece.columns[:quasi]), strict=True))
        assert not sizes or min(sizes.values()) >= (2 if isinstance(models[0], KAnonymity) else 1)
    # Every row is covered by its labels, and keeps what is not generalised.
    assert Counter(published["ill"].to_pylist()) <= Counter(table["ill"].to_pylist())
    for column in manifest.columns:
        if column.levels is not None:
            assert sum(column.levels) == published.num_rows


def test_what_is_said_of_fragments_is_what_would_be_said_of_one_piece():
    """A table whose fragments are what the method makes anyway: every figure must be the same."""
    rng = np.random.default_rng(5)
    table = pa.table(
        {
            "age": pa.array(rng.integers(20, 60, 400), pa.int8()),
            "zip": pa.array([f"{n:04d}" for n in rng.choice([1000, 1001, 1010, 2000], 400)]),
            "pay": rng.integers(0, 2, 400),
            "ill": pa.array(rng.choice(["flu", "gout", "hiv"], 400)),
        }
    )
    policy = Policy(columns=COLUMNS, models=[sf.models.KAnonymity(3)])
    policy, solved, _ = in_fragments(table, policy, "top-down", 120)
    partitioner = policy.make_method(PARTITIONERS)
    counts = open_table(table).count(counted_columns(policy))
    whole = decide_locally(policy, partitioner, counts, rng=np.random.default_rng())
    assert "fragments" in solved.note
    # Greedy methods may be better by chance where they see less, but not by much.
    for name, loss in whole.losses.items():
        assert 0.9 * loss <= solved.decision.losses[name] <= 1.5 * loss, name
    roles = policy.check_against(table.column_names)
    ours, theirs = (
        build_manifest(policy, roles, decision, reproducible=False).to_dict()
        for decision in (solved.decision, whole)
    )
    assert ours.keys() == theirs.keys()
    assert [c.keys() for c in ours["columns"]] == [c.keys() for c in theirs["columns"]]
    assert ours["method"] == theirs["method"]


@settings(max_examples=60)
@given(table=TABLES, most=st.integers(3, 20), diverse=st.booleans())
def test_a_fragment_keeps_the_models_in_one_piece(table, most, diverse):
    models = [sf.models.KAnonymity(2)]
    models += [sf.models.DistinctLDiversity("ill", 2)] if diverse else []
    policy = Policy(columns=COLUMNS, models=models, suppression=1.0)
    counts = open_table(table).count(("age", "zip", "pay", "ill"))
    problem = make_problem(policy, prepare(policy, counts))
    found = cut_into_fragments(problem, (False, False, True), most)
    ill = counts.codes_of("ill")
    for i in range(found.n):
        inside = found.of_item == i
        assert counts.rows[inside].sum() == found.sizes[i] >= 2
        assert not diverse or len(set(ill[inside].tolist())) >= 2
    # Equal quasi-identifiers are never in two fragments.
    of: dict[tuple[int, ...], set[int]] = {}
    for row, fragment in zip(counts.codes[:3].T.tolist(), found.of_item.tolist(), strict=True):
        of.setdefault(tuple(row), set()).add(fragment)
    assert all(len(places) == 1 for places in of.values())
    if not diverse and found.n:
        assert (found.of_item >= 0).all()


def test_a_method_that_suppresses_too_much_leaves_the_fragment_in_one_piece():
    class Scatter:
        """Puts every item into a class of its own."""

        exact_bounds = True

        def run(self, problem, progress=None, *, rng=None):
            n = len(problem.counts)
            return solver.Partition.of(np.arange(n), problem.rows, np.arange(n))

        def intervals(self, problem):
            return (False,) * len(problem.attributes)

    table = pa.table({"age": pa.array([21, 22, 23, 24], pa.int8())})
    policy = Policy(columns={"age": COLUMNS["age"]}, models=[sf.models.KAnonymity(3)])
    problem = make_problem(policy, prepare(policy, open_table(table).count(("age",))))
    found = solver.solve(problem, Scatter(), np.random.default_rng())
    assert (found.suppressed, found.partition.sizes.tolist()) == (0, [4])


def test_what_cannot_be_divided_is_refused():
    table = pa.table(
        {"age": pa.array([None, *range(20, 59)], pa.int8()), "ill": ["flu", "gout"] * 20}
    )
    given = {"columns": {"age": COLUMNS["age"], "ill": "sensitive"}, "models": [KAnonymity(2)]}
    policy = Policy(**given, missing="matches-any")
    with pytest.raises(PolicyError, match=r"missing values of 'age' match any.*cannot be divided"):
        in_fragments(table, policy, "top-down", 10)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(KAnonymity, "merging", NEITHER)
        with pytest.raises(PolicyError, match=r"may break when classes are merged"):
            in_fragments(table, Policy(**given), "top-down", 10)
    alike = pa.table({"age": pa.array([20] * 30 + list(range(30, 45)), pa.int8())})
    alone = Policy(columns={"age": COLUMNS["age"]}, models=[KAnonymity(2)])
    with pytest.raises(ParameterError, match=r"a fragment of 30 rows cannot be divided further"):
        in_fragments(alike, alone, "top-down", 15)
    low = {"age": {**COLUMNS["age"], "levels": [0, 1]}}
    with pytest.raises(InfeasibleError, match=r"rows break k-anonymity with k=20 even at the high"):
        in_fragments(table, Policy(columns=low, models=[KAnonymity(20)]), "top-down", 10)


def test_a_worker_with_another_version_or_other_rows_says_so():
    table = pa.table({"age": pa.array([21, 22, 23, 24], pa.int8())})
    policy = Policy(columns={"age": COLUMNS["age"]}, models=[KAnonymity(2)])
    problem = make_problem(policy, prepare(policy, open_table(table).count(("age",))))
    given = {"problem": problem, "partitioner": PARTITIONERS["top-down"](), "columns": [0]}
    work = solver.Solver(**given, limits=np.array([0]), stars=None, version="0")
    rows = pa.table({"fragment": [0, 0], "r0": [0, None]})
    with pytest.raises(SfumatoError, match=r"and 0 is needed. Install the same version"):
        work(rows)
    work = solver.Solver(**given, limits=np.array([0]), stars=None)
    with pytest.raises(SfumatoError, match=r"the table changed"):
        work(rows)
    counted = SimpleNamespace(sizes=np.array([3]))
    with pytest.raises(SfumatoError, match=r"other rows than were counted"):
        fragments._read(['{"fragment": 0, "rows": 2}'], counted, SimpleNamespace(kind="spark"))
