"""BIF files read: what is written here, what other programs write, and what anyone may hand in."""

import os
import sys
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.counts import FrequencySet
from sfumato.errors import InputError, SfumatoError
from sfumato.networks import Network, bif, infer, read_bif, tables_of, to_bif
from sfumato.networks.agrum import load_pyagrum
from sfumato.networks.given import refuse_cycle
from tests.networks.test_export import counted

ASIA = """\
// written by hand
network unknown {
  property "author = somebody; else" ;
}
variable smoke { /* yes
comes first */ type discrete [ 2 ] { yes, no }; property position = (3, 4) ; }
variable "lung cancer" { type discrete[3] {"in one, two", Str(-), <=50K}; }
probability ( "lung cancer" | smoke ) {
  (yes) 0.1, 0.2, 0.7 ;
  default 1e-2 .09 0.9;
}
probability ( smoke ) { table 0.333, 0.667; }
"""


@pytest.fixture
def read(tmp_path):
    def read_text(text, columns=()):
        path = tmp_path / "net.bif"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return read_bif(path, columns)

    return read_text


def by_values(table):
    """Every probability of a table, by the values of its parents by name and of the child."""
    dense = table.dense()
    columns = [*table.parents, table.child]
    return {
        frozenset(
            (column.name, column.values[code]) for column, code in zip(columns, place, strict=True)
        ): dense[place]
        for place in product(*(range(len(column.values)) for column in columns))
    }


@given(counted())
def test_what_is_written_is_read_back(tmp_path_factory, drawn):
    network, tables = drawn
    path = tmp_path_factory.mktemp("bif") / "net.bif"
    path.write_text(to_bif(network, tables), encoding="ascii")
    read = read_bif(path)
    assert read.network.columns == network.columns
    assert read.network.parents == network.parents
    assert list(read.tables) == list(network.columns)
    for name, table in tables.items():
        ours, theirs = by_values(table), by_values(read.tables[name])
        assert ours.keys() == theirs.keys()
        assert all(abs(ours[key] - theirs[key]) < 1e-12 for key in ours)


def test_what_other_programs_write_is_read(read):
    found = read(ASIA)
    assert found.network.edges == (("smoke", "lung cancer"),)
    table = found.tables["lung cancer"]
    assert table.child.values == ("in one, two", "Str(-)", "<=50K")
    assert table.row({"smoke": "yes"}).probabilities == {
        "in one, two": 0.1,
        "Str(-)": 0.2,
        "<=50K": 0.7,
    }
    assert table.row({"smoke": "no"})["<=50K"] == pytest.approx(0.9)
    believed = infer(found.network, found.tables, {"lung cancer": "<=50K"})
    assert believed["smoke"]["yes"] == pytest.approx(
        0.333 * 0.7 / (0.333 * 0.7 + 0.667 * 0.9), abs=1e-6
    )
    # No row stands behind a belief.
    assert not table.row({"smoke": "yes"}).seen


def test_a_whole_table_lets_the_last_parent_vary_fastest(read):
    text = (
        "variable a { type discrete [2] { t, f }; } variable b { type discrete [2] { t, f }; }"
        "probability ( a | b ) { table 0.6 0.05 0.4 0.95; } probability ( b ) { table 0.5 0.5; }"
    )
    table = read(text).tables["a"]
    assert table.row({"b": "t"})["t"] == 0.6
    assert table.row({"b": "f"})["t"] == 0.05


def test_commas_are_blanks_to_some(read):
    text = (
        'network "a" { property x y; } variable "a" { type discrete[2] { "true" "false" }; }\n'
        "variable b { type discrete[2] { t f }; } variable c { type discrete[2] { New York, LA }; }"
        'probability ( "a" b c ) { ("true" t) 0.1 0.9; (f, New York) 0.2, 0.8; }'
    ).replace('("true" t)', "(t, LA)")
    found = read(text)
    assert found.network.parents["a"] == ("b", "c")
    text += "probability ( b ) { table .5 .5; } probability ( c ) { table .5 .5; }"
    table = read(text).tables["a"]
    assert table.child.values == ("true", "false")
    assert table.row({"b": "t", "c": "LA"})["true"] == 0.1
    assert table.row({"b": "f", "c": "New York"})["true"] == 0.2
    plain = text.replace("New York", "NY").replace("(f, NY)", "(f NY)").replace("(t, LA)", "(t LA)")
    assert read(plain).tables["a"].row({"b": "f", "c": "NY"})["true"] == 0.2


def test_what_pyagrum_writes_is_read(tmp_path):
    agrum = load_pyagrum()
    written = agrum.fastBN("a{x|y|z}->b{u|w}<-c[3];d<-a")
    written.generateCPTs()
    agrum.saveBN(written, str(tmp_path / "net.bif"))
    found = read_bif(tmp_path / "net.bif")
    assert found.network.parents == {"a": (), "b": ("a", "c"), "c": (), "d": ("a",)}
    ask = agrum.LazyPropagation(written)
    ask.setEvidence({"b": "w", "d": 1})
    ask.makeInference()
    believed = infer(found.network, found.tables, {"b": "w", "d": "1"})
    assert [believed["a"][value] for value in "xyz"] == pytest.approx(ask.posterior("a").tolist())
    assert list(believed["c"].values()) == pytest.approx(ask.posterior("c").tolist())


def test_without_all_probabilities_there_are_only_arrows(read):
    text = "variable a { type discrete [2] { t, f }; } variable b { type discrete [1] { x }; }"
    found = read(text + "probability ( a | b ) { }")
    assert found.network.edges == (("b", "a"),)
    assert found.tables == {}
    assert read(text + "probability ( a | b ) { (x) 1 0; }").tables == {}


def test_a_word_that_is_a_column_stands_for_itself_unless_it_stands_for_another(read):
    text = "variable a_x42_ { type discrete [ 1 ] { x }; }"
    assert read(text).network.columns == ("aB",)
    assert read(text, ["a_x42_"]).network.columns == ("a_x42_",)
    assert read(text, ["a_x42_", "aB"]).network.columns == ("aB",)


ONE = "variable a { type discrete [ 2 ] { x, y }; }\n"
TWO = ONE + "variable b { type discrete [ 2 ] { x, y }; }\n"
WRONG = {
    "nothing": ("", "no variable"),
    "another file": ("age,zip\n30,47110\n", "line 1: expected network, variable or probability"),
    "no text": (b"\xff\xfe\x00\x01", "UTF-8"),
    "never closed": ('variable "a { type', "never closed"),
    "the end": ("variable a { type discrete [ 2 ] { x, ", "expected '}' before the end"),
    "no end of a property": ("variable a { property x", "before the end of the file"),
    "no values": ("variable a { type discrete [ 0 ] { }; }", "has no values"),
    "no type": ("variable a { }", "its type is missing"),
    "a number": ("variable a { type continuous; }", "must be discrete"),
    "another number of values": ("variable a { type discrete [ 3 ] { x, y }; }", "has 2"),
    "a value twice": ("variable a { type discrete [ 2 ] { x, x }; }", "a value twice"),
    "a value twice in two ways": (
        "variable a { type discrete [ 2 ] { x, _x78_ }; } probability (a) { table .5 .5; }",
        "two ways of writing",
    ),
    "no value": ("variable a { type discrete [ 2 ] { x,, }; }", "expected a value"),
    "a variable twice": (ONE + ONE, "line 2: there is a variable 'a' already"),
    "an unknown parent": (ONE + "probability ( a | b ) { }", "no variable 'b'"),
    "an unknown child": (ONE + "probability ( b ) { }", "no variable 'b'"),
    "itself": (ONE + "probability ( a | a ) { }", "depends on itself"),
    "twice": (TWO + "probability ( a | b, b ) { }", "on a column twice"),
    "two tables": (ONE + "probability ( a ) { }" * 2, "given twice"),
    "a row twice": (TWO + "probability ( a | b ) { (x) 1 0; (x) 1 0; }", "line 3: .*given twice"),
    "an unknown value": (TWO + "probability ( a | b ) { (z) 1 0; }", "no values of its parents"),
    "too few values": (TWO + "probability ( a | b ) { () 1 0; }", "no values of its parents"),
    "too many numbers": (ONE + "probability ( a ) { table 1 0 0; }", "must have 2 numbers"),
    "too few in a row": (TWO + "probability ( a | b ) { (x) 1; }", "2 values, and 1"),
    "no share": (ONE + "probability ( a ) { table 1.5 0; }", "from 0 to 1, got '1.5'"),
    "a negative share": (ONE + "probability ( a ) { table -1 2; }", "from 0 to 1"),
    "nan": (ONE + "probability ( a ) { table nan nan; }", "from 0 to 1, got 'nan'"),
    "inf": (ONE + "probability ( a ) { table 1e999 0; }", "from 0 to 1"),
    "underscores": (ONE + "probability ( a ) { table 1_0 0; }", "from 0 to 1"),
    "a sum": (ONE + "probability ( a ) { table 0.5 0.2; }", "add up to 0.7"),
    "a sum of nothing": (ONE + "probability ( a ) { table 0 0; }", "add up to 0 "),
    "something else": (ONE + "probability ( a ) { uniform; }", "table, default or"),
    "a bracket": ("variable { }", "the name of a variable"),
    "a digit too many": (f"variable a {{ type discrete [ {'9' * 9999} ] {{ x }}; }}", "has 1"),
}


@pytest.mark.parametrize(("text", "expected"), WRONG.values(), ids=WRONG)
def test_what_is_wrong_is_said(read, text, expected):
    with pytest.raises(InputError, match=expected) as caught:
        read(text)
    assert len(str(caught.value)) < 600


@pytest.mark.usefixtures("patience")
def test_a_table_that_could_not_be_held_is_refused(read):
    text = "".join(f"variable c{i} {{ type discrete {{ x, y }}; }}\n" for i in range(2200))
    parents = ", ".join(f"c{i}" for i in range(1, 2200))
    # How many numbers it would have is a number too long to be written.
    usual = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(640)
    try:
        with pytest.raises(InputError, match="more numbers than the 1000000"):
            read(text + f"probability ( c0 | {parents} ) {{ default 1 0; }}")
    finally:
        sys.set_int_max_str_digits(usual)


def test_no_file_a_folder_a_pipe_and_a_large_file_are_refused(tmp_path, monkeypatch):
    for path in (tmp_path / "none.bif", tmp_path, "a\0b.bif", "/dev/zero"):
        with pytest.raises(InputError):
            read_bif(path)
    monkeypatch.setattr(bif, "MOST_BYTES", 10)
    (tmp_path / "a.bif").write_text(ONE)
    with pytest.raises(InputError, match="at most 10 bytes"):
        read_bif(tmp_path / "a.bif")


def test_a_pipe_is_refused_and_a_file_that_is_no_network_is_not_quoted(tmp_path):
    os.mkfifo(tmp_path / "pipe.bif")
    with pytest.raises(InputError, match="is a pipe, not a file"):
        read_bif(tmp_path / "pipe.bif")
    for content in ("password: hunter2\n", "hunter2,3\n", "{hunter2}", "network hunter2 hunter3"):
        (tmp_path / "secret").write_text(content)
        link = tmp_path / "net.bif"
        link.unlink(missing_ok=True)
        link.symlink_to(tmp_path / "secret")
        with pytest.raises(InputError) as caught:
            read_bif(link)
        assert "hunter" not in str(caught.value)


def test_what_could_not_be_read_again_is_not_written(monkeypatch):
    counts = FrequencySet.from_rows(["a"], [("x",), ("y",)])
    network = Network.of(["a"], [])
    monkeypatch.setattr(bif, "MOST_BYTES", 10)
    with pytest.raises(InputError, match="a BIF file may have 10"):
        to_bif(network, tables_of(counts, network))


PIECES = [
    "network", "variable", "probability", "property", "type", "discrete", "table", "default",
    "{", "}", "(", ")", "[", "]", ";", ",", "|", '"', "a", "b", "x", "y", "2", "1", "0", "0.5",
    "//", "/*", "*/", "\n", "_x110000_", "_xD800_", "_xMISSING_", "_xNEVER_", "\0", "é",
]  # fmt: skip


@given(st.lists(st.sampled_from(PIECES), max_size=60))
def test_nothing_that_is_handed_in_makes_more_than_an_error(tmp_path_factory, pieces):
    path = tmp_path_factory.mktemp("bif") / "net.bif"
    path.write_text(" ".join(pieces), encoding="utf-8")
    try:
        found = read_bif(path)
    except SfumatoError as error:
        assert "line" in str(error)  # noqa: PT017 - what is said is what is tested
    else:
        assert found.network.columns


@pytest.mark.usefixtures("patience")
@given(counted(), st.data())
def test_a_damaged_file_makes_no_more_than_an_error(tmp_path_factory, drawn, data):
    text = to_bif(*drawn)
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, min(len(text), start + 30)))
    put = data.draw(st.sampled_from(PIECES))
    path = tmp_path_factory.mktemp("bif") / "net.bif"
    path.write_text(text[:start] + put + text[end:], encoding="utf-8")
    try:
        found = read_bif(path)
    except SfumatoError:
        return
    for table in found.tables.values():
        assert np.allclose(table.dense().sum(axis=-1), 1)


@pytest.mark.usefixtures("patience")
def test_long_chains_and_many_brackets_cost_what_they_are_long(read):
    refuse_cycle([(str(i), str(i + 1)) for i in range(50_000)])
    with pytest.raises(InputError):
        read("variable a { type discrete [ 1 ] { " + "(" * 20_000)
    with pytest.raises(InputError):
        read("network a { " + "/* " * 20_000)
