"""Dates that are stored as numbers: of days, of seconds, or with their digits side by side.

A form is believed only if nearly no other numbers have it: all months are months, all days days,
or the numbers are those of seconds of one lifetime. Numbers of days since 1900, 1960 or 1970 look
like any others; among many different ones the days of the week show, because offices are closed
on some of them.
"""

from collections.abc import Sequence

import numpy as np

from sfumato.typing import BoolArray, FloatArray, IntArray

_FEWEST = 10
"""Fewer different numbers may have any form by chance."""

_FIRST_YEAR, _LAST_YEAR = 1850, 2100

_UNITS = {"seconds": 1.0, "milliseconds": 1e3, "microseconds": 1e6, "nanoseconds": 1e9}
_FIRST, _NOW, _LAST = 2e8, 1.9e9, 2.3e9
"""Seconds: 1976 and 2030 for who counts from 1970, and 2032 for who counts from 1960."""

_DAYS = (3_000, 60_000)
"""Days from 1968 on for who counts from 1960, and up to 2064 for who counts from 1900."""

_A_DAY = 86_400
_A_MONTH, _A_YEAR = 30 * _A_DAY, 365 * _A_DAY
_UNEVEN = 60.0
"""Chi-squared of six degrees of freedom that chance exceeds about once in 10¹¹."""


def date_numbers(  # noqa: PLR0911 - one for each form
    numbers: Sequence[float],
) -> str | None:
    """Return which kind of date different numbers in order look like; None for none.

    Args:
        numbers: Different numbers, or many of them.

    Example:
        >>> date_numbers([19_991_231, 20_000_101, 20_010_915])
        'dates with their digits side by side (YYYYMMDD)'
        >>> date_numbers([1998.25, 1999.5, 2001.75] * 4)
        'years with decimals'
        >>> date_numbers([10_000_001, 20_000_199, 51_234_567])
    """
    if len(numbers) < 3:
        return None
    values = np.asarray(numbers, dtype=float)
    if not np.isfinite(values).all():
        return None
    low, high = float(values.min()), float(values.max())
    whole = bool((values == np.floor(values)).all())
    if len(values) >= _FEWEST:
        found = _moments(values)
        if found is not None:
            return found
        if not whole and low >= _FIRST_YEAR and high <= _LAST_YEAR:
            return "years with decimals"
        if not whole and _DAYS[0] <= low <= high <= _DAYS[1] and _are_of_minutes(values):
            return "moments in days"
    if not whole or low < 0:
        return None
    return _side_by_side(values.astype(np.int64)) if high < 1e9 else None


def day_counts(numbers: Sequence[float], rows: Sequence[int]) -> str | None:
    """Return whether numbers count days, as their days of the week tell; None if they do not.

    Args:
        numbers: Different numbers.
        rows: How many rows have each of them.

    Example:
        >>> days = [day for day in range(14_000, 15_000) if day % 7 not in (1, 2)]
        >>> day_counts(days, [1] * len(days))
        'numbers of days since some day: some days of the week are rare'
    """
    values, weights = np.asarray(numbers, dtype=float), np.asarray(rows, dtype=float)
    if len(values) < 60 or not (values == np.floor(values)).all():
        return None
    if values.min() < _DAYS[0] or values.max() > _DAYS[1] or values.max() - values.min() < 60:
        return None
    # Each day once: many rows of one number are no days of a week.
    if len(np.unique(values % 7)) == 1:
        # Numbers that are given out in steps of seven.
        return None
    found = _unevenness(values.astype(np.int64), np.minimum(weights, 3), 7)
    others = max(_unevenness(values.astype(np.int64), np.minimum(weights, 3), by) / (by - 1)
                 for by in (5, 6, 8, 10))  # fmt: skip
    if found < _UNEVEN or found / 6 < 3 * others:
        return None
    return "numbers of days since some day: some days of the week are rare"


def _unevenness(values: IntArray, weights: FloatArray, by: int) -> float:
    """Return chi-squared of the remainders."""
    seen = np.bincount(values % by, weights=weights, minlength=by)
    expected = seen.sum() / by
    return float(np.square(seen - expected).sum() / expected)


def _moments(values: FloatArray) -> str | None:
    """Return which unit of time since 1960 or 1970 numbers are in; None for none."""
    low, high = float(values.min()), float(values.max())
    for unit, second in _UNITS.items():
        first, now, last = (moment * second for moment in (_FIRST, _NOW, _LAST))
        midnights = bool((values % (_A_DAY * second) == 0).all())
        if midnights and -last <= low < high <= last and high - low >= _A_YEAR * second:
            # Days of births, of which many lie before 1970. Nothing else is such a multiple.
            return f"days in {unit}"
        if first <= low and high <= last:
            # Telephone numbers have nine or ten digits, too. Who counts from 1960 has larger
            # numbers, and mostly of whole minutes.
            since_1970 = high <= now and high - low >= _A_MONTH * second
            minutes = np.count_nonzero(values % (60 * second) == 0) > 0.9 * len(values)
            return f"moments in {unit}" if since_1970 or minutes else None
    return None


def _are_of_minutes(values: FloatArray) -> bool:
    """Return whether fractions of days are whole minutes or seconds, as spreadsheets have them.

    >>> _are_of_minutes(np.array([44_381.918055556, 44_382.5, 44_390.010416667]))
    True
    >>> _are_of_minutes(np.array([44_381.9183, 44_382.5217, 44_390.0177]))
    False
    """
    minutes, seconds = values * 1440, values * _A_DAY
    return any(
        bool((np.abs(each - np.round(each)) < off).all())
        for each, off in ((minutes, 0.01), (seconds, 0.05))
    )


def _side_by_side(  # noqa: C901, PLR0911, PLR0912 - one for each form
    values: IntArray,
) -> str | None:
    """Return the form in which digits of whole numbers are years, months, weeks and days."""
    enough = len(values) >= _FEWEST
    low, high = int(values.min()), int(values.max())
    a, b, c = values // 10_000, values // 100 % 100, values % 100
    if _are_years(a) and _are_days(b, c):
        return "dates with their digits side by side (YYYYMMDD)"
    year, first, second = values % 10_000, values // 1_000_000, values // 10_000 % 100
    if enough and low >= 1_000_000 and _are_years(year):
        if _are_days(second, first):
            return "dates with their digits side by side (DDMMYYYY)"
        if _are_days(first, second):
            return "dates with their digits side by side (MMDDYYYY)"
    year, rest = values // 1000, values % 1000
    if enough and _are_years(year) and bool(((rest >= 1) & (rest <= 366)).all()):
        return "dates with their digits side by side (year and day of the year)"
    year, month = values // 100, values % 100
    if _are_years(year) and len(values) >= 4:
        if _are_months(month):
            return "months with their digits side by side (YYYYMM)"
        if enough and bool(((month >= 1) & (month <= 53)).all()):
            return "weeks with their digits side by side (YYYYWW)"
    if enough and high <= 991_231 and low >= 101 and high > 9_999:
        if _are_days(b, c):
            return "dates with their digits side by side (YYMMDD)"
        if _are_days(b, a):
            return "dates with their digits side by side (DDMMYY)"
    if len(values) >= 2 * _FEWEST and 100 <= low <= high <= 9_999 and _few_in_a_row(values // 100):
        if _are_months(month):
            return "months with their digits side by side (YYMM)"
        if bool(((month >= 1) & (month <= 53)).all()) and len(np.unique(month)) > 30:
            return "weeks with their digits side by side (YYWW)"
    return None


def _are_years(values: IntArray) -> bool:
    return bool(((values >= _FIRST_YEAR) & (values <= _LAST_YEAR)).all())


def _are_months(values: IntArray) -> bool:
    return bool(((values >= 1) & (values <= 12)).all())


def _are_days(months: IntArray, days: IntArray) -> bool:
    """Return whether pairs are days of a year that is a leap year."""
    lengths = np.array([0, 31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31])
    fits: BoolArray = (months >= 1) & (months <= 12) & (days >= 1)
    return bool(fits.all()) and bool((days <= lengths[months]).all())


def _few_in_a_row(years: IntArray) -> bool:
    """Return whether years of two digits are several, and one after the other."""
    seen = np.unique(years)
    return len(seen) >= 2 and int(seen[-1] - seen[0]) <= 2 * len(seen)
