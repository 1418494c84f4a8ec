"""What is worse to be known than most values, and what hurts no person."""

import pytest

from sfumato.drafting.secrecy import guess_secrecy


@pytest.mark.parametrize(
    ("values", "name", "secret"),
    [
        (["grippe", "VIH", "angine"], "", {"VIH"}),
        (["Grippe", "Krebs", "Brustkrebs"], "", {"Krebs", "Brustkrebs"}),
        (["raffreddore", "dipendenza da alcol", "influenza"], "", {"dipendenza da alcol"}),
        (["gripe", "depresión", "sífilis"], "", {"depresión", "sífilis"}),
        (["griep", "verslaafd", "suikerziekte"], "", {"verslaafd"}),
        (["accouchement", "IVG", "bilan"], "", {"IVG"}),
        (["catholique", "musulman"], "religion", {"catholique", "musulman"}),
        (["ja", "nein"], "Vorstrafen", {"ja"}),
        ([0, 1], "vih", {"1"}),
        ([0, 1], "hiv", {"1"}),
        (["F32.1", "J45", "I10", "B20"], "Hauptdiagnose", {"F32.1", "B20"}),
        (["pas de cancer", "cancer"], "", {"cancer"}),
        (["red", "green"], "colour", set()),
        ([0, 1], "height_above_mean", set()),
        ([1, 2, 3, 4], "alcohol_units", set()),
    ],
)
def test_words_that_are_worse_to_be_known_are_found_in_six_languages(values, name, secret):
    assert {*guess_secrecy(values, name).secret} == secret
