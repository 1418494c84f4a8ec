"""Domains that are drafted from a table are none until a person says so."""

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.errors import PolicyError
from sfumato.policy import Policy
from sfumato.synthesis.domain import PublicDomain
from tests.synthesis.stubs import people

ORDERED = {"kind": "ordered", "order": ["low", "medium", "high"]}


@pytest.mark.usefixtures("patience")
def test_nothing_is_drawn_from_a_drafted_domain_until_it_is_confirmed(without_noise):
    drafted = sf.draft(people(), person="id", roles={"ill": "sensitive"}, domains=True)
    assert Policy.from_yaml(drafted.text) == drafted.policy
    assert drafted.policy.columns["sex"].domain.values == ("f", "m")
    assert drafted.policy.columns["age"].domain.is_line
    with pytest.raises(PolicyError, match=r"line \d+, .*domain.*drafted: .*Confirm that it holds"):
        sf.synthesize(people(), drafted.policy, epsilon=0.3)
    text = drafted.text.replace(", drafted: true", "")
    confirmed = Policy.from_yaml(text)
    assert sf.synthesize(people(), confirmed, epsilon=0.3).verdict.holds


@pytest.mark.usefixtures("patience")
def test_a_drafted_domain_names_nothing_of_single_rows():
    table = people(400)
    odd = {"id": [999], "sex": ["diverse"], "age": [117], "ill": ["kuru"]}
    more = pa.concat_tables([table, pa.table(odd, table.schema)])
    found = [
        sf.draft(each, person="id", roles={"ill": "sensitive"}, domains=True).policy
        for each in (table, more)
    ]
    for name in ("sex", "age", "ill"):
        assert found[0].columns[name].domain == found[1].columns[name].domain


def test_an_order_that_may_have_been_drafted_is_no_domain():
    columns = {"pay": {"role": "quasi-identifier", "hierarchy": ORDERED}}
    policy = Policy(columns=columns, models=[{"model": "k-anonymity", "k": 2}])
    with pytest.raises(PolicyError, match="no public domain"):
        PublicDomain.of(policy, ["pay"])
