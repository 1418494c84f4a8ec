"""Writing findings as pictures, and networks as files other programs read."""

from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np

from sfumato.bayes import ConditionalTable, Network, to_bif, to_dot, to_graphml
from sfumato.drawing import heatmap_svg, network_svg
from sfumato.errors import OutputError, ParameterError
from sfumato.leaks import Findings
from sfumato.saving import save_text
from sfumato.text import text_of
from sfumato.typing import Value

_MOST_ROWS = 40
"""Combinations of parents drawn of a table; those with most rows behind them."""

_MOST_VALUES = 30


def draw_findings(findings: Findings, folder: str | Path) -> list[Path]:
    """Draw every network, with the rules above alpha marked, and every table of the last.

    Args:
        findings: What was found.
        folder: Where to write; made if it is not there. Files of the same name are replaced.
    """
    target = Path(folder)
    drawn: dict[str, str] = {}
    for name, network in findings.networks.items():
        drawn[f"network-{name}.svg"] = _network(findings, name, network)
    for number, table in enumerate(findings.tables["all"].values(), start=1):
        if table.parents:
            drawn[f"table-{number}.svg"] = table_svg(table, findings.alpha)
    try:
        target.mkdir(parents=True, exist_ok=True)
        for file, text in drawn.items():
            (target / file).write_text(text, encoding="utf-8")
    except OSError as error:
        raise OutputError(
            f"cannot write in {str(target)!r}: {error.strerror or error}. Choose another folder."
        ) from None
    return [target / file for file in drawn]


def _network(findings: Findings, name: str, network: Network) -> str:
    groups = dict.fromkeys(findings.quasi_identifiers, "quasi-identifier")
    groups |= dict.fromkeys(findings.sensitive, "sensitive")
    return network_svg(
        network,
        marked=marked_edges(findings, network),
        groups={column: groups[column] for column in network.columns},
        title=f"Dependencies: {name}",
    )


def marked_edges(findings: Findings, network: Network) -> dict[tuple[str, str], float]:
    """Give the edges that carry a rule above alpha, and how strong its strongest entry is."""
    marked: dict[tuple[str, str], float] = {}
    for rule in findings.rules:
        for column in rule.known:
            for edge in ((column.name, rule.told.name), (rule.told.name, column.name)):
                if edge in network.edges:
                    marked[edge] = max(marked.get(edge, 0.0), rule.strongest)
    return marked


def table_svg(table: ConditionalTable, alpha: float) -> str:
    """Draw a table as a heat map: what is known down the side, what is told across."""
    rows = np.argsort(-table.support, kind="stable")[:_MOST_ROWS]
    told = table.child.values
    probabilities = np.zeros((len(rows), len(told)))
    for at, row in enumerate(rows.tolist()):
        entries = slice(table.starts[row], table.starts[row + 1])
        probabilities[at, table.value[entries]] = table.count[entries] / table.support[row]
    # Where there are too many values, those that some row makes likely are the telling ones.
    order = np.argsort(-probabilities.max(axis=0), kind="stable")[:_MOST_VALUES]
    shown = np.sort(order)
    labels = [
        ", ".join(
            f"{parent.name}={_text(parent.values[code])}"
            for parent, code in zip(table.parents, table.combinations[:, row], strict=True)
        )
        for row in rows.tolist()
    ]
    return heatmap_svg(
        labels,
        [_text(told[i]) for i in shown.tolist()],
        probabilities[:, shown],
        title=f"{table.child.name}, given {', '.join(table.names)}",
        support=table.support[rows].tolist(),
        mark_above=alpha,
    )


def _text(value: Value) -> str:
    return "(missing)" if value is None else text_of(value)


def export_network(findings: Findings, path: str | Path, *, which: str = "all") -> Path:
    """Write a network as BIF, GraphML or DOT, by the ending of the file's name.

    Args:
        findings: What was found.
        path: The file to write: `.bif`, `.graphml` or `.dot`.
        which: Which network: quasi-identifiers, sensitive or all.
    """
    target = Path(path)
    network = findings.networks[which]
    writers: Mapping[str, Callable[[], str]] = {
        ".bif": lambda: to_bif(network, findings.tables[which]),
        ".graphml": lambda: to_graphml(network),
        ".dot": lambda: to_dot(network),
    }
    if target.suffix not in writers:
        raise ParameterError("export", target.name, f"a file that ends in {', '.join(writers)}")
    text = writers[target.suffix]()
    return save_text(target, text)
