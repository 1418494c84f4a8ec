"""Names of files and of new columns, whatever the columns are called."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.decouplings.base import file_names, free_name
from tests.decouplings.tables import ODD, table


@given(st.lists(st.one_of(ODD, st.sampled_from(["a b", "a_b", "A_B", "a_b_2"])), unique=True))
def test_file_names_are_safe_and_no_two_are_alike(columns):
    names = file_names(columns, "sensitive_")
    assert len({name.lower() for name in names}) == len(columns)
    assert all(n.isascii() and set(n) <= set("_-") | set(filter(str.isalnum, n)) for n in names)
    assert all(len(name) < 80 for name in names)


def test_a_safe_name_is_kept_wherever_it_stands():
    assert file_names(["a b", "a_b"], "s_") == ["s_a_b_2", "s_a_b"]


@given(st.lists(st.sampled_from(["group", "Group", "GROUP_2", "group_3", "count"]), unique=True))
def test_a_new_column_has_a_name_that_no_other_has(taken):
    name = free_name("group", taken)
    assert name.casefold() not in {each.casefold() for each in taken}


def test_columns_that_are_called_group_and_count_keep_their_names(tmp_path):
    names = ["group", "Count", "count", "expected"]
    data = table([("a", "b", "x", "y"), ("a", "b", "x", "z")], names)
    release = sf.decouple(
        data,
        quasi_identifiers=names[:2],
        sensitive=names[2:],
        output=tmp_path / "broken",
        format="csv",
    )
    assert release.manifest.group == "group_2"
    assert release.manifest.count == "count_2"
    assert sf.verify(release.folder).verdict.holds
    merged = sf.tools.merge(release)
    assert merged.column_names == ["group_2", *names, "expected_2"]


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_odd_names_are_written_and_the_manifest_says_which_file_is_which(tmp_path, form):
    names = ['äge, "net"\nof', "z;p", "../ill", "..\\ill"]
    data = table([("a", "b", "x", "y"), ("a", "b", "x", "z")], names)
    release = sf.decouple(
        data, quasi_identifiers=names[:2], sensitive=names[2:], output=tmp_path / "b", format=form
    )
    manifest = json.loads((tmp_path / "b" / "manifest.json").read_text(encoding="utf-8"))
    files = {file.get("column"): file["name"] for file in manifest["files"]}
    assert files == {
        None: f"qi.{form}",
        "../ill": f"sensitive_ill.{form}",
        "..\\ill": f"sensitive_ill_2.{form}",
    }
    assert sf.verify(tmp_path / "b").verdict.holds
    assert release.tables is None


@pytest.mark.usefixtures("patience")
@given(st.lists(ODD, min_size=3, max_size=4, unique=True))
def test_any_name_a_table_can_have_can_be_decoupled(names):
    data = table([("a", "x", "y", "z")[: len(names)], ("b", "x", "z", "z")[: len(names)]], names)
    release = sf.decouple(data, quasi_identifiers=names[:1], sensitive=names[1:])
    assert sf.verify(release).verdict.holds
    assert len(release.tables) == len(names)
