"""Exports read back by others: pyAgrum for BIF, an XML parser for GraphML, a grammar for DOT."""

import re
from itertools import product
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.counts import FrequencySet
from sfumato.errors import InputError, ParameterError
from sfumato.networks import Network, bif, tables_of, to_bif, to_dot, to_graphml
from sfumato.networks.agrum import load_pyagrum
from sfumato.networks.bif import from_bif, to_bif_name, to_bif_value
from tests.showing.reading import NASTY, survives

GRAPHML = "{http://graphml.graphdrawing.org/xmlns}"


@st.composite
def networks(draw, *, acyclic=False):
    names = draw(st.lists(NASTY, min_size=1, max_size=5, unique=True))
    pairs = [
        (a, b)
        for i, a in enumerate(names)
        for j, b in enumerate(names)
        if i < j or (i > j and not acyclic)
    ]
    edges = draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []
    columns = draw(st.permutations(names))
    return Network.of(columns, edges, [edge for edge in edges if draw(st.booleans())])


# DOT: a reader for the part of the language that is written, by its published grammar.

QUOTED = r'"((?:[^"\\]|\\.)*)"'
ATTRIBUTES = rf"(?: \[(\w+=(?:[\w.]+|{QUOTED})(?:, \w+=(?:[\w.]+|{QUOTED}))*)\])?"


def read_dot(text):
    head, *lines, foot = text.removesuffix("\n").split("\n")
    assert (head, foot) == ("digraph {", "}")
    nodes, edges = {}, {}
    for line in lines:
        found = re.fullmatch(rf"  (n\d+)(?: -> (n\d+))?{ATTRIBUTES};", line)
        assert found, line
        looks = dict(re.findall(r'(\w+)=("(?:[^"\\]|\\.)*"|[\w.]+)', found[3] or ""))
        if found[2]:
            edges[found[1], found[2]] = looks
        else:
            nodes[found[1]] = looks
    return nodes, edges


def shown(quoted):
    """What Graphviz shows for a label: escapes and entities undone."""
    text = re.sub(r"\\(.)", lambda m: {"n": "\n", "r": "\r"}.get(m[1], m[1]), quoted[1:-1])
    return text.replace("&amp;", "&")


@given(networks())
def test_dot_has_every_name_and_edge(network):
    nodes, edges = read_dot(to_dot(network))
    labels = [shown(looks["label"]) for looks in nodes.values()]
    assert labels == [survives(column).replace("&amp;", "&") for column in network.columns]
    names = dict(zip(nodes, network.columns, strict=True))
    assert [(names[a], names[b]) for a, b in edges] == list(network.edges)
    dashed = {(names[a], names[b]) for (a, b), looks in edges.items() if "style" in looks}
    assert dashed == network.chosen


def test_dot_marks_what_was_marked():
    network = Network.of(["a", "b", "c"], [("a", "b"), ("b", "c")])
    text = to_dot(network, marked={("a", "b"): 0.5}, groups={"c": "sensitive"})
    nodes, edges = read_dot(text)
    assert edges == {("n0", "n1"): {"label": '"0.5"', "penwidth": "2.50"}, ("n1", "n2"): {}}
    assert [("peripheries" in looks) for looks in nodes.values()] == [False, False, True]


def test_an_entity_in_a_name_is_not_read_as_one():
    assert 'label="&amp;lt; & co"' in to_dot(Network.of(["&lt; & co"], []))


@given(networks(), st.data())
def test_graphml_is_read_back(network, data):
    marked = {
        edge: data.draw(st.floats(0, 1)) for edge in network.edges if data.draw(st.booleans())
    }
    groups = {column: "sensitive" for column in network.columns if data.draw(st.booleans())}
    root = ET.fromstring(to_graphml(network, marked=marked, groups=groups).encode())
    assert root.tag == f"{GRAPHML}graphml"
    keys = {key.get("id"): key.get("for") for key in root.findall(f"{GRAPHML}key")}
    (graph,) = root.findall(f"{GRAPHML}graph")
    assert graph.get("edgedefault") == "directed"

    def read(element, of):
        values = {d.get("key"): d.text or "" for d in element.findall(f"{GRAPHML}data")}
        assert all(keys[key] == of for key in values)
        return values

    nodes = {node.get("id"): read(node, "node") for node in graph.findall(f"{GRAPHML}node")}
    assert [node["name"] for node in nodes.values()] == [survives(c) for c in network.columns]
    assert [node.get("group") for node in nodes.values()] == [
        groups.get(c) for c in network.columns
    ]
    names = dict(zip(nodes, network.columns, strict=True))
    edges = {
        (names[edge.get("source")], names[edge.get("target")]): read(edge, "edge")
        for edge in graph.findall(f"{GRAPHML}edge")
    }
    assert list(edges) == list(network.edges)
    assert {e for e, values in edges.items() if values["chosen"] == "true"} == network.chosen
    assert {e: float(v["strength"]) for e, v in edges.items() if "strength" in v} == marked


@given(NASTY)
def test_words_are_plain_and_read_back(text):
    # A text without letters is a name, and as a value it is missing.
    for word, read in ((to_bif_name(text), text), (to_bif_value(text), text or None)):
        assert re.fullmatch(r"[A-Za-z_][A-Za-z0-9_-]*|[0-9]+", word)
        assert from_bif(word) == read
    # bnlearn takes the name of a table for what \w+ finds.
    assert re.fullmatch(r"[A-Za-z_]\w*", to_bif_name(text), re.ASCII)


@given(st.text("_x0123456789ABCDEF-MISNGPTY", max_size=12))
def test_texts_that_look_like_codes_are_read_back(text):
    assert from_bif(to_bif_name(text)) == text
    assert from_bif(to_bif_value(text)) == (text or None)


def test_missing_is_not_a_text():
    assert from_bif(to_bif_value(None)) is None
    assert from_bif(to_bif_value(float("nan"))) is None
    assert from_bif(to_bif_value("_xMISSING_")) == "_xMISSING_"


@st.composite
def counted(draw):
    network = draw(networks(acyclic=True))
    value = st.one_of(st.none(), NASTY, st.sampled_from(["table", "0", "25", "a-b", "-"]))
    pools = [draw(st.lists(value, min_size=1, max_size=3, unique=True)) for _ in network.columns]
    rows = draw(st.lists(st.tuples(*map(st.sampled_from, pools)), min_size=1, max_size=12))
    counts = FrequencySet.from_rows(network.columns, rows)
    return network, tables_of(counts, network, prior=draw(st.sampled_from([0.0, 0.5])))


@given(counted())
def test_pyagrum_reads_the_same_network(tmp_path_factory, drawn):
    agrum = load_pyagrum()
    network, tables = drawn
    path = tmp_path_factory.mktemp("bif") / "net.bif"
    path.write_text(to_bif(network, tables), encoding="ascii")
    read = agrum.loadBN(str(path))
    assert {from_bif(name) for name in read.names()} == set(network.columns)
    arcs = {tuple(from_bif(read.variable(n).name()) for n in arc) for arc in read.arcs()}
    assert arcs == set(network.edges)
    for table in tables.values():
        name = to_bif_name(table.child.name)
        labels = read.variable(name).labels()
        real = [from_bif(label) for label in labels if label != bif.NEVER]
        assert real == list(table.child.values)
        assert len(labels) == max(len(real), 2)
        dense = table.dense()
        potential = read.cpt(name)
        columns = [*table.parents, table.child]
        for place in product(*(range(len(column.values)) for column in columns)):
            where = {
                to_bif_name(column.name): to_bif_value(column.values[code])
                for column, code in zip(columns, place, strict=True)
            }
            assert np.isclose(potential[where], dense[place], atol=1e-9)


def read_by_line(text):
    """BIF read the way bnlearn does: by lines, names up to the first blank."""
    lines = [line.strip() for line in text.splitlines()]
    names = [line.split()[1] for line in lines if re.fullmatch(r"variable \S+ \{", line)]
    heads = [re.match(r"probability \( (\w+)(?: \| (.+))? \) \{$", line) for line in lines]
    parents = {m[1]: (m[2] or "").split(", ") if m[2] else [] for m in heads if m}
    return names, parents


def test_every_declaration_is_on_lines_of_its_own():
    counts = FrequencySet.from_rows(
        ["Marital-Status", "pay"], [("Never-married", "<=50K"), ("Divorced", ">50K")]
    )
    network = Network.of(counts.names, [("Marital-Status", "pay")])
    names, parents = read_by_line(to_bif(network, tables_of(counts, network)))
    assert names == ["Marital_x2D_Status", "pay"]
    assert parents == {"Marital_x2D_Status": [], "pay": ["Marital_x2D_Status"]}


def test_combinations_that_no_row_has_are_uniform():
    counts = FrequencySet.from_rows(["a", "b", "c"], [("x", "x", "p"), ("y", "y", "q")])
    network = Network.of("abc", [("a", "c"), ("b", "c")])
    text = to_bif(network, tables_of(counts, network))
    assert (
        "  (x, x) 1.0, 0.0;\n  (x, y) 0.5, 0.5;\n  (y, x) 0.5, 0.5;\n  (y, y) 0.0, 1.0;\n" in text
    )


def test_a_column_with_one_value_gets_another_that_never_occurs():
    counts = FrequencySet.from_rows(["a", "b"], [("*", "x"), ("*", "y")])
    network = Network.of("ab", [("a", "b")])
    text = to_bif(network, tables_of(counts, network))
    assert "table 1.0, 0.0;" in text
    assert "  (_x2A_) 0.5, 0.5;\n  (_xNEVER_) 0.5, 0.5;\n" in text


def small_network(edges=(("a", "b"),)):
    counts = FrequencySet.from_rows(["a", "b"], [("x", 1), ("y", 2)])
    network = Network.of("ab", edges)
    return network, counts


def test_a_cycle_is_refused():
    network, counts = small_network([("a", "b"), ("b", "a")])
    with pytest.raises(InputError, match=r"has a cycle.*to_dot or to_graphml"):
        to_bif(network, tables_of(counts, network))


def test_tables_of_another_network_are_refused():
    network, counts = small_network()
    other = Network.of("ab", [])
    with pytest.raises(InputError, match=r"no table of 'b' given \['a'\].*tables_of"):
        to_bif(network, tables_of(counts, other))
    with pytest.raises(InputError, match="no table of 'a'"):
        to_bif(network, {})


def test_tables_too_large_to_write_are_refused(monkeypatch):
    network, counts = small_network()
    tables = tables_of(counts, network)
    monkeypatch.setattr(bif, "MOST_NUMBERS", 6)
    assert to_bif(network, tables)
    monkeypatch.setattr(bif, "MOST_NUMBERS", 5)
    with pytest.raises(InputError, match=r"have 6 numbers.*may have 5.*table of 'b' given \['a'\]"):
        to_bif(network, tables)


def test_a_table_far_too_large_is_refused_before_it_is_made():
    names = [f"c{i}" for i in range(9)]
    counts = FrequencySet.from_rows(names, [tuple(range(i, i + 9)) for i in range(0, 400, 10)])
    network = Network.of(names, [(name, "c8") for name in names[:8]])
    with pytest.raises(InputError, match="table of 'c8'"):
        to_bif(network, tables_of(counts, network))


def test_values_written_alike_are_refused():
    counts = FrequencySet.from_rows(["a"], [(1,), ("1",)])
    network = Network.of("a", [])
    tables = tables_of(counts, network)
    with pytest.raises(InputError, match="column 'a' has two values that are both written '1'"):
        to_bif(network, tables)


@pytest.mark.parametrize("write", [to_dot, to_graphml])
def test_marks_that_make_no_sense_are_refused(write):
    network, _ = small_network()
    with pytest.raises(ParameterError, match="edges"):
        write(network, marked={("b", "a"): 0.5})
    with pytest.raises(ParameterError, match="at most 1"):
        write(network, marked={("a", "b"): 2})
