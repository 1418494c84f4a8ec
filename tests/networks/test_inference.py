from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.counts import FrequencySet
from sfumato.errors import InputError, ParameterError, UnknownColumnError, UnknownNameError
from sfumato.networks import (
    Network,
    conditional_table,
    empirical,
    infer,
    inference,
    probabilities_of,
    probability_of,
    tables_of,
)
from sfumato.networks.agrum import load_pyagrum
from sfumato.networks.inference import Piece
from tests.networks.worked import COLUMNS, FIRST, QUASI, ROWS, SECOND, SENSITIVE, TABLE, WHOLE


@st.composite
def small_models(draw, most=6):
    """Counts over a few columns of up to four values, and some network over them."""
    n = draw(st.integers(1, most))
    sizes = draw(st.lists(st.integers(1, 4), min_size=n, max_size=n))
    row = st.tuples(*(st.integers(0, size - 1) for size in sizes))
    rows = draw(st.lists(row, min_size=1, max_size=12))
    names = [f"c{i}" for i in range(n)]
    order = draw(st.permutations(names))
    edges = [pair for pair in combinations(order, 2) if draw(st.booleans())]
    network = Network.of(names, edges)
    counts = FrequencySet.from_rows(names, rows)
    return counts, network, draw(st.sampled_from([0.0, 0.5]))


def joint(network, tables):
    """The whole distribution: one axis per column."""
    sizes = [len(tables[name].child.values) for name in network.columns]
    at = dict(zip(network.columns, np.indices(sizes), strict=True))
    result = np.ones(sizes)
    for name in network.columns:
        table = tables[name]
        result = result * table.dense()[(*(at[p] for p in table.names), at[name])]
    return result


def given_evidence(whole, network, tables, evidence):
    """The part of the whole distribution that has the evidence; the axes stay."""
    for axis, name in enumerate(network.columns):
        if name in evidence:
            code = tables[name].child.values.index(evidence[name])
            whole = np.take(whole, [code], axis=axis)
    return whole


def draw_evidence(data, network, tables):
    known = data.draw(st.lists(st.sampled_from(network.columns), unique=True))
    return {c: data.draw(st.sampled_from(tables[c].child.values)) for c in known}


def check_against_joint(network, tables, evidence):
    whole = joint(network, tables)
    part = given_evidence(whole, network, tables, evidence)
    if part.sum() <= 0:
        with pytest.raises(InputError, match=r"never occurs?"):
            infer(network, tables, evidence)
        return
    answer = infer(network, tables, evidence)
    assert list(answer) == [name for name in network.columns if name not in evidence]
    for axis, name in enumerate(network.columns):
        if name not in evidence:
            others = tuple(i for i in range(part.ndim) if i != axis)
            expected = part.sum(axis=others) / part.sum()
            assert tuple(answer[name]) == tables[name].child.values
            assert list(answer[name].values()) == pytest.approx(expected.tolist(), abs=1e-10)
            assert sum(answer[name].values()) == pytest.approx(1, abs=1e-12)


@given(small_models(), st.data())
def test_the_answer_is_that_of_the_whole_joint_distribution(model, data):
    counts, network, prior = model
    tables = tables_of(counts, network, prior=prior)
    check_against_joint(network, tables, draw_evidence(data, network, tables))


@given(small_models(), st.data())
def test_so_it_is_when_tables_are_split(model, data):
    counts, network, prior = model
    tables = tables_of(counts, network, prior=prior)
    evidence = draw_evidence(data, network, tables)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Piece, "splits", property(lambda piece: len(piece._depends) > 1))
        patch.setattr(inference, "_SMALL", -1)
        way = inference._Model._way

        def only_split(self, pieces, keep, *, split=False):
            plan = way(self, pieces, keep, split=True)
            # Whole looks worse than split, whatever the sizes: split is always taken.
            return plan if split else replace(plan, cells=plan.cells + 1)

        patch.setattr(inference._Model, "_way", only_split)
        check_against_joint(network, tables, evidence)


@given(small_models(most=5), st.data())
def test_a_split_table_multiplies_to_the_whole_one(model, data):
    counts, network, prior = model
    child, *parents = data.draw(st.permutations(network.columns))
    table = conditional_table(counts, child, parents, prior=prior)
    code = data.draw(st.sampled_from([None, *range(len(table.child.values))]))
    piece = Piece(table, tuple(range(len(parents))), len(parents), 25, code)
    *masks, by_case = piece._split
    product = by_case.values
    for mask in reversed(masks):
        # One more axis in front: the parent's values; the cases stay in the first of the rest.
        product = np.stack([product * row.reshape((-1,) + (1,) * (product.ndim - 1))
                            for row in mask.values], axis=1)  # fmt: skip
    whole = table.dense() if code is None else table.dense()[..., code]
    assert product.sum(axis=0) == pytest.approx(whole, abs=1e-15)
    for parent, mask in enumerate(masks):
        assert mask.values.shape == (table.shape[parent], piece.cover.cases)


@given(small_models(), st.data())
def test_of_impossible_evidence_the_smallest_part_is_named(model, data):
    counts, network, _ = model
    tables = tables_of(counts, network)
    evidence = draw_evidence(data, network, tables)
    whole = joint(network, tables)
    if given_evidence(whole, network, tables, evidence).sum() > 0:
        return
    with pytest.raises(InputError) as caught:
        infer(network, tables, evidence)
    named = str(caught.value).split(" never occur")[0].split(", ")
    part = {name: evidence[name] for name in (item.split("=")[0] for item in named)}
    assert given_evidence(whole, network, tables, part).sum() == 0
    for name in part:
        fewer = {other: value for other, value in part.items() if other != name}
        assert given_evidence(whole, network, tables, fewer).sum() > 0


@pytest.mark.usefixtures("patience")
@given(small_models())
def test_a_whole_row_is_as_likely_as_the_joint_distribution_says(model):
    counts, network, prior = model
    tables = tables_of(counts, network, prior=prior)
    whole = joint(network, tables)
    assert whole.sum() == pytest.approx(1)
    expected = whole[tuple(counts.codes)]
    assert probabilities_of(network, tables, counts) == pytest.approx(expected, abs=1e-15)
    for at in np.ndindex(whole.shape):
        row = {c.name: c.values[code] for c, code in zip(counts.columns, at, strict=True)}
        assert probability_of(network, tables, row) == pytest.approx(whole[at], abs=1e-15)


@given(small_models(), st.data())
def test_empirical_counts_the_rows_that_match(model, data):
    counts, network, _ = model
    column, *others = data.draw(st.permutations(network.columns))
    known = data.draw(st.lists(st.sampled_from(others), unique=True)) if others else []
    evidence = {c: data.draw(st.sampled_from(counts.column(c).values)) for c in known}
    rows = [
        {c.name: c.values[code] for c, code in zip(counts.columns, codes, strict=True)}
        for codes, n in zip(counts.codes.T, counts.rows, strict=True)
        for _ in range(n)
    ]
    matching = [row[column] for row in rows if all(row[c] == v for c, v in evidence.items())]
    answer = empirical(counts, evidence, column)
    assert answer.support == len(matching)
    assert answer.seen == bool(matching)
    values = counts.column(column).values if matching else ()
    assert dict(answer) == pytest.approx({v: matching.count(v) / len(matching) for v in values})


def random_model(seed, *, n, values, most_parents, rows, reach=None):
    """A network of `n` columns, each below up to `most_parents` of the `reach` before it."""
    rng = np.random.default_rng(seed)
    names = [f"c{i}" for i in range(n)]
    sizes = rng.integers(2, values + 1, n)
    codes = np.stack([rng.integers(0, size, rows) for size in sizes]).astype(np.int32)
    edges = []
    for child in range(1, n):
        near = range(max(0, child - (reach or n)), child)
        wanted = min(int(rng.integers(0, most_parents + 1)), len(near))
        chosen = rng.choice(near, wanted, replace=False)
        edges += [(names[p], names[child]) for p in chosen]
        for p in chosen:  # some dependence, so that the tables are not all alike
            follow = rng.random(rows) < 0.3
            codes[child, follow] = codes[p, follow] % sizes[child]
    dictionaries = [[f"v{v}" for v in range(size)] for size in sizes]
    counts = FrequencySet.from_codes(names, dictionaries, codes, np.ones(rows, np.int64))
    return counts, Network.of(names, edges), rng


def pyagrum_posteriors(network, tables, evidence):
    gum = load_pyagrum()
    other = gum.BayesNet()
    for name in network.columns:
        other.add(gum.LabelizedVariable(name, name, list(tables[name].child.values)))
    for parent, child in network.edges:
        other.addArc(parent, child)
    for name in network.columns:
        table, cpt = tables[name], other.cpt(name)
        axes = [*table.names, name]
        # Its arrays have the axes of `names` backwards.
        backwards = [axes.index(v) for v in reversed(cpt.names)]
        cpt[:] = np.ascontiguousarray(table.dense().transpose(backwards))
    lazy = gum.LazyPropagation(other)
    lazy.setEvidence(evidence)
    lazy.makeInference()
    return {c: lazy.posterior(c).tolist() for c in network.columns if c not in evidence}


def some_row(counts, rng, names):
    codes = counts.codes[:, rng.integers(len(counts))]
    return {n: counts.column(n).values[codes[counts.index(n)]] for n in names}


@pytest.mark.parametrize("prior", [0, 0.5])
@pytest.mark.parametrize(
    ("seed", "n", "known"), [(1, 8, 0), (2, 8, 2), (3, 12, 3), (4, 20, 0), (5, 20, 4), (6, 20, 9)]
)
def test_pyagrum_gives_the_same_answers(seed, n, known, prior):
    counts, network, rng = random_model(seed, n=n, values=4, most_parents=3, rows=200)
    tables = tables_of(counts, network, prior=prior)
    names = rng.choice(network.columns, known, replace=False).tolist()
    evidence = some_row(counts, rng, names)
    theirs = pyagrum_posteriors(network, tables, evidence)
    ours = infer(network, tables, evidence)
    assert list(ours) == list(theirs)
    for name, expected in theirs.items():
        assert list(ours[name].values()) == pytest.approx(expected, abs=1e-10)


@pytest.mark.usefixtures("patience")
def test_a_network_with_more_columns_than_einsum_has_letters():
    counts, network, rng = random_model(7, n=130, values=3, most_parents=3, rows=300, reach=5)
    tables = tables_of(counts, network, prior=0.5)
    evidence = some_row(counts, rng, ["c20", "c64", "c129"])
    theirs = pyagrum_posteriors(network, tables, evidence)
    ours = infer(network, tables, evidence)
    for name, expected in theirs.items():
        assert list(ours[name].values()) == pytest.approx(expected, abs=1e-10)


@pytest.mark.usefixtures("patience")
def test_evidence_too_unlikely_for_a_float_still_tells():
    n = 400  # 0.1 ** 400 is 0 as a float
    rows = [("x",) * n, *[("y",) * n] * 9]
    names = [f"c{i}" for i in range(n)]
    counts = FrequencySet.from_rows([*names, "last"], [(*row, row[0]) for row in rows])
    network = Network.of([*names, "last"], [(names[0], "last")])
    tables = tables_of(counts, network)
    answer = infer(network, tables, dict.fromkeys(names, "x"))
    assert answer == {"last": {"x": 1.0, "y": 0.0}}


def many_values(parents, values, rows):
    """Independent columns of many values, and a child that depends on all of them."""
    rng = np.random.default_rng(11)
    names = [f"p{i}" for i in range(parents)]
    codes = rng.integers(0, values, (parents + 1, rows)).astype(np.int32)
    codes[-1] %= 4
    dictionaries = [list(range(values))] * parents + [list(range(4))]
    counts = FrequencySet.from_codes(
        [*names, "child"], dictionaries, codes, np.ones(rows, np.int64)
    )
    return counts, Network.of([*names, "child"], [(p, "child") for p in names])


def test_five_parents_of_a_hundred_values_cost_what_occurs():
    counts, network = many_values(5, 100, 2000)
    tables = tables_of(counts, network)
    child = tables["child"]
    # P(child) = uniform, and for each combination that occurs what it differs from uniform.
    weight = np.prod([tables[p].dense()[child.combinations[i]] for i, p in enumerate(child.names)],
                     axis=0)  # fmt: skip
    differs = np.full((len(child), 4), -0.25)
    differs[child.combination, child.value] += child.probability
    expected = 0.25 + weight @ differs
    answer = infer(network, tables, {})
    assert list(answer["child"].values()) == pytest.approx(expected.tolist(), abs=1e-10)
    for name in child.names:
        alone = tables[name].dense().tolist()
        assert list(answer[name].values()) == pytest.approx(alone, abs=1e-12)


def test_backwards_through_five_parents_of_a_hundred_values():
    counts, network = many_values(5, 100, 2000)
    tables = tables_of(counts, network, prior=0.5)
    child = tables["child"]
    code = 2
    shares = [tables[p].dense() for p in child.names]
    weight = np.prod([share[child.combinations[i]] for i, share in enumerate(shares)], axis=0)
    seen = np.repeat(child.rest[:, None], 4, axis=1)
    seen[child.combination, child.value] = child.probability
    differs = np.bincount(
        child.combinations[0], weights=weight * (seen[:, code] - 0.25), minlength=100
    )
    expected = shares[0] * 0.25 + differs
    answer = infer(network, tables, {"child": code}, columns=["p0"])
    assert tuple(answer) == ("p0",)
    assert list(answer["p0"].values()) == pytest.approx(
        (expected / expected.sum()).tolist(), abs=1e-12
    )


def test_what_would_not_fit_in_memory_is_refused_by_name():
    counts, network, _ = random_model(2, n=4, values=4, most_parents=0, rows=50)
    network = Network.of(network.columns, list(combinations(network.columns, 2)))
    tables = tables_of(counts, network)
    with pytest.raises(InputError) as caught:
        infer(network, tables, {}, most_cells=8)
    text = str(caught.value)
    for part in ("'c0'", "cells", "at most 8 are allowed", "generalise", "raise most_cells"):
        assert part in text
    assert infer(network, tables, {}, columns=["c0"], most_cells=8)
    split, big = many_values(5, 100, 2000)
    with pytest.raises(InputError, match="combinations of the parents of 'child'"):
        infer(big, tables_of(split, big), {}, most_cells=1000)


def test_the_worked_example():
    evidence = {"Government": "State-gov", "Age": FIRST[0]}
    assert empirical(TABLE, evidence, "Marital-Status")["Never-Married"] == 1
    assert empirical(TABLE, evidence, "Salary")["≤50K"] == 1
    assert empirical(TABLE, evidence, "Salary").support == 2
    private = {"Government": "Private", "Age": SECOND[0]}
    assert empirical(TABLE, private, "Marital-Status")["Married"] == pytest.approx(2 / 3)
    assert empirical(TABLE, private, "Salary")[">50K"] == pytest.approx(2 / 3)
    assert empirical(TABLE, private, "Salary").support == 3
    quasi = infer(QUASI, tables_of(TABLE, QUASI), {"Age": FIRST[0]})
    assert quasi == {"Gender": {"F": 1, "M": 0}, "Zipcode": {FIRST[2]: 1, SECOND[2]: 0}}
    with_prior = infer(QUASI, tables_of(TABLE, QUASI, prior=0.5), {"Age": FIRST[0]})
    assert with_prior["Zipcode"][FIRST[2]] == pytest.approx(5.5 / 6)


def test_the_worked_structure_of_all_columns():
    row = dict(zip(COLUMNS, ROWS[0], strict=True))
    known = {name: value for name, value in row.items() if name != "Government"}
    assert infer(WHOLE, tables_of(TABLE, WHOLE), known)["Government"]["State-gov"] == 1
    tables = tables_of(TABLE, WHOLE, prior=0.5)
    answer = infer(WHOLE, tables, known)["Government"]
    assert answer["State-gov"] == pytest.approx(0.5556, abs=1e-4)
    # Age, Zipcode, Gender; Marital-Status, Salary; Government.
    expected = (5.5 / 11) * (5.5 / 6) * (5.5 / 6) * (3.5 / 12) * (3.5 / 4) * (2.5 / 4.5)
    assert probability_of(WHOLE, tables, row) == pytest.approx(expected)


def test_evidence_that_never_occurs_together_is_named():
    tables = tables_of(TABLE, SENSITIVE)
    with pytest.raises(InputError) as caught:
        infer(SENSITIVE, tables, {"Government": "State-gov", "Salary": ">50K"})
    assert str(caught.value).startswith(
        "Government='State-gov', Salary='>50K' never occur together: "
    )
    assert "prior=0.5" in str(caught.value)
    with_prior = tables_of(TABLE, SENSITIVE, prior=0.5)
    assert infer(SENSITIVE, with_prior, {"Government": "State-gov", "Salary": ">50K"})


def test_a_value_that_was_left_out_never_occurs():
    gone = TABLE.without(TABLE.codes_of("Government") == 0)
    network = Network.of(["Government", "Salary"], [("Government", "Salary")])
    lost = TABLE.column("Government").values[0]
    with pytest.raises(InputError, match=f"Government='{lost}' never occurs: .* no person has it"):
        infer(network, tables_of(gone, network), {"Government": lost, "Salary": "≤50K"})
    nobody = empirical(gone, {"Government": lost}, "Salary")
    assert (dict(nobody), nobody.support) == ({}, 0)


def test_mistakes_are_answered():
    tables = tables_of(TABLE, SENSITIVE)
    with pytest.raises(UnknownColumnError, match=r"'Goverment' in the network. Did you mean"):
        infer(SENSITIVE, tables, {"Goverment": "Private"})
    with pytest.raises(UnknownColumnError, match="no column 'Age' in the network"):
        infer(SENSITIVE, tables, {}, columns=["Age"])
    with pytest.raises(UnknownNameError, match=r"no value 'Privat' .* Did you mean 'Private'"):
        infer(SENSITIVE, tables, {"Government": "Privat"})
    with pytest.raises(ParameterError, match=r"every column of the network.*'Salary'.*infer"):
        probability_of(SENSITIVE, tables, {"Government": "Private", "Marital-Status": "Married"})
    with pytest.raises(ParameterError, match="a column that is not in the evidence"):
        empirical(TABLE, {"Age": FIRST[0]}, "Age")
    with pytest.raises(UnknownColumnError, match="Did you mean 'Age'"):
        empirical(TABLE, {"Aga": FIRST[0]}, "Salary")


def test_a_cycle_is_refused_with_its_columns():
    cyclic = Network.of(
        COLUMNS, [("Age", "Gender"), ("Gender", "Zipcode"), ("Zipcode", "Age"), ("Age", "Salary")]
    )
    tables = tables_of(TABLE, cyclic)
    message = r"cycle, Age → Gender → Zipcode → Age, and"
    with pytest.raises(InputError, match=message):
        infer(cyclic, tables, {})
    with pytest.raises(InputError, match=message):
        probability_of(cyclic, tables, dict(zip(COLUMNS, ROWS[0], strict=True)))
    with pytest.raises(InputError, match=message):
        probabilities_of(cyclic, tables, TABLE)


def test_tables_of_another_network_are_refused():
    with pytest.raises(InputError, match=r"'Gender' depends on \['Zipcode'\].*on \[\].*tables_of"):
        infer(QUASI, tables_of(TABLE, Network.of(QUASI.columns, [("Age", "Zipcode")])), {})
    with pytest.raises(InputError, match=r"'Age' depends on .* no table"):
        infer(QUASI, {}, {})
    mixed = tables_of(TABLE, QUASI)
    fewer = FrequencySet.from_rows(COLUMNS, ROWS[:5])
    mixed["Age"] = conditional_table(fewer, "Age", [])
    with pytest.raises(InputError, match="'Age' and 'Zipcode' disagree about the values of 'Age'"):
        infer(QUASI, mixed, {})
