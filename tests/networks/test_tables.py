import json
from collections import Counter
from datetime import date
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.counts import Column, FrequencySet
from sfumato.errors import InputError, ParameterError, UnknownColumnError, UnknownNameError
from sfumato.networks import Network, conditional_table, tables_of
from sfumato.networks.tables import code_of
from tests.networks.worked import FIRST, QUASI, ROWS, SECOND, SENSITIVE, TABLE, WHOLE

NAMES = ("a", "b", "c", "d")
CELL = st.sampled_from(["x", "y", 3, None])
SMALL = st.lists(st.tuples(CELL, CELL, CELL, CELL), min_size=1, max_size=25)
PRIORS = st.sampled_from([0.0, 0.5, 1.0, 0.125])


def literal(rows, child, parents, prior):
    """Each row of the table as the definition says it, in exact fractions."""
    declared = {row[child] for row in rows}
    groups = {}
    for row in rows:
        groups.setdefault(tuple(row[p] for p in parents), []).append(row[child])
    table = {}
    for given_, values in groups.items():
        n = Counter(values)
        whole = len(values) + Fraction(prior) * len(declared)
        table[given_] = {v: (n[v] + Fraction(prior)) / whole for v in declared}
    return table


def row_of(table, *values):
    return dict(table.row(dict(zip(table.names, values, strict=True))))


@given(SMALL, st.permutations(range(4)), st.integers(0, 3), PRIORS)
def test_every_row_is_the_share_among_the_rows_that_have_the_parents(rows, order, n, prior):
    child, parents = order[0], order[1 : n + 1]
    f = FrequencySet.from_rows(NAMES, rows)
    table = conditional_table(f, NAMES[child], [NAMES[p] for p in parents], prior=prior)
    expected = literal(rows, child, parents, prior)

    assert len(table) == len(expected)
    assert table.unseen == np.prod([len({r[p] for r in rows}) for p in parents]) - len(expected)
    for values, shares in expected.items():
        found = table.row({NAMES[p]: v for p, v in zip(parents, values, strict=True)})
        assert found.seen
        assert found.support == sum(tuple(r[p] for p in parents) == values for r in rows)
        assert dict(found) == pytest.approx({v: float(s) for v, s in shares.items()}, abs=1e-15)


@given(SMALL, st.permutations(range(4)), st.integers(0, 3), PRIORS)
def test_all_views_of_a_table_agree_and_every_row_sums_to_one(rows, order, n, prior):
    names = [NAMES[i] for i in order]
    f = FrequencySet.from_rows(NAMES, rows)
    table = conditional_table(f, names[0], names[1 : n + 1], prior=prior)
    dense = table.dense()

    assert dense.shape == table.shape
    assert dense.sum(axis=-1) == pytest.approx(np.ones(table.shape[:-1]), abs=1e-12)
    every = np.indices(table.shape).reshape(len(table.shape), -1)
    assert table.probability_at(every[:-1], every[-1]).tolist() == dense.ravel().tolist()
    for at in np.ndindex(table.shape[:-1]):
        values = {p.name: p.values[c] for p, c in zip(table.parents, at, strict=True)}
        assert list(table.row(values).values()) == dense[at].tolist()
    entries = table.entries()
    codes = (*table.combinations[:, entries.combination], entries.value)
    assert dense[codes].tolist() == entries.probability.tolist()
    assert table.support.sum() == entries.count.sum() == len(rows)


@given(SMALL, PRIORS, st.data())
def test_fixing_a_parent_is_a_slice(rows, prior, data):
    f = FrequencySet.from_rows(NAMES, rows)
    table = conditional_table(f, "d", ["a", "b", "c"], prior=prior)
    code = data.draw(st.integers(0, len(f.column("b").values) - 1))
    sliced = table.restrict({"b": code})
    assert sliced.names == ("a", "c")
    assert sliced.dense().tolist() == table.dense()[:, code].tolist()


def test_age_tells_the_zipcode():
    table = conditional_table(TABLE, "Zipcode", ["Age"])
    assert table.dense().tolist() == [[1, 0], [0, 1]]
    assert table.support.tolist() == [5, 5]


def test_age_and_zipcode_tell_the_gender_where_they_occur_together():
    table = conditional_table(TABLE, "Gender", ["Age", "Zipcode"])
    assert row_of(table, FIRST[0], FIRST[2]) == {"F": 1, "M": 0}
    assert row_of(table, SECOND[0], SECOND[2]) == {"F": 0, "M": 1}
    for mixed in [(FIRST[0], SECOND[2]), (SECOND[0], FIRST[2])]:
        assert row_of(table, *mixed) == {"F": 0.5, "M": 0.5}
        assert not table.row(dict(zip(table.names, mixed, strict=True))).seen
    assert (len(table), table.unseen) == (2, 2)


def test_state_gov_betrays_the_first_group_and_private_does_not_quite_betray_the_second():
    married = conditional_table(TABLE, "Marital-Status", ["Age", "Government"])
    paid = conditional_table(TABLE, "Salary", ["Age", "Government"])
    assert row_of(married, FIRST[0], "State-gov")["Never-Married"] == 1
    assert row_of(paid, FIRST[0], "State-gov")["≤50K"] == 1
    assert row_of(married, SECOND[0], "Private")["Married"] == pytest.approx(2 / 3)
    assert row_of(paid, SECOND[0], "Private")[">50K"] == pytest.approx(2 / 3)


def test_the_published_joint_table_of_government():
    table = conditional_table(
        TABLE, "Government", ["Age", "Gender", "Zipcode", "Marital-Status", "Salary"]
    )
    published = [
        (FIRST, "Never-Married", "≤50K", "State-gov"),
        (FIRST, "Married", "≤50K", "Federal-gov"),
        (FIRST, "Separated", ">50K", "Local-gov"),
        (SECOND, "Never-Married", "≤50K", "Federal-gov"),
        (SECOND, "Divorced", "≤50K", "Private"),
    ]
    for group, marital, salary, government in published:
        assert row_of(table, *group, marital, salary)[government] == 1


def test_the_published_table_of_salary():
    table = conditional_table(TABLE, "Salary", ["Government", "Marital-Status"])
    for government, marital, low in [
        ("State-gov", "Never-Married", 1),
        ("Federal-gov", "Divorced", 0.5),
        ("Private", "Divorced", 1),
        ("Local-gov", "Separated", 0),
        ("Private", "Married", 0),
        ("Self-emp", "Married", 1),
        ("Self-emp", "Separated", 0.5),
    ]:
        assert row_of(table, government, marital) == {"≤50K": low, ">50K": 1 - low}


def test_with_a_prior_of_one_half():
    quasi = tables_of(TABLE, QUASI, prior=0.5)
    sensitive = tables_of(TABLE, SENSITIVE, prior=0.5)
    whole = tables_of(TABLE, WHOLE, prior=0.5)
    assert row_of(quasi["Zipcode"], FIRST[0])[FIRST[2]] == pytest.approx(5.5 / 6)
    assert row_of(quasi["Gender"], SECOND[2])["M"] == pytest.approx(0.9167, abs=1e-4)
    assert row_of(sensitive["Marital-Status"], "State-gov")["Never-Married"] == 0.625
    paid = row_of(sensitive["Salary"], "State-gov", "Never-Married")
    assert paid["≤50K"] == pytest.approx(0.8333, abs=1e-4)
    works = row_of(whole["Government"], *FIRST, "Never-Married", "≤50K")
    assert works["State-gov"] == pytest.approx(0.5556, abs=1e-4)


@pytest.mark.parametrize("prior", [0, 0.5])
def test_no_published_row_fails_to_sum_to_one(prior):
    for network in (QUASI, SENSITIVE, WHOLE):
        for table in tables_of(TABLE, network, prior=prior).values():
            assert table.dense().sum(axis=-1) == pytest.approx(np.ones(table.shape[:-1]))


def test_only_what_occurs_is_held():
    rng = np.random.default_rng(5)
    codes = rng.integers(0, 100, (6, 1000)).astype(np.int32)
    names = list("abcdef")
    f = FrequencySet.from_codes(names, [list(range(100))] * 6, codes, np.ones(1000, np.int64))
    table = conditional_table(f, "f", names[:5])
    assert len(table) <= 1000
    assert table.unseen == 100**5 - len(table)
    assert table.probability.tolist() == [1.0] * len(table)
    with pytest.raises(InputError, match="1000000000000 cells"):
        table.dense()


def test_combinations_wider_than_a_machine_word_are_told_apart():
    rng = np.random.default_rng(3)
    codes = rng.integers(0, 1000, (9, 300)).astype(np.int32)
    names = [f"c{i}" for i in range(9)]
    f = FrequencySet.from_codes(names, [list(range(1000))] * 9, codes, np.ones(300, np.int64))
    table = conditional_table(f, "c8", names[:8])
    assert len(table) == 300
    assert sorted(map(tuple, table.combinations.T.tolist())) == sorted(
        map(tuple, codes[:8].T.tolist())
    )
    assert table.locate(codes[:8]).tolist() == [
        table.combinations.T.tolist().index(c) for c in codes[:8].T.tolist()
    ]
    assert (table.probability_at(codes[:8], codes[8]) == 1).all()
    assert (table.locate((codes[:8] + 1) % 1000) == -1).all()


def test_combinations_without_rows_do_not_occur():
    columns = (Column("a", ("x", "y")), Column("b", (0, 1)))
    f = FrequencySet(columns, np.array([[0, 1], [0, 1]], np.int32), np.array([3, 0]))
    table = conditional_table(f, "b", ["a"])
    assert table.support.tolist() == [3]
    assert not table.row({"a": "y"}).seen
    nothing = conditional_table(f.without(np.array([True, True])), "b", [])
    assert dict(nothing.row({})) == {0: 0.5, 1: 0.5}
    assert nothing.probability_at(np.empty((0, 1), int), np.array([1])).tolist() == [0.5]


def test_missing_is_a_value_like_others():
    f = FrequencySet.from_rows(["a", "b"], [(None, None), (None, 1), ("x", 1)])
    table = conditional_table(f, "b", ["a"])
    assert dict(table.row({"a": None})) == {1: 0.5, None: 0.5}
    assert dict(table.row({"a": float("nan")})) == {1: 0.5, None: 0.5}


def test_as_json():
    f = FrequencySet.from_rows(["a", "b"], [(None, 1), (date(2020, 1, 2), 1), (None, "z")])
    told = json.loads(json.dumps(conditional_table(f, "b", ["a"], prior=0.5).to_dict()))
    assert told["child"] == "b"
    assert told["parents"] == ["a"]
    assert told["values"] == [1, "z"]
    assert told["unseen"] == 0
    assert told["rows"][0] == {
        "given": ["2020-01-02"],
        "support": 1,
        "entries": [{"value": 1, "count": 1, "probability": 0.75}],
        "each_other_value": 0.25,
    }
    assert told["rows"][1]["given"] == [None]


def test_tables_of_a_network_cover_all_its_columns():
    tables = tables_of(TABLE, WHOLE)
    assert tuple(tables) == WHOLE.columns
    assert {c: set(t.names) for c, t in tables.items()} == {
        c: set(p) for c, p in WHOLE.parents.items()
    }
    assert all(t.support.sum() == len(ROWS) for t in tables.values())


def test_values_are_found_as_they_are_written():
    column = Column("a", ("1", 1, 2.0, True, None))
    assert [code_of(column, v) for v in ("1", 1, 2, "2", True, "true", None)] == [
        0, 1, 2, 2, 3, 3, 4
    ]  # fmt: skip


def test_mistakes_are_answered():
    table = conditional_table(TABLE, "Gender", ["Age", "Zipcode"])
    with pytest.raises(UnknownColumnError, match=r"no column 'Zip'.*Did you mean 'Zipcode'"):
        table.row({"Age": FIRST[0], "Zip": FIRST[2]})
    with pytest.raises(ParameterError, match=r"every parent of 'Gender'.*'Zipcode'.* left out"):
        table.row({"Age": FIRST[0]})
    with pytest.raises(UnknownNameError, match=r"no value '\[30-51\]' in column 'Age'. Did you"):
        table.row({"Age": "[30-51]", "Zipcode": FIRST[2]})
    with pytest.raises(UnknownNameError, match="no value 'None' in column 'Age'"):
        table.row({"Age": None, "Zipcode": FIRST[2]})
    with pytest.raises(ParameterError, match="prior must be a number of at least 0, got -1"):
        conditional_table(TABLE, "Gender", ["Age"], prior=-1)
    for parents in (["Gender"], ["Age", "Age"]):
        with pytest.raises(ParameterError, match="none of them 'Gender'"):
            conditional_table(TABLE, "Gender", parents)
    with pytest.raises(UnknownColumnError, match="Did you mean 'Gender'"):
        conditional_table(TABLE, "Gendr", ["Age"])
    with pytest.raises(InputError, match="column 'a' has no values"):
        tables_of(FrequencySet.from_rows(["a"], []), Network.of(["a"], []))
