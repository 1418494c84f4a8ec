"""`docs/studies/frontier-study.md`: every way is measured, and is on the page."""

import numpy as np
import pyarrow as pa
import pytest

from docs.frontier_study import (
    BUDGETS,
    PAGE,
    PLANES,
    SUBJECTS,
    SYNTHETIC,
    drawings,
    kept,
    page,
    policies,
    study,
)


@pytest.fixture(scope="module")
def points():
    rng = np.random.default_rng(0)
    n, subject = 200, SUBJECTS["HI"]
    columns = {each: rng.integers(0, 6, n) for each in subject.known}
    columns[subject.number] = rng.normal(50, 10, n).round(1)
    columns[subject.category] = rng.choice(["a", "b", "c", "d", "e", "f", "g"], n)
    return study({"HI": pa.table(columns)}, ())


def test_every_way_is_measured(statistics, points):
    ways = {point.way for point in points if point.at_risk is not None}
    assert ways == set(policies(SUBJECTS["HI"]))
    for point in points:
        if point.at_risk is not None:
            assert 0 <= point.at_risk <= 1
            assert set(PLANES) <= set(point.losses)


def test_it_can_be_drawn_and_written(statistics, points):
    assert all(drawn.startswith("<svg") for drawn in drawings(points).values())
    written = page(points)
    assert SYNTHETIC in {point.way for point in kept()}
    for way in policies(next(iter(SUBJECTS.values()))):
        assert f"| {way} |" in written


def test_the_page_says_what_is_kept():
    points = kept()
    assert PAGE.read_text(encoding="utf-8") == page(points)
    for name, drawn in drawings(points).items():
        assert PAGE.with_name(name).read_text(encoding="utf-8") == drawn
        assert name in PAGE.read_text(encoding="utf-8")
    for name, subject in SUBJECTS.items():
        asked = [(w, each) for w, settings in policies(subject).items() for each in settings]
        asked += [(SYNTHETIC, f"epsilon {epsilon:g}") for epsilon in BUDGETS]
        assert [(p.way, p.setting) for p in points if p.table == name] == asked
