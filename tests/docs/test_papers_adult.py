"""The Adult file in its common forms: each gives the same nine columns and complete rows."""

import csv
import io
import zipfile

import pytest

from docs.papers import __main__ as command
from docs.papers.adult import (
    COLUMNS,
    LEVELS,
    NAMED,
    ROWS,
    TREES,
    AdultError,
    adult,
    convert,
)
from docs.papers.printed import HEIGHTS
from docs.papers.setting import READINGS, policy, settings

HEADER = (
    "age",
    "workclass",
    "fnlwgt",
    "education",
    "education-num",
    "marital-status",
    "occupation",
    "relationship",
    "race",
    "sex",
    "capital-gain",
    "capital-loss",
    "hours-per-week",
    "native-country",
    "income",
)

PEOPLE = """\
39, State-gov, 1, Bachelors, 13, Widowed, Adm-clerical, Other, White, Male, 0, 0, 40, Cuba, <=50K
28, Private, 2, 10th, 6, Divorced, Sales, Other, Black, Female, 0, 0, 40, Trinadad&Tobago, >50K
54, ?, 3, HS-grad, 9, Widowed, ?, Other, White, Male, 0, 0, 60, United-States, >50K
41, Private, 4, 9th, 5, Separated, Sales, Other, Other, Female, 0, 0, 20, ?, <=50K
"""
"""Four people as in `adult.data`, of whom two are complete."""

COMPLETE = [
    ("Female", "28", "Black", "Divorced", "10th", "Trinadad&Tobago", "Private", "Sales", ">50K"),
    ("Male", "39", "White", "Widowed", "Bachelors", "Cuba", "State-gov", "Adm-clerical", "<=50K"),
]  # fmt: skip


def rewritten(*, delimiter=",", header=None, columns=None, missing="?"):
    rows = [line.split(", ") for line in PEOPLE.splitlines()]
    rows = [[missing if cell == "?" else cell for cell in row] for row in rows]
    if columns:
        rows = [[row[HEADER.index(name)] for name in columns] for row in rows]
    text = io.StringIO()
    csv.writer(text, delimiter=delimiter, lineterminator="\n").writerows(
        [header, *rows] if header else rows
    )
    return text.getvalue()


NINE = [*COLUMNS[:-1], "income"]
TEST = "|1x3 Cross validator\n" + "".join(f"{line}.\n" for line in PEOPLE.splitlines())

FORMS = {
    "as UCI has it": PEOPLE + "\n",
    "with Windows lines": PEOPLE.replace("\n", "\r\n"),
    "without the last end of line": PEOPLE.rstrip(),
    "the test file": TEST,
    "both files": PEOPLE + TEST.replace("Cuba", "Peru"),
    "no spaces": rewritten(),
    "with a header": rewritten(header=HEADER),
    "with a mark before it": "\ufeff" + rewritten(header=HEADER),
    "dots and capitals": rewritten(header=[name.replace("-", ".").title() for name in HEADER]),
    "underscores": rewritten(header=[name.replace("-", "_") for name in HEADER]),
    "other names": rewritten(
        header=["gender" if name == "sex" else name.replace("income", "class") for name in HEADER]
    ),
    "empty for missing": rewritten(header=HEADER, missing=""),
    "NaN for missing": rewritten(header=HEADER, missing="NaN"),
    "semicolons, nine columns": rewritten(delimiter=";", header=COLUMNS, columns=NINE),
    "tabs": rewritten(delimiter="\t", header=HEADER),
    "commas, nine columns": rewritten(header=NINE, columns=NINE),
    "the other way round": "\n".join(reversed(PEOPLE.splitlines())),
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_gives_the_complete_people(form, tmp_path):
    path = tmp_path / "adult"
    path.write_bytes(FORMS[form].encode())
    table = convert(path)
    assert tuple(table.column_names) == COLUMNS
    assert list(zip(*table.to_pydict().values(), strict=True)) == COMPLETE


@pytest.mark.parametrize("name", ["adult.data", "old/adult.data", "adult.csv", "census.csv"])
def test_a_zip_file_or_a_folder_will_do(name, tmp_path):
    packed = tmp_path / "adult.zip"
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("adult.names", "words")
        archive.writestr("adult.test", TEST)
        archive.writestr(name, rewritten(header=HEADER))
    assert convert(packed).num_rows == 2
    assert convert(tmp_path).num_rows == 2


BAD = {
    "empty": (b"", "is empty"),
    "no text": (b"\xff\xfe\x00a", "is no text"),
    "something else": (b"id,name\n1,Ann\n", "is no Adult file: its first line has 2 cells"),
    "a column less": (rewritten(header=HEADER[:-1]).encode(), "header with salary-class"),
    "a short line": ((PEOPLE + "39, Private\n").encode(), "line 5: 2 cells, where 15 are expected"),
    "another country": (
        PEOPLE.replace("Cuba", "Utopia").encode(),
        "line 1: 'Utopia' is no value of native-country",
    ),
    "one endless cell": (b'"' + b"x" * 200_000, "is no CSV file"),
    "an odd age": (PEOPLE.replace("28,", "old,").encode(), "line 2: 'old' is no value of age"),
}


@pytest.mark.parametrize("what", BAD)
def test_what_is_odd_is_refused_with_the_line_and_what_to_do(what, tmp_path):
    data, message = BAD[what]
    path = tmp_path / "adult.data"
    path.write_bytes(data)
    with pytest.raises(AdultError) as raised:
        convert(path)
    assert message in str(raised.value)
    assert "make papers ADULT=" in str(raised.value)


def test_a_zip_file_without_it_is_refused(tmp_path):
    packed = tmp_path / "other.zip"
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("a.csv", "x")
        archive.writestr("b.csv", "x")
    with pytest.raises(AdultError, match=r"no adult\.data in .*'a\.csv', 'b\.csv'"):
        convert(packed)
    with pytest.raises(AdultError, match=r"no adult\.data or adult\.csv or adult\.zip in"):
        convert(tmp_path)


@pytest.fixture
def unread():
    """Read the file again, and let others read theirs."""
    adult.cache_clear()
    yield
    adult.cache_clear()


@pytest.mark.usefixtures("unread")
def test_the_command_says_what_is_wrong_and_runs_nothing(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv(NAMED, "")
    part = tmp_path / "adult.data"
    part.write_text(PEOPLE)
    assert command.main(["--adult", str(part)]) == 2
    assert f"has 2 complete rows, and the experiments take the {ROWS}" in capsys.readouterr().err
    assert command.main(["--adult", str(tmp_path / "none")]) == 2
    assert "no file" in capsys.readouterr().err
    monkeypatch.delenv(NAMED)
    monkeypatch.setenv("SFUMATO_DATA", str(tmp_path / "none"))
    assert command.main([]) == 2
    told = capsys.readouterr().err
    assert "no Adult file was named" in told
    assert "UCI Machine Learning" in told
    assert "`adult.data`" in told


def test_trees_have_the_levels_that_are_said_and_the_thesis_prints():
    assert set(TREES) == set(LEVELS) == set(COLUMNS)
    for name, tree in TREES.items():
        values = ["17", "90"] if name == "age" else []
        assert tree.build(name, values).height + 1 == LEVELS[name]
    for name, (_, height) in HEIGHTS.items():
        assert LEVELS[name] == height


def test_every_reading_is_a_policy():
    for reading in READINGS:
        for one in settings(k=4, p=2, alpha=2):
            assert policy(one, reading=reading).models


@pytest.mark.usefixtures("unread")
def test_the_whole_file_has_the_same_rows_in_every_order_and_form(adult, tmp_path, monkeypatch):
    from docs.papers.adult import adult as read

    with (adult / "adult.csv").open(newline="") as file:
        names, *rows = csv.reader(file, delimiter=";")
    path = tmp_path / "adult.data"
    with path.open("w", newline="") as file:
        for number, row in enumerate(reversed(rows)):
            person = dict(zip(names, row, strict=True)) | {"income": row[-1]}
            file.write(", ".join(person.get(name, "0") for name in HEADER) + "\n")
            if number % 10 == 0:
                file.write(", ".join("?" for _ in HEADER) + "\n")
    here = convert(adult / "adult.csv")
    assert here.num_rows == ROWS
    monkeypatch.setenv(NAMED, str(path))
    assert read().equals(here)
    for name, tree in TREES.items():
        distinct = sorted(set(here[name].to_pylist()))
        assert tree.ladder(name, distinct).height + 1 == LEVELS[name]
