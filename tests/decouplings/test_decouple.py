"""Decoupling loses nothing, invents nothing and ties nothing together."""

import json
from datetime import date

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.counts import FrequencySet
from sfumato.decouplings import DECOUPLINGS
from sfumato.decouplings.base import GroupedTables
from sfumato.errors import InfeasibleError, InputError, OutputError, ParameterError
from sfumato.releases.decoupling import as_text
from sfumato.releases.opening import open_release
from sfumato.tables import open_table
from tests.decouplings import literal
from tests.decouplings.tables import NAMES, QI, ROWS, SENSITIVE, table


def decoupled(data, **options):
    return sf.decouple(data, quasi_identifiers=QI, sensitive=SENSITIVE, **options)


def same(one: GroupedTables, other: GroupedTables) -> None:
    """Hold two broken tables against each other, labels apart."""
    assert [c.name for c in one.quasi_identifiers] == [c.name for c in other.quasi_identifiers]
    assert [c.values for c in one.quasi_identifiers] == [c.values for c in other.quasi_identifiers]
    np.testing.assert_array_equal(one.labels, other.labels)
    np.testing.assert_array_equal(one.sizes, other.sizes)
    assert one.names == other.names
    for mine, theirs in zip(one.sensitive, other.sensitive, strict=True):
        assert mine.column.values == theirs.column.values
        for part in ("group", "value", "rows"):
            np.testing.assert_array_equal(getattr(mine, part), getattr(theirs, part))


@pytest.mark.usefixtures("patience")
@given(rows=ROWS)
def test_the_files_say_what_breaking_word_by_word_says(tmp_path_factory, rows):
    folder = tmp_path_factory.mktemp("release") / "broken"
    decoupled(table(rows), output=folder, format="csv")
    assert literal.read(folder) == literal.grouped(rows, 2)


@pytest.mark.usefixtures("patience")
@given(rows=ROWS, form=st.sampled_from(["csv", "parquet", "feather"]))
def test_what_is_read_again_is_what_was_counted(tmp_path_factory, rows, form):
    folder = tmp_path_factory.mktemp("release") / "broken"
    release = decoupled(table(rows), output=folder, format=form)
    counted = GroupedTables.of(FrequencySet.from_rows(NAMES, rows), QI, SENSITIVE)
    same(counted, release.grouped)
    again = open_release(folder).groups
    same(counted, again)
    np.testing.assert_array_equal(again.labelled, release.grouped.labelled)


TYPED = pa.table(
    {
        "age": pa.array([30, 30, None, 47], pa.int16()),
        "zip": pa.array([1.5, 1.5, 2.0, float("nan")], pa.float32()),
        "ill": pa.array([date(2020, 1, 2), None, date(1999, 1, 1), None]),
        "pay": pa.array([True, False, True, None]),
    }
)


@pytest.mark.parametrize("form", ["csv", "parquet", "feather"])
def test_values_keep_their_types_where_the_format_has_types(tmp_path, form):
    release = decoupled(TYPED, output=tmp_path / "broken", format=form)
    counted = open_table(TYPED).count(NAMES)
    counted = as_text(counted) if form == "csv" else counted
    same(GroupedTables.of(counted, QI, SENSITIVE), release.grouped)
    found = open_release(release.folder)
    same(release.grouped, found.groups)
    if form != "csv":
        types = [str(found.likes[name].type_of(name)) for name in NAMES]
        assert types == ["int16", "float", "date32[day]", "bool"]


@pytest.mark.parametrize(
    ("give", "kind"),
    [(lambda t: t, pa.Table), (pa.Table.to_pandas, pd.DataFrame), (pl.from_arrow, pl.DataFrame)],
)
def test_tables_in_memory_are_of_the_kind_that_was_given(give, kind):
    rows = [("a", "b", "x", "y"), ("a", "b", None, "y"), ("a", None, "x", "z")]
    release = decoupled(give(table(rows)))
    assert set(release.tables) == {"qi", "sensitive_ill", "sensitive_pay"}
    assert all(isinstance(each, kind) for each in release.tables.values())
    assert release.folder is None
    assert sf.verify(release).verdict.holds
    assert isinstance(sf.tools.merge(release), kind)
    assert len(sf.tools.merge(release)) == 2 * 1 + 1


def test_an_empty_text_is_a_missing_value(tmp_path):
    rows = [("a", "", "", "y"), ("a", None, None, "y")]
    release = decoupled(table(rows), output=tmp_path / "broken", format="csv")
    assert len(release.grouped) == 1
    assert literal.read(release.folder) == {("a", None): (2, [{None: 2}, {"y": 2}])}
    assert len(decoupled(table(rows)).grouped) == 1


def test_one_group_and_one_row():
    release = decoupled(table([("a", "b", "x", "y")]))
    assert len(release.grouped) == 1
    assert "1 of 1 people are alone in their group" in release.warnings[0]


def test_other_columns_are_left_out_and_that_is_said(tmp_path):
    data = table([("a", "b", "x", "y")] * 2).append_column("note", pa.array(["one", "two"]))
    release = decoupled(data, output=tmp_path / "broken", format="csv")
    assert release.left_out == ("note",)
    assert "'note'" in release.warnings[0]
    # That there is such a column is no more public than what is in it.
    assert not any(b'"note"' in file.read_bytes() for file in release.folder.iterdir())
    assert b"two" not in b"".join(f.read_bytes() for f in release.folder.glob("*.csv"))


def test_a_seed_gives_the_same_files_and_a_warning(tmp_path):
    rows = [(a, b, c, "y") for a in "abc" for b in "xy" for c in "123"]
    one, other, third = (
        decoupled(table(rows), output=tmp_path / name, format="csv", seed=seed)
        for name, seed in (("one", 1), ("other", 1), ("third", None))
    )
    files = [[f.sha256 for f in each.manifest.files] for each in (one, other, third)]
    assert files[0] == files[1] != files[2]
    assert one.manifest.reproducible
    assert "not for publication" in one.warnings[-1]
    assert not third.manifest.reproducible


# From a release: roles, promises and suppressed rows come with it.


PEOPLE = sf.samples.synthetic(600, seed=4).select(
    ["age", "sex", "diagnosis", "outcome", "insurance"]
)


def policy(**changes):
    settings = {
        "columns": {
            "age": {"role": "quasi-identifier", "hierarchy": "auto"},
            "sex": "quasi-identifier",
            "diagnosis": {"role": "sensitive", "hierarchy": "auto"},
            "outcome": "sensitive",
            "insurance": "plain",
        },
        "models": [
            {"model": "k-anonymity", "k": 4},
            {"model": "distinct-l-diversity", "column": "diagnosis", "l": 2},
            {"model": "t-closeness", "column": "diagnosis", "t": 0.8, "distance": "hierarchical"},
        ],
        "suppression": 0.2,
    }
    return sf.Policy(**{**settings, **changes})


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_a_release_keeps_its_promises_with_the_same_figures(tmp_path, form):
    release = sf.anonymize(PEOPLE, policy(), output=tmp_path / "release", format=form)
    decoupled = sf.decouple(tmp_path / "release", output=tmp_path / "broken")
    assert [f.format for f in decoupled.manifest.files] == [form] * 3
    assert decoupled.manifest.models == release.manifest.models
    assert decoupled.manifest.classes == release.manifest.classes
    assert decoupled.manifest.rows == release.manifest.rows
    assert decoupled.manifest.hierarchies == release.manifest.hierarchies
    assert decoupled.manifest.risk_levels == release.manifest.risk_levels
    assert decoupled.manifest.left_out.columns == ()
    levels = {c.name: c.level for c in decoupled.manifest.columns}
    assert levels == {c.name: c.level for c in release.manifest.columns}
    assert sf.verify(decoupled.folder, policy()).verdict.holds


@pytest.mark.usefixtures("patience")
def test_a_release_in_memory_is_decoupled_in_memory():
    release = sf.anonymize(PEOPLE, policy())
    decoupled = sf.decouple(release)
    assert decoupled.grouped.total == release.manifest.rows.published
    assert sf.verify(decoupled, policy()).verdict.holds


@pytest.mark.usefixtures("patience")
def test_starred_rows_are_left_out_and_counted_as_suppressed(tmp_path):
    starring = policy(suppression={"limit": 0.3, "rows": "star"})
    release = sf.anonymize(PEOPLE, starring, output=tmp_path / "release", format="parquet")
    assert release.suppressed
    decoupled = sf.decouple(release, output=tmp_path / "broken")
    assert decoupled.grouped.total == release.manifest.rows.published
    assert decoupled.manifest.to_dict()["rows"] == {
        "published": release.manifest.rows.published,
        "suppressed": release.suppressed,
        "suppression": "remove",
    }
    assert decoupled.manifest.models == release.manifest.models


@pytest.mark.usefixtures("patience")
def test_missing_values_that_match_any_still_do(tmp_path):
    ages = PEOPLE["age"].to_pylist()
    gaps = pa.array([None if i % 9 == 0 else age for i, age in enumerate(ages)])
    people = PEOPLE.set_column(0, "age", gaps)
    release = sf.anonymize(people, policy(missing="matches-any"), output=tmp_path / "release")
    decoupled = sf.decouple(release, output=tmp_path / "broken")
    assert decoupled.manifest.missing == "matches-any"
    assert decoupled.manifest.models == release.manifest.models
    assert sf.verify(decoupled.folder).verdict.holds


def test_a_model_that_needs_a_population_is_not_promised_any_more(tmp_path):
    pq.write_table(PEOPLE, tmp_path / "people.parquet")
    rule = policy(
        models=[{"model": "k-map", "k": 3}, {"model": "k-anonymity", "k": 2}],
        population=str(tmp_path / "people.parquet"),
    )
    release = sf.anonymize(PEOPLE, rule, output=tmp_path / "release")
    decoupled = sf.decouple(release)
    assert [model.model for model in decoupled.manifest.models] == ["k-anonymity"]
    assert decoupled.manifest.left_out.models == ("k-map with k=3",)
    assert any("k-map" in warning for warning in decoupled.warnings)


def test_columns_can_be_chosen_and_models_of_others_go(tmp_path):
    release = sf.anonymize(PEOPLE, policy(), output=tmp_path / "release")
    decoupled = sf.decouple(release, sensitive=["outcome"])
    assert set(decoupled.tables) == {"qi", "sensitive_outcome"}
    assert [model.model for model in decoupled.manifest.models] == ["k-anonymity"]
    assert decoupled.manifest.left_out.columns == ("diagnosis",)


def test_a_plain_table_is_held_to_the_policy_it_comes_with(tmp_path):
    published = sf.anonymize(PEOPLE, policy()).table
    decoupled = sf.decouple(published, policy=policy())
    assert [m.model for m in decoupled.manifest.models] == [m.name for m in policy().models]
    with pytest.raises(InfeasibleError, match=r"does not keep k-anonymity with k=4: measured k=1"):
        sf.decouple(PEOPLE, policy=policy())


# What is refused.


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, "nothing says what the columns are"),
        ({"quasi_identifiers": QI}, "sensitive must be at least one column"),
        ({"sensitive": SENSITIVE}, "quasi_identifiers must be at least one column"),
        ({"quasi_identifiers": QI, "sensitive": ["zip"]}, "cannot be both"),
        ({"quasi_identifiers": QI, "sensitive": ["illl"]}, "Did you mean 'ill'"),
        ({"quasi_identifiers": QI, "sensitive": SENSITIVE, "method": "brake"}, "no decoupling"),
        ({"quasi_identifiers": QI, "sensitive": SENSITIVE, "format": "xls"}, "one of csv"),
        ({"quasi_identifiers": QI, "sensitive": SENSITIVE, "seed": -1}, "seed"),
    ],
)
def test_a_wrong_request_is_refused_with_what_to_do(options, words):
    with pytest.raises((ParameterError, InputError, sf.SfumatoError), match=words):
        sf.decouple(table([("a", "b", "x", "y")]), **options)


def test_a_decoupled_release_cannot_be_decoupled_again(tmp_path):
    release = decoupled(table([("a", "b", "x", "y")]), output=tmp_path / "broken")
    for data in (release, release.folder):
        with pytest.raises(InputError, match="cannot be put together again"):
            sf.decouple(data)


def test_nothing_is_replaced_unless_told_to(tmp_path):
    data = table([("a", "b", "x", "y")])
    decoupled(data, output=tmp_path / "broken")
    with pytest.raises(OutputError, match="exists"):
        decoupled(data, output=tmp_path / "broken")
    decoupled(data, output=tmp_path / "broken", force=True)
    assert [path.name for path in tmp_path.iterdir()] == ["broken"]


def test_a_failure_leaves_nothing_behind(tmp_path, monkeypatch):
    monkeypatch.setattr("sfumato.decouplings.break_merge.write_companions", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        decoupled(table([("a", "b", "x", "y")]), output=tmp_path / "new" / "broken")
    assert not list(tmp_path.iterdir())


def test_every_method_has_an_example_that_decouples():
    rows = [("a", "b", ill) for ill in "xyz" * 2]
    for name in DECOUPLINGS:
        release = sf.decouple(
            table(rows, NAMES[:3]),
            DECOUPLINGS[name].example(),
            quasi_identifiers=QI,
            sensitive=NAMES[2:3],
        )
        assert release.method == name


def test_the_result_tells_what_it_is(tmp_path):
    release = decoupled(table([("a", "b", "x", "y")] * 2), output=tmp_path / "broken")
    assert repr(release) == "<DecoupledRelease 2 rows in 1 groups, decoupled by break-merge>"
    plain = json.loads(json.dumps(release.to_dict(), allow_nan=False))
    assert plain["verdict"]["holds"]
    assert any("same 'ill'" in warning for warning in plain["warnings"])
