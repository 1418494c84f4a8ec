"""Text files as offices have them: the same table, however its file is written."""

import hashlib
import json

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.errors import InputError, ParameterError, SfumatoError
from sfumato.files.reading import Reading, TextFile, find_encoding, listening
from sfumato.tables import open_table
from sfumato.tables.looks import looks_like
from sfumato.verifier.counting import count, open_source

# A slow writer, word by word: each cell as the dialect has it.


def number(text, decimal, thousands):
    """Write a plain number in a notation."""
    sign, digits = ("-", text[1:]) if text.startswith("-") else ("", text)
    whole, point, rest = digits.partition(".")
    groups = []
    while thousands and len(whole) > 3:
        groups.insert(0, whole[-3:])
        whole = whole[:-3]
    return sign + thousands.join([whole, *groups]) + (decimal + rest if point else "")


def cell(text, delimiter, quote):
    special = {delimiter, quote, "\n", "\r"}
    return quote + text.replace(quote, quote * 2) + quote if {*text} & special else text


def write(path, header, rows, numeric, *, delimiter, encoding, quote, notation, end):
    lines = [delimiter.join(cell(name, delimiter, quote) for name in header)]
    for row in rows:
        texts = [
            "" if text is None else number(text, *notation) if i in numeric else text
            for i, text in enumerate(row)
        ]
        lines.append(delimiter.join(cell(text, delimiter, quote) for text in texts))
    path.write_bytes((end.join(lines) + end).encode(encoding))
    return path


def rows_of(table):
    counts = table.count(list(table.columns))
    found = []
    for codes, times in zip(counts.codes.T, counts.rows, strict=True):
        row = tuple(c.values[code] for c, code in zip(counts.columns, codes, strict=True))
        found += [row] * int(times)
    return sorted(found, key=repr)


def verified_rows(table, path):
    """Return the rows as the verifier reads them, told how."""
    source = open_source(TextFile(path, table.reading))
    found = count(source, list(source.names)).combinations
    return sorted([row for row, n in found.items() for _ in range(n)], key=repr)


WORDS = st.sampled_from(
    ["Köln", "Müller", "Straße", "Genève", "garçon", "Málaga", "señor", "x;y", "a,b", "p|q", "u\tv",
     'say "hi"', "Düren", "Größe", "Noël", "plain", "two\nlines"]
)  # fmt: skip
DIALECTS = st.fixed_dictionaries(
    {
        "delimiter": st.sampled_from(",;\t|:~"),
        "encoding": st.sampled_from(
            ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "windows-1252",
             "iso-8859-1", "iso-8859-15", "mac-roman", "cp850"]
        ),
        "quote": st.sampled_from("\"'"),
        "notation": st.sampled_from(
            [(".", ""), (",", ""), (",", "."), (".", ","), (",", " "), (".", "'"), (",", "\u00a0")]
        ),
        "end": st.sampled_from(["\n", "\r\n", "\r"]),
    }
)  # fmt: skip


@pytest.mark.usefixtures("patience")
@given(
    words=st.lists(st.tuples(WORDS, st.one_of(st.none(), WORDS)), min_size=2, max_size=12),
    numbers=st.lists(st.integers(-9_999_999, 9_999_999), min_size=12, max_size=12),
    dialect=DIALECTS,
)
@settings(max_examples=150)
def test_a_table_in_any_dialect_is_the_same_table(words, numbers, dialect, tmp_path_factory):
    path = tmp_path_factory.mktemp("dialect") / "t.csv"
    if dialect["end"] == "\r":
        # Whoever ends lines so has no other breaks in cells.
        words = [tuple(w and w.replace("\n", " ") for w in row) for row in words]
    rows = [
        (f"w{i}", *row, f"{n / 100:.2f}", str(n), str(i))
        for i, (row, n) in enumerate(zip(words, numbers, strict=False))
    ]
    # Something of each kind, so that nothing about the file is left open.
    rows += [
        ("v", "Müller", "Köln", "1234567.50", "1234567", "1"),
        ("q's", "garçon", "été", "0.25", "12", "2"),
    ]
    header = ["id", "name", "city", "pay", "visits", "n"]
    write(path, header, rows, {3, 4}, **dialect)
    said = Reading() if dialect["quote"] == '"' else Reading(quote="'")
    if dialect["encoding"] in ("utf-16-le", "utf-16-be"):
        said = Reading(quote=said.quote, encoding=dialect["encoding"])
    table = open_table(path, said)
    assert table.columns == tuple(header)
    expected = sorted(rows, key=repr)
    assert rows_of(table) == expected
    assert verified_rows(table, path) == expected


@pytest.mark.usefixtures("patience")
@given(
    values=st.lists(
        st.from_regex(r"-?[0-9]{1,4}([.,][0-9]{1,4}){0,3}", fullmatch=True), min_size=1, max_size=6
    )
)
def test_a_column_is_rewritten_only_if_one_reading_is_possible(values, tmp_path_factory):
    path = tmp_path_factory.mktemp("numbers") / "t.csv"
    path.write_text("a;b\n" + "".join(f"{v};x\n" for v in values), encoding="utf-8")
    found = open_table(path).count(["a"]).columns[0].values

    def indian(groups, thousands):
        two = all(len(g) == 2 for g in groups[1:-1])
        return thousands == "," and len(groups[0]) < 3 < len(groups) + 1 and two

    def readings(text):
        """Return what a text may mean as a number, by decimal mark: definition, word by word."""
        meant = {}
        for decimal, thousands in ((".", ","), (",", ".")):
            sign, digits = ("-", text[1:]) if text.startswith("-") else ("", text)
            whole, point, rest = digits.partition(decimal)
            groups = whole.split(thousands)
            threes = all(len(g) == 3 for g in groups[1:]) and len(groups[0]) <= 3
            grouped = threes or (indian(groups, thousands) and len(groups[-1]) == 3)
            code = groups[0].startswith("0") and (len(groups) > 1 or groups[0] != "0")
            if (point and not rest.isdigit()) or code or not all(g.isdigit() for g in groups):
                continue
            if len(groups) == 1 or grouped:
                meant[decimal] = sign + "".join(groups) + ("." + rest if point else "")
        return meant

    kept = set(values)
    by_point = {readings(v).get(".") for v in values}
    by_comma = {readings(v).get(",") for v in values}
    allowed = [kept]
    if None not in by_point:
        allowed.append(by_point)
    if None not in by_comma:
        allowed.append(by_comma)
    assert set(found) in allowed
    if set(found) != kept:
        # Rewritten: then the other reading is impossible, or the same.
        other = by_comma if set(found) == by_point else by_point
        assert None in other or other == set(found)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (["1,5", "2"], ["1.5", "2"]),
        (["1,234"], ["1,234"]),
        (["1,234", "1,5"], ["1.234", "1.5"]),
        (["1,234", "1,234,567"], ["1234", "1234567"]),
        (["12,34,567", "1,234"], ["1234", "1234567"]),
        (["1.234"], ["1.234"]),
        (["1.234,5", "7"], ["1234.5", "7"]),
        (["1.234.567", "89"], ["1234567", "89"]),
        (["1.234.567"], ["1.234.567"]),
        (["1'234.5"], ["1234.5"]),
        (["1\u2019234"], ["1234"]),
        (["1 234", "56"], ["1234", "56"]),
        (["170 123", "171 456"], ["170 123", "171 456"]),
        (["1\u202f234,5"], ["1234.5"]),
        (["\u22121,5"], ["-1.5"]),
        (["-,5"], ["-.5"]),
        (["1,5E+05"], ["1.5E+05"]),
        (["01,5"], ["01,5"]),
        (["1,5", "x"], ["1,5", "x"]),
        (["10.01.1937"], ["10.01.1937"]),
        (["1,5,2"], ["1,5,2"]),
    ],
)
def test_numbers_are_rewritten_where_that_is_certain(values, expected, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a;b\n" + "".join(f"{v};x\n" for v in values), encoding="utf-8")
    assert set(open_table(path).count(["a"]).columns[0].values) == set(expected)


def columns_of(path, said=None):
    table = open_table(path, said)
    return {name: table.count([name]).columns[0].values for name in table.columns}


def test_other_columns_decide_what_is_ambiguous_and_a_policy_always_does(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a;b\n1,234;1,5\n", encoding="utf-8")
    assert columns_of(path) == {"a": ("1.234",), "b": ("1.5",)}
    path.write_text("a;b\n1.234;1,5\n", encoding="utf-8")
    assert columns_of(path) == {"a": ("1234",), "b": ("1.5",)}
    path.write_text("a;b\n1,234;1.5\n", encoding="utf-8")
    assert columns_of(path) == {"a": ("1234",), "b": ("1.5",)}
    path.write_text("a;b;c\n1,2;1.5;x\n", encoding="utf-8")
    assert columns_of(path)["a"] == ("1,2",)
    path.write_text("a;b\n1,234;x\n", encoding="utf-8")
    assert columns_of(path, Reading(decimal=","))["a"] == ("1.234",)
    assert columns_of(path, Reading(decimal="."))["a"] == ("1234",)
    assert columns_of(path, Reading(decimal=".", thousands="none"))["a"] == ("1,234",)
    path.write_text("a;b\n1,75;1.234,5\n", encoding="utf-8")
    assert columns_of(path, Reading(decimal=",", thousands=".")) == {
        "a": ("1.75",),
        "b": ("1234.5",),
    }


def test_what_was_found_out_is_told_in_one_line(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes("stadt;größe;n;m\nKöln;1,75;NA;1,234\nMünchen;1,8;3;2,345\n".encode("latin1"))
    told = []
    with listening(told.append):
        table = open_table(path)
        table.count(["größe"])
        table.count(["stadt"])
    assert told == list(table.notes)
    assert len(told) == 1
    assert "\n" not in told[0]
    assert "in windows-1252, separated by ';', with decimal comma in 'größe' and 'm'" in told[0]
    assert "'NA' is a value like any other: if it means missing" in told[0]
    path.write_text('a,b\n"1,234",x\n', encoding="utf-8")
    assert "('1,234') stays text, because it may be read in two ways" in open_table(path).notes[0]
    path.write_text("a;b\n1,5;x\n2,5;y\nk.A.;z\n", encoding="utf-8")
    assert "'a' stays text, because 'k.A.' is no number" in open_table(path).notes[0]
    path.write_text("a,b\n1.5,x\n", encoding="utf-8")
    assert open_table(path).notes == ()


def test_cells_that_mean_missing_are_missing_if_the_policy_says_so(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text('a;b\n1,5;?\n"NA";x\n-9;\n', encoding="utf-8")
    assert columns_of(path)["a"] == ("-9", "1,5", "NA")
    said = Reading(missing=("NA", "?", "-9"))
    assert columns_of(path, said) == {"a": ("1.5", None), "b": ("x", None)}
    table = open_table(path, said)
    assert verified_rows(table, path) == rows_of(table)


def test_lines_before_the_header_are_left_out(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("sep=|\na|b\n1|2\n", encoding="utf-8")
    assert columns_of(path) == {"a": ("1",), "b": ("2",)}
    path.write_text("made on Monday\n\na;b\n1;2\n1;2;3\n", encoding="utf-8")
    table = open_table(path, Reading(skip=2))
    assert table.columns == ("a", "b")
    with pytest.raises(InputError, match="line 5: the row has 3 cells"):
        table.count(["a"])


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("late", [False, True], ids=["at once", "after a megabyte"])
@pytest.mark.parametrize("encoding", ["windows-1252", "mac-roman", "cp850"])
def test_an_encoding_is_found_wherever_its_first_letter_is(encoding, late, tmp_path):
    path = tmp_path / "t.csv"
    filler = "a;1\n" * (300_000 if late else 3)
    path.write_bytes(f"x;y\n{filler}Müller;2\nKöln;3\nStraße;4\n".encode(encoding))
    table = open_table(path)
    assert {*table.count(["x"]).columns[0].values} == {"a", "Müller", "Köln", "Straße"}
    assert table.reading.encoding == encoding
    assert open_table(path).reading.encoding == encoding


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("Dvořák;Němec;Jiří;Černý", "windows-1250"),
        ("Łódź;Gdańsk;Wałęsa", "windows-1250"),
        ("Erdős;Győr;Petőfi", "windows-1250"),
        ("Petrović;Kovač;Marković", "windows-1250"),
        ("Yıldız;Erdoğan;Ayşe", "windows-1254"),
        ("Иванов;Петров;Москва", "windows-1251"),
        ("Иванов;Петров;Москва", "koi8-r"),
        ("Αθήνα;Γιώργος", "windows-1253"),
        ("田中;東京", "shift_jis"),
        ("北京;上海", "gb18030"),
        ("Šimko", "windows-1252"),
    ],
)
def test_an_encoding_that_is_not_certain_is_asked(text, encoding, tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes("a\n{}\n".format(text.replace(";", "\n")).encode(encoding))
    with pytest.raises(InputError, match=r"not in UTF-8: line 2 .* Say which it is: input: \{enc"):
        open_table(path).count(["a"])
    assert {*columns_of(path, Reading(encoding=encoding))["a"]} == {*text.split(";")}


def test_a_file_of_two_encodings_is_refused(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes("a\nMüller\nGröße\n".encode() + "Köln\n".encode("latin1"))
    with pytest.raises(InputError, match="perhaps two files were joined"):
        open_table(path)
    path.write_bytes(b"a\nM\x81ller\n")
    with pytest.raises(InputError, match="is not in windows-1252: line 2 holds the byte 0x81"):
        open_table(path, Reading(encoding="windows-1252"))


def test_numbers_behind_words_do_not_hide_the_encoding():
    # Addresses of mail: another number each, and two names.
    rows = [f"{'gro' if i % 2 else 'wei'}ß{i}@example.org" for i in range(200)]
    text = "Straße;Größe (cm);Kosten €\n" + "\n".join(rows)
    assert find_encoding([text.encode("cp1252")]).encoding == "windows-1252"
    # A digit before a letter is no word yet: what it is elsewhere is a sign, as here of money.
    assert find_encoding(["5€;7€".encode("latin9")]).encoding != "mac-roman"


@given(st.binary(max_size=60))
def test_any_bytes_have_an_encoding_or_are_asked_about(data):
    found = find_encoding([data])
    assert found.encoding is None or data.decode(found.encoding) is not None


@pytest.mark.parametrize(
    ("head", "what"),
    [
        (b"%PDF-1.7", "PDF"),
        (b"\x89PNG\r\n\x1a\n", "PNG"),
        (b"SQLite format 3\0", "SQLite"),
        (b"PK\x03\x04\x14\0\x06\0pictures/1.png", "zip"),
        (b"ORC\0\x08", "ORC"),
        (b"<!DOCTYPE html><html>", "HTML"),
        (b"\xef\xbb\xbf<?xml version='1.0'?>", "XML"),
        (b'[{"age": 3}]', "JSON"),
        (b'{"age": 3}\n', "JSON"),
        (b"BZh91AY&SY", "bzip2"),
        (b"version https://git-lfs.github.com/spec/v1", "Git LFS"),
        (b"\0" * 8 + b"DUCK", "DuckDB"),
    ],
)
def test_what_is_no_table_is_named(head, what):
    found = looks_like(head)
    assert found is not None
    assert what in found[0]


def test_the_command_line_refuses_what_is_no_table_and_writes_nothing(tmp_path, invoke_nothing):
    (tmp_path / "x.csv").write_bytes(b"%PDF-1.7 \xff\xfe")
    invoke_nothing(tmp_path / "x.csv", r"x\.csv is a PDF document\. Ask for the table itself")
    (tmp_path / "y.csv").write_bytes("age,ill\n30,Dvořák\n31,Němec\n".encode("cp1250"))
    invoke_nothing(tmp_path / "y.csv", r"y\.csv is not in UTF-8: line 2")


@pytest.fixture
def invoke_nothing(tmp_path):
    def run(path, message):
        policy = {"columns": {"age": "quasi-identifier"}, "models": [sf.models.KAnonymity(2)]}
        with pytest.raises(SfumatoError, match=message):
            sf.anonymize(path, sf.Policy(**policy, other="dropped"), output=tmp_path / "out")
        assert not (tmp_path / "out").exists()

    return run


@pytest.mark.parametrize(
    "head",
    [b"age,zip", b"ORCID,PARENT", b"PARENT,RDA", b"[age],[zip]", b"a<b,c", b'"x","y"', b"{a},b"],
)
def test_what_may_be_a_table_is_not_refused(head):
    assert looks_like(head) is None


# The same release.


POLICY = {
    "columns": {
        "age": {"role": "quasi-identifier", "hierarchy": {"kind": "intervals", "widths": [10, 40]}},
        "city": "quasi-identifier",
        "height": {
            "role": "quasi-identifier",
            "hierarchy": {"kind": "intervals", "widths": [0.1, 1]},
        },
        "pay": {"role": "plain", "because": "a test"},
        "ill": "sensitive",
    },
    "models": [{"model": "k-anonymity", "k": 3}],
}

OFFICES = {
    "plain": {"delimiter": ",", "encoding": "utf-8", "notation": (".", ""), "end": "\n"},
    "german": {"delimiter": ";", "encoding": "cp1252", "notation": (",", "."), "end": "\r\n"},
    "american": {"delimiter": ",", "encoding": "utf-8-sig", "notation": (".", ","), "end": "\r\n"},
    "french": {"delimiter": "\t", "encoding": "utf-16", "notation": (",", "\u202f"), "end": "\n"},
    "swiss": {"delimiter": "|", "encoding": "mac-roman", "notation": (".", "'"), "end": "\r"},
    "latin-9": {"delimiter": ":", "encoding": "latin9", "notation": (",", " "), "end": "\n"},
}


@pytest.fixture
def offices(tmp_path):
    cities = ["Köln", "München", "Genève", "Málaga"]
    rows = [
        (str(20 + i * 7 % 50), cities[i % 4], f"{1.5 + i % 40 / 100:.2f}",
         f"{900 + i * 7919 % 90_000}.50", ["flu", "gout"][i % 3 % 2])
        for i in range(120)
    ]  # fmt: skip
    header = ["age", "city", "height", "pay", "ill"]
    return {
        name: write(tmp_path / f"{name}.csv", header, rows, {2, 3}, quote='"', **dialect)
        for name, dialect in OFFICES.items()
    }


@pytest.mark.usefixtures("patience")
def test_files_of_all_offices_give_the_same_release_byte_by_byte(offices, tmp_path):
    seen = {}
    for name, path in offices.items():
        sf.anonymize(path, POLICY, output=tmp_path / name / "r", seed=5)
        files = sorted((tmp_path / name / "r").iterdir())
        seen[name] = {f.name: hashlib.sha256(f.read_bytes()).hexdigest() for f in files}
    assert all(each == seen["plain"] for each in seen.values())


@pytest.mark.usefixtures("patience")
def test_files_of_all_offices_are_judged_alike(offices):
    plain = sf.verify(offices["plain"], POLICY)
    for path in offices.values():
        found = sf.verify(path, POLICY)
        assert [(c.name, c.status, c.found) for c in found.checks] == [
            (c.name, c.status, c.found) for c in plain.checks
        ]
        assert found.answer == plain.answer


@pytest.mark.usefixtures("patience")
def test_a_population_and_a_list_of_people_may_be_of_any_office(offices):
    table = pa.table({"age": ["30", "40"] * 3, "city": ["Köln"] * 6, "ill": ["flu", "gout"] * 3})
    policy = {
        "columns": {"age": "quasi-identifier", "city": "quasi-identifier", "ill": "sensitive"},
        "models": [{"model": "k-map", "k": 2}],
    }
    found = {}
    for name, path in offices.items():
        policy["population"] = str(path)
        try:
            found[name] = sf.anonymize(table, policy, seed=1).table.to_pylist()
        except SfumatoError as error:
            found[name] = str(error).replace(str(path), "")
    assert all(each == found["plain"] for each in found.values())


def test_a_policy_says_how_files_are_read(offices, tmp_path):
    said = sf.Policy(**POLICY, input={"decimal": ".", "thousands": "none", "missing": ["flu"]})
    assert sf.Policy.from_yaml(said.to_yaml()) == said
    with pytest.raises(SfumatoError, match="'height' cannot be put into intervals"):
        sf.anonymize(offices["german"], said)
    made = sf.anonymize(offices["plain"], said, seed=1)
    assert "flu" not in made.table["ill"].to_pylist()
    assert made.notes == ()
    released = sf.anonymize(offices["german"], POLICY, seed=1)
    assert "in windows-1252" in released.notes[0]
    assert json.dumps(released.to_dict())


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"delimiter": "ab"}, "one ASCII character"),
        ({"delimiter": "§"}, "one ASCII character"),
        ({"encoding": "klingon"}, "the name of an encoding"),
        ({"encoding": "rot13"}, "the name of an encoding"),
        ({"quote": "x"}, "none"),
        ({"decimal": ";"}, "'.' or ','"),
        ({"decimal": ",", "thousands": ","}, "another mark"),
        ({"missing": "NA"}, "a list of values"),
        ({"skip": -1}, "skip"),
        ({"sheeet": 1}, "unknown key"),
    ],
)
def test_a_wrong_setting_is_refused_with_what_is_allowed(settings, message):
    with pytest.raises(SfumatoError, match=message):
        sf.Policy(**POLICY, input=settings)
    if "missing" not in settings and "sheeet" not in settings:
        with pytest.raises(ParameterError):
            Reading(**settings)
