"""Remedies: advice as changes of a policy, until a release that was refused is not any more."""

import pytest

import sfumato as sf
from sfumato.errors import InputError
from sfumato.models import AlphaKAnonymity, KAnonymity
from sfumato.policy import Policy
from sfumato.policy.remedies import (
    Accept,
    CountPeople,
    GiveRole,
    PromiseMore,
    PublishApart,
    SayHarmless,
    SayWhy,
)
from sfumato.schema import Role

POLICY = Policy(
    columns={"age": "quasi-identifier", "mail": "plain", "ill": "sensitive"},
    models=[KAnonymity(2), AlphaKAnonymity("ill", 0.5, 2, ("hiv",))],
)


def test_of_two_promises_the_stronger_stays() -> None:
    assert PromiseMore((KAnonymity(5),)).apply(POLICY).models[-1] == KAnonymity(5)
    assert KAnonymity(2) not in PromiseMore((KAnonymity(5),)).apply(POLICY).models


def test_values_are_protected_together() -> None:
    changed = PromiseMore((AlphaKAnonymity("ill", 0.5, 5, ("flu",)),)).apply(POLICY)
    assert AlphaKAnonymity("ill", 0.5, 5, ("hiv", "flu")) in changed.models


def test_what_is_promised_already_becomes_stricter() -> None:
    changed = PromiseMore((AlphaKAnonymity("ill", 0.5, 2, ("hiv",)),)).apply(POLICY)
    assert AlphaKAnonymity("ill", 0.4, 3, ("hiv",)) in changed.models


def test_a_role_takes_the_promises_along() -> None:
    changed = GiveRole("ill", Role.DROPPED).apply(POLICY)
    assert changed.models == (KAnonymity(2),)
    again = GiveRole("ill", Role.SENSITIVE).apply(changed)
    assert again.models[-1].columns == ("ill",)


def test_statements_need_a_reason_and_acceptance_a_name() -> None:
    with pytest.raises(InputError, match="the reason is missing"):
        SayWhy("mail").apply(POLICY)
    with pytest.raises(InputError, match="the name"):
        Accept("ill", "linking", 3).apply(POLICY, because="it is known")
    told = Accept("ill", "skewness", 3).apply(POLICY, because="it is known", by="Ada")
    assert told.accept[0].covers("skewness", ("ill",), 3)
    assert SayWhy("mail").apply(POLICY, because="on the door").columns["mail"].because


def test_the_others() -> None:
    assert SayHarmless("ill", "flu").apply(POLICY).columns["ill"].harmless == ("flu",)
    assert CountPeople("mail").apply(POLICY).counted_person == "mail"
    apart = PublishApart(("ill",)).apply(POLICY)
    assert apart.decouple is not None
    assert PublishApart(("ill",)).apply(apart) == apart
    assert PromiseMore((KAnonymity(5),)).to_dict() == {
        "kind": "promise",
        "models": [{"model": "k-anonymity", "k": 5}],
    }


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("clear", [(), ("name", "patient_id")])
def test_a_no_is_mended_by_its_advice(clear: tuple[str, ...]) -> None:
    table = sf.samples.synthetic(600, seed=1)
    policy = sf.Policy(
        columns={
            **dict.fromkeys(table.column_names, "dropped"),
            "age": {"role": "quasi-identifier", "hierarchy": "auto"},
            "sex": {"role": "quasi-identifier", "hierarchy": "auto"},
            "nationality": {"role": "quasi-identifier", "hierarchy": "auto"},
            "diagnosis": {"role": "sensitive", "secret": ["HIV infection", "depression"]},
            **dict.fromkeys(clear, "plain"),
        },
        models=[KAnonymity(2)],
        method="mondrian",
    )
    answers = []
    for _ in range(6):
        found = sf.verify(sf.anonymize(table, policy), policy, data=table)
        answers.append(found.answer)
        if found.answer != "no":
            break
        for reason in found.reasons:
            if reason.refuses:
                policy = reason.remedies[0].apply(policy)
    assert answers[0] == "no"
    assert answers[-1] != "no"
