"""One value has one meaning, whatever holds it: what is made verifies, and is the same."""

import csv
import math
from collections import Counter

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.errors import InfeasibleError, InputError, ParameterError, SfumatoError
from tests.ledger.releases import counted
from tests.tables import databases

pytestmark = databases.LEAVES_SOCKETS_OPEN

TEXTS = st.sampled_from(["", None, "a", "b", " ", " a"])
NUMBERS = st.sampled_from([0.0, -0.0, math.nan, None, 1.5])
TABLES = st.lists(st.tuples(TEXTS, NUMBERS, TEXTS, NUMBERS), min_size=1, max_size=14)
NAMES = ("q", "n", "ill", "pay")
METHODS = ("full-domain", "regional", "top-down", "bottom-up", "mondrian", "mdav")


def plain(value):
    """The value as the documentation says it is read; numbers as CSV files have them."""
    if value is None or value == "" or (isinstance(value, float) and math.isnan(value)):
        return None
    return f"{value + 0.0:g}" if isinstance(value, int | float) else value


def arrow_table(rows):
    """The table with all its odd forms: empty beside missing, -0.0 beside 0.0, NaN beside null."""
    columns = zip(*rows, strict=True)
    kinds = (pa.string(), pa.float64(), pa.string(), pa.float64())
    made = [pa.array(c, kind, from_pandas=False) for c, kind in zip(columns, kinds, strict=True)]
    return pa.table(dict(zip(NAMES, made, strict=True)))


def as_csv(table, path):
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, quoting=csv.QUOTE_ALL)
        writer.writerow(table.column_names)
        writer.writerows([plain(v) for v in row.values()] for row in table.to_pylist())
    return path


def as_parquet(table, path):
    pq.write_table(table, path)
    return path


def as_feather(table, path):
    pyarrow.feather.write_feather(table, path)
    return path


SOURCES = {
    "arrow": lambda table, _: table,
    "dictionaries": lambda table, _: pa.table(
        {n: table[n].combine_chunks().dictionary_encode() for n in table.column_names}
    ),
    "pandas": lambda table, _: table.to_pandas(),
    "pandas with NA": lambda table, _: table.to_pandas(types_mapper=pd.ArrowDtype),
    "polars": lambda table, _: pl.from_arrow(table),
    "csv": as_csv,
    "parquet": as_parquet,
    "feather": as_feather,
}


def policy(method="full-domain", missing="own-value"):
    return sf.Policy(
        columns={
            "q": "quasi-identifier",
            "n": {"role": "quasi-identifier", "hierarchy": "star"},
            "ill": "sensitive",
            "pay": "sensitive",
        },
        models=[sf.models.KAnonymity(2), sf.models.DistinctLDiversity("ill", l=2)],
        suppression=1.0,
        missing=missing,
        method=method,
    )


def rows_of(release):
    table = pa.table(release.table) if not isinstance(release.table, pa.Table) else release.table
    return Counter(tuple(map(plain, row.values())) for row in table.to_pylist())


def outcome(make):
    """What comes out: a result, or the kind of refusal."""
    try:
        return make()
    except (InfeasibleError, ParameterError, InputError) as error:
        return type(error)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Somewhere to write; what is there is replaced each time."""
    return tmp_path_factory.mktemp("one")


def few(examples):
    return settings(max_examples=examples, deadline=None, suppress_health_check=list(HealthCheck))


def make_and_verify(folder, rows, method, missing):
    table = arrow_table(rows)
    for form in ("csv", "parquet", "feather"):
        target = folder / form
        made = outcome(
            lambda target=target, form=form: sf.anonymize(
                table, policy(method, missing), output=target, format=form, force=True
            )
        )
        if not isinstance(made, type):
            assert sf.verify(target, attacks=False).holds


def compare_sources(folder, rows):
    table = arrow_table(rows)
    found = {}
    for name, give in SOURCES.items():
        given_table = give(table, folder / f"in.{name}")
        made = outcome(lambda given_table=given_table: sf.anonymize(given_table, policy()))
        if not isinstance(made, type):
            made = made.levels, made.suppressed, made.manifest.classes, rows_of(made)
        found[name] = made
    assert all(each == found["arrow"] for each in found.values()), found


def decouple_and_verify(folder, rows, method):
    table = arrow_table(rows).select(["q", "n", "ill"])
    for form in ("csv", "parquet", "feather"):
        target = folder / f"decoupled {form}"
        made = outcome(
            lambda target=target, form=form: sf.decouple(
                table,
                method,
                quasi_identifiers=["q", "n"],
                sensitive=["ill"],
                output=target,
                format=form,
                force=True,
            )
        )
        if not isinstance(made, type):
            assert sf.verify(target, attacks=False).holds


RULES = st.sampled_from(["own-value", "matches-any", "suppress"])
DECOUPLINGS = st.sampled_from(
    ["break-merge", "anatomy", "bucketization", "slicing", "association-hiding"]
)


@pytest.mark.usefixtures("patience")
@few(3)
@given(TABLES, st.sampled_from(METHODS), RULES, DECOUPLINGS)
def test_what_is_made_verifies_and_is_the_same_everywhere(folder, rows, method, missing, split):
    make_and_verify(folder, rows, method, missing)
    decouple_and_verify(folder, rows, split)
    compare_sources(folder, rows)


@few(80)
@given(TABLES, st.sampled_from(METHODS), RULES, DECOUPLINGS)
def test_many_tables_verify(thorough, folder, rows, method, missing, split):
    make_and_verify(folder, rows, method, missing)
    decouple_and_verify(folder, rows, split)
    compare_sources(folder, rows)


ODD = [
    ("", -0.0, "", 0.0),
    (None, 0.0, "x", -0.0),
    ("a", math.nan, None, 1.0),
    ("a", None, "", 2.0),
]


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("method", METHODS)
def test_a_database_gives_what_memory_gives(database, method, folder):
    table = arrow_table(ODD * 3)
    given_table = database.stored(table, f"people_{method.replace('-', '_')}")
    rules = policy(method)
    here, there = sf.anonymize(table, rules), sf.anonymize(given_table, rules, output="table:out")
    assert there.manifest.classes == here.manifest.classes
    assert there.suppressed == here.suppressed
    assert sf.verify(there, attacks=False).holds
    published = database.read("out")
    assert Counter(tuple(map(plain, row.values())) for row in published.to_pylist()) == rows_of(
        here
    )
    assert "" not in published["ill"].to_pylist()
    assert not any(math.copysign(1, v) < 0 for v in published["pay"].to_pylist() if v is not None)
    if database.name == "postgres":
        return  # it writes files only on its own machine
    # Databases spell other numbers in CSV files than Arrow does, and refuse to write those.
    texts = database.stored(table.select(["q", "ill"]), f"texts_{method.replace('-', '_')}")
    fewer = sf.Policy(columns={c: rules.columns[c] for c in ("q", "ill")}, models=rules.models,
                      suppression=1.0, method=method)  # fmt: skip
    out = folder / f"{method} {database.name}"
    sf.anonymize(texts, fewer, output=out, format="csv")
    assert sf.verify(out, attacks=False).holds


@pytest.mark.usefixtures("patience")
def test_an_increment_of_empty_values_is_one_of_missing_values(tmp_path):
    rows = [("a", 0.0, "x", 0.0), ("a", -0.0, "y", 0.0), ("a", 0.0, "", 0.0)] * 4
    first = arrow_table(rows).select(["q", "n", "ill"])
    split = sf.decouple(first, "break-merge", quasi_identifiers=["q", "n"], sensitive=["ill"])
    ledger = sf.Ledger.start(split, tmp_path / "l", alpha=0.9, k=2)
    for name in ("arrow", "pandas", "parquet"):
        more = SOURCES[name](arrow_table(rows[:3] * 2).select(["q", "n", "ill"]), tmp_path / name)
        done = ledger.publish(more, output=tmp_path / f"{name} out", again=True)
        assert sf.verify(tmp_path / f"{name} out", attacks=False).holds
        assert done.head
        # Four of six are known, and the empty texts are missing.
        assert counted(done.tables)["a", "0"][1]["ill"] == {"x": 2, "y": 2, None: 2}
    assert ledger.verify() == []
    assert len(counted(ledger.current)) == 1


def test_an_empty_text_is_no_diagnosis_in_any_table(tmp_path):
    table = pa.table({"age": ["3*"] * 4, "ill": ["HIV", "HIV", "HIV", ""]})
    roles = {"columns": {"age": "quasi-identifier", "ill": "sensitive"}}
    two = sf.Policy(**roles, models=[sf.models.DistinctLDiversity("ill", l=2)])
    for give in SOURCES.values():
        with pytest.raises(SfumatoError):
            sf.anonymize(give(table, tmp_path / "in"), two)
    for form, write in (("parquet", as_parquet), ("feather", as_feather)):
        path = write(table, tmp_path / f"theirs.{form}")
        assert not sf.verify(path, two, attacks=False).holds


@pytest.mark.parametrize("value", ["", -0.0])
def test_everyday_values_are_published_as_csv(tmp_path, value):
    others = ["flu", "gout"] if isinstance(value, str) else [0.0, 1.0]
    frame = pd.DataFrame({"age": [30] * 6, "d": [value, *others] * 2})
    models = [sf.models.KAnonymity(3), sf.models.DistinctLDiversity("d", l=2)]
    rules = sf.Policy(columns={"age": "quasi-identifier", "d": "sensitive"}, models=models)
    release = sf.anonymize(frame, rules, output=tmp_path / "r", format="csv")
    assert release.suppressed == 0
    assert "-0" not in (tmp_path / "r" / "data.csv").read_text()


def test_columns_published_as_they_are_have_one_form_of_each_value(tmp_path):
    table = pa.table({"q": ["a"] * 4, "plain": [-0.0, 0.0, math.nan, None], "text": ["", None] * 2})
    rules = sf.Policy(
        columns={"q": "quasi-identifier", "plain": "plain", "text": "plain"},
        models=[sf.models.KAnonymity(2)],
    )
    published = sf.anonymize(table, rules).table
    assert sorted(map(str, published["plain"].to_pylist())) == ["0.0", "0.0", "None", "None"]
    assert published["text"].to_pylist() == [None] * 4
