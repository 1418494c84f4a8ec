"""Structure learning written down word by word: slow, and obviously what is meant."""

import math
from collections import Counter
from itertools import combinations, permutations


def score(rows, x, parents, r):
    """S(x | P), one parent combination and one value after the other."""
    total = 0.0
    for j in {tuple(row[p] for p in parents) for row in rows}:
        here = [row[x] for row in rows if tuple(row[p] for p in parents) == j]
        total += math.lgamma(r / 2) - math.lgamma(len(here) + r / 2)
        for n in Counter(here).values():
            total += math.lgamma(n + 0.5) - math.lgamma(0.5)
    return total


def sign(difference, size):
    return 0.0 if abs(difference) <= 1e-9 * max(1, abs(size)) else difference


class Table:
    """Rows, and the comparisons the learners make, each remembered."""

    def __init__(self, rows, sizes):
        self.rows, self.sizes, self.known = rows, sizes, {}

    def score(self, x, parents):
        key = x, frozenset(parents)
        if key not in self.known:
            self.known[key] = score(self.rows, x, sorted(parents), self.sizes[x])
        return self.known[key]

    def gain(self, a, b, given):
        before = self.score(b, given)
        return sign(self.score(b, {*given, a}) - before, before)

    def evidence(self, a, b, given):
        return max(self.gain(a, b, given), self.gain(b, a, given))

    def explains(self, a, b, given):
        ends = [(a, self.score(a, {b})), (b, self.score(b, {a}))]
        return min(sign(self.score(x, given) - alone, alone) for x, alone in ends)


def weka_ics(rows, sizes):  # noqa: C901 - one rule after the other
    """Edges (parent, child) as the tool's behaviour is described."""
    table, n = Table(rows, sizes), len(sizes)
    near = {i: set(range(n)) - {i} for i in range(n)}
    separators = {}
    for size in (0, 1, 2):
        for a, b in combinations(range(n), 2):
            if b in near[a]:
                for given in combinations(sorted(near[a] & near[b]), size):
                    if table.gain(a, b, given) <= 0:
                        near[a] -= {b}
                        near[b] -= {a}
                        separators[a, b] = given
                        break
    arrows = set()
    for (a, b), given in separators.items():
        arrows |= {(end, c) for c in near[a] & near[b] - set(given) for end in (a, b)}

    def free(i, j):
        return j in near[i] and (i, j) not in arrows and (j, i) not in arrows

    def r1():
        for i, j, k in permutations(range(n), 3):
            if (i, j) in arrows and free(j, k) and k not in near[i]:
                arrows.add((j, k))

    def r2():
        for i, j, k in permutations(range(n), 3):
            if {(i, j), (j, k)} <= arrows and free(i, k):
                arrows.add((i, k))

    def r3():
        for i, j, k, m in permutations(range(n), 4):
            apart = k not in near[i]
            if {(i, j), (k, j)} <= arrows and apart and all(free(m, x) for x in (i, j, k)):
                arrows.add((m, j))

    def r4():
        for i, j, k, m in permutations(range(n), 4):
            beside = free(k, j) and free(k, i) and free(m, i) and free(m, k)
            if (j, i) in arrows and beside:
                arrows.update({(i, m), (k, m)})

    while True:
        before = len(arrows)
        for rule in (r1, r2, r3, r4):
            rule()
        if len(arrows) == before:
            left = [(a, b) for a, b in combinations(range(n), 2) if free(a, b)]
            if not left:
                return arrows
            arrows.add(left[0])


def simple_paths(near, a, b, so_far=()):
    """Every path from a to b that visits nothing twice."""
    if a == b:
        yield (*so_far, b)
    for c in near[a] if a != b else ():
        if c not in so_far:
            yield from simple_paths(near, c, b, (*so_far, a))


def ic(rows, sizes, most_given=3):  # noqa: C901 - one step after the other
    """Edges (parent, child), the columns being in the order of their names."""
    table, n = Table(rows, sizes), len(sizes)
    near = {i: set(range(n)) - {i} for i in range(n)}
    separators, doubted = {}, {}

    def remove(a, b, given):
        near[a] -= {b}
        near[b] -= {a}
        separators[a, b] = given

    for size in range(most_given + 1):
        found = {}
        for a, b in combinations(range(n), 2):
            if b not in near[a]:
                continue
            sets = {g for end in (a, b) for g in combinations(sorted(near[end] - {a, b}), size)}
            ways = []
            for given in sets:
                evidence = table.evidence(a, b, given)
                if evidence <= 0:
                    doubt = -table.explains(a, b, given) if given else evidence
                    ways.append((round(doubt, 6), given))
            if ways:
                found[a, b] = sorted(ways)
        for a, b in sorted(found, key=lambda pair: (found[pair][0][0], pair)):
            doubted[a, b] = found[a, b][0][1]
            for doubt, given in found[a, b]:
                on_path = {c for path in simple_paths(near, a, b) for c in path}
                beside = set(given) <= near[a] or set(given) <= near[b]
                if doubt <= 0 and beside and set(given) <= on_path:
                    remove(a, b, given)
                    break
    best = {x: explanation(table, x, near[x]) for x in range(n)}
    for (a, b), given in doubted.items():
        if b in near[a] and a not in best[b] and b not in best[a]:
            remove(a, b, given)
    return orient(table, near, separators)


def explanation(table, x, candidates):
    chosen = set()
    while True:
        now = table.score(x, chosen)
        options = [(table.score(x, chosen ^ {c}), -c) for c in candidates]
        better = max(options, default=(now, 0))
        if sign(better[0] - now, now) <= 0:
            return chosen
        chosen ^= {-better[1]}


def orient(table, near, separators):  # noqa: C901 - one rule after the other
    n, arrows = len(near), set()

    def leads(a, b):
        reached, todo = set(), {a}
        while todo:
            todo = {y for x, y in arrows if x in todo} - reached
            reached |= todo
        return b in reached

    def point(a, b):
        arrows.add((b, a) if leads(b, a) else (a, b))

    def free(a, b):
        return b in near[a] and (a, b) not in arrows and (b, a) not in arrows

    def meek():
        """Look for an edge that a rule points, from the start again after each."""
        for a, b in [e for pair in combinations(range(n), 2) for e in (pair, pair[::-1])]:
            if free(a, b) and rules(a, b):
                return a, b
        return None

    def rules(a, b):
        others = [x for x in range(n) if x not in (a, b)]
        r1 = any((c, a) in arrows and c not in near[b] for c in others)
        r2 = any({(a, c), (c, b)} <= arrows for c in others)
        r3 = any(
            {(c, b), (d, b)} <= arrows and free(a, c) and free(a, d) and d not in near[c]
            for c, d in combinations(others, 2)
        )
        r4 = any(
            {(c, d), (d, b)} <= arrows and free(a, c) and c not in near[b] and d in near[a]
            for c, d in permutations(others, 2)
        )
        return r1 or r2 or r3 or r4

    def close():
        while (found := meek()) is not None:
            point(*found)

    colliders = []
    for (a, b), given in separators.items():
        for c in (near[a] & near[b]) - set(given):
            evidence = table.evidence(a, b, {*given, c})
            if evidence > 0:
                colliders.append((-round(evidence, 6), a, c, b))
    for _, a, c, b in sorted(colliders):
        if not leads(c, a) and not leads(c, b):
            arrows |= {(a, c), (b, c)}
    close()
    for a, b in combinations(range(n), 2):
        if free(a, b):
            point(a, b)
            close()
    return arrows
