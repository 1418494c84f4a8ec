"""A release that was made when labels were written otherwise says what it said."""

from pathlib import Path

import sfumato as sf
from sfumato.hierarchy.labels import respell, spell_as_before
from sfumato.verifier.models import ModelGroups
from sfumato.verifier.promises import Promises
from sfumato.verifier.spelling import current_label

HERE = Path(__file__).parent
FORMS = {
    "20-24": "20 to 24",
    "0-9": "0 to 9",
    "1.5-2.5": "1.5 to 2.5",
    "[1, 1.4)": "1 to under 1.4",
    "[-2.5, 0)": "-2.5 to under 0",
    "<18": "under 18",
    "<-5": "under -5",
    ">=87.5": "87.5 or more",
    "<2020-01-06": "before 2020-01-06",
    ">=2020-01-06": "2020-01-06 or later",
    "2020-Q1": "2020 Q1",
}
NO_RANGES = [
    "-5 to -1",
    "94110-2222",
    "02139-1234",
    "2020-03",
    "1999-12",
    "2020-01-06",
    "<=50K",
    "f",
]


def test_it_verifies_with_its_policy():
    found = sf.verify(HERE / "earlier", HERE / "earlier.yaml", attacks=False)
    assert {check.status for check in found.checks} == {"holds"}
    assert found["policy"].status == "holds"


def test_labels_of_then_are_those_of_now():
    for then, now in FORMS.items():
        assert respell(then) == current_label(then) == now
        assert respell(now) == current_label(now) == now
        assert spell_as_before(now) == then
    assert [respell(text) for text in NO_RANGES] == NO_RANGES
    assert [current_label(text) for text in NO_RANGES] == NO_RANGES


def test_a_population_has_the_labels_of_the_release():
    population = {("20 to 29", "f"): 5, ("30 or more", "f"): 3}
    promises = Promises(["age", "sex"], population=population)
    counts = {("20-29", "f"): 2, (">=30", "f"): 2}
    found = ModelGroups.from_parts(counts, {}, ["age", "sex"], promises)
    assert sorted(group.population for group in found.groups) == [3, 5]
    assert not found.hidden.people
