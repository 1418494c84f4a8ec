"""Counting people by the book: lists of rows, sets of people, one loop after the other."""

import math
from collections import Counter, defaultdict
from itertools import product

ROOTS = {"a": "ab", "b": "ab", "c": "c"}
"""The first column's value, and its label at level 1; `*` is level 2."""


def generalise(row, node):
    """Return the labels of a row (person, letter, digit, ill) at a node."""
    letter = [row[1], ROOTS[row[1]], "*"][node[0]]
    return letter, [row[2], "*"][node[1]]


NODES = list(product(range(3), range(2)))


def classes_of(rows, node):
    """Return the rows of each class."""
    found = defaultdict(list)
    for row in rows:
        found[generalise(row, node)].append(row)
    return found


def people_in(rows):
    return len({row[0] for row in rows})


def people_by_value(rows):
    """Return for each value how many people have it: a person with it twice counts once."""
    return Counter(value for _, value in {(row[0], row[3]) for row in rows if row[3] is not None})


def most_uneven(rows):
    """Return how often values occur if one of each person matters, as unevenly as may be."""
    left, chosen = people_in([row for row in rows if row[3] is not None]), []
    for count in sorted(people_by_value(rows).values(), reverse=True):
        chosen.append(min(count, left))
        left -= chosen[-1]
    return [count for count in chosen if count]


def fewest_values(rows):
    """Return how few values suffice so that every person has one of them: all subsets are tried."""
    people = defaultdict(set)
    for row in rows:
        if row[3] is not None:
            people[row[0]].add(row[3])
    values = sorted(set().union(*people.values())) if people else []
    return min(
        (
            sum(chosen)
            for chosen in product([0, 1], repeat=len(values))
            if all(
                held & {value for value, taken in zip(values, chosen, strict=True) if taken}
                for held in people.values()
            )
        ),
        default=0,
    )


def _passes_k(k):
    return lambda rows, _: people_in(rows) >= k


def _passes_distinct(l):
    return lambda rows, _: len(most_uneven(rows)) >= l


def _passes_probabilistic(l):
    def passes(rows, _):
        counts = people_by_value(rows)
        known = people_in([row for row in rows if row[3] is not None])
        return known > 0 and max(counts.values()) * l <= known

    return passes


def _passes_entropy(l):
    def passes(rows, _):
        chosen = most_uneven(rows)
        if not chosen:
            return False
        entropy = -sum(n / sum(chosen) * math.log(n / sum(chosen)) for n in chosen)
        return entropy >= math.log(l) - 1e-9

    return passes


def _passes_recursive(c, l):
    def passes(rows, _):
        chosen = most_uneven(rows)
        return len(chosen) >= l and chosen[0] < c * sum(chosen[l - 1 :]) - 1e-9

    return passes


def _passes_t(t):
    """Compare how often values are held in a class with how often they are in all classes."""

    def held(classes):
        pairs = Counter()
        for rows in classes:
            pairs.update(value for _, value in {(row[0], row[3]) for row in rows})
        return {value: n / pairs.total() for value, n in pairs.items()}

    def passes(rows, classes):
        mine, table = held([rows]), held(classes)
        return sum(max(0, mine.get(v, 0) - share) for v, share in table.items()) <= t + 1e-9

    return passes


def _passes_beta(beta):
    def passes(rows, classes):
        units = sum(people_in(each) for each in classes)
        held = Counter()
        for each in classes:
            held.update(value for _, value in {(row[0], row[3]) for row in each})
        mine = Counter(value for _, value in {(row[0], row[3]) for row in rows})
        return all(
            n / people_in(rows) - held[v] / units <= beta * held[v] / units + 1e-9
            for v, n in mine.items()
        )

    return passes


def _passes_category(share, categories):
    """Add up the people of each value of a category: who has two of them counts twice."""

    def passes(rows, _):
        counts = people_by_value(rows)
        known = people_in([row for row in rows if row[3] is not None])
        held = [sum(counts[value] for value in category) for category in categories]
        return known > 0 and min(max(held), known) <= share * known + 1e-9

    return passes


PASSES = {
    "category-share": _passes_category,
    "k-anonymity": _passes_k,
    "distinct-l-diversity": _passes_distinct,
    "probabilistic-l-diversity": _passes_probabilistic,
    "entropy-l-diversity": _passes_entropy,
    "recursive-cl-diversity": _passes_recursive,
    "t-closeness": _passes_t,
    "basic-beta-likeness": _passes_beta,
}


def settle(rows, node, checks, *, whole):
    """Return the rows that are left when classes that fail are left out, until none does.

    Args:
        rows: The rows.
        node: The levels.
        checks: What says of the rows of a class, beside those of all, whether it may stay.
        whole: Whether the people of a class that fails go with all their rows.
    """
    # What depends on the class alone decides first, as in a search.
    for some in ([c for c in checks if c[0] == "k-anonymity"], checks):
        while True:
            classes = classes_of(rows, node)
            failing = {
                label
                for label, mine in classes.items()
                if not all(check(mine, list(classes.values())) for _, check in some)
            }
            if not failing:
                break
            gone = {row[0] for label in failing for row in classes[label]}
            rows = [
                row
                for row in rows
                if generalise(row, node) not in failing and not (whole and row[0] in gone)
            ]
    return rows
