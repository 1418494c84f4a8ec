"""The levels that published labels are at, found from the labels alone and not from a manifest."""

import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from sfumato.errors import HierarchyError, VerificationError, some
from sfumato.hierarchy import Hierarchy, HierarchyBuilder, Masking, Suppress
from sfumato.hierarchy.labels import respell
from sfumato.policy import FULL_DOMAIN, REGIONAL, Policy
from sfumato.text import STAR, date_of, number_of, text_of
from sfumato.typing import Value

_NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?")
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
_YEAR = re.compile(r"\d{4}")
_MOST_LABELS = 5000
"""Labels that are looked at; a column with more of them is hardly generalised."""


class Coarseness(NamedTuple):
    """What labels tell about the levels of their columns."""

    wrong: list[str]
    """Where they are not what the policy says, in words."""

    unseen: list[str]
    """The columns of which they do not tell enough."""


def compare_levels(
    policy: Policy,
    labels: Mapping[str, Sequence[Value]],
    method: str,
    *,
    starred: bool,
    by_maker: bool = False,
) -> Coarseness:
    """Compare published labels with the hierarchies and `levels` of a policy.

    Args:
        policy: What the release is held to.
        labels: Per quasi-identifier, its distinct published values.
        method: How it was made: full-domain and regional recoding have labels of hierarchies
            only, and regional recoding none above another.
        starred: Whether suppressed rows are stars, which say nothing about levels.
        by_maker: Whether the maker asks, who recoded by the hierarchies and not by labels. To
            readers, a raw value whose level cannot be told is finer than the policy allows.
    """
    wrong, unseen = [], []
    for name, values in labels.items():
        rule = policy.columns[name]
        builder = rule.hierarchy or Suppress()
        shown = [text_of(value) for value in values[:_MOST_LABELS]]
        shown = [label for label in shown if not (starred and label == STAR)]
        readable = builder.fixed_height is not None or builder.labels_show_level
        places = find_places(builder, name, shown) if readable else {}
        unknown = [label for label in shown if label not in places]
        if method == REGIONAL and readable:
            above = find_overlap(builder, name, shown)
            wrong += [
                f"{pair[0]!r} of {name!r} is above {pair[1]!r}, both published" for pair in above
            ]
        if unknown and readable and method in (FULL_DOMAIN, REGIONAL):
            wrong.append(f"{some(unknown, most=2)} is no label of {name!r} by its hierarchy")
        elif unknown:
            unseen.append(name)
        if rule.levels is None:
            continue
        least, most = rule.levels
        fine = [label for label, (_, highest) in places.items() if highest < least]
        coarse = [label for label, (lowest, _) in places.items() if lowest > most]
        if fine and by_maker and _hides_length(policy, builder, places):
            unseen.append(name)
        elif fine:
            wrong.append(f"{some(fine, most=2)} of {name!r} is finer than level {least}")
        if coarse:
            wrong.append(f"{some(coarse, most=2)} of {name!r} is coarser than level {most}")
    return Coarseness(wrong, list(dict.fromkeys(unseen)))


def _hides_length(
    policy: Policy, builder: HierarchyBuilder, places: Mapping[str, tuple[int, int]]
) -> bool:
    """Return whether labels do not tell how long the longest value is.

    A short value keeps its own name until the mask reaches it. How many levels that takes, a masked
    label tells, but not the top, and not people of a population who are not in the table.
    """
    if builder.fixed_height is not None or not builder.labels_show_level:
        return False
    masked = any(lowest > 0 for label, (lowest, _) in places.items() if label != STAR)
    return not masked and (STAR in places or policy.population is not None)


def require_levels(policy: Policy, labels: Mapping[str, Sequence[Value]], method: str) -> None:
    """Raise if labels that are to be published are not at the levels that a policy allows.

    Args:
        policy: What the release is held to.
        labels: The distinct labels of each quasi-identifier, without those of starred rows.
        method: How it was made.
    """
    wrong = compare_levels(policy, labels, method, starred=False, by_maker=True).wrong
    if wrong:
        raise VerificationError(
            f"the release was not published, because it is not at the levels of the policy: "
            f"{'; '.join(wrong)}. This is a fault of Sfumato; please report it."
        )


def find_places(
    builder: HierarchyBuilder, column: str, labels: Sequence[str]
) -> dict[str, tuple[int, int]]:
    """Return the lowest and the highest level at which each label may stand, if at any.

    >>> from sfumato.hierarchy import Intervals
    >>> find_places(Intervals(widths=[5, 10]), "age", ["31", "30 to 34", "30-39", "*", "young"])
    {'31': (0, 0), '30 to 34': (1, 1), '30-39': (2, 2), '*': (3, 3)}
    """
    places: dict[str, tuple[int, int]] = {}
    wanted = _spellings(labels)
    for hierarchy in _hierarchies(builder, column, labels):
        for level, there in enumerate(hierarchy.labels):
            for label in {wanted[text] for each in there if (text := text_of(each)) in wanted}:
                lowest, highest = places.get(label, (level, level))
                places[label] = min(lowest, level), max(highest, level)
    if STAR in wanted:
        # The top of every hierarchy; where values decide the height, it may be at any level.
        top = builder.fixed_height
        lowest, highest = places.get(STAR, (top or 0, top or 0))
        places[STAR] = min(lowest, top or 0), max(highest, sys.maxsize if top is None else top)
    return {label: places[label] for label in dict.fromkeys(labels) if label in places}


def find_overlap(
    builder: HierarchyBuilder, column: str, labels: Sequence[str]
) -> list[tuple[str, str]]:
    """Return two labels of which one is above the other, if there are such.

    A value may be written like the top, and then nothing tells them apart.

    >>> find_overlap(Masking(), "zip", ["13053", "130**", "2****"])
    [('130**', '13053')]
    >>> find_overlap(Suppress(), "word", ["*", "yes", "0"])
    []
    """
    wanted = _spellings(labels)
    hierarchies = list(_hierarchies(builder, column, labels))
    known = {*wanted}
    if any(STAR in map(text_of, hierarchy.labels[0]) for hierarchy in hierarchies):
        known -= {STAR}
    for hierarchy in hierarchies:
        texts = [[text_of(each) for each in there] for there in hierarchy.labels]
        ways = zip(*hierarchy.codes.tolist(), strict=True)
        for codes in ways:
            way = [texts[level][code] for level, code in enumerate(codes)]
            met = [wanted[each] for each in dict.fromkeys(way) if each in known]
            if len(met) > 1:
                return [(met[1], met[0])]
    return []


def _spellings(labels: Sequence[str]) -> dict[str, str]:
    """Return the labels by how a hierarchy may write them: now, or when they were published."""
    return {text: label for label in labels for text in (respell(label), label)}


def _hierarchies(
    builder: HierarchyBuilder, column: str, labels: Sequence[str]
) -> Iterator[Hierarchy]:
    """Build hierarchies for raw values that may have become these labels, as far as one can."""
    for values in _guesses(builder, labels):
        try:
            yield builder.build(column, values)
        except (HierarchyError, ValueError):
            continue  # no values of such a column


def _guesses(builder: HierarchyBuilder, labels: Sequence[str]) -> Iterator[list[str]]:
    """Return raw values that labels may stand for, by what a label can look like."""
    yield []  # a hierarchy that is written down has its own values
    if builder.states_values and builder.names_files:
        # And no others: its file would be read once for each guess.
        return
    yield [label for label in labels if number_of(label) is not None]
    yield [label for label in labels if date_of(label) is not None]
    yield [label for label in labels if number_of(label) is None and date_of(label) is None]
    numbers = {text.lstrip("-") for label in labels for text in _NUMBER.findall(label)}
    numbers |= {f"-{text}" for text in numbers if float(text)}
    # Just below an upper end, and in between: labels of whole numbers are written differently.
    yield [text_of(near) for text in numbers for near in _whole_numbers_at(text)]
    yield [text_of(float(text) + half) for text in numbers for half in (-0.5, 0.5)]
    yield [text for text in numbers if "." in text]
    yield [day for label in labels for day in _DAY.findall(label)]
    years = {text for label in labels for text in _YEAR.findall(label) if text != "0000"}
    yield [f"{year}-{month:02}-01" for year in years for month in range(1, 13)]
    if isinstance(builder, Masking):
        yield [label.replace(builder.char, "0") for label in labels]


def _whole_numbers_at(text: str) -> tuple[int, ...]:
    number = float(text)
    if not number.is_integer() or abs(number) >= 2**53:
        return ()
    return int(number) - 1, int(number)
