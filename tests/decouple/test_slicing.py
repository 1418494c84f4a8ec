"""Slicing: what is published, that it can be verified, and what is refused."""

import json
import sqlite3
from collections import Counter, defaultdict
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.counts import FrequencySet
from sfumato.decouplings import Slicing
from sfumato.engines import open_table
from sfumato.errors import InfeasibleError, InputError, ParameterError, UnknownColumnError
from sfumato.slicing import Columns, Laid, beliefs, bucketed, exposed
from tests.adult import LEVELS, adult_folder
from tests.decouple.tables import table
from tests.slicing import literal

NAMES = ["age", "sex", "zip", "ill"]
ROLES = {"quasi_identifiers": NAMES[:3], "sensitive": ["ill"]}
ROWS = [
    (age, sex, zip_, ill)
    for age in ("30", "40", "50")
    for sex in "fm"
    for zip_ in ("x", "y")
    for ill in ("flu", "gout", "hiv")
]
PEOPLE = st.lists(
    st.tuples(
        st.sampled_from("abc"),
        st.sampled_from("fm"),
        st.sampled_from(["x", "y", None]),
        st.sampled_from(["flu", "gout", "hiv", "cold", None]),
    ),
    min_size=2,
    max_size=40,
)
METHODS = st.sampled_from(
    [
        Slicing(l=2),
        Slicing(l=2, most=1),
        Slicing(l=2, most=2, overlap=0.0),
        Slicing(l=3, overlap=0.3),
        Slicing(l=2, columns=["age+sex", "sex+zip", "ill"]),
        Slicing(l=2, columns=[["age"], ["sex", "zip"], ["ill"]]),
    ]
)


def sliced(rows, method, **more):
    return sf.decouple(table(rows, NAMES), method, **ROLES, **more)


def columns_of(release):
    return [tuple(file["columns"]) for file in release.manifest["files"]]


def published(release):
    """Per slice and bucket, how many people have each sub-tuple."""
    found = []
    for file in release.manifest["files"]:
        buckets = defaultdict(Counter)
        for row in release.tables[file["name"]].to_pylist():
            key = tuple(row[name] for name in file["columns"])
            assert key not in buckets[row["bucket"]]
            buckets[row["bucket"]][key] = row["count"]
        found.append(buckets)
    return found


@given(rows=PEOPLE, method=METHODS)
def test_slices_hold_everybody_and_nobody_is_told_apart(rows, method):
    try:
        release = sliced(rows, method)
    except InfeasibleError:
        known = Counter(row[-1] for row in rows if row[-1] is not None)
        assert not known or max(known.values()) * method.l > sum(known.values())
        return
    assert release.verdict.holds
    assert sf.verify(release).holds
    slices = published(release)
    for names, buckets in zip(columns_of(release), slices, strict=True):
        everybody = sum(buckets.values(), Counter())
        assert everybody == Counter(literal.sub(row, NAMES, names) for row in rows)
        assert {b: c.total() for b, c in buckets.items()} == {
            b: c.total() for b, c in slices[0].items()
        }
    # Whoever is alike in what is known beside the sensitive value has l of them at least.
    [at] = [i for i, names in enumerate(columns_of(release)) if "ill" in names]
    assert columns_of(release)[at][-1] == "ill"
    for bucket in slices[at].values():
        alike = defaultdict(Counter)
        for (*known, ill), people in bucket.items():
            alike[tuple(known)][ill] += people
        for values in alike.values():
            del values[None]
            assert 0 < max(values.values()) * method.l <= values.total()


@pytest.mark.parametrize("form", ["csv", "parquet", "feather"])
def test_a_folder_is_written_and_verified(tmp_path, form):
    release = sliced(ROWS, Slicing(l=3, most=2), output=tmp_path / "slices", format=form)
    assert sf.verify(tmp_path / "slices").holds
    assert release.manifest["kind"] == "slicing"
    manifest = json.loads((tmp_path / "slices" / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["models"] == [
        {
            "model": "probabilistic-l-diversity",
            "column": "ill",
            "l": 3,
            "measured": {"l": 3.0},
        }
    ]
    text = (tmp_path / "slices" / "README.md").read_text(encoding="utf-8")
    assert "36 people in 12 buckets" in text
    assert all(file["name"] in text for file in manifest["files"])


def test_the_view_gives_everybody_again(tmp_path):
    method = Slicing(l=3, columns=["age+sex", "zip", "ill"])
    release = sliced(ROWS, method, output=tmp_path / "slices", format="csv")
    with sqlite3.connect(":memory:") as db:
        db.executescript((release.folder / "schema.sql").read_text(encoding="utf-8"))
        for file in release.manifest["files"]:
            rows = (release.folder / file["name"]).read_text().splitlines()[1:]
            cells = [row.replace('"', "").split(",") for row in rows]
            marks = ",".join("?" * len(cells[0]))
            db.executemany(f"INSERT INTO {file['name'][:-4]} VALUES ({marks})", cells)
        found = db.execute("SELECT age, sex, zip, ill, expected FROM possible").fetchall()
    # Here every bucket is one combination of quasi-identifiers, so the join is the table.
    assert sorted(row[:4] for row in found) == sorted(ROWS)
    assert [row[4] for row in found] == pytest.approx([1] * len(ROWS))


def test_slices_that_overlap_have_no_view(tmp_path):
    method = Slicing(l=3, columns=["age+sex", "sex+zip", "ill"])
    release = sliced(ROWS, method, output=tmp_path / "slices", format="csv")
    sql = (release.folder / "schema.sql").read_text(encoding="utf-8")
    assert "VIEW" not in sql
    assert sql.count("CREATE TABLE") == 3


def test_what_is_correlated_is_published_together_and_overlaps_add_to_it():
    rows = [(a, a, z, ill) for a in "pqr" for z in "xy" for ill in ("flu", "gout", "hiv")]
    assert any({"age", "sex"} <= set(c) for c in columns_of(sliced(rows, Slicing(l=3, most=2))))
    alone = sliced(rows, Slicing(l=3, most=1))
    assert {len(column) for column in columns_of(alone)} == {1}
    more = sliced(rows, Slicing(l=3, most=1, overlap=0.5))
    assert any({"age", "sex"} <= set(column) for column in columns_of(more))


def test_labels_are_drawn_and_a_seed_fixes_them():
    one, other = (published(sliced(ROWS, Slicing(l=3)))[0].keys() for _ in range(2))
    assert one != other
    again = [sliced(ROWS, Slicing(l=3), seed=4) for _ in range(2)]
    assert [each.to_pylist() for each in again[0].tables.values()] == [
        each.to_pylist() for each in again[1].tables.values()
    ]
    assert any("not for publication" in warning for warning in again[0].warnings)


def test_names_of_columns_may_be_anything():
    rows = [("a", "x", ill) for ill in ("flu", "gout")] * 2
    names = ["bucket", "Count", 'the "ill"']
    columns = {name: [row[i] for row in rows] for i, name in enumerate(names)}
    release = sf.decouple(
        pa.table(columns), Slicing(l=2), quasi_identifiers=names[:2], sensitive=names[2:]
    )
    assert release.manifest["group"] == "bucket_2"
    assert release.manifest["count"] == "count_2"
    assert release.verdict.holds


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"l": 1}, "l must be an integer of at least 2"),
        ({"l": 2.5}, "l must be an integer"),
        ({"l": 2, "most": 0}, "most must be an integer of at least 1"),
        ({"l": 2, "overlap": 1.5}, "overlap must be a number"),
        ({"l": 2, "columns": "age+ill"}, "columns must be a list of columns"),
        ({"l": 2, "columns": [1, 2]}, "columns must be a list of columns"),
        ({"l": 2, "columns": ["age", "ill"], "most": 2}, "most must be left out"),
        ({"l": 2, "columns": ["age", "ill"], "overlap": 0.5}, "overlap must be left out"),
    ],
)
def test_settings_that_make_no_sense_are_refused(settings, said):
    with pytest.raises(ParameterError, match=said):
        Slicing(**settings)


@pytest.mark.parametrize(
    ("columns", "error", "said"),
    [
        (["age+sex+zip+ill"], ParameterError, "with one column whole rows are published"),
        (["age+sex", "ill"], ParameterError, "in no column: 'zip'"),
        (["age+sex+ill", "zip+ill"], ParameterError, "tie the rows of both together"),
        (["age+sex", "zipp", "ill"], UnknownColumnError, "Did you mean 'zip'"),
    ],
)
def test_columns_that_cannot_be_are_refused(columns, error, said):
    with pytest.raises(error, match=said):
        sliced(ROWS, Slicing(l=2, columns=columns))


@pytest.mark.parametrize(
    ("l", "rows", "said"),
    [
        (4, ROWS, "12 of 36 people with a known 'ill' have the same, more than 1 in 4.*3 values"),
        (2, [("a", "b", "c", ill) for ill in ("flu", "flu", "hiv")], "2 of 3 people"),
        (2, [("a", "b", "c", None)] * 2, "0 of 0 people"),
    ],
)
def test_an_l_that_cannot_be_is_refused(l, rows, said):
    with pytest.raises(InfeasibleError, match=said):
        sliced(rows, Slicing(l=l))


def test_columns_that_give_values_away_are_refused_with_what_to_try():
    rows = [("a", "f", "x", "flu"), ("a", "f", "y", "gout")] * 2
    with pytest.raises(InfeasibleError, match="put less beside the sensitive column"):
        sliced(rows, Slicing(l=2, columns=["age+sex", "zip+ill"]))
    assert sliced(rows, Slicing(l=2)).verdict.holds


def test_several_sensitive_columns_are_refused():
    with pytest.raises(ParameterError, match="sensitive must be one column"):
        sf.decouple(
            table(ROWS, NAMES),
            Slicing(l=2),
            quasi_identifiers=["age"],
            sensitive=["zip", "ill"],
        )


def test_what_needs_groups_of_people_who_look_alike_says_so(tmp_path):
    release = sliced(ROWS, Slicing(l=2), output=tmp_path / "slices", format="csv")
    for what in (release, release.folder):
        with pytest.raises(InputError, match="by 'slicing'"):
            sf.merge(what)


def test_models_of_the_table_are_not_promised_any_more():
    policy = sf.Policy(
        columns=dict.fromkeys(NAMES[:3], "quasi-identifier") | {"ill": "sensitive"},
        models=[sf.models.KAnonymity(2)],
    )
    release = sf.decouple(table(ROWS, NAMES), Slicing(l=2), policy=policy)
    assert any("k-anonymity" in warning for warning in release.warnings)
    assert [model["model"] for model in release.manifest["models"]] == ["probabilistic-l-diversity"]


def test_a_method_is_a_value():
    assert Slicing(l=2, columns=[["age"], "zip + ill"]).columns == (("age",), ("zip", "ill"))
    assert Slicing(l=2, columns=["age", "ill"]) == Slicing(l=2, columns=[["age"], ["ill"]])
    counts = FrequencySet.from_rows(NAMES, ROWS)
    parts = Slicing.example().run(counts, NAMES[:3], ["ill"], rng=np.random.default_rng(1))
    assert parts.broken.total == len(ROWS)


def test_tables_in_memory_are_not_believed_more_than_files():
    release = sliced(ROWS, Slicing(l=3))
    files = [{**file, "table": "qi"} for file in release.manifest["files"]]
    verdict = sf.verify(replace(release, manifest={**release.manifest, "files": files}))
    assert [check.name for check in verdict.checks] == ["manifest"]
    assert not verdict.holds


@pytest.mark.parametrize("method", [Slicing(l=3), Slicing(l=2, most=2, overlap=0.1)])
def test_the_census_is_sliced_and_nobody_in_it_is_exposed(method):
    counts = open_table(adult_folder() / "adult.csv").count(list(LEVELS))
    names = [name for name in LEVELS if name != "occupation"]
    parts = method.run(counts, names, ["occupation"], rng=np.random.default_rng(1))
    columns = Columns(tuple(part.columns for part in parts.tables), "occupation")
    laid = Laid.of(counts, columns)
    bucket = bucketed(laid, [counts.codes_of(name) for name in names], method.l)
    assert len(parts.broken) == bucket.max() + 1 > 1000
    found = beliefs(laid, bucket)
    assert found.max() * method.l <= 1 + 1e-12
    assert not len(exposed(laid, bucket, method.l))
