"""Networks in the formats of other programs: DOT, GraphML and BIF."""

import re
from collections.abc import Mapping, Sequence
from html import escape
from itertools import product

import numpy as np

from sfumato.counts import Column
from sfumato.errors import InputError, ParameterError, require_number
from sfumato.networks.network import Network
from sfumato.networks.tables import ConditionalTable
from sfumato.text import is_missing, text_of
from sfumato.typing import FloatArray, Value

MOST_NUMBERS = 10**6
"""The most probabilities that a BIF file may hold."""

MISSING = "_xMISSING_"
"""How BIF files write a missing value; no text is ever written so."""

NEVER = "_xNEVER_"
"""A second value, of probability 0, for columns that have but one: readers want two."""

_EMPTY = "_xEMPTY_"
"""The same for an empty text."""

_KEYWORDS = frozenset(
    ("network", "variable", "probability", "property", "type", "discrete", "default", "table")
)
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def to_dot(
    network: Network,
    *,
    marked: Mapping[tuple[str, str], float] = {},
    groups: Mapping[str, str] = {},
) -> str:
    r"""Write the graph for Graphviz.

    Args:
        network: The graph; it may have cycles.
        marked: How strong a rule runs along an edge, from 0 to 1; those are bold.
        groups: The kind of each column; sensitive ones have a double border.

    >>> print(to_dot(Network.of(["age", 'the "zip"'], [("age", 'the "zip"')])), end="")
    digraph {
      n0 [label="age", shape=box];
      n1 [label="the \"zip\"", shape=box];
      n0 -> n1;
    }
    """
    _require_edges(network, marked)
    at = {column: f"n{i}" for i, column in enumerate(network.columns)}
    lines = []
    for column in network.columns:
        looks = [f"label={_dot_text(column)}", "shape=box"]
        if groups.get(column) == "sensitive":
            looks.append("peripheries=2")
        lines.append(f"{at[column]} [{', '.join(looks)}]")
    for edge in network.edges:
        looks = ["style=dashed"] if edge in network.chosen else []
        if edge in marked:
            looks += [f'label="{marked[edge]:.4g}"', f"penwidth={1 + 3 * marked[edge]:.2f}"]
        lines.append(
            f"{at[edge[0]]} -> {at[edge[1]]}" + (f" [{', '.join(looks)}]" if looks else "")
        )
    return "digraph {\n" + "".join(f"  {line};\n" for line in lines) + "}\n"


def to_graphml(
    network: Network,
    *,
    marked: Mapping[tuple[str, str], float] = {},
    groups: Mapping[str, str] = {},
) -> str:
    """Write the graph as GraphML, for Gephi, yEd, Cytoscape, igraph and networkx.

    Nodes have `name` and `group`; edges have `chosen` (the data does not tell the
    direction) and, if a rule runs along them, `strength`.

    >>> text = to_graphml(Network.of(["age", "zip"], [("age", "zip")]))
    >>> '<edge source="n0" target="n1">' in text
    True
    """
    _require_edges(network, marked)
    at = {column: f"n{i}" for i, column in enumerate(network.columns)}
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">',
        *(
            f'  <key id="{key}" for="{of}" attr.name="{key}" attr.type="{kind}"/>'
            for key, of, kind in (
                ("name", "node", "string"),
                ("group", "node", "string"),
                ("chosen", "edge", "boolean"),
                ("strength", "edge", "double"),
            )
        ),
        '  <graph edgedefault="directed">',
    ]
    for column in network.columns:
        data = _data(name=column, group=groups.get(column))
        lines.append(f'    <node id="{at[column]}">{data}</node>')
    for edge in network.edges:
        strength = None if edge not in marked else repr(float(marked[edge]))
        data = _data(chosen=str(edge in network.chosen).lower(), strength=strength)
        ends = f'source="{at[edge[0]]}" target="{at[edge[1]]}"'
        lines.append(f"    <edge {ends}>{data}</edge>")
    return "\n".join([*lines, "  </graph>", "</graphml>", ""])


def to_bif(
    network: Network, tables: Mapping[str, ConditionalTable], *, name: str = "sfumato"
) -> str:
    """Write the graph and its tables in the Interchange Format (BIF 0.15).

    pyAgrum and bnlearn read it. Names and values are written with `to_bif_name` and
    `to_bif_value`, because the format takes plain words only; `from_bif` gets them back.
    Combinations of parent values that no row has are uniform. A column with one value
    only gets another, `NEVER`, because both programs refuse it otherwise.

    Args:
        network: The graph, without cycles.
        tables: A table for every column, as `tables_of` gives them.
        name: What the network is called.

    >>> from sfumato.networks.tables import tables_of
    >>> from sfumato.counts import FrequencySet
    >>> f = FrequencySet.from_rows(["job", "pay"], [("a", "low"), ("a", "high"), ("b", "low")])
    >>> net = Network.of(["job", "pay"], [("job", "pay")])
    >>> print(to_bif(net, tables_of(f, net)), end="")
    network sfumato {
    }
    variable job {
      type discrete [ 2 ] { a, b };
    }
    variable pay {
      type discrete [ 2 ] { high, low };
    }
    probability ( job ) {
      table 0.6666666666666666, 0.3333333333333333;
    }
    probability ( pay | job ) {
      (a) 0.5, 0.5;
      (b) 0.0, 1.0;
    }
    """
    _check(network, tables)
    words = {column: _words(tables[column].child) for column in network.columns}
    # One thing to a line: bnlearn reads line by line.
    variables = [
        f"variable {to_bif_name(column)} {{\n"
        f"  type discrete [ {len(values)} ] {{ {', '.join(values)} }};\n}}\n"
        for column, values in words.items()
    ]
    shares = [_probabilities(tables[column], words) for column in network.columns]
    return "".join([f"network {to_bif_name(name)} {{\n}}\n", *variables, *shares])


def to_bif_name(text: str) -> str:
    """Write any text as one word that BIF takes for a name.

    Whatever is not a letter, digit or `_` is written as `_x`, its code and `_`, as SQL/XML
    does. The format allows `-` in names too; bnlearn does not.

    >>> [to_bif_name(text) for text in ("Age", "R&D", "café", "table", "2nd", "")]
    ['Age', 'R_x26_D', 'caf_xE9_', '_x74_able', '_x32_nd', '_xEMPTY_']
    """
    return _word(text, "[^A-Za-z0-9_]")


def to_bif_value(value: Value) -> str:
    """Write a value as one word: whole numbers as they are, all else like a name, `-` kept.

    >>> [to_bif_value(value) for value in ("Never-married", "[30, 50)", 25, -1, None)]
    ['Never-married', '_x5B_30_x2C__x20_50_x29_', '25', '_x2D_1', '_xMISSING_']
    """
    if is_missing(value):
        return MISSING
    text = text_of(value)
    return text if text.isascii() and text.isdigit() else _word(text, "[^A-Za-z0-9_-]")


def from_bif(word: str) -> str | None:
    """Read a word of a BIF file back; a missing value is None.

    >>> [from_bif(w) for w in ("_x5B_30_x2C__x20_50_x29_", "25", "_xEMPTY_", "_xMISSING_")]
    ['[30, 50)', '25', '', None]
    """
    if word in (MISSING, _EMPTY):
        return None if word == MISSING else ""
    return re.sub(r"_x([0-9A-F]+)_", lambda found: chr(int(found[1], 16)), word)


def _word(text: str, refused: str) -> str:
    if not text:
        return _EMPTY
    # An underscore that would look like the start of a code is written as a code itself.
    word = re.sub(refused + "|_(?=x)", lambda found: _code(found[0]), text)
    if text.lower() in _KEYWORDS or not re.match("[A-Za-z_]", word):
        word = _code(text[0]) + word[1:]
    return word


def _code(character: str) -> str:
    return f"_x{ord(character):X}_"


def _check(network: Network, tables: Mapping[str, ConditionalTable]) -> None:
    if not network.acyclic:
        raise InputError(
            "the network has a cycle, and BIF files hold networks without. "
            "Write the graph alone with to_dot or to_graphml, or take an edge out"
        )
    for column in network.columns:
        if column not in tables or tables[column].names != network.parents[column]:
            raise InputError(
                f"there is no table of {column!r} given {list(network.parents[column])}. "
                "Make the tables of this network with tables_of(counts, network)"
            )
    numbers = {column: tables[column].cells for column in network.columns}
    if sum(numbers.values()) > MOST_NUMBERS:
        worst = max(numbers, key=lambda column: numbers[column])
        raise InputError(
            f"the tables have {sum(numbers.values())} numbers when every combination is written "
            f"out, and a BIF file may have {MOST_NUMBERS}. Most are in the table of {worst!r} "
            f"given {list(tables[worst].names)}: generalise it or its parents, or take an edge out"
        )


def _words(column: Column) -> list[str]:
    words = [to_bif_value(value) for value in column.values]
    if len(set(words)) < len(words):
        twice = next(word for word in words if words.count(word) > 1)
        raise InputError(
            f"column {column.name!r} has two values that are both written {twice!r}. "
            "Values in a BIF file must differ in writing: give the column one type"
        )
    return words if len(words) > 1 else [*words, NEVER]


def _probabilities(table: ConditionalTable, words: Mapping[str, Sequence[str]]) -> str:
    child = to_bif_name(table.child.name)
    shares = _pad(table, words).tolist()
    if not table.parents:
        return f"probability ( {child} ) {{\n  table {_list_numbers(shares[0])};\n}}\n"
    given = ", ".join(map(to_bif_name, table.names))
    # The last parent varies fastest, as the axes of the table do.
    combinations = product(*(words[parent] for parent in table.names))
    lines = (
        f"  ({', '.join(values)}) {_list_numbers(row)};\n"
        for values, row in zip(combinations, shares, strict=True)
    )
    return f"probability ( {child} | {given} ) {{\n{''.join(lines)}}}\n"


def _pad(table: ConditionalTable, words: Mapping[str, Sequence[str]]) -> FloatArray:
    """Write every combination out; with `NEVER` as a parent's value nothing is known."""
    *parents, child = (
        (0, len(words[column.name]) - size)
        for column, size in zip((*table.parents, table.child), table.shape, strict=True)
    )
    same = (0, 0)
    shares = np.pad(table.dense(most_cells=MOST_NUMBERS), [*(same for _ in parents), child])
    unknown = 1 / shares.shape[-1]
    shares = np.pad(shares, [*parents, same], constant_values=unknown)
    return shares.reshape(-1, shares.shape[-1])


def _list_numbers(numbers: Sequence[float]) -> str:
    return ", ".join(map(repr, numbers))


def _dot_text(text: str) -> str:
    """Quote a label. Graphviz reads backslashes and HTML entities in it."""
    text = _NOT_XML.sub("\ufffd", text).replace("\\", "\\\\").replace('"', '\\"')
    text = re.sub(r"&(?=#?\w+;)", "&amp;", text)
    return '"' + text.replace("\r", "\\r").replace("\n", "\\n") + '"'


def _data(**values: str | None) -> str:
    return "".join(
        f'<data key="{key}">{_xml_text(value)}</data>'
        for key, value in values.items()
        if value is not None
    )


def _xml_text(text: str) -> str:
    # What XML cannot hold in any spelling is replaced; a bare carriage return it would lose.
    return escape(_NOT_XML.sub("\ufffd", text)).replace("\r", "&#13;")


def _require_edges(network: Network, marked: Mapping[tuple[str, str], float]) -> None:
    for edge, strength in marked.items():
        if edge not in network.edges:
            raise ParameterError("marked", edge, "edges (parent, child) of the network")
        require_number(f"marked[{edge!r}]", strength, at_least=0, at_most=1)
