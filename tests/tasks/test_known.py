"""Sensitive columns that others do not know: what they would tell is said, and is no plain yes."""

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


def policy(**unknown) -> sf.Policy:
    columns = {
        "age": "quasi-identifier",
        **{
            name: {"role": "sensitive", "known": unknown.get(name, True)}
            for name in ("work", "ill")
        },
    }
    return sf.Policy(columns=columns, models=[sf.models.KAnonymity(5)])


def test_what_a_known_column_tells_is_a_reason_to_refuse():
    found = sf.verify(telling(), policy())
    assert found.answer == "no"
    assert not found.supposed


def test_what_an_unknown_column_would_tell_is_said_and_no_plain_yes():
    found = sf.verify(telling(), policy(work=False, ill=False))
    assert (found.answer, found.holds) == ("with care", True)
    assert {each.column for each in found.supposed} == {"work", "ill"}
    assert any(
        "only if others know what they do not know, as the policy says" in w for w in found.why
    )
    assert all(not each.judged for each in found.supposed)


def test_what_others_may_know_is_still_judged():
    """The employer tells the illness: that others do not know the illness changes nothing."""
    found = sf.verify(telling(), policy(ill=False))
    assert found.answer == "no"
    assert {each.column for each in found.succeeded} == {"ill"}
    assert {each.column for each in found.supposed} == {"work"}


@pytest.mark.usefixtures("patience")
def test_a_manifest_repeats_it_and_the_answer_says_whose_word_it_is(tmp_path):
    sf.anonymize(telling(), policy(work=False, ill=False), output=tmp_path / "r", format="csv")
    found = sf.verify(tmp_path / "r")
    assert found.answer == "with care"
    assert found.believed["sensitive (known: false)"] == ("work", "ill")
    assert any("as its manifest says" in why for why in found.why)
    # Who names the sensitive columns, or holds a policy without it, does not believe it.
    assert sf.verify(tmp_path / "r", sensitive=["work", "ill"]).answer == "no"
    assert sf.verify(tmp_path / "r", policy()).answer == "no"


def test_only_sensitive_columns_can_be_unknown():
    with pytest.raises(PolicyError, match="only sensitive columns have one"):
        sf.Policy(
            columns={"age": {"role": "quasi-identifier", "known": False}},
            models=[sf.models.KAnonymity(2)],
        )
