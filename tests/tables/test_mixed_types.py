"""A pandas column of objects may hold anything; what Arrow cannot type is text."""

import pandas as pd
import pytest

import sfumato as sf
from sfumato.errors import InputError
from sfumato.tables import open_table


def test_values_of_several_types_are_read_as_they_are_written():
    frame = pd.DataFrame({"a": [1, "x", 2.5, None, 1, float("nan")], "b": range(6)})
    counts = open_table(frame).count(["a"])
    assert dict(zip(counts.columns[0].values, counts.rows.tolist(), strict=True)) == {
        "1": 2,
        "2.5": 1,
        "x": 1,
        None: 2,
    }


def test_a_release_of_mixed_types_is_verified_and_the_frame_is_left_alone():
    frame = pd.DataFrame({"a": [1, "x", 1, "x"], "note": [None, 3, "b", 2.5]})
    before = frame.copy()
    policy = sf.Policy(
        columns={"a": "quasi-identifier", "note": "plain"}, models=[sf.models.KAnonymity(2)]
    )
    release = sf.anonymize(frame, policy)
    assert sorted(release.table["a"]) == ["1", "1", "x", "x"]
    assert sorted(map(str, release.table["note"].dropna())) == ["2.5", "3", "b"]
    pd.testing.assert_frame_equal(frame, before)


def test_lists_among_other_things_are_text_as_those_are():
    table = open_table(pd.DataFrame({"ok": [1, 2], "a": [["b", 1], "x"]}))
    assert sorted(table.count(["a"]).column("a").values) == ["b; 1", "x"]


def test_lists_of_lists_among_other_things_are_refused_by_name():
    frame = pd.DataFrame({"ok": [1, 2], "a": [[[1]], "x"]})
    with pytest.raises(InputError, match=r"column 'a' holds values of several types"):
        open_table(frame)
