"""Running the tool on candidates, against anonymising every table that fits the release."""

import json
from collections import Counter, defaultdict
from fractions import Fraction
from itertools import product

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.attacks import Minimality
from sfumato.attacks import minimality as module
from sfumato.attacks.adversary.target import target_of, with_maker
from sfumato.attacks.minimality import OpenPart, worlds_of
from sfumato.errors import InputError, SfumatoError
from sfumato.harm import HarmRule
from sfumato.releases.opening import open_release

RULE = HarmRule()
COLUMNS = {"zip": {"role": "quasi-identifier", "hierarchy": "masking"}, "ill": "sensitive"}
DIVERSE = [sf.models.DistinctLDiversity("ill", l=2)]


def policy_of(models=DIVERSE, **more):
    return sf.Policy(columns=COLUMNS, models=models, **more)


def table(rows):
    return pa.table({"zip": [z for z, _ in rows], "ill": [ill for _, ill in rows]})


def published(rows, policy):
    """What anybody gets who anonymises a table: its rows, in any order; None if it is refused."""
    try:
        release = sf.anonymize(table(rows), policy)
    except SfumatoError:
        return None
    found = release.table.to_pydict()
    return Counter(zip(found["zip"], found["ill"], strict=True))


def fits(label, zipcode):
    return all(c in ("*", z) for c, z in zip(label.ljust(len(zipcode), "*"), zipcode, strict=True))


def textbook(rows, policy):
    """Per postcode, the share of each value among all tables that lead to the same release.

    Each person may have any of the values that were published of a class that fits; where a
    person fits none, any value, as likely as it is in the release.
    """
    release = published(rows, policy)
    shown = Counter(ill for (_, ill), n in release.items() for _ in range(n))
    choices = []
    for zipcode, _ in rows:
        here = {ill for label, ill in release if fits(label, zipcode)}
        choices.append(sorted(here or shown))
    weights, total = defaultdict(Counter), 0
    made = {}
    for ills in product(*choices):
        candidate = [(zipcode, ill) for (zipcode, _), ill in zip(rows, ills, strict=True)]
        key = tuple(sorted(candidate))
        if key not in made:
            made[key] = published(candidate, policy) == release
        if not made[key]:
            continue
        lost = [ill for z, ill in candidate if not any(fits(label, z) for label, _ in release)]
        weight = 1
        for ill in lost:
            weight *= Fraction(shown[ill], sum(shown.values()))
        total += weight
        for zipcode, ill in candidate:
            weights[zipcode][ill] += weight
    people = Counter(zipcode for zipcode, _ in rows)
    return {
        zipcode: {ill: float(w / total / people[zipcode]) for ill, w in each.items()}
        for zipcode, each in weights.items()
    }


def target_for(rows, policy):
    original = table(rows)
    release = open_release(sf.anonymize(original, policy), policy)
    return with_maker(target_of(release), release, original)


def believed(target, attack):
    """Per postcode, the value that was chosen and how surely it is believed."""
    worlds = worlds_of(target)
    found = target.memoize(("minimality", attack.runs, attack.seed), lambda _: attack._try(worlds))
    beliefs, _ = module._beliefs(target, worlds, found, "ill", RULE)
    return found, {
        beliefs.who(i)["zip"]: (beliefs.believed(i).split()[2], beliefs.posterior[i])
        for i in range(len(beliefs.prior))
    }


PEOPLE = st.lists(
    st.tuples(st.sampled_from(["11", "12", "21"]), st.sampled_from(["flu", "hiv"])),
    min_size=3,
    max_size=6,
).filter(lambda rows: {ill for _, ill in rows} == {"flu", "hiv"})


@settings(max_examples=10, deadline=None)
@given(PEOPLE)
def test_all_candidates_of_a_small_table(rows):
    policy = policy_of()
    target = target_for(rows, policy)
    attack = Minimality("ill")
    assert attack in Minimality.against(target, RULE)
    tried, found = believed(target, attack)
    assert not tried.sampled
    expected = textbook(rows, policy)
    assert found.keys() == expected.keys()
    for zipcode, (value, belief) in found.items():
        assert belief == pytest.approx(expected[zipcode].get(value, 0.0))
    outcome = attack.on(target, RULE)
    assert "lead to this release" in outcome.note
    assert json.loads(json.dumps(outcome.to_dict())) == outcome.to_dict()


STREETS = [("11", "hiv")] * 2 + [("12", "flu")] * 6 + [("21", "flu"), ("21", "cold")] * 20
"""Had the people of 11 had two values, they would have been published by themselves."""


def test_a_class_that_had_to_be_merged_tells_what_is_in_it():
    policy = policy_of()
    original = table(STREETS)
    release = sf.anonymize(original, policy, seed=1)
    assert sorted(set(release.table["zip"].to_pylist())) == ["1*", "2*"]
    found = sf.verify(release, policy, data=original)
    outcome = found.attack("minimality")
    # Both flu, 15 of 16 ways; both hiv, one: without the tool it is 6 of 8.
    assert outcome.judged
    cases = {(case.who["zip"], case.believed.split()[2]): case for case in outcome.worst}
    assert cases["11", "flu"].posterior == pytest.approx(15 / 16)
    assert "(75 % by the class alone)" in cases["11", "flu"].believed


def test_what_no_model_looks_at_cannot_be_told():
    policy = policy_of([sf.models.KAnonymity(2)])
    original = table(STREETS)
    outcome = sf.verify(sf.anonymize(original, policy), policy, data=original).attack("minimality")
    assert (outcome.people, outcome.posterior) == (0, 0.0)
    assert "no model looks at this column" in outcome.note


def test_it_says_what_to_give():
    policy = policy_of()
    release = sf.anonymize(table(STREETS), policy)
    found = sf.verify(table(STREETS), quasi_identifiers=["zip"], sensitive=["ill"])
    outcome = found.attack("minimality")
    assert not outcome.tried
    assert "--policy, --data" in outcome.note
    assert "minimality" not in found.untried
    other = table([("11", "hiv"), ("12", "flu"), ("21", "cold")] * 3)
    outcome = sf.verify(release, policy, data=other).attack("minimality")
    assert "makes another release" in outcome.note
    decoupled = sf.decouple(release, "break-merge")
    assert "decoupled" in sf.verify(decoupled).attack("minimality").note
    with pytest.raises(InputError, match="needs the policy"):
        Minimality("ill").on(target_of(open_release(release)), RULE)


def test_a_release_knows_its_own_policy():
    original = table(STREETS)
    release = sf.anonymize(original, policy_of())
    assert sf.verify(release, data=original).attack("minimality").tried


def several(n, seed):
    rng = np.random.default_rng(seed)
    zips = [f"{z:02d}" for z in rng.integers(0, 40, n)]
    return [
        (z, ["flu", "hiv", "cold"][i]) for z, i in zip(zips, rng.integers(0, 3, n), strict=True)
    ]


@pytest.mark.usefixtures("patience")
def test_candidates_of_a_larger_table_are_sampled():
    rows = several(60, 3)
    target = target_for(rows, policy_of())
    tried, found = believed(target, Minimality("ill", runs=40))
    assert tried.sampled
    assert tried.runs <= 40
    again, same = believed(target_for(rows, policy_of()), Minimality("ill", runs=40))
    assert (again.note, same) == (tried.note, found)
    outcome = Minimality("ill", runs=40).on(target, RULE)
    assert outcome.seed == 0
    low, high = outcome.interval
    assert low == outcome.posterior <= high


@pytest.mark.usefixtures("patience")
def test_a_sample_comes_to_what_all_candidates_say():
    rows = [*STREETS[:8], ("21", "flu"), ("21", "cold")]
    target = target_for(rows, policy_of())
    worlds = worlds_of(target)
    rng = np.random.default_rng(1)
    exact = module._try_all(worlds, 100, rng)
    sampled = module._try_sample(worlds, 120, rng)
    assert sampled.accepted > 30
    low, high = module._interval(sampled.shares, sampled.weight)
    assert np.all(low <= exact.shares + 0.05)
    assert np.all(high >= exact.shares - 0.05)
    by_part = module._try_parts(worlds, 300, rng)
    # The other classes do not depend on this one here, so that they stay as they are is no matter.
    assert by_part.shares[by_part.looked_at] == pytest.approx(exact.shares[by_part.looked_at])


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("method", ["mondrian", "top-down", "bottom-up"])
def test_methods_that_draw_can_be_run_on_candidates(method):
    rows = several(24, 5)
    policy = policy_of([sf.models.KAnonymity(2), *DIVERSE]).with_method(method)
    target = target_for(rows, policy)
    if not Minimality.against(target, RULE):
        assert "another release" in Minimality.why_not(target)
        return
    outcome = Minimality("ill", runs=50).on(target, RULE)
    assert outcome.tried
    assert 0 <= outcome.posterior <= 1


@pytest.mark.usefixtures("patience")
def test_values_of_suppressed_people_may_be_any():
    rows = [("11", "flu"), ("11", "hiv"), ("12", "flu"), ("12", "hiv"), ("99", "flu")]
    policy = policy_of([sf.models.KAnonymity(2), *DIVERSE], suppression=0.3)
    target = target_for(rows, policy)
    tried, found = believed(target, Minimality("ill", runs=80))
    assert tried.sampled
    # Nothing that was published depends on the one who was not.
    assert tried.shares[list(found).index("99")].max() < 0.75


@given(st.lists(st.integers(1, 3), min_size=1, max_size=3), st.integers(0, 3))
def test_dealings_are_all_tables_with_the_sums(people, more):
    total = sum(people)
    rows = [min(more, total - 1), total - min(more, total - 1)] if total > 1 else [total]
    rows = [n for n in rows if n]
    part = OpenPart(np.arange(len(people)), np.array(people), np.arange(len(rows)), np.array(rows))
    found = list(part.dealings())
    for dealt, _ in found:
        assert dealt.sum(axis=1).tolist() == people
        assert dealt.sum(axis=0).tolist() == rows
    keys = {dealt.tobytes() for dealt, _ in found}
    assert len(keys) == len(found)
    # All ways together are the ways to deal rows out to people.
    from math import comb

    assert sum(ways for _, ways in found) == comb(total, rows[0])
    assert part.number == (1 if part.fixed else len(found))
