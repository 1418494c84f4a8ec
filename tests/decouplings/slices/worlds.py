"""A judge of sliced tables: every table that the slices can be joined to, listed one by one.

It knows nothing of the code that made the slices, and nothing of formulas. People are different, so
a table counts as often as there are ways to join the slices to it.
"""

from collections import Counter
from fractions import Fraction
from itertools import product


def arrangements(counter):
    """List every different order of the sub-tuples of a slice; each is as many ways as another."""
    if not counter:
        yield ()
        return
    for sub in sorted(counter, key=repr):
        left = counter.copy()
        left[sub] -= 1
        for rest in arrangements(+left):
            yield (sub, *rest)


def joined(slices, columns, names):
    """List every way to join the slices of one bucket into rows, each as likely as another."""
    first = sorted(slices[0].elements(), key=repr)
    for rest in product(*(list(arrangements(each)) for each in slices[1:])):
        rows = []
        for subs in zip(first, *rest, strict=True):
            row = {}
            for column, sub in zip(columns, subs, strict=True):
                for name, value in zip(column, sub, strict=True):
                    if row.setdefault(name, value) != value:
                        break
                else:
                    continue
                break
            else:
                rows.append(tuple(row[name] for name in names))
                continue
            break
        else:
            yield rows


class Judge:
    """All tables a release can stand for: lists of rows per bucket."""

    def __init__(self, buckets, columns, names):
        """Join each bucket: `buckets` holds, per bucket, one counter of sub-tuples per slice."""
        self.worlds = [list(joined(each, columns, names)) for each in buckets]

    def believes(self, known):
        """Give what is believed of a value, by those who know one person's other values.

        Twice: of a person drawn from the table who is then seen to be like that; and of a person
        who is known beforehand to be in it, as the mean over all tables that hold such a person.
        """
        totals = Counter({(0, ()): 1})
        for worlds in self.worlds:
            here = Counter()
            for rows in worlds:
                values = sorted((row[-1] for row in rows if row[:-1] == known), key=repr)
                here[len(values), tuple(values)] += 1
            after = Counter()
            for (m, values), ways in totals.items():
                for (n, more), times in here.items():
                    after[m + n, tuple(sorted((*values, *more), key=repr))] += ways * times
            totals = after
        drawn, certain, tables = Counter(), Counter(), 0
        for (m, values), ways in totals.items():
            tables += ways * (m > 0)
            for value in values:
                drawn[value] += ways
                certain[value] += Fraction(ways, m)
        return (
            {value: Fraction(n, sum(drawn.values())) for value, n in drawn.items()},
            {value: Fraction(n) / tables for value, n in certain.items()},
        )

    def shares_given(self, known, everybody):
        """Give what is believed by those who also know the other values of all people there are.

        Only tables count in which exactly these people are; a person is one of those who are alike.
        """
        totals = Counter({((), ()): 1})
        for worlds in self.worlds:
            here = Counter()
            for rows in worlds:
                people = tuple(sorted(row[:-1] for row in rows))
                here[people, tuple(sorted(row[-1] for row in rows if row[:-1] == known))] += 1
            after = Counter()
            for (people, values), ways in totals.items():
                for (more, others), times in here.items():
                    both = tuple(sorted((*people, *more)))
                    if not Counter(both) - everybody:
                        after[both, tuple(sorted((*values, *others)))] += ways * times
            totals = after
        found = Counter()
        for (_, values), ways in totals.items():
            for value in values:
                found[value] += ways
        return {value: Fraction(n, found.total()) for value, n in found.items()}
