"""Merging groups with their nearest against the rule as it is described, group by group."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.partition.nearest import merge_nearest


class Textbook:
    """Lists of points that are merged in rounds, with every distance written out."""

    def __init__(self, points, labels, apart, rows, places, keeps):
        self.points, self.labels, self.apart = points, labels, apart
        self.rows, self.places, self.keeps = rows, places, keeps

    def middle(self, group):
        weight = sum(self.rows[p] for p in group)
        columns = zip(*(self.points[p] for p in group), strict=True)
        rows = [self.rows[p] for p in group]
        return [sum(x * r for x, r in zip(c, rows, strict=True)) / weight for c in columns]

    def label(self, group, j):
        weights = {}
        for p in group:
            weights[self.labels[p][j]] = weights.get(self.labels[p][j], 0) + self.rows[p]
        return min(weights, key=lambda each: (-weights[each], each))

    def distance(self, one, other):
        far = sum((a - b) ** 2 for a, b in zip(self.middle(one), self.middle(other), strict=True))
        differ = [j for j in range(len(self.apart)) if self.label(one, j) != self.label(other, j)]
        return far + sum(self.apart[j] for j in differ)

    def choice(self, found, g):
        """Return what group g wants: the nearest with which it passes, or else the nearest."""
        others = [
            (self.distance(found[g], found[o]), o)
            for o in range(len(found))
            if o != g and self.places[found[o][0]] == self.places[found[g][0]]
        ]
        near = sorted(others)[:6]
        good = [(way, o) for way, o in near if self.keeps(found[g] + found[o])]
        return [(not good, way, g, o) for way, o in (good or near)[:1]]

    def run(self, groups):
        found = [[p for p in range(len(groups)) if groups[p] == g] for g in sorted({*groups})]
        while len(found) > 1:
            failing = [g for g, group in enumerate(found) if not self.keeps(group)]
            choices = sorted(each for g in failing for each in self.choice(found, g))
            if not choices:
                break
            seen = set()
            for _, _, g, o in choices:
                if g not in seen and o not in seen:
                    found[min(g, o)] = found[min(g, o)] + found[max(g, o)]
                    found[max(g, o)] = []
                seen |= {g, o}
            found = [group for group in found if group]
        return {frozenset(group) for group in found}


@settings(max_examples=150)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(1, 25),
    groups=st.integers(1, 12),
    places=st.integers(1, 2),
    values=st.integers(1, 3),
)
def test_groups_are_merged_as_the_rule_says(seed, n, groups, places, values):
    rng = np.random.default_rng(seed)
    # Distances differ, so there is one answer.
    points, labels = rng.normal(size=(n, 2)), rng.integers(0, 3, size=(n, 1))
    rows = rng.integers(1, 4, size=n)
    place = rng.integers(0, places, size=n)
    group = place * groups + rng.integers(0, groups, size=n)
    secret = rng.integers(0, values, size=n)
    apart = np.array([0.7])

    def keeps(some):
        return len({secret[p] for p in some}) > 1 and sum(rows[p] for p in some) > 3

    def passes(of, point, count):
        return np.array([keeps(point[of == g].tolist()) for g in range(count)], dtype=bool)

    found = merge_nearest(points.T, labels.T, apart, rows.astype(float), place, group, passes)
    merged = {frozenset(np.flatnonzero(found == g).tolist()) for g in np.unique(found)}
    slow = Textbook(points.tolist(), labels.tolist(), apart, rows.tolist(), place.tolist(), keeps)
    assert merged == slow.run(group.tolist())
