"""Homogeneity: the definition row by row, the printed tables, and how often chance makes it."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given

from sfumato import samples
from sfumato.attacks import Homogeneity
from sfumato.models import DistinctLDiversity
from tests.attacks.tables import literally
from tests.builders import classes_of
from tests.models.printed import THREE_ONE_SENSITIVE_FOUR_ANONYMOUS, TWO_SENSITIVE_FOUR_ANONYMOUS
from tests.models.tables import COUNTED

ATTACK = Homogeneity("disease")


def run(rows):
    return ATTACK.run(classes_of(rows, column="disease"))


@given(rows=COUNTED)
def test_agrees_with_comparing_every_two_rows(rows):
    assert run(rows).vulnerable.tolist() == literally(rows, lambda a, b: a == b)


@given(rows=COUNTED)
def test_two_distinct_values_are_exactly_what_it_takes_to_be_safe(rows):
    classes = classes_of(rows, column="disease")
    silent = classes.counts_of("disease").known.totals == 0
    diverse = DistinctLDiversity("disease", l=2).passes(classes)
    assert ATTACK.run(classes).vulnerable.tolist() == (~diverse & ~silent).tolist()


def test_everything_missing_gives_nothing_away():
    assert not run([("A", None), ("A", None), ("B", None)]).suffers


@pytest.mark.parametrize("rows", [TWO_SENSITIVE_FOUR_ANONYMOUS, THREE_ONE_SENSITIVE_FOUR_ANONYMOUS])
def test_two_sensitive_values_withstand_the_attack(rows):
    assert not run(rows).suffers


@pytest.mark.parametrize(
    ("name", "column", "exposed", "group"),
    [("homogeneity", "condition", 4, ("240", 3)), ("patients", "disease", 3, ("476", 2))],
)
def test_the_printed_tables_betray_one_class(name, column, exposed, group):
    groups, rows = [], []
    for row in samples.table(name).to_pylist():
        key = (row["zipcode"][:3], min(int(row["age"]) // 10, 4))
        groups.append(key)
        rows.append((str(key), row[column]))
    finding = run(rows)
    assert (finding.rows, finding.classes, finding.of_classes) == (exposed, 1, 3)
    assert sorted(set(groups))[int(np.flatnonzero(finding.vulnerable)[0])] == group


def test_of_all_classes_of_five_with_three_values_1_in_81_is_homogeneous():
    classes = list(product("abc", repeat=5))
    rows = [(f"{i:03}", value) for i, values in enumerate(classes) for value in values]
    finding = run(rows)
    assert finding.of_classes == 81 * 3
    assert finding.classes == 3


def test_6000_rows_in_classes_of_five_have_about_15_homogeneous_ones():
    draw = np.random.default_rng(20110314).integers(0, 3, size=6000)
    finding = run([(f"{i // 5:04}", int(value)) for i, value in enumerate(draw)])
    assert finding.of_classes == 1200
    # Binomial: 1200/81 = 14.8 expected, 3.8 standard deviation; 148 belong to 60 000 rows.
    assert finding.classes == pytest.approx(1200 / 81, abs=2 * 3.83)
    assert finding.rows == 5 * finding.classes
