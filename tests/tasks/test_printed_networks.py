"""The networks, tables and rules that the sources print of their ten rows, by the public API.

Three networks: over the quasi-identifiers (Figure 2 of the article), over the sensitive columns
(Figure 3), over all (Figure 4, which says the parents of one column).
"""

import pytest

import sfumato as sf
from docs.papers.break_merge.printed import CONDITIONALS, PARENTS, VERDICTS
from sfumato import samples
from sfumato.leaks import Findings

QUASI_IDENTIFIERS = ("age", "gender", "zipcode")
SENSITIVE = ("government", "marital_status", "salary")
AS_PRINTED = {
    "learner": {"learner": "weka-ics", "most_given": 0},
    "order": ["age", "zipcode", "gender"],
}
SMOOTHED = ("government",), "marital_status"
"""The rule that does not hold by Table VII, in which 1 is added to every cell."""


def census(**settings) -> Findings:
    return sf.detect(
        samples.table("census"),
        quasi_identifiers=QUASI_IDENTIFIERS,
        sensitive=SENSITIVE,
        support=1,
        **settings,
    )


@pytest.fixture(scope="module")
def found():
    return census(**AS_PRINTED)


def test_three_networks_come_out_as_printed(found):
    for name, parents in PARENTS.items():
        learned = {column: found.networks[name].parents[column] for column in parents}
        assert {column: set(each) for column, each in learned.items()} == {
            column: set(each) for column, each in parents.items()
        }
    assert all(network.acyclic for network in found.networks.values())
    # Figure 4's text says no more; the rest of it is that of Figure 2, and one arrow.
    whole = found.networks["all"]
    assert {c: whole.parents[c] for c in whole.columns if c != "government"} == {
        "age": (),
        "zipcode": ("age",),
        "gender": ("age", "zipcode"),
        "marital_status": (),
        "salary": ("marital_status",),
    }


@pytest.mark.parametrize("change", [{"learner": "weka-ics"}, {"order": QUASI_IDENTIFIERS}])
def test_neither_setting_alone_gives_them(change):
    found = census(**{**AS_PRINTED, **change})
    assert {*found.networks["quasi-identifiers"].parents["gender"]} != {"age", "zipcode"}


NETWORK_OF = {
    "III": "quasi-identifiers",
    "IV": "quasi-identifiers",
    "VI": "sensitive",
    "VIII": "all",
}


@pytest.mark.parametrize(
    "printed",
    # The headings of Table VII are swapped: see the page of the papers.
    [table for table in CONDITIONALS if table.name.split()[0] in NETWORK_OF],
    ids=lambda table: table.name,
)
def test_the_tables_of_those_networks_are_the_printed_ones(found, printed):
    number = printed.name.split()[0]
    table = found.tables[NETWORK_OF[number]][printed.child]
    assert {*table.names} == {*printed.parents}
    for given, shares in printed.rows.items():
        row = table.row(dict(zip(printed.parents, given, strict=True)))
        assert [row[value] for value in printed.values] == list(shares)


def verdicts(found: Findings, columns: tuple[str, ...]) -> dict:
    return {
        (frozenset(column.name for column in rule.known), rule.told.name): rule.holds
        for rule in found.rules
        if {*(column.name for column in rule.known), rule.told.name} <= {*columns}
    }


def test_of_the_quasi_identifiers_exactly_the_printed_rules_hold(found):
    assert verdicts(found, QUASI_IDENTIFIERS) == {
        (frozenset({"age"}), "zipcode"): True,
        (frozenset({"age", "zipcode"}), "gender"): True,
        (frozenset({"age"}), "gender"): False,
        (frozenset({"zipcode"}), "gender"): False,
    }


def test_every_printed_verdict_comes_out_of_shares_or_of_the_prior_of_table_vii(found):
    everything = (*QUASI_IDENTIFIERS, *SENSITIVE)
    plain = verdicts(found, everything)
    for (known, told), holds in VERDICTS.items():
        if (known, told) != SMOOTHED:
            assert plain[frozenset(known), told] is holds
    smoothed = verdicts(census(**AS_PRINTED, prior=1), everything)
    known, told = SMOOTHED
    assert smoothed[frozenset(known), told] is VERDICTS[SMOOTHED] is False
    assert smoothed[frozenset({"government", "marital_status"}), "salary"]
    assert verdicts(census(**AS_PRINTED, prior=1), QUASI_IDENTIFIERS) == verdicts(
        found, QUASI_IDENTIFIERS
    )


def test_a_prior_changes_verdicts_and_no_person(found):
    smoothed = census(**AS_PRINTED, prior=1)
    assert smoothed.exposed == found.exposed == 10
    assert [str(rule) for rule in smoothed.rules] == [str(rule) for rule in found.rules]
    # No rule holds by a smoothed table that does not by shares: a prior takes from the likeliest.
    assert all(a.holds or not b.holds for a, b in zip(found.rules, smoothed.rules, strict=True))


def test_a_policy_says_the_same(found):
    policy = sf.Policy(
        columns=dict.fromkeys(QUASI_IDENTIFIERS, "quasi-identifier")
        | dict.fromkeys(SENSITIVE, "sensitive"),
        models=[sf.models.KAnonymity(5)],
        detect=AS_PRINTED,
    )
    again = sf.detect(samples.table("census"), policy=sf.Policy.from_yaml(policy.to_yaml()))
    assert again.networks == found.networks
    # What is said in the call comes before what the policy says.
    other = sf.detect(samples.table("census"), policy=policy, learner={"most_given": 2})
    assert other.learner == {"learner": "weka-ics"}
    drawn = sf.detect(samples.table("census"), policy=policy, network="age -> salary")
    assert drawn.learner is None
    assert drawn.networks["all"].edges == (("age", "salary"),)
