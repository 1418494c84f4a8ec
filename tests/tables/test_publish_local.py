"""Publishing a local recoding: each published row is traced back to the row it was."""

import math
from collections import Counter, defaultdict
from datetime import date
from itertools import pairwise

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.errors import InputError, ParameterError, UnknownColumnError
from sfumato.recoding import SUPPRESSED, LocalColumn, LocalRecoding
from sfumato.tables import open_table
from sfumato.tables.arrow import table as arrow_table
from sfumato.tables.arrow.publishing import Portions, UsedUpError
from sfumato.tables.arrow.sources import open_source
from sfumato.tables.arrow.table import ArrowTable
from sfumato.tables.formats import written_formats
from tests.tables.tables import (
    KINDS,
    TEXTS,
    as_source,
    cell,
    literal_rows,
    typed_tables,
    write_csv,
)
from tests.tables.test_publish import read_back, rng

ID = "row of"
"""A plain column that says which row a published row was."""


def recode(counts, columns, portions, labels):
    """Put a recoding together.

    Args:
        counts: The quasi-identifiers and the other columns that were counted.
        columns: For each quasi-identifier its labels, and whether they are raw values.
        portions: For each combination its portions: (rows, class).
        labels: For each class the number of its label in each column.
    """
    flat = [portion for those in portions for portion in those]
    return LocalRecoding(
        columns=tuple(
            LocalColumn(column.name, column.values, tuple(named), raw)
            for column, (named, raw) in zip(counts.columns, columns, strict=False)
        ),
        others=counts.columns[len(columns) :],
        combinations=counts.codes,
        starts=np.cumsum([0, *map(len, portions)]),
        rows=np.array([rows for rows, _ in flat], dtype=np.int64),
        classes=np.array([kind for _, kind in flat], dtype=np.int64),
        labels=np.array(labels, dtype=np.int32).reshape(len(labels), len(columns)).T,
    )


def by_label(counts, names, becomes):
    """Make a recoding from label tuples: `becomes` maps a raw tuple to {label tuple: rows}.

    None instead of a label tuple means suppressed.
    """
    kinds = list(dict.fromkeys(k for those in becomes.values() for k in those if k is not None))
    columns = []
    for position, _ in enumerate(names):
        named = list(dict.fromkeys(kind[position] for kind in kinds))
        raw = set(named) <= set(counts.columns[position].values)
        columns.append((named, raw))
    labels = [
        [named.index(label) for label, (named, _) in zip(kind, columns, strict=True)]
        for kind in kinds
    ]
    raw_rows = [
        tuple(c.values[code] for c, code in zip(counts.columns, codes, strict=True))
        for codes in counts.codes.T
    ]
    portions = [
        [
            (rows, SUPPRESSED if kind is None else kinds.index(kind))
            for kind, rows in becomes[row].items()
        ]
        for row in raw_rows
    ]
    return recode(counts, columns, portions, labels)


@st.composite
def recodings(draw, counts, quasi):
    """Draw any recoding of these counts: labels, classes and portions have no sense to them."""
    columns = []
    for column in counts.columns[: len(quasi)]:
        pool = list(column.values)
        raw = draw(st.booleans())
        if not raw:
            pool += ["group 0", "two\nlines", "*"]
        pool = list({cell(value): value for value in pool}.values())
        columns.append((draw(st.lists(st.sampled_from(pool), min_size=1, unique_by=cell)), raw))
    label = st.tuples(*[st.integers(0, len(named) - 1) for named, _ in columns])
    labels = draw(st.lists(label, max_size=4))
    kind = st.integers(-1, len(labels) - 1)
    portions = []
    for rows in counts.rows.tolist():
        cuts = draw(st.sets(st.integers(1, rows - 1))) if rows > 1 else set()
        edges = [0, *sorted(cuts), rows]
        sizes = [b - a for a, b in pairwise(edges)]
        portions.append([(size, draw(kind)) for size in sizes])
    return recode(counts, columns, portions, labels)


def told(recoding):
    """Say literally how many rows of each raw tuple get which labels (None: suppressed)."""
    dictionaries = [column.values for column in (*recoding.columns, *recoding.others)]
    rows = defaultdict(Counter)
    for i in range(recoding.combinations.shape[1]):
        codes = recoding.combinations[:, i]
        raw = tuple(cell(d[code]) for d, code in zip(dictionaries, codes, strict=True))
        for p in range(recoding.starts[i], recoding.starts[i + 1]):
            kind = recoding.classes[p]
            labels = None
            if kind != SUPPRESSED:
                labels = tuple(
                    cell(column.labels[recoding.labels[c, kind]])
                    for c, column in enumerate(recoding.columns)
                )
            rows[raw][labels] += int(recoding.rows[p])
    return rows


def check(names, source, columns, published, recoding, suppression):
    """Trace every published row back, and compare what became of each combination."""
    quasi = [column.column for column in recoding.columns]
    counted = [*quasi, *(column.name for column in recoding.others)]
    shown = [name for name in quasi if name in columns]
    originals = {row[names.index(ID)]: dict(zip(names, row, strict=True)) for row in source}
    became = defaultdict(Counter)
    stars = 0
    for row in published:
        cells = dict(zip(columns, row, strict=True))
        if cells[ID] is None:
            assert all(cells[name] == ("*" if name in quasi else None) for name in columns)
            stars += 1
            continue
        was = originals.pop(cells[ID])
        assert all(cells[name] == was[name] for name in columns if name not in quasi)
        became[tuple(was[name] for name in counted)][tuple(cells[name] for name in shown)] += 1
    for was in originals.values():
        became[tuple(was[name] for name in counted)][None] += 1
    expected = defaultdict(Counter)
    for raw, kinds in told(recoding).items():
        for labels, rows in kinds.items():
            at = None if labels is None else tuple(labels[quasi.index(name)] for name in shown)
            expected[raw][at] += rows
    assert became == expected
    assert stars == (len(originals) if suppression == "star" else 0)


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=25)
@given(
    table=typed_tables(min_columns=2),
    data=st.data(),
    suppression=st.sampled_from(["remove", "star"]),
    form=st.sampled_from(["parquet", "feather", "memory"]),
    budget=st.sampled_from([0, 2**29]),
    batch_rows=st.sampled_from([1, 3, 2**18]),
)
def test_every_combination_becomes_what_its_portions_say(
    kind, table, data, suppression, form, budget, batch_rows, tmp_path_factory
):
    folder = tmp_path_factory.mktemp("release")
    names = table.column_names
    counted = data.draw(st.permutations(names))[: data.draw(st.integers(1, len(names)))]
    quasi = counted[: data.draw(st.integers(1, len(counted)))]
    columns = data.draw(st.permutations([*names[data.draw(st.integers(0, 1)) :], ID]))
    table = table.append_column(ID, pa.array(range(len(table))))
    opened = ArrowTable(open_source(as_source(table, kind, folder)), budget=budget)
    recoding = data.draw(recodings(opened.count(counted), quasi))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(arrow_table, "BATCH_ROWS", batch_rows)
        if form == "memory":
            result = opened.publish_table(recoding, columns, suppression=suppression, rng=rng())
            header, rows = result.column_names, literal_rows(result)
        else:
            written = opened.publish(
                recoding, columns, folder / "out", format=form, suppression=suppression, rng=rng()
            )
            header, rows = read_back(written.path, form)
            assert written.rows == len(rows)
            lost = recoding.rows[recoding.classes == SUPPRESSED].sum()
            assert written.suppressed_rows == lost
            assert [entry.name for entry in folder.iterdir() if entry.name.startswith(".")] == []
    assert header == columns
    check([*names, ID], literal_rows(table), columns, rows, recoding, suppression)


@pytest.mark.usefixtures("patience")
@given(
    data=st.data(),
    suppression=st.sampled_from(["remove", "star"]),
    delimiter=st.sampled_from(",;\t|"),
    batch_rows=st.sampled_from([1, 3, 2**18]),
)
def test_a_csv_file_too(data, suppression, delimiter, batch_rows, tmp_path_factory):
    folder = tmp_path_factory.mktemp("release")
    names = ["a b", 'q"q', "new\nline", ID]
    pool = data.draw(st.lists(st.one_of(st.none(), TEXTS), min_size=1, max_size=3))
    row = st.tuples(*[st.sampled_from(pool)] * 3)
    rows = [(*r, str(i)) for i, r in enumerate(data.draw(st.lists(row, min_size=1, max_size=12)))]
    table = open_table(write_csv(folder / "t.csv", names, rows, delimiter=delimiter))
    counted = names[: data.draw(st.integers(1, 3))]
    quasi = counted[: data.draw(st.integers(1, len(counted)))]
    recoding = data.draw(recodings(table.count(counted), quasi))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(arrow_table, "BATCH_ROWS", batch_rows)
        written = table.publish(
            recoding, names, folder / "out.csv", format="csv", suppression=suppression, rng=rng()
        )
    text = written.path.read_text(encoding="utf-8")
    assert text.startswith(",".join(["a b", '"q""q"', '"new\nline"', ID]))
    again = open_table(written.path).count(names) if written.rows else None
    published = []
    if again is not None:
        for codes, times in zip(again.codes.T, again.rows, strict=True):
            cells = [c.values[code] for c, code in zip(again.columns, codes, strict=True)]
            published += [tuple(c or None for c in cells)] * int(times)
    read = [tuple(c or None for c in row) for row in rows]
    check(names, read, names, published, recoding, suppression)


def test_combinations_wider_than_a_machine_word_are_told_apart():
    generator = np.random.default_rng(3)
    names = [f"q{i}" for i in range(10)]
    # Two thirds of the rows share all but the last value with another row.
    values = generator.integers(10**6, size=(10, 300))
    values[:-1, 100:] = np.repeat(values[:-1, :100], 2, axis=1)
    source = pa.table(dict(zip(names, values, strict=True)) | {ID: np.arange(300)})
    table = open_table(source)
    counts = table.count(names)
    assert math.prod(len(column.values) for column in counts.columns) > 2**62
    columns = [([f"class {k}" for k in range(7)], False)] * 10
    portions = [[(int(rows), i % 7)] for i, rows in enumerate(counts.rows)]
    recoding = recode(counts, columns, portions, [[k] * 10 for k in range(7)])
    result = table.publish_table(recoding, source.column_names, suppression="remove", rng=rng())
    check(
        source.column_names,
        literal_rows(source),
        source.column_names,
        literal_rows(result),
        recoding,
        "remove",
    )


PEOPLE = pa.table(
    {
        "age": pa.array([30, 30, 30, 41, None], pa.int16()),
        "born": pa.array([date(1980, 1, 1)] * 3 + [date(1990, 5, 5)] * 2),
        "ill": ["flu", "flu", "gout", "flu", "flu"],
        "ward": pa.array([1, 2, 3, 4, 5], pa.uint8()),
    }
)
OLD, YOUNG = date(1980, 1, 1), date(1990, 5, 5)


def people(*, source=PEOPLE, gone=False):
    """Recode age and birthday, knowing the illness, of five people."""
    table = open_table(source)
    counts = open_table(PEOPLE).count(["age", "born", "ill"])
    becomes = {
        (30, OLD, "flu"): {(30, "198*"): 1, (None, "19**"): 1},
        (30, OLD, "gout"): {(30, "198*"): 1},
        (41, YOUNG, "flu"): {None: 1} if gone else {(41, "19**"): 1},
        (None, YOUNG, "flu"): {(None, "198*"): 1},
    }
    return table, by_label(counts, ["age", "born"], becomes)


def test_labels_that_are_raw_values_keep_the_type_and_the_others_are_text(tmp_path):
    table, recoding = people()
    result = table.publish_table(recoding, PEOPLE.column_names, suppression="star", rng=rng())
    assert result.schema.types == [pa.int16(), pa.string(), pa.string(), pa.uint8()]
    rows = sorted(result.to_pylist(), key=lambda row: row["ward"])
    assert [(row["age"], row["born"]) for row in rows[2:]] == [
        (30, "198*"), (41, "19**"), (None, "198*"),
    ]  # fmt: skip
    assert {(row["age"], row["born"]) for row in rows[:2]} == {(30, "198*"), (None, "19**")}
    table.publish(recoding, ["age"], tmp_path / "o", format="csv", suppression="remove", rng=rng())
    assert sorted((tmp_path / "o").read_text().splitlines()) == [
        '""',
        '""',
        "30",
        "30",
        "41",
        "age",
    ]


def test_a_raw_label_is_the_value_as_it_was_stored():
    moments = pa.array([1, 1_000, None], pa.timestamp("ns", "Europe/Rome"))
    source = pa.table({"seen": moments, "half": pa.array([0.1, 0.2, -0.0], pa.float32())})
    table = open_table(source)
    counts = table.count(["seen", "half"])
    columns = [(column.values, True) for column in counts.columns]
    portions = [[(1, i)] for i in range(3)]
    recoding = recode(counts, columns, portions, counts.codes.T.tolist())
    result = table.publish_table(recoding, ["seen", "half"], suppression="star", rng=rng())
    assert result.schema.types == source.schema.types
    assert sorted(map(str, result["seen"])) == sorted(map(str, source["seen"]))
    half = result["half"].to_pylist()
    assert sorted(half) == sorted(source["half"].to_pylist())
    # -0.0 and 0.0 are one value, so they are published as one.
    assert all(math.copysign(1, value) == 1 for value in half)


def test_a_starred_row_says_nothing_and_makes_numbers_text():
    table, recoding = people(gone=True)
    result = table.publish_table(recoding, PEOPLE.column_names, suppression="star", rng=rng())
    assert result.schema.types == [pa.string(), pa.string(), pa.string(), pa.uint8()]
    rows = sorted((tuple(row.values()) for row in result.to_pylist()), key=str)
    assert [row for row in rows if row[3] is None] == [("*", "*", None, None)]
    assert sorted(str(row[0]) for row in rows) == ["*", "30", "30", "None", "None"]


def test_a_removed_row_is_gone_and_numbers_stay_numbers():
    table, recoding = people(gone=True)
    result = table.publish_table(recoding, PEOPLE.column_names, suppression="remove", rng=rng())
    assert result.schema.types[0] == pa.int16()
    assert sorted(result["ward"].to_pylist()) == [1, 2, 3, 5]


@pytest.mark.parametrize("suppression", ["remove", "star"])
def test_all_rows_may_be_suppressed(suppression, tmp_path):
    table = open_table(PEOPLE)
    counts = table.count(["age"])
    portions = [[(int(rows), SUPPRESSED)] for rows in counts.rows]
    recoding = recode(counts, [([], False)], portions, [])
    out = tmp_path / "out"
    written = table.publish(
        recoding, ["age", "ill"], out, format="parquet", suppression=suppression, rng=rng()
    )
    assert written.suppressed_rows == 5
    starred = {"age": "*", "ill": None}
    assert pq.read_table(out).to_pylist() == ([starred] * 5 if suppression == "star" else [])


def test_the_same_kind_of_table_comes_back():
    for source, kind in [
        (PEOPLE.to_pandas(integer_object_nulls=True), pd.DataFrame),
        (pl.from_arrow(PEOPLE), pl.DataFrame),
        (PEOPLE, pa.Table),
    ]:
        table, recoding = people(source=source)
        result = table.publish_table(recoding, ["age", "ill"], suppression="remove", rng=rng())
        assert isinstance(table.native(result), kind)


@pytest.mark.parametrize("form", written_formats())
def test_nothing_of_the_input_travels_along(form, tmp_path):
    frame = pd.DataFrame(
        {
            "q": pd.Categorical(["a", "b", "a"], categories=["SECRET", "b", "a"]),
            "s": pd.Categorical(["x", "x", "x"], categories=["SECRET", "x"]),
        },
        index=["anna", "bert", "carl"],
    )
    table = open_table(frame)
    # A label that no row gets must not be seen in the release.
    columns = [(["a", "c", "UNUSED"], False)]
    recoding = recode(table.count(["q", "s"]), columns, [[(1, 0), (1, 1)], [(1, 1)]], [[0], [1]])
    out = tmp_path / "out"
    table.publish(recoding, ["q", "s"], out, format=form, suppression="remove", rng=rng())
    hidden = (b"SECRET", b"UNUSED", b"anna", b"pandas")
    assert not any(word in out.read_bytes() for word in hidden)


def rows_like(*rows):
    return pa.table(
        {
            name: pa.array([row[i] for row in rows], PEOPLE.schema.field(name).type)
            for i, name in enumerate(["age", "born", "ill", "ward"])
        }
    )


KNOWN = [tuple(row.values()) for row in PEOPLE.to_pylist()]


@pytest.mark.parametrize(
    ("rows", "fault"),
    [
        (
            [*KNOWN[:4], (None, OLD, "flu", 5)],
            r"a row has age None, born datetime.date\(1980, 1, 1\), ill 'flu', which the recoding",
        ),
        (
            [*KNOWN[:4], KNOWN[3]],
            r"there are more rows with age 41, born .*, ill 'flu' than the 1 ",
        ),
        (KNOWN[:4], r"there are fewer rows with age None, born .*, ill 'flu' than the 1 of the"),
        (KNOWN[1:], r"there are fewer rows with age 30, born .*, ill 'flu' than the 2 of the"),
        ([*KNOWN[:4], (None, YOUNG, "hiv", 5)], r"column 'ill' holds 'hiv', which the recoding"),
        (
            [*KNOWN[:4], (42, YOUNG, "flu", 5)],
            r"column 'age' holds 42, which the recoding does not",
        ),
    ],
)
@pytest.mark.parametrize("batch_rows", [1, 2**18])
def test_a_table_that_was_not_counted_is_refused(rows, fault, batch_rows, tmp_path, monkeypatch):
    monkeypatch.setattr(arrow_table, "BATCH_ROWS", batch_rows)
    table, recoding = people(source=rows_like(*rows))
    again = r".*\. The table is not the one that was counted, or it changed since: start again\.$"
    with pytest.raises(InputError, match=fault + again):
        table.publish(
            recoding, ["ward"], tmp_path / "o", format="csv", suppression="remove", rng=rng()
        )
    with pytest.raises(InputError, match=fault + again):
        table.publish_table(recoding, ["ward"], suppression="star", rng=rng())
    assert list(tmp_path.iterdir()) == []


def test_columns_the_table_does_not_have_are_refused():
    _, recoding = people()
    table = open_table(PEOPLE.drop_columns(["ill"]))
    with pytest.raises(UnknownColumnError, match=r"no column 'ill'"):
        table.publish_table(recoding, ["age"], suppression="remove", rng=rng())
    counts = open_table(PEOPLE).count(["age"])
    twice = LocalRecoding(
        columns=(LocalColumn("age", counts.columns[0].values, (), raw=False),),
        others=counts.columns,
        combinations=np.repeat(counts.codes, 2, axis=0),
        starts=np.arange(4),
        rows=counts.rows,
        classes=np.full(3, SUPPRESSED),
        labels=np.empty((1, 0), dtype=np.int32),
    )
    with pytest.raises(ParameterError, match=r"distinct, without 'age' twice"):
        open_table(PEOPLE).publish_table(twice, ["age"], suppression="remove", rng=rng())


def test_the_same_seed_publishes_the_same_table():
    table, recoding = people()
    once, again = (
        table.publish_table(recoding, PEOPLE.column_names, suppression="star", rng=rng())
        for _ in range(2)
    )
    assert once.equals(again)


def dealt(batches, starts, rows, generator):
    portions = Portions(np.array(starts), np.array(rows), generator)
    given = [portions.hand_out(np.array(batch, dtype=np.int32)) for batch in batches]
    assert not portions.left.any()
    return tuple(np.concatenate(given).tolist())


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize(
    "batches",
    [
        [[0, 0, 0, 0]],
        pytest.param([[0, 0], [0, 0]], marks=pytest.mark.statistics),
        pytest.param([[0], [0, 1], [], [1, 0, 0]], marks=pytest.mark.statistics),
    ],
)
def test_every_way_to_deal_the_rows_is_equally_likely(batches):
    generator = np.random.default_rng(8)
    others = sum(batch.count(1) for batch in batches)
    seen = Counter(dealt(batches, [0, 3, 4], [2, 1, 1, others], generator) for _ in range(2400))
    assert len(seen) == math.factorial(4) / math.factorial(2)
    # Chi-square with 11 degrees of freedom exceeds 37.4 once in ten thousand times.
    assert sum((times - 200) ** 2 / 200 for times in seen.values()) < 37.4


@pytest.mark.usefixtures("patience")
def test_large_numbers_are_dealt_as_the_hypergeometric_distribution_says():
    generator = np.random.default_rng(4)
    draws = []
    for _ in range(400):
        portions = Portions(np.array([0, 3]), np.array([500, 300, 200]), generator)
        draws.append(np.bincount(portions.hand_out(np.zeros(100, dtype=np.int32)), minlength=3))
    share = np.array([0.5, 0.3, 0.2])
    covariance = 100 * (np.diag(share) - np.outer(share, share)) * (900 / 999)
    error = np.sqrt(np.diag(covariance) / 400)
    assert (np.abs(np.mean(draws, axis=0) - 100 * share) < 4 * error).all()
    assert np.allclose(np.cov(np.array(draws).T), covariance, atol=6)


@pytest.mark.usefixtures("statistics")
def test_where_a_row_stands_in_the_file_has_nothing_to_do_with_what_it_becomes(monkeypatch):
    monkeypatch.setattr(arrow_table, "BATCH_ROWS", 4)
    source = pa.table({"q": ["a", "a", "b"] * 4, ID: range(12)})
    table = open_table(source)
    becomes = {("a",): {("a",): 2, ("*",): 5, None: 1}, ("b",): {("*",): 4}}
    recoding = by_label(table.count(["q"]), ["q"], becomes)
    times, runs = {"a": Counter(), "*": Counter(), None: Counter()}, 600
    for seed in range(runs):
        result = table.publish_table(
            recoding, ["q", ID], suppression="remove", rng=np.random.default_rng(seed)
        )
        published = dict(zip(result[ID].to_pylist(), result["q"].to_pylist(), strict=True))
        for row in range(12):
            times[published.get(row)][row] += 1
    for label, rows in becomes[("a",)].items():
        chance = rows / 8
        spread = math.sqrt(runs * chance * (1 - chance))
        for row in (0, 1, 3, 4, 6, 7, 9, 10):
            seen = times[label[0] if label else None][row]
            assert abs(seen - runs * chance) < 4.5 * spread


@given(data=st.data(), combinations=st.integers(1, 5))
def test_portions_are_used_up_exactly_and_never_more(data, combinations):
    sizes = data.draw(
        st.lists(
            st.lists(st.integers(1, 4), min_size=1, max_size=9),
            min_size=combinations,
            max_size=combinations,
        )
    )
    starts = np.cumsum([0, *map(len, sizes)])
    rows = np.concatenate(sizes)
    order = data.draw(
        st.permutations([i for i, those in enumerate(sizes) for _ in range(sum(those))])
    )
    cuts = sorted(data.draw(st.sets(st.integers(1, max(len(order) - 1, 1)), max_size=3)))
    batches = [order[a:b] for a, b in zip([0, *cuts], [*cuts, None], strict=True)]
    given = np.array(dealt(batches, starts, rows, np.random.default_rng(1)))
    assert np.bincount(given, minlength=len(rows)).tolist() == rows.tolist()
    assert (np.searchsorted(starts, given, side="right") - 1 == np.array(order)).all()
    portions = Portions(starts, rows, rng())
    with pytest.raises(UsedUpError) as refused:
        portions.hand_out(np.array([*order, order[0]]))
    assert refused.value.combination == order[0]


@pytest.mark.usefixtures("patience")
def test_rows_that_do_not_fit_into_memory_are_dealt_all_the_same(tmp_path):
    n = 30_000
    generator = np.random.default_rng(2)
    source = pa.table({"q": generator.integers(9, size=n), ID: np.arange(n)})
    path = tmp_path / "t.parquet"
    pq.write_table(source, path, row_group_size=1000)
    table = ArrowTable(open_source(path), budget=10_000)
    counts = table.count(["q"])
    portions = [[(100, i % 4), (int(rows) - 100, SUPPRESSED)] for i, rows in enumerate(counts.rows)]
    labels = [[0], [1], [2], [3]]
    recoding = recode(counts, [(["w", "x", "y", "z"], False)], portions, labels)
    out = tmp_path / "out"
    written = table.publish(
        recoding, ["q", ID], out, format="feather", suppression="remove", rng=rng()
    )
    assert (written.rows, written.suppressed_rows) == (900, n - 900)
    rows = literal_rows(pyarrow.feather.read_table(out))
    check(["q", ID], literal_rows(source), ["q", ID], rows, recoding, "remove")
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["out", "t.parquet"]
