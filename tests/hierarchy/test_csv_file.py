"""Hierarchies from CSV files: what is read, and what is said when it cannot be."""

import os
import re

import pytest

from sfumato.errors import HierarchyError, ParameterError
from sfumato.hierarchy import CsvHierarchy, csv_file
from tests.adult import LEVELS
from tests.hierarchy.literal import assert_nested, labels_of


@pytest.fixture
def build(tmp_path):
    """Write a file and build from it."""

    def write_and_build(content, **settings):
        raw = content if isinstance(content, bytes) else content.encode()
        (tmp_path / "h.csv").write_bytes(raw)
        return CsvHierarchy("h.csv", **settings).relative_to(tmp_path).build("x", ["a"])

    return write_and_build


@pytest.mark.parametrize("delimiter", [";", ",", "\t", "|"])
def test_finds_the_delimiter(build, delimiter):
    lines = [["a", "ab", "*"], ["b", "ab", "*"], ["c", "cd", "*"]]
    h = build("\n".join(delimiter.join(line) for line in lines))
    assert list(labels_of(h).values()) == lines


def test_a_comma_in_every_label_is_no_delimiter(build):
    h = build("21;[20, 25);*\n27;[25, 30);*\n")
    assert h.labels[1] == ("[20, 25)", "[25, 30)")


def test_many_commas_in_every_label_are_no_delimiter(build):
    h = build("a;a,b,c,d;*\nb;a,b,c,d;*\ne;e,f,g,h;*\n")
    assert h.labels[1] == ("a,b,c,d", "e,f,g,h")


def test_a_named_delimiter_is_used(build):
    assert build("a:x;y:*\nb:x;y:*\n", delimiter=":").labels[1] == ("x;y",)


def test_byte_order_mark_quotes_blank_lines_and_windows_line_ends_do_not_matter(build):
    h = build(b'\xef\xbb\xbf"a;1";ab;*\r\n\r\n  \r\n"say ""b""";ab;*\r\n;;\r\n')
    assert h.labels == (("a;1", 'say "b"'), ("ab",), ("*",))


def test_the_first_line_is_a_value_not_a_header(build):
    assert build("value;*\nother;*").values == ("value", "other")


def test_values_the_table_does_not_hold_are_leaves_too(build):
    ladder = build("a;ab;*\nb;ab;*\nc;c;*\n").bind("x", ["a"])
    assert ladder.n_leaves == 3
    assert ladder.leaves[1].tolist() == [2]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            "a;x;*\n\nb;*\n",
            r"h\.csv, line 3: the value has 1 levels above it, the first entry has 2",
        ),
        ("a;*\nb;*\na;*\n", r"h\.csv, line 3: the value stands there already \(line 1\)"),
        (
            "a;x;p;*\nb;x;q;*\n",
            (
                r"h\.csv, line 2: level 2 splits a group of level 1: "
                r"here it is in one group, at line 1 it is in another"
            ),
        ),
        ("a;x\nb;y\n", r"h\.csv: the top level must be one value, it has 2\. Add a last level"),
        ("a;*\nb;;\n", r"h\.csv, line 2: level 1 is empty"),
        ("a;*;\nb;*;\n", r"h\.csv, line 1: level 2 is empty"),
        ("a\nb\n", r"h\.csv, line 1: only one column found\. .*name the delimiter"),
        ("", r"h\.csv is empty\. Give each value of 'x' a line"),
        ("\n \n", r"h\.csv is empty"),
        (b"a;*\n\xe9;*\n", r"h\.csv, line 2: there is a byte that is not UTF-8 text.*UTF-8"),
        ('a;*\n"b;*\nc;*\n', r"h\.csv, line 2: .*quote that is not closed"),
    ],
)
def test_what_is_wrong_is_said_with_file_line_and_level(build, content, message):
    with pytest.raises(HierarchyError, match=message):
        build(content)


def test_lines_are_counted_through_quoted_line_breaks(build):
    with pytest.raises(HierarchyError, match=r"line 3: the value has 2 levels"):
        build('"a\na";*\nb;x;*\n')


def test_a_missing_file_is_answered_with_what_is_there(tmp_path):
    (tmp_path / "age.csv").write_text("1;*")
    with pytest.raises(HierarchyError, match=r"no hierarchy file .*aeg\.csv.*mean 'age\.csv'"):
        CsvHierarchy("aeg.csv").relative_to(tmp_path).build("age", ["1"])
    with pytest.raises(HierarchyError, match=r"there is no folder .*nowhere"):
        CsvHierarchy("nowhere/age.csv").relative_to(tmp_path).build("age", ["1"])
    with pytest.raises(HierarchyError, match="cannot be read"):
        CsvHierarchy(str(tmp_path)).build("age", ["1"])


def test_a_full_path_stays_where_it_is(tmp_path):
    file = str(tmp_path / "age.csv")
    assert CsvHierarchy(file).relative_to("elsewhere") == CsvHierarchy(file)


@pytest.mark.parametrize("settings", [{"file": ""}, {"file": 3}, {"file": "x", "delimiter": ";;"}])
def test_refuses_settings_that_make_no_sense(settings):
    with pytest.raises(ParameterError, match=r"(file|delimiter) must be"):
        CsvHierarchy(**settings)


@pytest.mark.parametrize("column", LEVELS)
def test_reads_the_adult_hierarchies(column, adult):
    file = f"adult_hierarchy_{column}.csv"
    builder = CsvHierarchy(file).relative_to(adult)
    hierarchy = builder.build(column, [])
    assert hierarchy.height + 1 == LEVELS[column]
    assert_nested(hierarchy)
    lines = (adult / file).read_text().splitlines()
    assert list(labels_of(hierarchy).values()) == [line.split(";") for line in lines]


def test_the_adult_hierarchies_cover_the_adult_table(adult):
    head, *rows = (adult / "adult.csv").read_text().splitlines()
    cells = zip(*(row.split(";") for row in rows), strict=True)
    for column, values in zip(head.split(";"), cells, strict=True):
        builder = CsvHierarchy(f"adult_hierarchy_{column}.csv").relative_to(adult)
        distinct = sorted(set(values))
        assert builder.build(column, distinct).bind(column, distinct).height + 1 == LEVELS[column]


SECRETS = [
    "root:$6$hash:19000:0:99999:7:::\nann:$6$other:19000::::\n",
    "TOKEN=hunter2\0HOME=/root\0",
    "hunter2;*\nhunter2;*\n",
    "hunter2;x;*\nhunter3;*\n",
    "hunter2;hunter3\nhunter4;hunter5\n",
    "hunter2;\n",
    "a;hunter2;p;*\nb;hunter2;hunter3;*\n",
    'a;*\n"hunter2;*\n',
    "hunter2\xe9".encode("latin1"),
]


@pytest.mark.parametrize("content", SECRETS)
def test_no_error_quotes_a_file_that_a_policy_of_others_may_name(build, content):
    with pytest.raises(HierarchyError) as caught:
        build(content)
    assert not re.search(r"hunter|root|\$6|TOKEN", str(caught.value).partition("h.csv")[2])


@pytest.mark.parametrize("file", ["/dev/zero", "/dev/null", "pipe", "large.csv", "."])
def test_only_files_of_some_size_are_read(file, tmp_path, monkeypatch):
    monkeypatch.setattr(csv_file, "_MOST_BYTES", 100)
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "large.csv").write_text("a;*\n" * 100)
    with pytest.raises(HierarchyError, match=r"is a (device|pipe)|too large|cannot be read"):
        CsvHierarchy(file).relative_to(tmp_path).build("age", ["1"])


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "windows-1252", "mac-roman", "cp850"])
def test_a_file_in_another_encoding_is_read_if_that_is_certain(build, encoding):
    text = "Köln;Rheinland;*\nMünchen;Bayern;*\nFürth;Bayern;*\n"
    assert {*build(text.encode(encoding)).labels[0]} == {"Fürth", "Köln", "München"}


def test_another_encoding_can_be_said(build):
    text = "Plzeň;Čechy;*\nBrno;Morava;*\nOstrava;Morava;*\n".encode("windows-1250")
    with pytest.raises(HierarchyError, match="or say the one it has"):
        build(text)
    assert {*build(text, encoding="windows-1250").labels[1]} == {"Morava", "Čechy"}
