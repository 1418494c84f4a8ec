"""What tasks say, in other languages: whole sentences or none, with their names and figures."""

import pytest

import sfumato as sf
from sfumato.app.texts import read_told
from sfumato.app.texts.telling import show_told, teller
from tests.app.test_texts import names_in


def test_sentences_within_sentences_keep_names_and_figures():
    tell = teller("de")
    assert tell("age: dropped").startswith("age: ")
    assert tell("leave out ill and pay") == "ill und pay weglassen"
    told = tell(
        "It is assumed that others do not know 'salary' of a person (if that is wrong, 934 of "
        "1 000 people are at risk), and 3 more columns likewise. Give the reason in the "
        "policy (because: …), or remove known: false"
    )
    assert told.startswith(
        "Angenommen wird: andere wissen 'salary' von einem Menschen nicht (stimmt"
    )
    assert "934 von 1 000" in told
    assert "ebenso 3 weitere" in told


@pytest.mark.parametrize("text", ["", "Nobody translated this.", "age: nobody", "{x}", "a" * 4000])
def test_what_the_catalogue_lacks_stays_english_and_is_marked(text):
    assert teller("de")(text) is None
    assert str(show_told(text, "de")).startswith('<span lang="en">')
    assert str(show_told(text, "en")) == text


def test_what_a_table_says_commands_no_page():
    assert "<b>" not in show_told("leave out <b>", "de")
    assert "<b>" not in show_told("<b>", "de")


def test_the_same_parts_are_named_in_both_languages():
    wrong = [a for a, b in read_told("de").items() if names_in(a) != names_in(b)]
    assert wrong == []


@pytest.mark.usefixtures("patience")
def test_the_reasons_of_a_draft_of_the_sample_are_german():
    from sfumato.tasks.draft import draft

    reasons = draft(sf.samples.synthetic(500, seed=1)).reasons
    left = [why for why in reasons.values() if teller("de")(why) is None]
    assert left == []
