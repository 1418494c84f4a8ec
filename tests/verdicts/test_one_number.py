"""One number of people at risk: the same for a policy, whichever door is asked."""

import json
import re
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.attacks.adversary.trial import Trial
from sfumato.comparison.live import LiveTable
from sfumato.decouplings import DECOUPLINGS
from sfumato.releases.release import DecoupledRelease, Release
from sfumato.reports.verdicts import FORMATS, format_assessment
from sfumato.tasks.assessment import Assessment

ROWS = 180


def patients() -> pa.Table:
    """People of whom columns tell each other, and one that undoes the ranges of ages."""
    rng = np.random.default_rng(1)
    age = rng.integers(20, 60, ROWS)
    ill = rng.choice(["flu", "gout", "hiv", "none"], ROWS, p=[0.3, 0.2, 0.1, 0.4])
    usual = rng.random(ROWS) < 0.9
    return pa.table(
        {
            "age": age.tolist(),
            "town": rng.choice(["a", "b"], ROWS).tolist(),
            "ill": ill.tolist(),
            "drug": np.where(usual, np.char.add("for ", ill), "other").tolist(),
            "pay": (rng.integers(20, 80, ROWS) * 100).tolist(),
            "job": rng.choice(["clerk", "cook", "smith", "nurse"], ROWS).tolist(),
            "day": ((60 - age) * 365 + rng.integers(0, 365, ROWS)).tolist(),
            "weight": rng.integers(1, 6, ROWS).tolist(),
            "who": [i // 2 for i in range(ROWS)],
            "home": [i // 4 for i in range(ROWS)],
        }
    )


PATIENTS = patients()


def policy(*, method: object = "full-domain", of: object = None, **given: object) -> sf.Policy:
    """A policy for these columns; others are dropped."""
    decades = {"kind": "intervals", "widths": [5, 10, 20]}
    columns = {
        "age": {"role": "quasi-identifier", "hierarchy": decades},
        "town": "quasi-identifier",
        "ill": "sensitive",
        **(of or {}),
    }
    models = [{"model": "k-anonymity", "k": 3}]
    return sf.Policy(columns=columns, models=models, other="dropped", method=method, **given)


PLAIN = {"job": "plain"}
UNKNOWN = {"role": "sensitive", "known": False}

POLICIES = {
    "nothing beside": policy(),
    "a plain column": policy(of=PLAIN),
    "a plain column that tells": policy(of={"drug": "plain", **PLAIN}),
    "a plain column others do not know": policy(of={"job": {"role": "plain", "known": False}}),
    "two sensitive columns": policy(of={"drug": "sensitive"}),
    "one that others do not know": policy(of={"drug": UNKNOWN}),
    "one that others do not know, with a reason": policy(of={"drug": UNKNOWN | {"because": "x"}}),
    "harmless and secret values": policy(
        of={"ill": {"role": "sensitive", "harmless": ["none"], "secret": ["hiv"]}, **PLAIN}
    ),
    "numbers": policy(of={"pay": "sensitive"}),
    "a plain column that undoes ages": policy(of={"day": "plain"}),
    "a sensitive column that undoes ages": policy(of={"day": "sensitive"}),
    "weights": policy(of={"weight": "weight", **PLAIN}),
    "fewer adversaries": policy(of=PLAIN, against=["quasi-identifiers"]),
    "an accepted finding": policy(
        of=PLAIN,
        accept=[{"column": "ill", "attack": "knowledge-breach", "because": "x", "by": "me"}],
    ),
    "people with several rows": policy(of={"who": "identifier", **PLAIN}, person="who"),
    "households": policy(
        of={"who": "identifier", "home": "identifier", **PLAIN}, person="who", household="home"
    ),
    "columns apart": policy(of={"drug": "sensitive", **PLAIN}, decouple="break-merge"),
    "buckets": policy(of=PLAIN, decouple={"method": "anatomy", "l": 2}),
    "mondrian": policy(of=PLAIN, method="mondrian"),
    "bottom-up": policy(of=PLAIN, method="bottom-up"),
    "mdav": policy(of={"drug": UNKNOWN, **PLAIN}, method="mdav"),
}
"""Policies of which chance decides nothing: a trial is the release of any seed."""

DRAWN = {
    "top-down": policy(of=PLAIN, method="top-down"),
    "values exchanged": policy(
        of={"ill": {"role": "sensitive", "perturb": {"kind": "pram", "keep": 0.8}}, **PLAIN}
    ),
    "values hardly exchanged": policy(
        of={"ill": {"role": "sensitive", "perturb": {"kind": "pram", "keep": 0.999}}, **PLAIN}
    ),
    "numbers with noise": policy(
        of={"pay": {"role": "sensitive", "perturb": {"kind": "noise", "sd": 300}}, **PLAIN}
    ),
}
"""Policies whose releases chance draws: a trial is one of them."""


def publish(rules: sf.Policy, **where: object) -> Release | DecoupledRelease:
    apart = rules.make_decoupling(DECOUPLINGS)
    if apart is None:
        return sf.anonymize(PATIENTS, rules, seed=0, **where)
    whole = sf.anonymize(PATIENTS, rules, seed=0) if apart.keeps_classes else PATIENTS
    given = {} if apart.keeps_classes else {"policy": rules}
    return sf.decouple(whole, apart, seed=0, **given, **where)


def figures(found: Assessment | Trial) -> tuple[object, ...]:
    lines = tuple((str(line.knows), line.people, line.counts) for line in found.adversaries)
    return found.at_risk, lines


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("name", POLICIES)
def test_a_trial_is_the_verdict_on_the_release(name):
    rules = POLICIES[name]
    release = publish(rules)
    found = sf.verify(release, rules)
    [compared] = sf.compare(PATIENTS, rules, parallel=1).points
    seen = LiveTable.open(PATIENTS, rules).look(rules)
    assert figures(compared) == figures(seen) == figures(found)
    assert compared.verdict == seen.verdict
    assert (seen.verdict == "no") == bool(found.succeeded)
    assert compared.exact
    assert seen.exact
    if isinstance(release, Release):
        assert compared.gone == seen.gone == release.gone


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("name", DRAWN)
def test_a_drawn_trial_is_the_verdict_on_what_it_drew(name):
    from sfumato.attacks.adversary.trial import (
        CountedTable,
        attack_release,
        columns_to_count,
        try_on_counts,
    )
    from sfumato.tables import open_table

    rules, table = DRAWN[name], open_table(PATIENTS)
    counts = table.count(columns_to_count(rules, table.columns))
    trial = try_on_counts(rules, CountedTable(counts, tuple(table.columns)))
    seen = attack_release(trial, rules.verdict.rule(rules.risk_levels))
    assert figures(seen) == figures(sf.verify(trial.with_rows(rules)))
    [compared] = sf.compare(PATIENTS, rules, parallel=1).points
    assert figures(compared) == figures(seen) == figures(LiveTable.open(PATIENTS).look(rules))


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("name", ["a plain column", "two sensitive columns", "columns apart"])
def test_a_folder_and_every_form_say_the_same(name, tmp_path):
    rules = POLICIES[name]
    release = publish(rules, output=tmp_path / "release")
    found = sf.verify(release, rules)
    assert found.at_risk
    assert figures(sf.verify(tmp_path / "release", rules)) == figures(found)
    # What a policy alone says is not in these: a folder is worth as much.
    assert figures(sf.verify(tmp_path / "release")) == figures(found)
    for form in FORMATS:
        written = format_assessment(found, form)
        if form in ("json", "sarif"):
            assert found.at_risk in people_at_risk(json.loads(written))
        else:
            assert re.search(f"{found.at_risk} of {found.people} people (are )?at risk", written)
    for public in (False, True):
        page = sf.report(release, policy=None if public else rules, public=public).to_html()
        assert re.search(rf"People at risk, of {found.people}: [^<]*\b{found.at_risk} with", page)


def people_at_risk(document: object) -> set[int]:
    if isinstance(document, list):
        return set().union(*map(people_at_risk, document))
    if not isinstance(document, dict):
        return set()
    named = {document[k] for k in ("people_at_risk", "peopleAtRisk") if k in document}
    return named.union(*map(people_at_risk, document.values()))


@pytest.mark.usefixtures("patience")
def test_the_price_of_a_draft_is_the_verdict_on_its_release():
    table = PATIENTS.drop_columns(["who", "home", "weight", "day"])
    for roles in ({}, {"job": "plain"}, {"ill": "sensitive", "drug": "sensitive", "pay": "plain"}):
        drafted = sf.draft(table, roles=roles)
        release = sf.anonymize(table, drafted.policy, seed=0)
        if drafted.policy.decouple is not None:
            release = sf.decouple(release, policy=drafted.policy, seed=0)
        release = replace(release, manifest=replace(release.manifest, reproducible=False))
        found, price = sf.verify(release), drafted.price
        assert price.adversaries == found.adversaries
        assert (price.people_at_risk, price.people) == (found.at_risk, found.people)
        assert price.answer == found.answer
