"""Anatomy: buckets of different values, held against the method written row by row."""

import json
import sqlite3
from collections import Counter, defaultdict

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.stats import chisquare

import sfumato as sf
from sfumato.counts import FrequencySet
from sfumato.decouplings import Anatomy
from sfumato.errors import InfeasibleError, InputError, ParameterError, UnknownNameError
from tests.decouplings.tables import table
from tests.decouplings.test_order import UNLIKELY
from tests.verifier.anatomy_releases import NAMES, PRINTED_PEOPLE, PRINTED_VALUES

ROLES = {"quasi_identifiers": ["age", "zip"], "sensitive": ["ill"]}
COLUMNS = ["age", "zip", "ill"]

VALUES = st.sampled_from(["flu", "gout", "hiv", "cold", "acne", None])
PEOPLE = st.lists(
    st.tuples(st.sampled_from("abc"), st.sampled_from(["x", "y", None]), VALUES),
    min_size=1,
    max_size=40,
)


def row_by_row(rows, l):
    """The published algorithm, word by word; None where a row that is left over has no place."""
    piles = defaultdict(list)
    for row in rows:
        piles[row[-1]].append(row)
    buckets = []
    while sum(map(bool, piles.values())) >= l:
        largest = sorted(piles, key=lambda value: -len(piles[value]))[:l]
        buckets.append([piles[value].pop() for value in largest])
    for row in [row for pile in piles.values() for row in pile]:
        without = [b for b in buckets if row[-1] not in [other[-1] for other in b]]
        if not without:
            return None
        without[0].append(row)
    return buckets


def published(release):
    """The people and the values of every bucket, read from the tables."""
    people, values = defaultdict(list), defaultdict(Counter)
    for row in release.tables["qi"].to_pylist():
        people[row.pop("bucket")].append(tuple(row.values()))
    for row in release.tables["sensitive_ill"].to_pylist():
        values[row["bucket"]][row["ill"]] += row["count"]
    assert people.keys() == values.keys()
    return [(people[label], values[label]) for label in people]


def anatomised(rows, l, **options):
    return sf.decouple(table(rows, COLUMNS), {"method": "anatomy", "l": l}, **ROLES, **options)


@given(PEOPLE, st.integers(2, 5))
def test_it_keeps_what_the_method_row_by_row_keeps(rows, l):
    known = [row for row in rows if row[-1] is not None]
    expected = row_by_row(known, l) if known else None
    if not expected:
        with pytest.raises(InfeasibleError):
            anatomised(rows, l)
        return
    buckets = published(anatomised(rows, l))
    assert len(buckets) == len(expected) == len(known) // l
    sizes = []
    for people, values in buckets:
        assert len(people) == values.total()
        missing = values.pop(None, 0)
        assert missing in (m := (len(rows) - len(known)) // len(buckets), m + 1)
        assert set(values.values()) == {1}
        sizes.append(values.total())
    # As row by row: at most l - 1 rows are left over.
    assert min(sizes) >= l
    assert sum(sizes) - l * len(sizes) == sum(map(len, expected)) - l * len(expected) < l


@given(PEOPLE, st.integers(2, 4), st.integers(0, 2**32))
def test_everybody_and_every_value_is_there_as_often_as_before(rows, l, seed):
    known = [row[-1] for row in rows if row[-1] is not None]
    largest = len(known) // max(Counter(known).values(), default=1)
    assume(largest >= 2)
    # No larger l is possible; taking less instead of another table keeps most of those drawn.
    buckets = published(anatomised(rows, min(l, largest), seed=seed))
    assert Counter(p for people, _ in buckets for p in people) == Counter(r[:2] for r in rows)
    values = sum((values for _, values in buckets), Counter())
    assert values == Counter(row[-1] for row in rows)


@given(PEOPLE, st.integers(2, 6))
def test_a_refusal_names_the_largest_l_and_that_is_possible(rows, l):
    known = [row for row in rows if row[-1] is not None]
    assume(known and not row_by_row(known, l))
    with pytest.raises(InfeasibleError) as refused:
        anatomised(rows, l)
    largest = max((other for other in range(2, 7) if row_by_row(known, other)), default=None)
    if largest is None:
        assert "No l of 2 or more is possible." in str(refused.value)
    else:
        assert f"The largest l is {largest}." in str(refused.value)
        assert anatomised(rows, largest).verdict.holds


def test_the_printed_table_can_be_put_into_three_buckets_of_three_values():
    data = sf.samples.table("bucketization").rename_columns([*NAMES, "ill"])
    rows = [tuple(row.values()) for row in data.to_pylist()]
    # Put into the buckets as printed, it gives the tables as printed.
    assert [list(row[:3]) for row in rows] == [person[1:] for person in PRINTED_PEOPLE]
    buckets = [person[0] for person in PRINTED_PEOPLE]
    ill = [row[-1].replace(" ", "") for row in rows]
    counted = Counter(zip(buckets, ill, strict=True))
    assert counted == {(bucket, value): int(n) for bucket, value, n in PRINTED_VALUES}
    release = sf.decouple(data, Anatomy(l=3), quasi_identifiers=NAMES, sensitive=["ill"])
    assert release.verdict["distinct-l-diversity"].found == {"l": 3}
    assert release.verdict["probabilistic-l-diversity"].found == {"l": 3}
    assert [values.total() for _, values in published(release)] == [3, 3, 3]
    with pytest.raises(InfeasibleError, match=r"only 4 values\. The largest l is 3"):
        sf.decouple(data, Anatomy(l=5), quasi_identifiers=NAMES, sensitive=["ill"])


@pytest.mark.usefixtures("patience")
def test_who_shares_a_bucket_is_drawn_evenly_among_those_with_the_same_value():
    rows = [("a", "flu"), ("b", "flu"), ("c", "gout"), ("d", "gout")]
    counts = FrequencySet.from_rows(["who", "ill"], rows)
    seen, first = Counter(), Counter()
    for seed in range(1500):
        rng = np.random.default_rng(seed)
        parts = Anatomy(2).run(counts, ["who"], ["ill"], rng=rng)
        [batch] = parts.tables[0].content.batches()
        bucket = dict(zip(batch.kinds[1].tolist(), batch.kinds[0].tolist(), strict=True))
        seen[bucket[0] == bucket[2]] += 1
        # Neither the label nor the place in the file tells who is in the first bucket.
        first[bucket[0] < bucket[1], int(batch.kinds[1][batch.picks[0]])] += 1
    assert chisquare(list(seen.values())).pvalue > UNLIKELY
    assert len(first) == 8
    assert chisquare(list(first.values())).pvalue > UNLIKELY


@pytest.mark.usefixtures("patience")
def test_values_that_share_a_bucket_are_drawn():
    counts = FrequencySet.from_rows(["who", "ill"], [(str(i), v) for i, v in enumerate("wxyz")])
    found = Counter()
    for seed in range(1500):
        rng = np.random.default_rng(seed)
        values = Anatomy(2).run(counts, ["who"], ["ill"], rng=rng).grouped.table("ill")
        buckets = (frozenset(values.value[values.group == g].tolist()) for g in (0, 1))
        found[frozenset(buckets)] += 1
    assert len(found) == 3
    assert chisquare(list(found.values())).pvalue > UNLIKELY


ROWS = [("a", "x", "flu"), ("b", "x", "gout"), ("c", None, "flu"), ("d", "y", "hiv")]


@pytest.mark.parametrize("form", ["csv", "parquet", "feather"])
def test_a_folder_says_what_it_is_and_is_verified(tmp_path, form):
    release = anatomised(ROWS, 2, output=tmp_path / "buckets", format=form)
    manifest = json.loads((tmp_path / "buckets" / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["kind"] == release.method == "anatomy"
    assert [file["rows"] for file in manifest["files"]] == [4, 4]
    assert manifest["classes"]["count"] == 2
    assert sf.verify(tmp_path / "buckets").verdict.holds
    readme = (tmp_path / "buckets" / "README.md").read_text(encoding="utf-8")
    assert "Every bucket has at least 2 different values" in readme
    assert "the tables tell who is in the data" in readme


def test_the_view_says_how_likely_each_value_is(tmp_path):
    anatomised(ROWS * 2, 2, output=tmp_path / "b", format="csv")
    database = sqlite3.connect(":memory:")
    database.executescript((tmp_path / "b" / "schema.sql").read_text(encoding="utf-8"))
    for name in ("qi", "sensitive_ill"):
        frame = pd.read_csv(tmp_path / "b" / f"{name}.csv")
        marks = ", ".join("?" * len(frame.columns))
        rows = frame.astype(object).to_numpy().tolist()
        database.executemany(f'INSERT INTO "{name}" VALUES ({marks})', rows)
    asked = 'SELECT SUM("probability"), MAX("probability") FROM "possible"'
    total, most = database.execute(asked).fetchone()
    assert total == pytest.approx(8)
    assert most <= 0.5
    database.close()


@pytest.mark.parametrize("kind", [pa.table, pd.DataFrame])
def test_tables_come_back_as_they_were_given_and_keep_their_types(kind):
    data = kind({"age": [30, 40, 50, 60], "zip": [1, 2, 3, 4], "ill": list("xyxz")})
    release = sf.decouple(data, Anatomy(2), **ROLES)
    people = release.tables["qi"]
    assert type(people) is type(data)
    assert sorted(np.asarray(people["age"]).tolist()) == [30, 40, 50, 60]


def test_it_warns_that_it_gives_away_who_is_in_the_data():
    release = anatomised(ROWS, 2, seed=1)
    assert any("can see whether that person is in the data" in w for w in release.warnings)
    assert any("seed" in warning for warning in release.warnings)


def test_what_the_table_promised_before_is_promised_no_more():
    policy = sf.Policy(
        columns={"age": "quasi-identifier", "zip": "quasi-identifier", "ill": "sensitive"},
        models=[sf.models.KAnonymity(2)],
        missing="suppress",
    )
    release = sf.decouple(table(ROWS, COLUMNS), Anatomy(2), policy=policy)
    names = [model.model for model in release.manifest.models]
    assert names == ["distinct-l-diversity", "probabilistic-l-diversity"]
    assert any("k-anonymity with k=2 is not promised" in w for w in release.warnings)


def test_several_sensitive_columns_are_refused_with_the_reason():
    with pytest.raises(ParameterError, match=r"one column.*do not bound how likely"):
        sf.decouple(
            table(ROWS, COLUMNS), Anatomy(2), quasi_identifiers=["age"], sensitive=["zip", "ill"]
        )


def test_a_column_of_missing_values_is_refused():
    with pytest.raises(InfeasibleError, match="a missing value protects no person"):
        anatomised([("a", "x", None)] * 4, 2)


@pytest.mark.parametrize("l", [1, 0, -3, 2.5, True, "3", None])
def test_an_l_that_means_nothing_is_refused(l):
    with pytest.raises(ParameterError, match="l must be an integer of at least 2"):
        Anatomy(l)


@pytest.mark.parametrize(
    ("method", "error", "said"),
    [
        ("anatomy", ParameterError, "anatomy needs 'l'"),
        ({"method": "anatomy", "l": 1}, ParameterError, "at least 2"),
        ({"method": "anatomy", "k": 2}, ParameterError, "no parameter 'k'"),
        ({"l": 2}, ParameterError, "'method' is missing"),
        ({"method": "anatomi", "l": 2}, UnknownNameError, "Did you mean 'anatomy'"),
        ("anatomi", UnknownNameError, "Did you mean 'anatomy'"),
        (7, ParameterError, "must be a mapping"),
    ],
)
def test_a_method_that_is_none_is_refused(method, error, said):
    with pytest.raises(error, match=said):
        sf.decouple(table(ROWS, COLUMNS), method, **ROLES)


@pytest.mark.parametrize("task", [sf.breach, sf.detect])
def test_tasks_that_need_groups_of_people_who_look_alike_refuse_it(tmp_path, task):
    for output in (None, tmp_path / "buckets"):
        release = anatomised(ROWS, 2, output=output)
        with pytest.raises(InputError, match="decoupled by 'break-merge'"):
            task(release if output is None else release.folder)


def test_a_ledger_starts_from_it(tmp_path):
    for output in (None, tmp_path / "buckets"):
        release = anatomised(ROWS, 2, output=output)
        given = release if output is None else output
        ledger = sf.Ledger.start(given, tmp_path / f"{output is None}.ledger", alpha=0.5)
        assert ledger.current.total == len(ROWS)
