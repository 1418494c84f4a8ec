"""One row per person, held against a loop over rows."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

import sfumato as sf
from sfumato.cli.app import app
from sfumato.errors import InputError, OutputError, SfumatoError
from sfumato.tables.arrow.widening import MOST_COLUMNS

ROWS = st.lists(
    st.tuples(
        st.sampled_from(["ann", "bob", "cy"]),
        st.none() | st.integers(0, 3),
        st.none() | st.sampled_from("xy"),
        st.none() | st.floats(0, 1, width=16),
    ),
    min_size=1,
    max_size=12,
)
NAMES = ("id", "when", "ill", "dose")


def textbook(rows, order, most):
    """Widen row by row."""
    people: dict[str, list[tuple]] = {}
    for row in rows:
        people.setdefault(row[0], []).append(row)
    counts = {person: len(own) for person, own in people.items()}
    if order:
        for own in people.values():
            own.sort(key=lambda row: (row[1] is None, row[1] or 0))
    kept = {person: own[:most] for person, own in people.items()}
    width = max(map(len, kept.values()))
    table = {"id": [*people]}
    table["rows"] = [counts[person] for person in people]
    for at, name in enumerate(NAMES[1:], start=1):
        if all(len({row[at] for row in own}) == 1 for own in kept.values()):
            table[name] = [own[0][at] for own in kept.values()]
            continue
        for i in range(width):
            table[f"{name}_{i + 1}"] = [
                own[i][at] if i < len(own) else None for own in kept.values()
            ]
    return table, sum(counts.values()) - sum(map(len, kept.values()))


def table_of(rows):
    kinds = (pa.string(), pa.int64(), pa.string(), pa.float64())
    columns = zip(*rows, strict=True)
    return pa.table(
        {n: pa.array(c, kind) for n, c, kind in zip(NAMES, columns, kinds, strict=True)}
    )


@given(ROWS, st.booleans(), st.none() | st.integers(1, 3))
def test_rows_side_by_side_are_what_a_loop_finds(rows, order, most):
    wide = sf.widen(table_of(rows), person="id", order="when" if order else None, most=most)
    expected, lost = textbook(rows, order, most)
    assert wide.lost == lost
    assert wide.rows == len(rows)
    assert {n: wide.table[n].to_pylist() for n in wide.table.column_names} == expected


VISITS = {
    "id": ["a", "b", "a", "a"],
    "sex": ["f", "m", "f", "f"],
    "seen": ["10.02.2020", "13.01.2020", "02.12.2019", "1.3.2020"],
    "ill": ["flu", "flu", "gout", None],
}


def test_text_that_is_dates_or_numbers_is_ordered_as_such():
    wide = sf.widen(pa.table(VISITS), person="id", order="seen")
    assert [wide.table[f"seen_{i}"][0].as_py() for i in (1, 2, 3)] == [
        "02.12.2019", "10.02.2020", "1.3.2020",
    ]  # fmt: skip
    numbers = pa.table({"id": ["a"] * 3, "wave": ["10", "9", "2"]})
    wide = sf.widen(numbers, person="id", order="wave")
    assert [wide.table[f"wave_{i}"][0].as_py() for i in (1, 2, 3)] == ["2", "9", "10"]
    with pytest.raises(InputError, match="two ways"):
        sf.widen(
            pa.table({"id": ["a"] * 2, "d": ["01.02.2020", "02.01.2020"]}), person="id", order="d"
        )


def test_every_kind_of_table_comes_back_as_its_kind(tmp_path):
    frame = pd.DataFrame(VISITS)
    frame.to_csv(tmp_path / "visits.csv", index=False)
    names = ["id", "rows", "sex", *(f"{n}_{i}" for n in ("seen", "ill") for i in (1, 2, 3))]
    for source, kind in (
        (frame, pd.DataFrame),
        (pl.from_pandas(frame), pl.DataFrame),
        (pa.table(VISITS), pa.Table),
        (tmp_path / "visits.csv", pa.Table),
    ):
        wide = sf.widen(source, person="id")
        assert isinstance(wide.table, kind)
        assert [*(wide.table.column_names if kind is pa.Table else wide.table.columns)] == names
    assert wide.constant == ("sex",)
    assert wide.changing == ("seen", "ill")


def test_a_widened_table_can_be_anonymised_as_it_is():
    wide = sf.widen(pd.DataFrame({**VISITS}), person="id", columns=["sex", "ill"])
    release = sf.anonymize(
        wide,
        quasi_identifiers=["sex"],
        sensitive=[],
        k=2,
        plain=["id", "rows", "ill_1", "ill_2", "ill_3"],
    )
    assert len(release.table) == 2


def test_ties_and_lost_rows_are_said():
    table = pa.table({"id": ["a", "a", "b"], "day": [1, 1, 1], "x": [1, 2, 3]})
    wide = sf.widen(table, person="id", order="day", most=1)
    assert (wide.lost, wide.ties) == (1, 1)
    assert "1 of 3 rows were left out" in str(wide)
    assert wide.table["rows"].to_pylist() == [2, 1]


def test_too_many_columns_are_refused_with_the_distribution():
    ids = np.concatenate([np.zeros(900, int), np.arange(1, 1000)])
    table = pa.table({"id": ids, "x": np.arange(len(ids)), "y": np.arange(len(ids))})
    with pytest.raises(
        InputError,
        match=r"1\u202f802 columns.*one person has 900 rows; half of the "
        r"people have up to 1, .*99 % of the people have up to 1\. .*with most=1, "
        r"899 of 1\u202f899 rows are lost",
    ):
        sf.widen(table, person="id")
    assert sf.widen(table, person="id", most=2).table.num_columns == 6
    assert MOST_COLUMNS == 1000


@pytest.mark.parametrize(
    ("table", "settings", "text"),
    [
        ({"id": ["a", None], "x": [1, 2]}, {}, "does not say whose row it is in 1 row"),
        ({"id": ["a", "a"], "x": [1, 2], "x_1": [1, 1]}, {}, r"would be made: 'x_1'"),
        ({"id": ["a", "a"], "rows": [1, 1]}, {}, r"'rows', which is there already"),
        ({"id": ["a", "a"], "x": [[1], [2]]}, {}, "no single value per row"),
        ({"id": ["a"], "x": [1]}, {"person": "ids"}, "no column 'ids'"),
        ({"id": ["a"], "x": [1]}, {"order": "y"}, "no column 'y'"),
        ({"id": ["a"], "x": [1]}, {"columns": ["z"]}, "no column 'z'"),
        ({"id": ["a"], "x": [1]}, {"most": 0}, "at least 1"),
        ({"id": ["a"], "x": [1]}, {"count": ""}, "name of a column"),
    ],
)
def test_what_cannot_be_widened_is_refused(table, settings, text):
    with pytest.raises(SfumatoError, match=text):
        sf.widen(pa.table(table), **{"person": "id", **settings})


def run(*arguments):
    return CliRunner().invoke(app, ["widen", *map(str, arguments)])


def test_the_command_writes_a_private_file_and_replaces_none(tmp_path: Path):
    data, target = tmp_path / "visits.csv", tmp_path / "wide.csv"
    pd.DataFrame(VISITS).to_csv(data, index=False)
    result = run(data, "--person", "id", "--order", "seen", "-o", target, "--json")
    assert result.exit_code == 0
    assert json.loads(result.stdout)["people"] == 2
    assert target.stat().st_mode & 0o077 == 0
    assert pd.read_csv(target)["ill_1"].tolist() == ["gout", "flu"]
    with pytest.raises(OutputError, match="exists"):
        sf.widen(data, person="id", output=target)
    assert run(data, "--person", "id", "-o", tmp_path / "wide.parquet").exit_code == 0
    assert pd.read_parquet(tmp_path / "wide.parquet")["rows"].tolist() == [3, 1]
    with pytest.raises(OutputError, match="no ending"):
        sf.widen(data, person="id", output=tmp_path / "wide.txt")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["visits.csv", "wide.csv", "wide.parquet"]
