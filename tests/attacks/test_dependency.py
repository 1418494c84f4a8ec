"""Dependency: every figure against rows gone through one by one."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.attacks import Dependency, Target
from sfumato.counts import FrequencySet
from sfumato.decouplings.base import GroupedTables
from sfumato.errors import InputError, ParameterError, UnknownColumnError, UnknownNameError
from sfumato.harm import HarmRule

NAMES, SENSITIVE = ["age", "work", "marital"], ("work", "marital")
ROWS = st.dictionaries(
    st.tuples(st.sampled_from("ab"), st.sampled_from("stp"), st.sampled_from(["m", "d", None])),
    st.integers(1, 12),
    min_size=2,
    max_size=8,
).map(lambda table: [row for row, n in table.items() for _ in range(n)])


def target_of(rows):
    return Target.of_table(FrequencySet.from_rows(NAMES, rows), ("age",), SENSITIVE)


def literally(rows, who, told):
    """Who has these values, the share of what is told among the known of them, and of all."""
    at = NAMES.index("marital")
    fitting = [row for row in rows if all(row[NAMES.index(n)] == v for n, v in who.items())]
    known = [row[at] for row in fitting if row[at] is not None]
    everybody = [row[at] for row in rows if row[at] is not None]
    share = known.count(told) / len(known)
    return len(known), share, everybody.count(told) / len(everybody)


@pytest.mark.parametrize("threshold", [0.5, 0.75])
@given(rows=ROWS)
def test_every_case_is_a_fact_of_the_rows(threshold, rows):
    outcome = Dependency("marital", support=1).on(target_of(rows), HarmRule(very_high=threshold))
    for case in outcome.worst:
        told = case.believed.removeprefix("marital = ")
        people, posterior, prior = literally(rows, case.who, told)
        assert case.people == people
        assert (case.posterior, case.prior) == (pytest.approx(posterior), pytest.approx(prior))
        assert posterior > prior


@given(rows=ROWS)
def test_the_people_are_those_of_whom_a_rule_knows_enough(rows):
    target = target_of(rows)
    attack = Dependency("marital", support=1)
    outcome = attack.on(target, HarmRule())
    exposed = set()
    for rule in attack.rules(target):
        names = [column.name for column in rule.known]
        for row in set(rows):
            who = {name: row[NAMES.index(name)] for name in names}
            for told in ("m", "d"):
                if not any(literal_match(rows, who)):
                    continue
                _, posterior, prior = literally(rows, who, told)
                doubled = posterior >= 2 * prior - 1e-12
                sure = prior <= 0.5 + 1e-12 and 1 - posterior <= (1 - prior) / 4 + 1e-12
                if posterior >= 0.75 - 1e-12 and (doubled or sure):
                    exposed.add(row)
    assert outcome.people == sum(row in exposed for row in rows)


def literal_match(rows, who):
    """Tell which rows with these values have a known one in the column that is told."""
    return [
        row[2] is not None and all(row[NAMES.index(n)] == v for n, v in who.items()) for row in rows
    ]


def test_networks_are_learned_once_for_all_columns():
    rows = [("a", "s", "m"), ("a", "p", "d"), ("b", "s", "m"), ("b", "p", "d")] * 8
    target = target_of(rows)
    seen = []
    for attack in Dependency.against(target, HarmRule()):
        assert attack.on(target, HarmRule()).people == 32
        seen.append(target.memoize(("networks", "ic"), lambda _: None))
    assert seen[0] is seen[1] is not None


def test_an_identifier_left_in_and_a_constant_column_tell_nothing():
    rows = [(i, "s", "md"[i % 2]) for i in range(20)]
    outcome = Dependency("marital").on(target_of(rows), HarmRule())
    assert (outcome.people, outcome.worst) == (0, ())
    assert outcome.note == "no other column was found to predict it"


def test_what_is_missing_everywhere_cannot_be_told():
    assert Dependency("marital").on(target_of([("a", "s", None)] * 9), HarmRule()).people == 0


def test_a_release_without_rows_is_refused():
    counts = FrequencySet.from_rows(NAMES, [("a", "s", "m"), ("b", "p", "d")])
    grouped = Target.of_grouped("break-merge", GroupedTables.of(counts, ("age",), SENSITIVE))
    with pytest.raises(InputError, match="no rows in one piece"):
        Dependency("marital").on(grouped, HarmRule())


def test_it_is_no_attack_by_class():
    table = FrequencySet.from_rows(NAMES, [("a", "s", "m"), ("b", "p", "d")])
    with pytest.raises(ParameterError, match=r"attacks must be .* by class.*sf\.verify"):
        sf.tools.attack(table, ["age"], [Dependency("marital")])


def test_mistakes_are_answered():
    with pytest.raises(UnknownColumnError, match="Did you mean 'marital'"):
        Dependency("maritel").on(target_of([("a", "s", "m"), ("b", "p", "d")]), HarmRule())
    with pytest.raises(UnknownNameError, match="no learner 'ick'"):
        Dependency("marital", learner="ick")
    with pytest.raises(ParameterError, match="support must be"):
        Dependency("marital", support=0)


def test_adult_is_told_by_what_everybody_knows(adult):
    lines = (adult / "adult.csv").read_text().splitlines()
    names, *rows = (line.split(";") for line in lines)
    counts = FrequencySet.from_rows(names, rows)
    known = ("sex", "age", "race", "marital-status", "education", "native-country")
    target = Target.of_table(counts, known, ("workclass", "occupation", "salary-class"))
    outcome = Dependency("occupation").on(target, HarmRule())
    column = {name: i for i, name in enumerate(names)}
    for case in outcome.worst:
        told = case.believed.removeprefix("occupation = ")
        fitting = [row for row in rows if all(row[column[n]] == v for n, v in case.who.items())]
        share = sum(row[column["occupation"]] == told for row in fitting) / len(fitting)
        assert (case.people, case.posterior) == (len(fitting), pytest.approx(share))
    assert outcome.people >= max(case.people for case in outcome.worst)


def test_of_many_values_the_rare_ones_are_learned_from_as_one():
    rng = np.random.default_rng(0)
    drug = rng.integers(0, 90, 1000).tolist()
    others = rng.integers(0, 500, (1000, 12)).tolist()
    names = ["age", "drug", "ill", *(f"c{i}" for i in range(12))]
    rows = [
        ("a", f"d{d}", f"i{d % 9}", *map(str, row)) for d, row in zip(drug, others, strict=True)
    ]
    target = Target.of_table(FrequencySet.from_rows(names, rows), ("age",), tuple(names[1:]))
    # Twelve columns of 500 values tell each other apart by chance: nothing is learned from that.
    assert all(found.edges == (("drug", "ill"),) for found in Dependency("ill")._learn(target))
    outcome = Dependency("ill").on(target, HarmRule())
    assert outcome.people == sum(drug.count(d) >= 5 for d in drug)
