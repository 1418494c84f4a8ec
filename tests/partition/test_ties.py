"""Rows that only secrets tell apart: which of them goes where is drawn, never read off an order."""

from collections import Counter, defaultdict
from itertools import permutations

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.counts import FrequencySet
from sfumato.hierarchy import Masking
from sfumato.models import (
    AlphaKAnonymity,
    DistinctLDiversity,
    EntropyLDiversity,
    KAnonymity,
    PSensitiveKAnonymity,
    TCloseness,
)
from sfumato.partition import PARTITIONERS, BottomUp, Mdav, Mondrian, TopDown
from sfumato.partition.base import draw_rows
from sfumato.policy import Policy
from sfumato.recode.deciding import counted_columns, decide, make_problem, prepare, with_findings

METHODS = [TopDown(), Mondrian(), Mondrian(relaxed=True), BottomUp(), Mdav()]
NAMES = ("zip", "ill")


def policy_of(models, *, masked: bool = True) -> Policy:
    zips = {"role": "quasi-identifier"} | ({"hierarchy": Masking()} if masked else {})
    return Policy(columns={"zip": zips, "ill": "sensitive"}, models=models)


class Tool:
    """A method with a policy, run again and again on one table."""

    def __init__(self, method, policy, rows) -> None:
        counts = FrequencySet.from_rows(NAMES, rows).project(counted_columns(policy))
        self.problem = make_problem(policy, prepare(policy, counts))
        self.method = method

    def classes(self, rng) -> list[list[tuple]]:
        """Give the classes, as lists of rows."""
        problem = self.problem
        partition = self.method.run(problem, rng=rng)
        columns = problem.counts.columns
        found = [[] for _ in range(partition.n)]
        for item, n, of in zip(partition.item, partition.rows, partition.classes, strict=True):
            codes = problem.counts.codes[:, item]
            row = tuple(c.values[code] for c, code in zip(columns, codes, strict=True))
            found[of] += [row] * int(n)
        return found

    def seen(self, rng) -> tuple:
        """Give what a reader sees: how the quasi-identifiers are divided, and who is with whom."""
        classes = []
        for rows in self.classes(rng):
            zips, ills = (tuple(sorted(part)) for part in zip(*rows, strict=True))
            classes.append((zips, ills))
        return tuple(sorted(classes))


def far_apart(one: Counter, other: Counter, runs: int) -> float:
    """Give half the sum of differences between two distributions of so many runs."""
    return sum(abs(one[key] - other[key]) for key in one | other) / (2 * runs)


class TestOneCandidateTable:
    """The adversary knows all quasi-identifiers, the tool and its policy, and tries all worlds."""

    ZIPS = ("73455", "73456", "73456", "73456")
    ILLS = ("cancer", "flu", "hiv", "zoster")

    @pytest.mark.usefixtures("patience")
    @pytest.mark.parametrize("method", METHODS, ids=repr)
    @pytest.mark.parametrize(
        "model", [PSensitiveKAnonymity("ill", p=2, k=2), DistinctLDiversity("ill", l=2)], ids=repr
    )
    def test_running_the_tool_on_every_world_tells_no_more_than_the_class(self, method, model):
        policy, runs = policy_of([model], masked=not isinstance(method, Mondrian)), 30
        likelihood = defaultdict(Counter)
        worlds = [*permutations(self.ILLS)]
        for number, world in enumerate(worlds):
            tool = Tool(method, policy, [*zip(self.ZIPS, world, strict=True)])
            rng = np.random.default_rng(number)
            for _ in range(runs):
                likelihood[tool.seen(rng)][world] += 1
        for seen, by_world in likelihood.items():
            total = sum(by_world.values())
            if total < 4 * runs:
                continue
            of_first = Counter()
            for world, n in by_world.items():
                of_first[world[0]] += n / total
            [mates] = {ills for zips, ills in seen if self.ZIPS[0] in zips}
            # All values differ, so the models see no difference between worlds: belief is 1/n.
            for ill in mates:
                assert of_first[ill] == pytest.approx(1 / len(mates), abs=0.15), seen

    @pytest.mark.usefixtures("patience")
    def test_the_taken_row_is_any_of_those_that_serve(self):
        for ills in (("zoster", "flu", "hiv", "cancer"), ("zoster", "a flu", "hiv", "cancer")):
            table = pa.table({"zip": self.ZIPS, "ill": ills})
            policy = policy_of([PSensitiveKAnonymity("ill", p=2, k=2)])
            with_first = Counter()
            for _ in range(60):
                rows = sf.anonymize(table, policy, method="top-down").table.to_pylist()
                [mate] = [r["ill"] for r in rows if r["zip"] == "7345*" and r["ill"] != "zoster"]
                with_first[mate] += 1
            # One in three each; never in 60 runs would be one in 10 ** 10.
            assert set(with_first) == {*ills[1:]}


MODELS = [
    [PSensitiveKAnonymity("ill", p=2, k=3)],
    [KAnonymity(3), EntropyLDiversity("ill", l=1.8)],
    [AlphaKAnonymity("ill", alpha=0.6, k=2)],
    [KAnonymity(2), TCloseness("ill", t=0.4, distance="equal")],
]


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("models", MODELS, ids=repr)
@pytest.mark.parametrize("method", METHODS, ids=repr)
def test_other_names_for_the_diagnoses_change_nothing(method, models):
    draws = isinstance(method, TopDown) or method == Mondrian(relaxed=True)
    rng, runs = np.random.default_rng(11), 80 if draws else 1
    new = {"a": "z", "b": "y", "c": "m", "d": "a"}
    policy = policy_of(models, masked=not isinstance(method, Mondrian))
    zips = rng.choice(["1000", "1001", "1002", "1010", "2000"], 14, p=[0.5, 0.2, 0.1, 0.1, 0.1])
    rows = [*zip(zips.tolist(), rng.choice([*new], 14).tolist(), strict=True)]
    renamed = [(zipcode, new[ill]) for zipcode, ill in rows]
    one, other = Tool(method, policy, rows), Tool(method, policy, renamed)
    seen = Counter(one.seen(rng) for _ in range(runs))
    expected = Counter(
        tuple(sorted((zips, tuple(sorted(map(new.get, ills)))) for zips, ills in classes))
        for classes in seen.elements()
    )
    found = Counter(other.seen(rng) for _ in range(runs))
    # Two samples of one distribution differ by about sqrt(kinds / runs) / 2.
    most = 0.06 + 0.6 * np.sqrt(len(found | expected) / runs) if draws else 0
    assert far_apart(found, expected, runs) <= most


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("method", [TopDown(), Mondrian(relaxed=True)], ids=repr)
def test_who_is_moved_has_no_particular_illness(method):
    rng = np.random.default_rng(5)
    ills = np.array(["a", "b", "c", "d", "e", "f"])
    policy = policy_of(
        [KAnonymity(6), DistinctLDiversity("ill", l=2)], masked=isinstance(method, TopDown)
    )
    moved, every = Counter(), Counter()
    for _ in range(60):
        # Three people live near one place with many, some of whom join them.
        zips = ["1000"] * 27 + ["1001", "1002", "1003"]
        rows = [*zip(zips, rng.choice(ills, 30).tolist(), strict=True)]
        classes = Tool(method, policy, rows).classes(rng)
        alone = max(range(len(classes)), key=lambda i: sum(z == "1000" for z, _ in classes[i]))
        for i, members in enumerate(classes):
            for zipcode, ill in members:
                if zipcode == "1000":
                    every[ill] += 1
                    moved[ill] += i != alone
    total, of = sum(moved.values()), sum(every.values())
    assert total > 50
    for ill in ills.tolist():
        expected = total * every[ill] / of
        assert abs(moved[ill] - expected) < 4 * np.sqrt(expected) + 3, (moved, every)


@pytest.mark.usefixtures("patience")
def test_where_only_numbers_matter_rows_are_drawn_too():
    """Refining decides on sensitive values that the policy's own models do not look at."""
    rows = [("1000", "flu"), *(("1001", ill) for ill in ("a", "b", "c", "d", "e", "f") * 2)]
    table = pa.table({"zip": [z for z, _ in rows], "ill": [i for _, i in rows]})
    policy = policy_of([KAnonymity(3)])
    leaky = pa.table({"zip": ["1"] * 9 + ["2"] * 9, "ill": ["a"] * 9 + ["b"] * 9})
    found = sf.detect(leaky, quasi_identifiers=["zip"], sensitive=["ill"], support=2)
    asked = with_findings(policy, found)
    assert asked is not policy
    counts = FrequencySet.from_rows(NAMES, rows).project(counted_columns(asked))
    mates = Counter()
    for seed in range(60):
        decision = decide(
            policy.with_method("top-down"),
            asked.with_method("top-down"),
            counts,
            None,
            rng=np.random.default_rng(seed),
            report=lambda *_: None,
        )
        recoding = decision.recoding
        for i in range(counts.codes.shape[1]):
            portions = slice(recoding.starts[i], recoding.starts[i + 1])
            if len(recoding.classes[portions]) > 1:
                mates[counts.column("ill").values[counts.codes_of("ill")[i]]] += 1
    assert len(table) == counts.total
    assert set(mates) == {*"abcdef"}


class TestDrawing:
    @pytest.mark.usefixtures("patience")
    def test_every_row_is_drawn_as_often(self):
        rng, runs = np.random.default_rng(1), 4000
        of_item = np.array([0, 0, 0, 1, 2, 2])
        rows, wanted = np.array([1, 2, 3, 4, 2, 2]), np.array([2, 1, 4])
        total = np.zeros(6)
        for _ in range(runs):
            drawn = draw_rows(of_item, rows, wanted, rng)
            assert np.bincount(of_item, weights=drawn).tolist() == wanted.tolist()
            assert (drawn <= rows).all()
            total += drawn
        assert total / runs == pytest.approx([2 / 6, 4 / 6, 1, 1, 2, 2], abs=0.05)

    @pytest.mark.usefixtures("patience")
    def test_subsets_of_rows_are_equally_likely(self):
        rng, runs = np.random.default_rng(2), 6000
        found = Counter(
            tuple(draw_rows(np.zeros(3, int), np.array([2, 1, 1]), np.array([2]), rng).tolist())
            for _ in range(runs)
        )
        # Of the six pairs of four rows one takes both of the first item.
        expected = {(2, 0, 0): 1, (1, 1, 0): 2, (1, 0, 1): 2, (0, 1, 1): 1}
        assert {k: round(6 * n / runs, 1) for k, n in found.items()} == pytest.approx(
            expected, abs=0.2
        )

    def test_more_rows_than_numpy_draws_from_are_no_obstacle(self):
        rows, rng = np.array([3 * 10**9, 10**9]), np.random.default_rng(0)
        drawn = draw_rows(np.zeros(2, int), rows, np.array([4000]), rng)
        assert drawn.sum() == 4000
        assert drawn[0] == pytest.approx(3000, abs=150)


def test_every_method_accepts_a_generator():
    policy = policy_of([DistinctLDiversity("ill", l=2)])
    tool = [("1000", "a"), ("1001", "b"), ("1001", "c"), ("2000", "d")]
    for kind in PARTITIONERS.values():
        one, other = (
            Tool(kind.example(), policy, tool).seen(np.random.default_rng(3)) for _ in range(2)
        )
        assert one == other
