"""The view of a sliced release, run by a database on the tables as they were written."""

import csv
import sqlite3
from collections import Counter, defaultdict
from fractions import Fraction

import numpy as np
import pytest

import sfumato as sf
from sfumato.decouplings import Slicing
from tests.decouplings.tables import table

NAMES = ["age", "sex", "zip", "ill"]
ROLES = {"quasi_identifiers": NAMES[:3], "sensitive": ["ill"]}


def people(n=90):
    rng = np.random.default_rng(8)
    values = (["30", "40", None], ["f", "m"], ["x", "y", None], ["flu", "gout", "hiv"])
    return [tuple(v[i % len(v)] for v, i in zip(values, row, strict=True)) for row in
            rng.integers(0, 6, (n, 4)).tolist()]  # fmt: skip


@pytest.fixture
def published(tmp_path):
    """Slice people, and give the slices and what the view says of them."""

    def publish(rows, columns, names=NAMES):
        release = sf.decouple(
            table(rows, names),
            Slicing(l=2, columns=columns),
            output=tmp_path / "slices",
            format="csv",
            quasi_identifiers=names[:3],
            sensitive=names[3:],
        )
        with sqlite3.connect(":memory:") as db:
            db.executescript((release.folder / "schema.sql").read_text(encoding="utf-8"))
            slices = [load(db, release, file) for file in release.manifest.files]
            view = db.execute('SELECT * FROM "possible"')
            heads = [head for head, *_ in view.description]
            # Ages are numbers to the database, and texts in the files.
            rows = [dict(zip(heads, row, strict=True)) for row in view]
            texts = [{n: row[n] and str(row[n]) for n in names} for row in rows]
            return slices, [{**row, **text} for row, text in zip(rows, texts, strict=True)]

    return publish


def load(db, release, file):
    """Load one file as its reader would; an empty cell is a missing value."""
    with (release.folder / file.name).open(encoding="utf-8", newline="") as lines:
        head, *rows = csv.reader(lines)
    rows = [[cell or None for cell in row] for row in rows]
    marks = ",".join("?" * len(head))
    db.executemany(f'INSERT INTO "{file.name[:-4]}" VALUES ({marks})', rows)
    return [{**dict(zip(head, row, strict=True)), "count": int(row[-1])} for row in rows]


def added(rows, names, number="count"):
    """Add up the people of each bucket who are alike in some columns."""
    found = Counter()
    for row in rows:
        found[(int(row["bucket"]), *(row[name] for name in names))] += row[number]
    return found


@pytest.mark.parametrize(
    "columns",
    [
        ["age+sex", "zip", "ill"],
        ["age+sex", "sex+zip", "ill"],
        ["age+sex", "sex+zip", "zip+ill"],
        ["sex+zip+age", "sex+ill"],
    ],
)
def test_the_view_says_what_the_slices_say_and_no_more(published, columns):
    slices, view = published(people(), columns)
    assert list(view[0]) == ["bucket", *dict.fromkeys("+".join(columns).split("+")), "expected"]
    assert len({tuple(row[name] for name in ("bucket", *NAMES)) for row in view}) == len(view)
    assert sum(row["expected"] for row in view) == pytest.approx(90)
    # Every slice is there again, and all true rows are possible.
    for names, rows in zip((each.split("+") for each in columns), slices, strict=True):
        assert added(view, names, "expected") == pytest.approx(added(rows, names))
    assert set(people()) <= {tuple(row[name] for name in NAMES) for row in view}


def test_slices_are_independent_given_what_they_share(published):
    (one, two, three), view = published(people(), ["age+sex", "sex+zip", "ill"])
    first, second, third = (
        added(one, ["age", "sex"]),
        added(two, ["sex", "zip"]),
        added(three, ["ill"]),
    )
    sexes, sizes = added(one, ["sex"]), added(one, [])
    expected = defaultdict(Fraction)
    for bucket, age, sex in first:
        for _, _, zip_ in (key for key in second if key[:2] == (bucket, sex)):
            for _, ill in (key for key in third if key[0] == bucket):
                share = Fraction(second[bucket, sex, zip_], sexes[bucket, sex])
                share *= Fraction(third[bucket, ill], sizes[(bucket,)])
                expected[bucket, age, sex, zip_, ill] += first[bucket, age, sex] * share
    assert added(view, NAMES, "expected") == pytest.approx(expected)


def test_in_a_circle_of_slices_what_one_rules_out_is_left_out(published):
    columns = ["age+sex", "sex+zip", "age+zip", "ill"]
    slices, view = published(people(), columns)
    for names, rows in zip((each.split("+") for each in columns), slices, strict=True):
        assert set(added(view, names, "expected")) == set(added(rows, names))
    for bucket, size in added(slices[0], []).items():
        assert 0 < added(view, [], "expected")[bucket] <= size + 1e-9


def test_where_every_bucket_is_one_combination_the_view_is_the_table(published):
    rows = [(a, s, z, ill) for a in "pqr" for s in "fm" for z in "xy" for ill in ("flu", "hiv")]
    for_all = published(rows, ["age+sex", "zip", "ill"])[1]
    assert sorted(tuple(row[name] for name in NAMES) for row in for_all) == sorted(rows)
    assert [row["expected"] for row in for_all] == pytest.approx([1] * len(rows))


def test_names_in_the_view_are_those_of_the_columns_whatever_they_are(published):
    names = ["share", 'the "sex"', "Expected", "size"]
    columns = [[names[0], names[1]], [names[1], names[2]], [names[3]]]
    _, view = published(people(), columns, names)
    assert set(view[0]) == {"bucket", *names, "expected_2"}
    assert sum(row["expected_2"] for row in view) == pytest.approx(90)
