"""Columns that others do not know: an assumption, priced, and open until somebody says why."""

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.errors import PolicyError

ILLNESSES = ["flu", "gout", "ulcer", "ache"]


def telling(people: int = 800) -> pa.Table:
    """A table in which the class and the employer tell the illness, by another rule per class."""
    rows = range(people)
    return pa.table(
        {
            "age": [str(30 + i // 4 % 20) for i in rows],
            "work": ["state", "private", "own", "farm"] * (people // 4),
            "ill": [ILLNESSES[(i % 4 + i // 4 % 20) % 4] for i in rows],
        }
    )


def policy(because: str | None = None, **unknown) -> sf.Policy:
    columns = {
        "age": "quasi-identifier",
        **{
            name: {"role": "sensitive", "known": unknown.get(name, True), "because": because}
            for name in ("work", "ill")
        },
    }
    return sf.Policy(columns=columns, models=[sf.models.KAnonymity(5)])


def test_what_a_known_column_tells_is_a_reason_to_refuse():
    found = sf.verify(telling(), policy())
    assert (found.answer, found.at_risk) == ("no", 800)
    assert found.assumptions == ()


def test_an_unknown_column_is_an_assumption_with_the_people_at_risk_if_it_is_wrong():
    found = sf.verify(telling(), policy(work=False, ill=False))
    assert (found.answer, found.at_risk) == ("with care", 0)
    priced = {each.columns: (each.people, each.open) for each in found.assumptions}
    assert priced == {("work",): (800, True), ("ill",): (800, True)}
    assert any("it is assumed that others do not know" in why for why in found.why)


def test_an_assumption_with_a_reason_is_confirmed():
    found = sf.verify(telling(), policy(because="it is in no register", work=False, ill=False))
    assert (found.answer, found.open) == ("yes", ())
    assert [each.people for each in found.assumptions] == [800, 800]


def test_what_others_may_know_is_still_judged():
    """The employer tells the illness: that others do not know the illness changes nothing."""
    found = sf.verify(telling(), policy(ill=False))
    assert found.answer == "no"
    assert {each.column for each in found.succeeded} == {"ill"}
    assert [each.columns for each in found.assumptions] == [("ill",)]


@pytest.mark.usefixtures("patience")
def test_a_manifest_repeats_it_and_the_answer_says_whose_word_it_is(tmp_path):
    sf.anonymize(telling(), policy(work=False, ill=False), output=tmp_path / "r", format="csv")
    found = sf.verify(tmp_path / "r")
    assert found.answer == "with care"
    assert found.believed["sensitive (known: false)"] == ("work", "ill")
    assert {each.kind for each in found.open} == {"unknown", "roles"}
    # Who names the sensitive columns, or holds a policy without it, does not believe it.
    assert sf.verify(tmp_path / "r", sensitive=["work", "ill"]).answer == "no"
    assert sf.verify(tmp_path / "r", policy()).answer == "no"


def test_only_sensitive_and_plain_columns_can_be_unknown():
    with pytest.raises(PolicyError, match="only sensitive and plain columns have one"):
        sf.Policy(
            columns={"age": {"role": "quasi-identifier", "known": False}},
            models=[sf.models.KAnonymity(2)],
        )
