"""Associations and hiding them, against counting row by row."""

from collections import Counter
from itertools import combinations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.counts import FrequencySet
from sfumato.errors import InputError, ParameterError, UnknownColumnError
from sfumato.hierarchy import Hierarchy, Taxonomy
from sfumato.leaks import associations_of, hide
from tests.networks.worked import COLUMNS, TABLE

NAMES = ("q", "r", "s", "t")
LETTERS = ("a", "b", "c", "d", "e")
TREE = Hierarchy.from_paths(
    LETTERS, [["ab", "abc", "*"], ["ab", "abc", "*"], ["c", "abc", "*"], ["de", "DE", "*"],
              ["de", "DE", "*"]]
)  # fmt: skip
TABLES = st.lists(
    st.tuples(
        st.sampled_from(["1", "2", "3"]),
        st.sampled_from(["x", "y", None]),
        st.sampled_from([*LETTERS, None]),
        st.sampled_from(["flu", "gout"]),
    ),
    min_size=1,
    max_size=30,
)
THRESHOLDS = st.sampled_from([0.0, 0.2, 0.25, 0.5, 0.6, 0.9])


def textbook(rows, told, threshold, support, size, leaves=None):
    """Count every rule; `leaves` says for how many raw values a label stands, None the top's."""
    found = {}
    for n in range(1, size + 1):
        for columns in combinations((0, 1), n):
            behind = Counter(tuple(row[c] for c in columns) for row in rows)
            both = Counter((tuple(row[c] for c in columns), row[told]) for row in rows)
            for (values, label), n_rows in both.items():
                stands_for = 1 if leaves is None else leaves.get(label)
                if label is None or stands_for is None or behind[values] < support:
                    continue
                if n_rows / (behind[values] * stands_for) > threshold:
                    found[columns, values, label] = n_rows, behind[values]
    return found


@given(rows=TABLES, threshold=THRESHOLDS, support=st.integers(1, 4), size=st.integers(1, 2))
def test_associations_are_what_counting_row_by_row_finds(rows, threshold, support, size):
    counts = FrequencySet.from_rows(NAMES, rows)
    found = {}
    mined = associations_of(
        counts, NAMES[:2], NAMES[2:], confidence=threshold, support=support, size=size
    )
    for one in mined:
        columns = tuple(NAMES.index(c.name) for c in one.known)
        e = one.entries
        for i in range(len(one)):
            values = tuple(c.values[k] for c, k in zip(one.known, e.known[:, i], strict=True))
            key = columns, values, one.told.values[e.value[i]]
            found[one.told.name, key] = (int(e.rows[i]), int(e.support[i]))
    expected = {
        (NAMES[told], key): figures
        for told in (2, 3)
        for key, figures in textbook(rows, told, threshold, support, size).items()
    }
    assert found == expected


@given(
    rows=TABLES,
    threshold=THRESHOLDS,
    support=st.integers(1, 4),
    size=st.integers(1, 2),
    scope=st.sampled_from(["values", "column"]),
)
def test_no_rule_is_left_and_nothing_was_raised_without_need(rows, threshold, support, size, scope):
    counts = FrequencySet.from_rows(NAMES, rows)
    ladder = TREE.bind("s", counts.column("s").values)
    hidden = hide(
        counts,
        NAMES[:2],
        NAMES[2:],
        {"s": ladder},
        confidence=threshold,
        support=support,
        size=size,
        scope=scope,
    )
    letters, illnesses = hidden.columns
    published = [(*r[:2], letters.labels[r[2]], illnesses.labels[r[3]]) for r in rows]
    expected = FrequencySet.from_rows(NAMES, published)
    assert hidden.counts.codes.tolist() == expected.codes.tolist()
    assert hidden.counts.rows.tolist() == expected.rows.tolist()
    assert [c.values for c in hidden.counts.columns] == [c.values for c in expected.columns]
    leaves = {**dict.fromkeys(LETTERS, 1), "ab": 2, "c": 1, "de": 2, "abc": 3, "DE": 2}
    assert not textbook(published, 2, threshold, support, size, leaves)
    assert not textbook(published, 3, threshold, support, size, {"flu": 1, "gout": 1})
    before = textbook(rows, 2, threshold, support, size)
    assert letters.rules == len(before)
    if not before:
        assert all(label == value for value, label in letters.labels.items())
    # A cut: whoever shares a label shares it with everybody below it.
    for value, level in zip(ladder.values, letters.levels, strict=True):
        below = ladder.codes[level] == ladder.codes[level, ladder.values.index(value)]
        assert set(letters.levels[below].tolist()) == {int(level)}


@given(rows=TABLES, threshold=THRESHOLDS)
def test_the_loss_is_the_share_of_the_domain_each_label_stands_for(rows, threshold):
    counts = FrequencySet.from_rows(NAMES, rows)
    ladder = TREE.bind("s", counts.column("s").values)
    both = [
        hide(counts, NAMES[:2], ["s"], {"s": ladder}, confidence=threshold, scope=scope)
        for scope in ("values", "column")
    ]
    domain = 5 + (None in counts.column("s").values)
    leaves = {**dict.fromkeys(LETTERS, 1), None: 1, "ab": 2, "c": 1, "de": 2, "abc": 3, "DE": 2}
    for hidden in both:
        published = [hidden.columns[0].labels[row[2]] for row in rows]
        cost = sum((leaves.get(label, domain) - 1) / (domain - 1) for label in published)
        assert hidden.loss == pytest.approx(cost / len(rows))
    assert both[0].loss <= both[1].loss + 1e-12


def test_a_rule_lifts_its_label_and_siblings_or_the_whole_column():
    rows = [("1", "x", "a", "flu")] * 3 + [("1", "x", "d", "flu"), ("2", "x", "d", "gout")]
    rows += [("2", "x", "c", "gout"), ("2", "x", "b", "gout")]
    counts = FrequencySet.from_rows(NAMES, rows)
    ladder = TREE.bind("s", counts.column("s").values)
    values = hide(counts, ["q"], ["s"], {"s": ladder}).columns[0]
    assert dict(values.labels) == {"a": "ab", "b": "ab", "c": "c", "d": "d"}
    column = hide(counts, ["q"], ["s"], {"s": ladder}, scope="column").columns[0]
    assert dict(column.labels) == {"a": "ab", "b": "ab", "c": "c", "d": "de"}
    assert (values.rules, values.rounds, column.rounds) == (1, 1, 1)


def test_a_plain_table_and_a_hierarchy_will_do():
    table = pa.table({"q": ["1"] * 4 + ["2"] * 3, "s": [*"aaad", *"dcb"]})
    tree = Taxonomy({"ab": ["a", "b"], "cd": ["c", "d"]})
    assert [len(found) for found in associations_of(table, ["q"], ["s"])] == [1]
    [column] = hide(table, ["q"], ["s"], {"s": tree}).columns
    assert dict(column.labels) == {"a": "ab", "b": "ab", "c": "c", "d": "d"}


def test_equality_with_the_threshold_is_not_above_it():
    rows = [("1", "x", "a", "flu")] * 29 + [("1", "x", "b", "gout")] * 71
    counts = FrequencySet.from_rows(NAMES, rows)
    told = [rule["told"] for one in associations_of(counts, ["q"], ["s"], confidence=0.29)
            for rule in one.rules()]  # fmt: skip
    assert told == [{"s": "b"}]


def test_on_the_worked_table_hiding_costs_what_breaking_does_not():
    hidden = hide(TABLE, COLUMNS[:3], COLUMNS[3:])
    # Salary ≤50K 4 of 5 in group 1, 3 of 5 in group 2, Married 3 of 5, Private 3 of 5: three
    # quasi-identifiers tell each.
    assert [column.rules for column in hidden.columns] == [3, 3, 6]
    assert hidden.loss == 1.0
    plain = hidden.to_dict()
    assert plain["loss"] == {"hiding": 1.0, "breaking": 0.0}
    assert plain["columns"][2]["published"] == {"≤50K": "*", ">50K": "*"}
    assert "hiding 12 rules above 0.5 costs 100 %" in str(hidden)
    assert hide(TABLE, COLUMNS[:3], COLUMNS[3:], confidence=0.8).loss == 0


def test_a_table_without_rows_is_refused():
    counts = FrequencySet.from_rows(NAMES, [])
    with pytest.raises(InputError, match="no rows to count"):
        associations_of(counts, NAMES[:2], NAMES[2:])
    with pytest.raises(InputError, match="no rows to count"):
        hide(counts, NAMES[:2], NAMES[2:])


def test_nonsense_is_refused():
    counts = FrequencySet.from_rows(NAMES, [("1", "x", "a", "flu")])
    with pytest.raises(ParameterError, match="confidence must be a number"):
        associations_of(counts, ["q"], ["s"], confidence=1)
    with pytest.raises(ParameterError, match="scope must be 'values' or 'column'"):
        hide(counts, ["q"], ["s"], scope="cells")
    with pytest.raises(UnknownColumnError, match="no column 'sx'"):
        hide(counts, ["q"], ["sx"])
    with pytest.raises(ParameterError, match=r"hierarchy.bind\(name"):
        hide(counts, ["q"], ["s"], {"s": TREE.bind("s", np.array(LETTERS).tolist())})
