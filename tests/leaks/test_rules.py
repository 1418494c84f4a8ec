"""Rules against a literal Algorithm 1 over rows, and the sources' ten-row table."""

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.counts import FrequencySet
from sfumato.errors import PolicyError
from sfumato.leaks import RiskLevels, rank_rules, rules_of
from sfumato.networks import Network
from tests.leaks.test_facts import level_of
from tests.networks.worked import COLUMNS as CENSUS
from tests.networks.worked import ROWS

NAMES = ("a", "b", "c", "d")
TABLES = st.lists(
    st.tuples(*(st.sampled_from(["x", "y", "z", None]) for _ in NAMES)), min_size=1, max_size=30
)


@st.composite
def networks(draw) -> Network:
    """Any acyclic network over the columns."""
    order = draw(st.permutations(NAMES))
    pairs = [(p, c) for i, p in enumerate(order) for c in order[i + 1 :]]
    return Network.of(NAMES, draw(st.lists(st.sampled_from(pairs), unique=True)))


def shares(rows, known, told, alpha, support):
    """Count row by row: {(known values, told value): (rows, support)} above alpha."""
    at = [NAMES.index(name) for name in known]
    to = NAMES.index(told)
    behind = Counter(tuple(row[i] for i in at) for row in rows)
    both = Counter((tuple(row[i] for i in at), row[to]) for row in rows)
    return {
        (values, value): (n, behind[values])
        for (values, value), n in both.items()
        if n > alpha * behind[values] and behind[values] >= support
    }


def exceeds(rows, parent, child, alpha, support, prior):
    """Whether an entry of a parent's own table exceeds alpha: the cells written out, one by one."""
    at, to = NAMES.index(parent), NAMES.index(child)
    values = {row[to] for row in rows}
    for known in {row[at] for row in rows}:
        fits = [row[to] for row in rows if row[at] == known]
        cells = [(fits.count(value) + prior, len(fits) + prior * len(values)) for value in values]
        if len(fits) >= support and any(cell > alpha * whole for cell, whole in cells):
            return True
    return False


def algorithm_1(rows, network, sensitive, alpha, support, prior):
    """The sources' Algorithm 1, word by word, with every rule that has an entry above alpha."""
    found = {}
    for child in NAMES:
        parents = network.parents[child]
        singles = {p: shares(rows, (p,), child, alpha, support) for p in parents}
        sure = {p: exceeds(rows, p, child, alpha, support, prior) for p in parents}
        every = all(sure.values())
        for parent, entries in singles.items():
            if entries:
                holds = sure[parent] and (len(parents) == 1 or not every)
                found[(parent,), child] = entries, holds
        if len(parents) > 1:
            joint = shares(rows, parents, child, alpha, support)
            if joint:
                found[parents, child] = joint, every
        for parent in parents:
            against = shares(rows, (child,), parent, alpha, support)
            if parent in sensitive and against:
                found.setdefault(((child,), parent, "against"), (against, False))
    return found


@given(
    rows=TABLES,
    network=networks(),
    sensitive=st.lists(st.sampled_from(NAMES), unique=True),
    alpha=st.sampled_from([0.2, 0.49, 0.5, 0.75, 0.99]),
    support=st.integers(1, 6),
    prior=st.sampled_from([0, 0.5, 1, 3.0]),
)
def test_rules_are_those_of_the_literal_algorithm(rows, network, sensitive, alpha, support, prior):
    counts = FrequencySet.from_rows(NAMES, rows)
    rules = rules_of(
        counts, network, sensitive=sensitive, alpha=alpha, support=support, prior=prior
    )
    found = {}
    for rule in rules:
        known = tuple(column.name for column in rule.known)
        e = rule.entries
        entries = {
            (
                tuple(c.values[code] for c, code in zip(rule.known, e.known[:, i], strict=True)),
                rule.told.values[e.value[i]],
            ): (int(e.rows[i]), int(e.support[i]))
            for i in range(len(e))
        }
        key = (known, rule.told.name, "against") if rule.against_arrow else (known, rule.told.name)
        found[key] = entries, rule.holds
        told = NAMES.index(rule.told.name)
        share = {v: Fraction(n, len(rows)) for v, n in Counter(r[told] for r in rows).items()}
        learned = [n for (_, v), (n, m) in entries.items() if level_of(share[v], Fraction(n, m))]
        assert rule.people == sum(learned)
        assert rule.reveals == (rule.told.name in sensitive)
        hit = rule.matches(counts)
        assert int(counts.rows[hit].sum()) == rule.people
    assert found == algorithm_1(rows, network, sensitive, alpha, support, prior)


class TestTheTenRowTable:
    @pytest.fixture
    def counts(self):
        return FrequencySet.from_rows(CENSUS, ROWS)

    def rule(self, counts, known, told, **options):
        network = Network.of(CENSUS, [(name, told) for name in known])
        rules = rules_of(counts, network, sensitive=CENSUS[3:], support=1, **options)
        wanted = set(known)
        return next(r for r in rules if {c.name for c in r.known} == wanted and not r.against_arrow)

    def test_age_tells_the_zip_code(self, counts):
        rule = self.rule(counts, ["Age"], "Zipcode")
        assert rule.entries.posterior.tolist() == [1.0, 1.0]
        assert (rule.people, rule.level, rule.reveals) == (10, "very high", False)

    def test_state_gov_in_the_first_group_tells_everything(self, counts):
        rule = self.rule(counts, ["Age", "Government"], "Marital-Status", alpha=0.9)
        certain = {tuple(e["known"].values()): e["told"] for e in rule.top_entries()}
        first = next(key for key in certain if key[1].lower().startswith("state"))
        assert certain[first] == {"Marital-Status": "Never-Married"}

    def test_private_in_the_second_group_is_two_thirds_not_one(self, counts):
        """Erratum E3: the sources say 1."""
        rule = self.rule(counts, ["Age", "Government"], "Salary", alpha=0.5)
        [private] = [
            e
            for e in rule.top_entries()
            if e["known"]["Government"] == "Private" and e["support"] == 3
        ]
        assert private["posterior"] == pytest.approx(2 / 3)
        # Three in ten earn that much: 30 % became 67 %, which is no harm by the one rule.
        assert private["level"] == "low"


def test_support_hides_what_too_few_rows_say():
    rows = [("x", "v", "x", "x")] * 3 + [("y", "w", "x", "x")] * 5
    counts = FrequencySet.from_rows(NAMES, rows)
    network = Network.of(NAMES, [("a", "b")])
    [rule] = rules_of(counts, network, support=4)
    assert [e["known"]["a"] for e in rule.top_entries()] == ["y"]
    assert rule.least_support == 5


def test_rules_that_reveal_come_first_then_those_with_most_people():
    rows = [("x", "x", "p", "q")] * 6 + [("y", "y", "p", "q")] * 4 + [("z", "y", "r", "q")] * 5
    counts = FrequencySet.from_rows(NAMES, rows)
    network = Network.of(NAMES, [("a", "b"), ("a", "c")])
    rules = rank_rules(rules_of(counts, network, sensitive=["c"], support=1))
    assert [r.told.name for r in rules if not r.against_arrow] == ["c", "b"]


def test_levels_can_be_changed():
    strict = RiskLevels(moderate=0.1, high=0.2, very_high=0.3)
    assert [strict.of(p) for p in np.arange(0, 0.4, 0.1)] == [
        "low",
        "moderate",
        "high",
        "very high",
    ]


@pytest.mark.parametrize(
    "bounds", [{"moderate": 0.6}, {"very_high": 1.1}, {"high": 0.9}, {"moderate": -0.1}]
)
def test_levels_that_do_not_rise_are_refused(bounds):
    with pytest.raises(PolicyError):
        RiskLevels(**bounds)
