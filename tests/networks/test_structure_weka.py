"""`weka-ics` against Weka itself: the same parents, unless an exact tie was decided by rounding."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest

from sfumato.counts import FrequencySet
from sfumato.networks import WekaIcs, independence
from tests.networks.test_structure import random_table
from tests.tables.databases import LEAVES_SOCKETS_OPEN

_NEAR = 1e-6
ANSWERS = json.loads((Path(__file__).parent / "weka.json").read_text())
"""The parents that Weka gives each column of random tables, by the seeds of the tables."""


@pytest.fixture
def ties(monkeypatch):
    """Collect the tests of independence that were decided by almost nothing."""
    found = []
    exact = independence._without_rounding

    def watched(difference, score):
        if abs(difference) < _NEAR:
            found.append(difference)
        return exact(difference, score)

    monkeypatch.setattr(independence, "_without_rounding", watched)
    return found


def ours(codes: np.ndarray, sizes: list[int]) -> dict[int, set[int]]:
    names = [f"c{i}" for i in range(len(sizes))]
    ones = np.ones(codes.shape[1], dtype=np.int64)
    counts = FrequencySet.from_codes(names, [list(range(s)) for s in sizes], codes, ones)
    network = WekaIcs().learn(counts).network
    return {i: {int(p[1:]) for p in network.parents[f"c{i}"]} for i in range(len(sizes))}


def random_codes(seed: str) -> tuple[np.ndarray, list[int]]:
    codes, sizes = random_table(int(seed), most_rows=600)
    return codes, sizes.tolist()


@pytest.mark.parametrize("seed", ANSWERS)
def test_random_tables_give_the_parents_weka_gives(seed, ties):
    assert ours(*random_codes(seed)) == dict(enumerate(map(set, ANSWERS[seed]))) or ties


@LEAVES_SOCKETS_OPEN
def test_what_is_stored_is_what_weka_gives(weka):
    found = {seed: weka.parents(*random_codes(seed)) for seed in ANSWERS}
    assert found == {seed: dict(enumerate(map(set, each))) for seed, each in ANSWERS.items()}
    assert list(ANSWERS) == [str(seed) for seed in range(1000, 1100)]


@pytest.mark.usefixtures("patience")
def test_hardly_any_random_table_has_a_tie(ties):
    with_ties = 0
    for seed in range(100):
        codes, sizes = random_table(1000 + seed, most_rows=600)
        names = [f"c{i}" for i in range(len(sizes))]
        WekaIcs().learn(FrequencySet.from_rows(names, codes.T.tolist()))
        with_ties += bool(ties)
        ties.clear()
    assert with_ties < 15


def adult_codes(folder: Path) -> tuple[dict[str, np.ndarray], dict[str, int]]:
    """Read Adult as codes, ages in tens: below 20, 20 to 29, …, 60 to 69, 70 and above."""
    with (folder / "adult.csv").open() as file:
        rows = list(csv.DictReader(file, delimiter=";"))
    codes, sizes = {}, {}
    for name in rows[0]:
        cells = np.array([row[name] for row in rows])
        if name == "age":
            cells = np.clip(cells.astype(int) // 10, 1, 7)
        values, coded = np.unique(cells, return_inverse=True)
        codes[name], sizes[name] = coded, len(values)
    return codes, sizes


@pytest.mark.parametrize(
    "columns",
    [
        "age sex race marital-status",
        "salary-class age sex race marital-status education",
        "education workclass occupation salary-class",
        "occupation salary-class workclass education",
        "native-country race sex marital-status salary-class",
        "sex age race marital-status education native-country workclass occupation salary-class",
        "salary-class occupation workclass native-country education marital-status race age sex",
    ],
)
@LEAVES_SOCKETS_OPEN
def test_adult_gives_the_parents_weka_gives(columns, ties, adult, weka):
    codes, sizes = adult_codes(adult)
    names = columns.split()
    table = np.stack([codes[n] for n in names]), [sizes[n] for n in names]
    found = ours(*table)
    assert not ties
    assert found == weka.parents(*table)
