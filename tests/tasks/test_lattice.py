"""The lattice of a table, judged node by node, against Incognito as its paper describes it."""

import json
from collections import Counter
from itertools import combinations, pairwise, product

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.errors import InputError, ParameterError, PolicyError
from sfumato.recode import lattice as module
from sfumato.typing import silent
from tests.search.problems import COLUMNS, MISSING, Problem, literal_left, problems
from tests.showing.reading import children, parse

TREES = {
    "letter": {"a": ["ab", "*"], "b": ["ab", "*"], "c": ["cd", "*"], "d": ["cd", "*"]},
    "digit": {"0": ["low", "*"], "1": ["low", "*"], "2": ["high", "*"]},
    "shape": {"round": ["*"], "square": ["*"]},
}
"""Each value with its labels, from level 1 to the top."""

ROW = st.tuples(*(st.sampled_from(sorted(tree)) for tree in TREES.values()))


def policy_of(k: int, limit: int, **settings) -> sf.Policy:
    trees = {
        "letter": {"ab": ["a", "b"], "cd": ["c", "d"]},
        "digit": {"low": ["0", "1"], "high": ["2"]},
        "shape": ["round", "square"],
    }
    return sf.Policy(
        columns={
            name: {"role": "quasi-identifier", "hierarchy": {"kind": "taxonomy", "tree": tree}}
            for name, tree in trees.items()
        },
        models=[sf.models.KAnonymity(k)],
        suppression=limit,
        **settings,
    )


def table_of(rows, names=tuple(TREES)) -> pa.Table:
    return pa.table(
        {name: list(cells) for name, cells in zip(names, zip(*rows, strict=True), strict=True)}
    )


class Textbook:
    """Incognito with lists of rows: every set of columns, every node, counted from scratch."""

    def __init__(self, rows, k: int, limit: int) -> None:
        self.rows, self.k, self.limit = rows, k, limit
        self.names = list(TREES)
        self.heights = [len(next(iter(tree.values()))) for tree in TREES.values()]

    def suppressed(self, columns, node) -> int:
        def label(row, at, level):
            return row[at] if level == 0 else TREES[self.names[at]][row[at]][level - 1]

        found = Counter(
            tuple(label(row, at, level) for at, level in zip(columns, node, strict=True))
            for row in self.rows
        )
        return sum(n for n in found.values() if n < self.k)

    def nodes(self, columns):
        return list(product(*(range(self.heights[at] + 1) for at in columns)))

    def valid(self, columns):
        return {n for n in self.nodes(columns) if self.suppressed(columns, n) <= self.limit}

    def candidates(self, columns):
        """The nodes all of whose projections on one column less are valid."""
        if len(columns) == 1:
            return set(self.nodes(columns))
        kept = {
            leave: self.valid(columns[:leave] + columns[leave + 1 :])
            for leave in range(len(columns))
        }
        return {
            node
            for node in self.nodes(columns)
            if all(node[:i] + node[i + 1 :] in kept[i] for i in kept)
        }

    def minimal(self, columns):
        valid = self.valid(columns)
        return {
            node
            for node in valid
            if not any(
                other != node and all(a <= b for a, b in zip(other, node, strict=True))
                for other in valid
            )
        }


@pytest.mark.usefixtures("patience")
@given(rows=st.lists(ROW, min_size=1, max_size=20), k=st.integers(2, 4), limit=st.integers(0, 6))
def test_it_is_what_incognito_finds_by_the_book(rows, k, limit):
    book = Textbook(rows, k, limit)
    policy = policy_of(k, limit, search="incognito")
    found = sf.tools.lattice(table_of(rows), policy, subsets=True)
    whole = (0, 1, 2)
    assert set(found.passing) == book.valid(whole)
    assert set(found.minimal) == book.minimal(whole)
    for each in found:
        assert each.suppressed == book.suppressed(whole, each.node)
        assert each.valid == (each.node in book.valid(whole))
    sets = [c for size in (1, 2, 3) for c in combinations(whole, size)]
    assert [part.columns for part in found.subsets] == [
        tuple(book.names[at] for at in columns) for columns in sets
    ]
    for part, columns in zip(found.subsets, sets, strict=True):
        assert set(part.passing) == book.valid(columns)
        assert set(part.minimal) == book.minimal(columns)
        looked_at = {node for node, seen in zip(part.lattice, part.looked_at, strict=True) if seen}
        assert looked_at == book.candidates(columns)
        # What is judged settles the rest: each valid one that is not lies above one that is.
        judged = {node for node, checked in zip(part.lattice, part.checked, strict=True) if checked}
        assert judged <= looked_at
        assert book.minimal(columns) & looked_at <= judged
    try:
        release = sf.anonymize(table_of(rows), policy)
    except sf.SfumatoError:
        assert found.chosen is None or len(rows) <= limit
        return
    assert {tuple(node.values()) for node in release.minimal} == book.minimal(whole)
    assert dict(zip(found.columns, found.chosen, strict=True)) == release.levels
    assert found[found.chosen].suppressed == release.suppressed
    assert found[found.chosen].loss == pytest.approx(release.loss)


@pytest.mark.usefixtures("patience")
@given(problem=problems())
def test_each_node_suppresses_what_the_definitions_say(problem: Problem):
    # Who is drawn must not differ: the same counts, in the same order, and the same seed.
    counts, population = problem.counts()
    found = module.judge_lattice(
        problem.policy, counts, population, rng=np.random.default_rng(7), report=silent
    )
    checker = problem.checker()
    for each in found:
        left = len(literal_left(problem, checker, each.node))
        assert each.suppressed == len(problem.rows) - left
        assert each.valid == (each.suppressed <= found.limit)


@pytest.mark.usefixtures("patience")
@given(problem=problems(), subsets=st.booleans())
def test_what_is_not_judged_in_a_large_lattice_is_not_valid(problem: Problem, subsets):
    table = table_of(problem.rows, COLUMNS)
    exact = sf.tools.lattice(table, problem.policy, subsets=subsets, seed=0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_ALL_JUDGED", 0)
        large = sf.tools.lattice(table, problem.policy, subsets=subsets, seed=0)
    for one, other in zip([exact, *exact.subsets], [large, *large.subsets], strict=True):
        assert one.passing == other.passing
        assert one.minimal == other.minimal
        assert (other.suppressed[other.judged] == one.suppressed[other.judged]).all()
        assert (other.suppressed <= one.suppressed).all()
        assert other.judged[other.valid].all()
    assert exact.chosen == large.chosen
    np.testing.assert_array_equal(exact.losses[exact.valid], large.losses[exact.valid])


def incognito(**settings):
    policy = sf.Policy.load(sf.samples.policy_path("incognito"))
    table = sf.samples.table("incognito")
    options = {key: settings.pop(key) for key in ("subsets", "most", "progress") if key in settings}
    return sf.tools.lattice(table, policy.replace(**settings), **options)


class TestTheWorkedExample:
    """Figure 4.1: zipcode, marital status and gender of ten people, k = 3, three suppressed."""

    def test_nine_of_eighteen_nodes_are_valid_and_two_minimal(self):
        found = incognito()
        assert len(found) == 18
        assert len(found.passing) == 9
        assert found.minimal == ((0, 2, 1), (1, 1, 0))
        assert found.chosen == (1, 1, 0)
        assert found[1, 1, 0].suppressed == 3
        assert found.proven

    @pytest.mark.parametrize(
        ("limit", "minimal"),
        [
            (0, ((1, 2, 1), (2, 1, 1), (2, 2, 0))),
            (1, ((0, 2, 1), (2, 1, 1), (2, 2, 0))),
            (2, ((0, 2, 1), (2, 1, 1), (2, 2, 0))),
        ],
    )
    def test_with_fewer_rows_to_suppress(self, limit, minimal):
        assert incognito(suppression=limit).minimal == minimal

    def test_the_hierarchies_of_single_columns_and_pairs_are_the_printed_ones(self):
        found = incognito(subsets=True)
        z, m, g, zm, zg, mg, zmg = found.subsets
        assert (z.passing, m.passing, g.passing) == (((0,), (1,), (2,)), ((1,), (2,)), ((0,), (1,)))
        # M0 has been false, so no pair with it is looked at; (Z0, M1) and (Z0, G0) are false.
        assert ruled_out(zm) == {(0, 0), (1, 0), (2, 0)}
        assert set(zm.passing) == {(0, 2), (1, 2), (2, 2), (1, 1), (2, 1)}
        assert ruled_out(zg) == set()
        assert set(zg.passing) == {(0, 1), (1, 1), (2, 1), (1, 0), (2, 0)}
        assert ruled_out(mg) == {(0, 0), (0, 1)}
        assert ruled_out(zmg) == {
            *((0, 0, 0), (1, 0, 0), (2, 0, 0), (0, 0, 1), (1, 0, 1), (2, 0, 1)),
            *((0, 1, 0), (0, 1, 1), (0, 2, 0)),
        }
        assert set(zmg.passing) == set(found.passing)
        assert {*found.passing} | ruled_out(zmg) == set(zmg.lattice)

    def test_it_is_shown(self):
        found = incognito(subsets=True)
        text = str(found)
        assert text.startswith("9 of 18 nodes are valid and 2 of them minimal; chosen is zipcode 1")
        assert "minimal and chosen" in text
        assert "zipcode, marital_status" in text
        assert repr(found) == f"<JudgedLattice {found.headline}>"
        plain = json.loads(json.dumps(found.to_dict()))
        assert plain["minimal"] == [[0, 2, 1], [1, 1, 0]]
        assert plain["chosen"] == [1, 1, 0]
        assert len(plain["nodes"]) == 18
        assert plain["nodes"][0] == {
            "node": [0, 0, 0], "valid": False, "minimal": False, "suppressed": 10, "loss": 1.0,
            "judged": True,
        }  # fmt: skip
        assert [part["columns"] for part in plain["subsets"]][3:5] == [
            ["zipcode", "marital_status"],
            ["zipcode", "gender"],
        ]
        assert plain["subsets"][3]["nodes"][0]["incognito"] == "ruled out"

    def test_it_is_drawn(self, tmp_path):
        found = incognito(subsets=True)
        drawing = parse(found.svg())
        nodes = children(drawing, "node")
        assert len(nodes) == 18
        texts = [node.find("{*}title").text for node in nodes]
        assert "z1 m1 g0: valid, minimal, chosen, suppresses 3 rows, loss 0.5214" in texts
        written = {path.name for path in found.draw(tmp_path / "drawings")}
        assert written == {path.name for path in (tmp_path / "drawings").iterdir()}
        assert {"lattice.svg", "lattice_zipcode.svg", "lattice_zipcode_gender.svg"} <= written
        struck = parse(found.subsets[3].svg())
        titles = [node.find("{*}title").text for node in children(struck, "node")]
        assert sum("ruled out without a look" in title for title in titles) == 3


def test_the_lattice_of_two_columns_has_the_printed_vectors_and_levels():
    """Figure 2.8: race and marital status; four levels from [0, 0] to [1, 2]."""
    trees = {
        "race": {"Person": ["Asian", "Black", "White"]},
        "marital": {"Been married": ["Married", "Divorced"], "Never married": ["Single"]},
    }
    policy = sf.Policy(
        columns={
            name: {"role": "quasi-identifier", "hierarchy": {"kind": "taxonomy", "tree": tree}}
            for name, tree in trees.items()
        },
        models=[sf.models.KAnonymity(2)],
    )
    rows = [("Asian", "Married"), ("Black", "Single"), ("Asian", "Married")]
    found = sf.tools.lattice(table_of(rows, ("race", "marital")), policy)
    by_height = {}
    for each in found:
        by_height.setdefault(sum(each.node), set()).add(each.node)
    assert by_height == {0: {(0, 0)}, 1: {(1, 0), (0, 1)}, 2: {(1, 1), (0, 2)}, 3: {(1, 2)}}
    # The strategy of the text goes up one step at a time.
    strategy = [(0, 0), (0, 1), (1, 1), (1, 2)]
    for low, high in pairwise(strategy):
        assert high in set(found.lattice.above(low))
    root = parse(found.svg())
    assert len(children(root, "node")) == 6


def ruled_out(part) -> set:
    return {node for node, seen in zip(part.lattice, part.looked_at, strict=True) if not seen}


def test_it_is_written_in_no_release(tmp_path):
    policy, data = sf.samples.policy_path("incognito"), sf.samples.path("incognito")
    sf.anonymize(data, policy, output=tmp_path / "release")
    with pytest.raises(sf.SfumatoError, match="release"):
        incognito().draw(tmp_path / "release")


def test_a_lattice_that_is_too_large_is_refused_with_what_to_do():
    with pytest.raises(ParameterError, match=r"most must be at least 18 .*levels: \[1, 3\]"):
        incognito(most=17)
    with pytest.raises(ParameterError, match="47 nodes with those of all sets of columns"):
        incognito(most=46, subsets=True)
    assert len(incognito(most=47, subsets=True).subsets) == 7
    wide = sf.samples.synthetic(50, seed=1)
    policy = sf.Policy.load(sf.samples.policy_path("synthetic-wide"))
    with pytest.raises(ParameterError, match="search: incognito"):
        sf.tools.lattice(wide, policy, subsets=True)


def test_a_table_that_no_node_suits_is_shown_all_the_same():
    found = incognito(models=[sf.models.KAnonymity(11)], suppression=0)
    assert found.chosen is None
    assert not found.passing
    assert "0 of 18 nodes are valid" in str(found)
    assert "none keeps the promises" in str(found)
    assert parse(found.svg()) is not None


def test_a_policy_that_recodes_locally_is_told_what_the_chosen_node_is():
    found = incognito(method="top-down")
    assert found.chosen == (1, 1, 0)
    assert "top-down, which publishes no node" in " ".join(found.content().remarks)


def test_rows_that_miss_a_cell_count_as_suppressed_as_in_the_release():
    rows = [("a", "0", "round")] * 4 + [(None, "1", "round")] * 2
    policy = policy_of(2, 3, missing="suppress")
    found = sf.tools.lattice(table_of(rows), policy)
    assert found.limit == 3
    assert found[0, 0, 0].suppressed == 2 == sf.anonymize(table_of(rows), policy).suppressed


def test_where_generalising_makes_things_worse_it_is_said():
    """One of a and three of b keep t; two labels up, all four would."""
    rows = [("a", "x")] * 3 + [("a", "y")] + [("b", "y")] * 8 + [("c", "x")] * 3 + [("c", "y")]
    table = table_of(rows, ("letter", "ill"))
    policy = sf.Policy(
        columns={
            "letter": {
                "role": "quasi-identifier",
                "hierarchy": {"kind": "taxonomy", "tree": {"ab": ["a", "b"], "cd": ["c"]}},
            },
            "ill": "sensitive",
        },
        models=[sf.models.TCloseness("ill", t=0.15)],
        suppression=8,
    )
    found = sf.tools.lattice(table, policy)
    below = [any(other.valid and other.node < each.node for other in found) for each in found]
    worse = sum(b and not each.valid for b, each in zip(below, found, strict=True))
    assert found.worse_above == worse
    assert ("worse" in " ".join(found.content().remarks)) == bool(worse)


@pytest.mark.usefixtures("patience")
def test_many_nodes_are_summed_up_by_height():
    wide = sf.samples.synthetic(400, seed=1)
    policy = sf.Policy.load(sf.samples.policy_path("synthetic"))
    found = sf.tools.lattice(wide, policy)
    assert len(found) > 1000
    text = str(found)
    assert "Heights:" in text
    assert "Minimal nodes:" in text
    assert len(text.splitlines()) < 120
    assert parse(found.svg()).find("{*}title").text.startswith("Lattice of age")
    release = sf.anonymize(wide, policy.replace(search="incognito"))
    assert [tuple(node.values()) for node in release.minimal] == list(found.minimal)


@pytest.mark.usefixtures("patience")
def test_a_million_rows_are_counted_once():
    rows = 1_000_000
    numbers = np.arange(rows)
    table = pa.table({
        "letter": pa.array(np.array(list("abcd"))[numbers % 4]),
        "digit": pa.array(np.array(list("012"))[numbers % 3]),
        "shape": pa.array(np.array(["round", "square"])[(numbers < 3).astype(int)]),
    })  # fmt: skip
    told = []
    found = sf.tools.lattice(
        table,
        policy_of(5, 0),
        progress=lambda stage, done, total: told.append((stage, done, total)),
    )
    assert found.rows == rows
    assert found.minimal == ((0, 0, 1),)
    assert ("lattice", 18, 18) in told


@pytest.mark.parametrize(
    ("change", "error", "text"),
    [
        ({"policy": None}, ParameterError, "policy must be given"),
        ({"most": 0}, ParameterError, "most must be an integer of at least 1"),
        ({"seed": -1}, ParameterError, "seed must be an integer of at least 0"),
        ({"data": pa.table({"x": [1]})}, PolicyError, "no column 'letter'"),
        ({"data": table_of([("a", "0", "round")]).slice(0, 0)}, InputError, "no rows"),
    ],
)
def test_what_cannot_be_meant_is_refused(change, error, text):
    given = {"data": table_of([("a", "0", "round")]), "policy": policy_of(2, 0)} | change
    with pytest.raises(error, match=text):
        sf.tools.lattice(**given)


def test_a_node_that_is_not_there_is_refused():
    with pytest.raises(ParameterError, match="node must be a level for each of zipcode"):
        incognito()[0, 0, 7]


@pytest.mark.parametrize("missing", MISSING)
def test_missing_cells_are_taken_as_the_policy_says(missing):
    rows = [("a", "0", "round")] * 4 + [(None, "1", "round")] * 2
    policy = policy_of(2, 2, missing=missing)
    found = sf.tools.lattice(table_of(rows), policy)
    assert dict(zip(found.columns, found.chosen, strict=True)) == (
        sf.anonymize(table_of(rows), policy).levels
    )
