"""Keys of people are found by what stays the same, whatever they are called."""

import numpy as np
import pyarrow as pa
import pytest

from sfumato.drafting.guess import guess_table
from sfumato.schema import Role
from sfumato.tables import open_table

PEOPLE, WAVES = 300, 4


def person_of(columns):
    table = open_table(pa.table(columns))
    guesses = guess_table(table, table.domains(table.columns))
    found = [name for name, each in guesses.items() if each.person]
    assert all(guesses[name].role is Role.IDENTIFIER for name in found)
    return found


def panel(name="x17", *, spelled=None, gaps=0.0, traits=("sex", "birth_yr", "race"), seed=0):
    """Return a table of people with a row for each of several years, in random order."""
    rng = np.random.default_rng(seed)
    who = np.repeat(np.arange(PEOPLE), WAVES)
    order = rng.permutation(len(who))
    numbers = rng.choice(10**6, PEOPLE, replace=False)
    written = [(spelled or int)(number) for number in numbers]
    keys = [None if rng.random() < gaps else written[each] for each in who]
    known = {
        "sex": rng.choice(["f", "m"], PEOPLE)[who],
        "birth_yr": rng.integers(1940, 1990, PEOPLE)[who],
        "race": rng.choice([1, 1, 1, 2, 3], PEOPLE)[who],
        "q1": rng.integers(1, 6, PEOPLE)[who],
        "q2": rng.integers(0, 2, PEOPLE)[who],
    }
    columns = {
        name: keys,
        "year": np.tile(2000 + np.arange(WAVES), PEOPLE),
        **{trait: known[trait] for trait in traits},
        "wage": rng.lognormal(8, 1, len(who)).round(),
        "hours": rng.integers(0, 60, len(who)),
    }
    return {n: pa.array(list(values)).take(pa.array(order)) for n, values in columns.items()}


@pytest.mark.parametrize(
    "spelled",
    [int, float, str, lambda n: f"{n:07d}", lambda n: f"P-{n:06d}", lambda n: f"{n:x}/{n % 7}"],
)
@pytest.mark.parametrize("gaps", [0, 0.03, 0.2])
@pytest.mark.parametrize("name", ["x17", "idcode", "Patientennr.", "n_dossier", "codice"])
def test_a_key_is_found_in_any_spelling_with_gaps_or_without(spelled, gaps, name):
    assert person_of(panel(name, spelled=spelled, gaps=gaps)) == [name]


@pytest.mark.parametrize("traits", [("sex",), ("birth_yr",), ("q1", "q2")])
def test_one_trait_is_enough_and_so_are_columns_that_mean_nothing(traits):
    assert person_of(panel(traits=traits)) == ["x17"]


def test_what_families_schools_and_classes_of_ages_share_is_no_person():
    rng = np.random.default_rng(1)
    n = 2_000
    family, school = rng.integers(0, 600, n), rng.integers(0, 50, n)
    columns = {
        "unit": family,
        "s3": school,
        "sex": rng.choice(["f", "m"], n),
        "age": rng.integers(5, 80, n),
        "race": rng.choice([1, 2, 3], 600)[family],
        "rent": rng.integers(300, 900, 600)[family],
        "kind": rng.choice(["a", "b", "c"], 50)[school],
    }
    assert person_of(columns) == []


def test_the_sex_of_somebody_else_in_a_row_hides_no_person():
    columns = panel(traits=("sex",))
    n = PEOPLE * WAVES
    columns["doctor_sex"] = np.random.default_rng(4).choice(["f", "m"], n)
    columns["gebdat"] = [number % 20_011 for number in columns["x17"].to_pylist()]
    assert person_of(columns) == ["x17"]


def test_amounts_that_differ_for_every_person_are_no_numbers_of_people():
    columns = panel()
    amounts = np.random.default_rng(5).lognormal(8, 1, PEOPLE * WAVES)
    columns["bill"] = [f"{each:.2f}".replace(".", ",") for each in amounts]
    table = open_table(pa.table(columns))
    guesses = guess_table(table, table.domains(table.columns))
    assert guesses["bill"].role is Role.SENSITIVE


def test_a_number_of_rows_and_a_number_of_visits_are_not_those_of_people():
    columns = panel()
    n = PEOPLE * WAVES
    columns["row"] = np.arange(n)
    columns["visit_no"] = np.random.default_rng(2).permutation(n) + 10_000
    assert person_of(columns) == ["x17"]


def test_a_table_with_one_row_for_each_person_has_no_key():
    rng = np.random.default_rng(3)
    n = 1_000
    columns = {
        "x": rng.integers(0, 400, n),
        "y": rng.integers(0, 900, n),
        "sex": rng.choice(["f", "m"], n),
        "born": rng.integers(1930, 2000, n),
    }
    assert person_of(columns) == []
