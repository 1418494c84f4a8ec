"""The public domain: every value in one cell, by a slow reading, and nothing read off a table."""

from datetime import date
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.counts import FrequencySet
from sfumato.errors import PolicyError
from sfumato.policy import Policy
from sfumato.policy.domains import DomainRule
from sfumato.synthesis.domain import ColumnDomain, PublicDomain


@given(st.data())
def test_a_number_is_in_the_cell_that_holds_it(data):
    low = data.draw(st.integers(-50, 50))
    cuts = data.draw(st.lists(st.integers(low + 1, low + 90), unique=True, max_size=6))
    high = max([low, *cuts]) + data.draw(st.integers(0, 9))
    rule = DomainRule(**{"from": low, "to": high, "cuts": sorted(cuts)})
    domain = ColumnDomain.of("n", rule)
    for value in range(low - 3, high + 4):
        inside = low <= value <= high
        slow = sum(cut <= value for cut in cuts) if inside else None
        assert domain.cell_of(value) == domain.cell_of(str(value)) == slow
    assert domain.cell_of(None) == domain.known


@given(st.data())
def test_what_is_drawn_in_a_cell_is_in_it(data):
    kind = data.draw(st.sampled_from(["whole", "decimal", "days"]))
    given_ = {
        "whole": {"from": 3, "to": 40, "cuts": [4, 20]},
        "decimal": {"from": "0.25", "to": "9.75", "cuts": ["0.5", 3]},
        "days": {"from": "1999-12-30", "to": "2001-03-01", "width": "90d"},
    }[kind]
    domain = ColumnDomain.of("x", DomainRule(**given_))
    cells = np.array(data.draw(st.lists(st.integers(0, domain.size - 1), max_size=30)), dtype=int)
    drawn = domain.draw(cells, np.random.default_rng(data.draw(st.integers(0, 99))))
    assert [domain.cell_of(value) for value in drawn] == cells.tolist()
    types = {"whole": int, "decimal": float, "days": date}[kind]
    assert all(value is None or isinstance(value, types) for value in drawn)


@pytest.mark.parametrize(
    ("domain", "told"),
    [
        ({"from": 1}, "columns.age.domain.to: is missing"),
        ({"from": 5, "to": 1}, "must not be below from, 5"),
        ({"from": 1, "to": 9, "cuts": [7, 3]}, "must rise"),
        ({"from": 1, "to": 9, "cuts": [3], "width": 2}, "remove one of the two"),
        ({"from": "x", "to": 3}, "must be a number or a day"),
        ({"values": ["a"], "to": 3}, "remove it"),
        ({"from": 0, "to": 1e9, "width": 1}, "more than 10000 cells"),
        ({}, "must list the values"),
        ("young", "must be a mapping"),
    ],
)
def test_a_domain_that_is_none_is_refused_with_its_place(domain, told):
    with pytest.raises(PolicyError, match="policy") as found:
        policy_of({"age": {"role": "quasi-identifier", "domain": domain}})
    assert told in str(found.value)


def policy_of(columns):
    return Policy(columns=columns, models=[{"model": "k-anonymity", "k": 2}])


def test_a_policy_with_domains_is_written_as_it_was_read():
    policy = policy_of(
        {
            "age": {"role": "quasi-identifier", "domain": {"from": 0, "to": 99, "cuts": [18]}},
            "born": {"role": "plain", "domain": {"from": "1950-01-01", "to": "1999-12-31"}},
            "ill": {"role": "sensitive", "domain": ["flu", "no", "01"]},
        }
    )
    assert Policy.from_yaml(policy.to_yaml()) == policy
    assert "from: 0" in policy.to_yaml()
    assert policy.columns["ill"].domain.values == ("flu", "no", "01")


def test_hierarchies_that_list_their_values_are_domains_and_others_are_refused():
    tree = {"kind": "taxonomy", "tree": {"cold": ["flu", "cough"], "other": ["gout"]}}
    policy = policy_of(
        {
            "ill": {"role": "sensitive", "hierarchy": tree},
            "age": {"role": "quasi-identifier", "hierarchy": {"kind": "intervals", "widths": [5]}},
        }
    )
    assert PublicDomain.of(policy, ["ill"]).columns[0].values == ("flu", "cough", "gout")
    with pytest.raises(PolicyError, match=r"columns\.age: 'age' has no public domain"):
        PublicDomain.of(policy, ["ill", "age"])


@pytest.mark.parametrize(
    ("hierarchy", "edges"),
    [
        ({"widths": [10, 20]}, [17, 20, 30, 40, 46]),
        ({"bounds": [[18, 30, 65], [30]]}, [17, 18, 30, 46]),
        ({"widths": [10], "lower": 20, "upper": 40}, [17, 20, 30, 40, 46]),
    ],
)
def test_ends_are_cut_as_the_hierarchy_cuts(hierarchy, edges):
    rule = {
        "role": "quasi-identifier",
        "hierarchy": {"kind": "intervals", **hierarchy},
        "domain": {"from": 17, "to": 45},
    }
    [domain] = PublicDomain.of(policy_of({"age": rule}), ["age"]).columns
    assert domain.edges == tuple(map(Decimal, edges))


def test_a_value_without_a_cell_is_named_with_the_line_of_its_domain():
    policy = sf.Policy.from_yaml(
        "columns:\n  sex: {role: quasi-identifier, domain: [f, m]}\n"
        "  age:\n    role: quasi-identifier\n    domain: {from: 0, to: 99}\n"
        "models: [{model: k-anonymity, k: 2}]\n"
    )
    domain = PublicDomain.of(policy, ["sex", "age"])
    with pytest.raises(
        PolicyError, match=r"line 2, columns\.sex\.domain: has no cell for 1 value of"
    ):
        domain.cells_of(FrequencySet.from_rows(["sex", "age"], [("x", 1), ("f", 2)]), policy)
    with pytest.raises(PolicyError, match=r"line 5, columns\.age\.domain: .* from 0 to 99: '100'"):
        domain.cells_of(FrequencySet.from_rows(["sex", "age"], [("f", 100)]), policy)


@given(st.lists(st.tuples(st.sampled_from(["f", "M", None]), st.integers(0, 9)), min_size=1))
def test_cells_count_what_a_slow_count_does(rows):
    policy = policy_of(
        {
            "sex": {"role": "quasi-identifier", "domain": ["f", "m"]},
            "n": {"role": "plain", "domain": {"from": 0, "to": 9, "cuts": [4]}},
        }
    )
    domain = PublicDomain.of(policy, ["sex", "n"])
    cells = domain.cells_of(FrequencySet.from_rows(["sex", "n"], rows), policy)
    slow = np.zeros((3, 3), dtype=int)
    for sex, n in rows:
        slow[{"f": 0, "M": 1, None: 2}[sex], int(n >= 4)] += 1
    assert cells.marginal(("sex", "n")).tolist() == slow.tolist()
    assert cells.marginal(("n",)).tolist() == slow.sum(axis=0).tolist()
