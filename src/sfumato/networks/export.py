"""Graphs in the formats of other programs: DOT and GraphML. Those with tables are in `bif`."""

import re
from collections.abc import Mapping
from html import escape

from sfumato.errors import ParameterError, require_number
from sfumato.networks.network import Network

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
