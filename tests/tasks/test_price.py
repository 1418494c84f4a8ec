"""Remedies with their prices: what is promised of one is what comes of it."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from typer.testing import CliRunner

import sfumato as sf
from sfumato.cli.app import app
from sfumato.policy.remedies import Coarsen, GiveRole, PromiseMore, PublishApart, Remedy
from sfumato.schema import Role
from sfumato.tables import open_table
from sfumato.tables.arrow.table import ArrowTable
from sfumato.tasks.chain import ChainLimits, find_chain
from sfumato.tasks.price import (
    ORDER,
    PricedRemedy,
    Prices,
    RemedyChain,
    Standing,
    people_at_risk,
)
from sfumato.tasks.priced_verdict import price_remedies
from sfumato.tasks.trying import PolicyTrials, Refine, TriedPolicy, judge_quickly

METHODS = ("full-domain", "regional", "mondrian", "top-down", "bottom-up")
DECADES = {"kind": "intervals", "widths": [5, 10, 20]}
ILLS = ["flu", "gout", "hiv", "cold"]


def people(n: int = 60, seed: int = 0) -> pa.Table:
    """Return people whose age tells their illness in some places, and whose pay tells it in all."""
    rng = np.random.default_rng(seed)
    ages = np.sort(rng.integers(20, 70, n))
    ills = np.where(ages < 30, 0, rng.integers(0, 4, n))
    pays = 10 * ills + rng.integers(0, 3, n)
    return pa.table(
        {
            "name": [f"person {i}" for i in range(n)],
            "age": ages,
            "sex": [("f", "m")[i] for i in rng.integers(0, 2, n)],
            "ill": [ILLS[i] for i in ills],
            "pay": pays,
            "note": [("x", "y", "z")[i] for i in rng.integers(0, 3, n)],
        }
    )


def policy_for(method: str = "full-domain", **changes: Any) -> sf.Policy:
    settings: dict[str, Any] = {
        "columns": {
            "name": "identifier",
            "age": {"role": "quasi-identifier", "hierarchy": DECADES},
            "sex": "quasi-identifier",
            "ill": "sensitive",
            "pay": "sensitive",
            "note": "plain",
        },
        "models": [sf.models.KAnonymity(3)],
        "method": method,
        "suppression": "5%",
    }
    return sf.Policy(**settings | changes)


def prices_of(table: pa.Table, policy: sf.Policy) -> Prices:
    return price_remedies(open_table(table), policy, sf.verify, quick=judge_quickly, times=None)


def trials_of(table: pa.Table, policy: sf.Policy) -> PolicyTrials:
    return PolicyTrials(open_table(table), policy, sf.verify, quick=judge_quickly, seed=0)


def carried_out(
    table: pa.Table, policy: sf.Policy, refine: tuple[Any, ...] = ()
) -> tuple[sf.Release, Any]:
    """Do what a price was promised for, by the public functions and with the same seed."""
    whole = sf.anonymize(table, policy, refine=list(refine) or None, seed=0)
    whole = replace(whole, manifest=replace(whole.manifest, reproducible=False))
    if policy.decouple is None:
        return whole, sf.verify(whole, policy)
    apart = sf.decouple(whole, policy.decouple.name, seed=0)
    apart = replace(apart, manifest=replace(apart.manifest, reproducible=False))
    return whole, sf.verify(apart, policy)


def require_kept(standing: Standing, table: pa.Table, policy: sf.Policy, refine: Any = ()) -> None:
    """Fail if a release has other figures than were promised."""
    made, found = carried_out(table, policy, refine)
    assert found.answer == standing.answer
    assert people_at_risk(found) == standing.people
    assert made.suppressed == standing.suppressed
    assert made.loss == pytest.approx(standing.loss)
    assert made.gone is not None
    counted = [name for name in table.column_names if name != "name"]
    assert dict(made.gone.among(counted).columns) == pytest.approx(dict(standing.gone.columns))


def all_remedies(prices: Prices) -> list[PricedRemedy]:
    return [one for each in prices.reasons for one in each.remedies]


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("method", METHODS)
def test_what_is_promised_of_a_remedy_is_what_comes_of_it(method: str) -> None:
    table, policy = people(), policy_for(method)
    prices = prices_of(table, policy)
    assert prices.before.answer == "no"
    require_kept(prices.before, table, policy)
    offered = all_remedies(prices)
    assert offered
    for each in offered:
        assert each.after is not None
        assert each.policy is not None
        require_kept(each.after, table, each.policy)


REMEDIES: list[Remedy] = [
    PromiseMore((sf.models.KAnonymity(9),)),
    PromiseMore((sf.models.DistinctLDiversity("ill", 2), sf.models.TCloseness("pay", 0.4))),
    GiveRole("pay", Role.DROPPED),
    GiveRole("sex", Role.DROPPED),
    GiveRole("note", Role.DROPPED),
    GiveRole("note", Role.QUASI_IDENTIFIER),
    GiveRole("note", Role.SENSITIVE),
    PublishApart(("ill", "pay")),
]


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("remedy", REMEDIES, ids=str)
@pytest.mark.parametrize("method", ["full-domain", "mondrian"])
def test_every_kind_of_remedy_is_tried_as_it_would_be_carried_out(
    method: str, remedy: Remedy
) -> None:
    table, policy = people(), policy_for(method)
    changed = remedy.apply(policy)
    trials = trials_of(table, policy)
    tried = trials.complete(trials.require_policy(changed))
    require_kept(tried.standing, table, changed)


@pytest.mark.usefixtures("patience")
def test_a_higher_level_is_tried_as_it_would_be_carried_out() -> None:
    table, policy = people(), policy_for()
    changed = Coarsen("age", 2, 4).apply(policy)
    trials = trials_of(table, policy)
    tried = trials.complete(trials.require_policy(changed))
    assert tried.whole.levels["age"] >= 2
    require_kept(tried.standing, table, changed)


KINDS: dict[str, dict[str, Any]] = {
    "numbers": {"age": {"role": "quasi-identifier", "hierarchy": DECADES, "as": "mean"}},
    "perturbed": {"pay": {"role": "sensitive", "perturb": {"kind": "noise", "sd": 2}}},
    "people": {"name": "identifier"},
}


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("kind", KINDS)
def test_releases_that_counts_do_not_tell_are_tried_on_rows(kind: str) -> None:
    table = people()
    person: dict[str, Any] = {}
    if kind == "people":
        names = [f"person {i // 2}" for i in range(table.num_rows)]
        table, person = table.set_column(0, "name", [names]), {"person": "name"}
    policy = policy_for(columns={**policy_for().columns, **KINDS[kind]}, **person)
    tried = trials_of(table, policy).require_policy(policy)
    require_kept(tried.standing, table, policy)


@pytest.mark.usefixtures("patience")
def test_remedies_are_sorted_by_what_they_cost_and_each_helps() -> None:
    prices = prices_of(people(), policy_for())
    for reason in prices.reasons:
        assert len(reason.remedies) <= 3
        costs = [each.cost for each in reason.remedies]
        assert costs == sorted(costs)
        for each in reason.remedies:
            assert each.after is not None
            better = ORDER.index(each.after.answer) > ORDER.index(each.before.answer)
            by_this = each.told is not None and each.told[1] < each.told[0]
            assert better or by_this or each.after.people < each.before.people


@pytest.mark.usefixtures("patience")
def test_what_is_impossible_is_not_offered() -> None:
    """Five values in every class is more than a table of four values has."""
    table, policy = people(), policy_for()
    trials = trials_of(table, policy)
    impossible = policy.replace(models=[*policy.models, sf.models.DistinctLDiversity("ill", 5)])
    assert trials.try_policy(impossible) is None
    for each in all_remedies(prices_of(table, policy)):
        assert each.policy is not None
        sf.anonymize(table, each.policy)


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("method", ["full-domain", "mondrian"])
@pytest.mark.parametrize("until", ["with care", "yes"])
def test_a_chain_ends_where_it_says(method: str, until: Any) -> None:
    table, policy = people(), policy_for(method)
    chain = find_chain(trials_of(table, policy), policy, until)
    assert chain.reached == (ORDER.index(chain.last.answer) >= ORDER.index(until))
    require_kept(chain.last, table, chain.policy, chain.refine)
    befores = [chain.first, *(each.after for each in chain.steps)]
    assert [each.before for each in chain.steps] == befores[:-1]


@pytest.mark.usefixtures("patience")
def test_a_chain_is_as_cheap_as_any_that_is_found_by_trying_all() -> None:
    """Second source: every combination of the same few remedies, the cheapest that holds."""
    table = people(60, seed=3).drop(["note"])
    policy = policy_for(columns={n: r for n, r in policy_for().columns.items() if n != "note"})
    trials = trials_of(table, policy)
    chain = find_chain(trials, policy, "with care", most=200)
    assert chain.reached
    drops = [GiveRole("pay", Role.DROPPED), GiveRole("ill", Role.DROPPED)]
    best = min(
        (
            found.standing.gone.share
            for names in ([], drops[:1], drops[1:], drops)
            if (found := _tried(trials, policy, names)) is not None
            and found.standing.answer != "no"
        ),
        default=1.0,
    )
    assert chain.last.gone.share <= best + 1e-9


def _tried(trials: PolicyTrials, policy: sf.Policy, remedies: list[GiveRole]) -> TriedPolicy | None:
    for each in remedies:
        policy = each.apply(policy)
    return trials.try_policy(policy)


@pytest.mark.usefixtures("patience")
def test_a_chain_keeps_within_its_limits() -> None:
    table, policy = people(), policy_for()
    free = find_chain(trials_of(table, policy), policy, "with care")
    assert free.reached
    before = free.first.gone.share
    limits = ChainLimits(gone=(before + free.last.gone.share) / 2)
    bound = find_chain(trials_of(table, policy), policy, "with care", limits=limits)
    assert bound.last.gone.share <= limits.gone
    assert not bound.reached
    assert "No chain of remedies" in str(bound)


@pytest.mark.usefixtures("patience")
def test_protect_publishes_what_the_chain_promised() -> None:
    table, policy = people(), policy_for()
    done = sf.protect(table, policy, until="with care")
    assert isinstance(done.chain, RemedyChain)
    assert done.assessment is not None
    assert done.holds
    assert done.chain.reached
    assert done.assessment.answer == done.chain.last.answer
    assert people_at_risk(done.assessment) == done.chain.last.people
    assert "people at risk" in str(done)
    assert done.to_dict()["chain"]["reached"] is True


@pytest.mark.usefixtures("patience")
def test_protect_says_what_it_promises_where_there_are_roles_alone() -> None:
    table = people()
    roles = {"columns": dict(policy_for().columns)}
    done = sf.protect(table, roles)
    assert any("k = 5" in each and "ill and pay" in each for each in done.warnings)
    named = sf.protect(table, quasi_identifiers=["age"], sensitive=["ill"], until="with care")
    assert named.release.manifest.classes.smallest is not None
    assert named.release.manifest.classes.smallest >= 5
    assert any("k = 5" in each for each in named.warnings)


def test_limits_are_for_chains_only() -> None:
    with pytest.raises(ValueError, match="until"):
        sf.protect(people(), policy_for(), at_most_loss=0.3)
    with pytest.raises(ValueError, match="until"):
        sf.protect(people(), policy_for(), until="no")  # type: ignore[arg-type]


@pytest.mark.usefixtures("patience")
def test_the_verdict_has_the_prices_if_it_is_asked_for_them() -> None:
    table, policy = people(), policy_for()
    release = sf.anonymize(table, policy)
    found = sf.verify(release, policy, data=table, remedies=True)
    assert found.prices is not None
    assert found.answer == sf.verify(release, policy, data=table).answer
    assert "Remedies that were tried" in str(found)
    assert found.to_dict()["remedies"]["before"]["answer"] == "no"
    assert all(each.tried for each in all_remedies(found.prices))


@pytest.mark.usefixtures("patience")
def test_without_a_source_only_what_rows_can_show_is_tried() -> None:
    table, policy = people(), policy_for()
    release = sf.anonymize(table, policy)
    prices = sf.verify(release, remedies=True).prices
    assert prices is not None
    for each in all_remedies(prices):
        assert each.tried == (each.remedy.kind in ("role", "apart"))
        assert each.tried or "table that the release was made of" in each.why_not
    # What is gone by now is not known, and what was not tried takes the table.
    assert "gone" not in prices.content().headline
    assert "--data" in str(prices)
    dropped = [one for one in all_remedies(prices) if isinstance(one.remedy, GiveRole)]
    assert dropped
    rows: pa.Table = release.table
    for one in dropped:
        assert one.after is not None
        assert isinstance(one.remedy, GiveRole)
        left = rows.drop([one.remedy.column])
        secret = [name for name in ("ill", "pay") if name != one.remedy.column]
        found = sf.verify(left, quasi_identifiers=["age", "sex"], sensitive=secret)
        assert people_at_risk(found) == one.after.people


@pytest.mark.usefixtures("patience")
def test_classes_are_generalised_further_as_one_remedy_of_a_chain() -> None:
    ages = [31, 31, 33, 33, 47, 47, 48, 48] * 2
    ills = ["flu", "flu", "flu", "flu", "gout", "gout", "gout", "gout"] * 2
    table = pa.table({"age": ages, "ill": ills})
    policy = sf.Policy(
        columns={"age": "quasi-identifier", "ill": "sensitive"}, models=[sf.models.KAnonymity(4)]
    )
    trials = trials_of(table, policy)
    first = trials.require_policy(policy)
    findings = sf.detect(first.whole, support=2)
    refined = trials.try_policy(policy, (findings,))
    assert refined is not None
    assert str(Refine(("ill",), findings)) == "generalise further the classes that reveal ill"
    require_kept(refined.standing, table, policy, (findings,))


@pytest.mark.usefixtures("patience")
def test_the_command_line_shows_the_chain_and_what_was_promised(tmp_path: Path) -> None:
    from pyarrow.csv import write_csv

    table = people().select(["age", "ill"])
    write_csv(table, tmp_path / "people.csv")
    what, where = str(tmp_path / "people.csv"), str(tmp_path / "release")
    named = ["--qi", "age", "--sensitive", "ill"]
    done = CliRunner().invoke(app, ["protect", what, *named, "-o", where, "--until", "with care"])
    assert done.exit_code == 0, done.output
    assert "k = 5" in done.output
    assert "people at risk" in done.output
    wrong = CliRunner().invoke(app, ["protect", what, *named, "-o", where, "--until", "perhaps"])
    assert wrong.exit_code == 2


@pytest.mark.usefixtures("patience")
def test_a_yes_takes_no_assumption_for_granted() -> None:
    """What others are said not to know, without a reason, is given up on the way to a yes."""
    rng = np.random.default_rng(0)
    ill = rng.integers(0, 4, 240)
    table = pa.table(
        {
            "age": [("young", "old")[i] for i in rng.integers(0, 2, 240)],
            "ill": [ILLS[i] for i in ill],
            "drug": [f"for {ILLS[i]}" for i in ill],
        }
    )
    secret = {"role": "sensitive", "known": False}
    columns = {"age": "quasi-identifier", "ill": secret, "drug": secret}
    policy = sf.Policy(columns=columns, models=[sf.models.KAnonymity(5)])
    assert carried_out(table, policy)[1].answer == "with care"
    chain = find_chain(trials_of(table, policy), policy, "yes")
    assert chain.reached
    kinds = [each.remedy.kind for each in chain.steps]
    assert kinds[0] == "known"
    assert len(kinds) > 1
    assert not any(
        each.role.value == "sensitive" and not each.known for each in chain.policy.columns.values()
    )
    require_kept(chain.last, table, chain.policy, chain.refine)
    # Who gives a reason has no need of it.
    stated = {**secret, "because": "only the hospital has these files"}
    reasoned = policy.replace(columns={**columns, "ill": stated, "drug": stated})
    assert not find_chain(trials_of(table, reasoned), reasoned, "yes").steps


@pytest.mark.usefixtures("patience")
def test_remedies_count_the_source_once_for_the_verdict_and_all_trials(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from pyarrow.csv import write_csv

    table, policy = people(), policy_for()
    write_csv(table, tmp_path / "people.csv")
    release = sf.anonymize(tmp_path / "people.csv", policy, output=tmp_path / "release")
    counted: list[tuple[str, ...]] = []
    count = ArrowTable.count

    def counting(self: ArrowTable, columns: Any, **more: Any) -> Any:
        counted.append(tuple(self.columns))
        return count(self, columns, **more)

    monkeypatch.setattr(ArrowTable, "count", counting)
    source = str(tmp_path / "people.csv")
    plain = sf.verify(release, policy, data=source)
    counted.clear()
    found = sf.verify(release, policy, data=source, remedies=True)
    assert found.prices is not None
    assert sum(len(each.remedies) for each in found.prices.reasons) > 1
    assert (found.answer, found.why) == (plain.answer, plain.why)
    assert sum("name" in names for names in counted) == 1
