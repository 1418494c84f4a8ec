"""Rounding and coding, compared with arithmetic in exact numbers and with sorted lists."""

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.errors import InputError, ParameterError
from sfumato.perturbations import BottomCoding, Rounding, TopCoding
from sfumato.perturbations.base import decimals_in
from sfumato.text import number_of
from tests.perturbations.tables import CENTS, COLUMNS, WHOLE, cells_of, change, number

STEPS = ["0.01", "0.05", "0.1", "0.25", "0.3", "1", "2.5", "7", "10", "1000", "0.0000001"]


def exact(value) -> Fraction:
    return Fraction(str(value))


def rounded(value: Fraction, step: Fraction, to: str) -> Fraction:
    """The multiple by the definition; Python rounds halves of fractions to even ones."""
    steps = value / step
    many = {"nearest": round, "down": math.floor, "up": math.ceil}[to](steps)
    return many * step


@given(values=COLUMNS, step=st.sampled_from(STEPS), to=st.sampled_from(["nearest", "down", "up"]))
def test_numbers_are_rounded_as_in_exact_arithmetic(values, step, to):
    found = change(Rounding(step=float(step), to=to), values)
    for before, after in zip(values, found, strict=True):
        if before is None:
            assert after is None
        else:
            truth = rounded(exact(before), Fraction(step), to)
            assert abs(exact(after) - truth) < Fraction(1, 10**9)
            assert float(after) == float(truth)


def test_whole_steps_make_whole_numbers():
    found = change(Rounding(step=5), [1, 2.5, 7.5, 12.4, None])
    assert found == [0, 0, 10, 10, None]
    assert all(isinstance(value, int) for value in found[:-1])


@pytest.mark.parametrize("big", [2**60, 1e20, -1e300])
def test_large_numbers_stay_numbers(big):
    [found, *_] = change(TopCoding(above=1e301), [big, 0.125])
    assert float(found) == float(big)
    [found] = change(Rounding(step=0.5), [big])
    assert math.isclose(float(found), float(big))


DIGITS = st.text("0123456789.-e+ _", min_size=1, max_size=6)


@given(texts=st.lists(DIGITS, min_size=1, max_size=4, unique=True))
def test_texts_are_read_as_each_of_them_is(texts):
    read = [number_of(text) for text in texts]
    if None in read:
        with pytest.raises(InputError):
            cells_of(texts).numbers()
    else:
        found = cells_of(texts).numbers()
        assert found.values.tolist() == read
        assert found.decimals == max(map(decimals_in, texts))


def limit_of(known: list, share: Fraction, *, top: bool) -> float:
    """The limit of a share, of a sorted list: the last of that many rows, or the first beyond."""
    ordered = sorted(known)
    many = math.ceil(share * len(ordered))
    return ordered[max(many, 1) - 1] if top else ordered[min(many, len(ordered) - 1)]


@given(values=COLUMNS, percent=st.integers(1, 99), top=st.booleans())
def test_a_share_of_the_rows_is_that_of_the_sorted_list(values, percent, top):
    member = TopCoding(above=f"{percent}%") if top else BottomCoding(below=f"{percent}%")
    found = change(member, values)
    known = [number(value) for value in values if value is not None]
    if not known:
        return
    edge = limit_of(known, Fraction(percent, 100), top=top)
    pick = min if top else max
    for before, after in zip(values, found, strict=True):
        assert after is None if before is None else number(after) == pick(number(before), edge)
    # That many rows, at least, are not beyond the limit, and keep their numbers.
    kept = [n for n in known if (n <= edge if top else n >= edge)]
    least = Fraction(percent if top else 100 - percent, 100)
    assert len(kept) >= math.floor(least * len(known))


@given(
    values=COLUMNS,
    edge=st.one_of(WHOLE, CENTS),
    more=st.sampled_from([None, 0, 0.5, 100]),
    top=st.booleans(),
)
def test_numbers_beyond_a_limit_become_it(values, edge, more, top):
    becomes = None if more is None else edge + more if top else edge - more
    kind, beyond = (TopCoding, "above") if top else (BottomCoding, "below")
    found = change(kind(**{beyond: edge, "becomes": becomes}), values)
    for before, after in zip(values, found, strict=True):
        if before is None:
            assert after is None
        elif number(before) > edge if top else number(before) < edge:
            assert number(after) == pytest.approx(edge if becomes is None else becomes, abs=1e-12)
        else:
            assert number(after) == number(before)


@pytest.mark.parametrize(
    ("kind", "settings", "says"),
    [
        (Rounding, {"step": 0}, "step"),
        (Rounding, {"step": 5, "to": "even"}, "nearest, down or up"),
        (TopCoding, {"above": 5, "becomes": 4}, "the limit or more"),
        (BottomCoding, {"below": 5, "becomes": 6}, "the limit or less"),
        (TopCoding, {"above": "100%"}, "above"),
        (TopCoding, {"above": "many"}, "a share as in 10%"),
    ],
)
def test_settings_that_mean_nothing_are_refused(kind, settings, says):
    with pytest.raises(ParameterError, match=says):
        kind(**settings)


@pytest.mark.parametrize("value", ["n/a", True, "2020-01-31"])
def test_what_is_no_number_is_refused_with_what_takes_it(value):
    with pytest.raises(InputError, match=r"column 'pay'.*is none.*pram or record-swapping.*shift"):
        change(Rounding(step=5), [value])
