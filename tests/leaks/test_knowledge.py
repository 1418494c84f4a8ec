"""Minimal knowledge and what adversaries want, against trying everything."""

from collections import Counter
from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from sfumato.counts import FrequencySet
from sfumato.leaks import minimal_knowledge, most_wanted

NAMES = ("q", "r", "s", "t")
TABLES = st.lists(
    st.tuples(
        st.sampled_from(["1", "2"]),
        st.sampled_from(["x", "y", None]),
        st.sampled_from(["a", "b", "c"]),
        st.sampled_from(["flu", "gout", None]),
    ),
    min_size=1,
    max_size=30,
)


def pins(rows, columns, values, told, alpha, support):
    """Say which value of a column is pinned by knowing some values, if any."""
    at = [NAMES.index(c) for c in columns]
    matching = [row for row in rows if all(row[i] == v for i, v in zip(at, values, strict=True))]
    if len(matching) < support:
        return {}
    found = Counter(row[NAMES.index(told)] for row in matching)
    return {
        value: (n, len(matching))
        for value, n in found.items()
        if value is not None and n > alpha * len(matching)
    }


def brute_force(rows, told, known, alpha, support, size):
    found = {}
    for n in range(size + 1):
        for columns in combinations(known, n):
            at = [NAMES.index(c) for c in columns]
            for values in {tuple(row[i] for i in at) for row in rows}:
                facts = tuple(zip(columns, values, strict=True))
                for value, figures in pins(rows, columns, values, told, alpha, support).items():
                    smaller = [f for f, v in found if v == value and set(f) < set(facts)]
                    if not smaller:
                        found[facts, value] = figures
    return found


@given(
    rows=TABLES,
    alpha=st.sampled_from([0.3, 0.5, 0.7, 0.95]),
    support=st.integers(1, 5),
    size=st.integers(0, 3),
)
def test_minimal_knowledge_is_what_trying_everything_finds(rows, alpha, support, size):
    counts = FrequencySet.from_rows(NAMES, rows)
    facts = minimal_knowledge(counts, "t", NAMES[:3], alpha=alpha, support=support, size=size)
    found = {(f.known, f.told[1]): (f.people, f.support) for f in facts}
    assert len(found) == len(facts)
    assert found == brute_force(rows, "t", NAMES[:3], alpha, support, size)


@given(rows=TABLES, alpha=st.sampled_from([0.3, 0.5, 0.95]), size=st.integers(0, 2))
def test_what_is_most_wanted_pins_most_people(rows, alpha, size):
    counts = FrequencySet.from_rows(NAMES, rows)
    found = {
        tuple(v for _, v in w.group): w
        for w in most_wanted(counts, ["q"], ["r", "s", "t"], alpha=alpha, size=size)
    }
    for group in {row[:1] for row in rows}:
        inside = [row for row in rows if row[:1] == group]
        best = {}
        for n in range(size + 1):
            for told in ("r", "s", "t"):
                for columns in combinations([c for c in ("r", "s", "t") if c != told], n):
                    people = sum(
                        row[NAMES.index(told)]
                        in pins(
                            inside,
                            columns,
                            [row[NAMES.index(c)] for c in columns],
                            told,
                            alpha,
                            1,
                        )
                        for row in inside
                    )
                    best[columns, told] = people
        most = max(best.values())
        if most == 0:
            assert group not in found
            continue
        wanted = found[group]
        assert wanted.people == most == best[wanted.columns, wanted.told]
        # Nothing smaller does as well.
        assert not any(n == most and len(c) < len(wanted.columns) for (c, _), n in best.items())


def test_wide_tables_are_not_enumerated():
    """With nobody left to pin, larger sets are not tried."""
    rows = [
        (*tuple(str(i >> b & 1) for b in range(14)), "flu" if i % 2 else "gout") for i in range(64)
    ]
    names = [f"c{b}" for b in range(14)] + ["t"]
    looked = []
    facts = minimal_knowledge(
        FrequencySet.from_rows(names, rows),
        "t",
        names[:14],
        alpha=0.9,
        support=5,
        size=14,
        progress=lambda done, _: looked.append(done),
    )
    assert {f.known for f in facts} == {(("c0", "0"),), (("c0", "1"),)}
    # Of 2**14 sets: those without c0, of columns that differ, with five rows each.
    assert looked[-1] < 60
