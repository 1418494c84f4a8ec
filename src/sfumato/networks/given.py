"""Networks that an expert draws, instead of having them learned."""

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from os import PathLike, fspath
from typing import TypeAlias

from sfumato.dataclasses import dataclass
from sfumato.errors import ParameterError, UnknownColumnError
from sfumato.networks.bif import BifNetwork, read_bif
from sfumato.networks.network import Edge, Network
from sfumato.text import brief

Arrows: TypeAlias = Iterable[str | Sequence[str]]
"""Arrows one by one: as text, "age -> zip", or as pairs of a parent and its child."""

Given: TypeAlias = str | PathLike[str] | Network | Arrows
"""A network: a BIF file, arrows, or one made in Python."""

_EXPECTED = "a file that ends in .bif, or arrows as in 'age -> zip, age -> illness'"
_PARTS = re.compile(
    r'"(?P<quoted>[^"]*)"|(?P<arrow>->|→)|(?P<comma>,)|(?P<name>(?:(?!->|→)[^,"])+)'
)


@dataclass(frozen=True, eq=False)
class GivenNetwork:
    """A network over columns of a table that was given, not learned."""

    network: Network
    belief: BifNetwork | None = None
    """The network as it stood in a file, if that has probabilities for all its columns."""


def read_arrows(text: str) -> tuple[Edge, ...]:
    """Read arrows between commas; a name that holds a comma or an arrow stands in double quotes.

    >>> read_arrows('age -> zip -> sex, "pay, net" → sex')
    (('age', 'zip'), ('zip', 'sex'), ('pay, net', 'sex'))
    """
    chains: list[list[str]] = [[]]
    named = False
    for found in _PARTS.finditer(text):
        kind, part = found.lastgroup, found[0].strip()
        if kind in ("quoted", "name") and (part or kind == "quoted"):
            if named:
                raise _unreadable(text)
            chains[-1].append(found["quoted"] if kind == "quoted" else part)
            named = True
        elif kind in ("arrow", "comma"):
            if not named:
                raise _unreadable(text)
            named = False
            if kind == "comma":
                chains.append([])
    # Without a name at the end an arrow has no child; a quotation mark may never be closed.
    if not named or text.count('"') % 2 or any(len(chain) < 2 for chain in chains):
        raise _unreadable(text)
    return tuple(edge for chain in chains for edge in pairwise(chain))


def _unreadable(text: str) -> ParameterError:
    return ParameterError("network", brief(text), _EXPECTED)


def arrows_of(given: Given) -> str | tuple[Edge, ...]:
    """Return the file that holds a network, or its arrows: no circle, and none at one column.

    >>> arrows_of(["age -> zip", ("zip", "sex")])
    (('age', 'zip'), ('zip', 'sex'))
    >>> arrows_of("a -> b -> a")
    Traceback (most recent call last):
    sfumato.errors.ParameterError: network must be without a circle, got 'a -> b -> a'
    """
    if isinstance(given, PathLike):
        given = fspath(given)
    if isinstance(given, str) and given.lower().rstrip().endswith(".bif"):
        return given
    arrows: list[Edge] = []
    if isinstance(given, str):
        arrows += read_arrows(given)
    elif isinstance(given, Network):
        arrows += given.edges
    elif isinstance(given, Iterable) and not isinstance(given, Mapping | bytes):
        for each in given:
            arrows += read_arrows(each) if isinstance(each, str) else [_pair(each)]
    else:
        raise ParameterError("network", given, _EXPECTED)
    edges = tuple(dict.fromkeys(arrows))
    refuse_cycle(edges)
    return edges


def _pair(given: object) -> Edge:
    names = tuple(given) if isinstance(given, Sequence) else ()
    if len(names) != 2 or not all(isinstance(name, str) for name in names):
        raise ParameterError("network", given, "arrows: pairs of a parent and its child, by name")
    return str(names[0]), str(names[1])


def refuse_cycle(edges: Iterable[Edge]) -> None:
    """Raise if some column depends on itself, directly or by way of others."""
    below: dict[str, list[str]] = {}
    for parent, child in edges:
        below.setdefault(parent, []).append(child)
        below.setdefault(child, [])
    done: set[str] = set()
    for start in list(below):
        # Depth first, without recursion: a file may hold a chain of any length.
        way = [] if start in done else [start]
        on_way = {*way}
        while way:
            at = way[-1]
            if not below[at]:
                done.add(at)
                on_way.discard(way.pop())
                continue
            child = below[at].pop()
            if child in on_way:
                names = [*way[way.index(child) :], child]
                circle = " -> ".join(brief(name) for name in names)
                raise ParameterError("network", circle, "without a circle")
            if child not in done:
                way.append(child)
                on_way.add(child)


def given_network(given: Given, columns: Sequence[str]) -> GivenNetwork:
    """Return a network over columns of a table; those it does not name depend on nothing.

    Args:
        given: A BIF file, arrows as text or one by one, or a network made in Python.
        columns: The columns there are, in order.

    >>> given_network("age -> ill", ["age", "sex", "ill"]).network.parents
    {'age': (), 'sex': (), 'ill': ('age',)}
    """
    arrows = arrows_of(given)
    if not isinstance(arrows, str):
        return GivenNetwork(Network.of(columns, arrows))
    read = read_bif(arrows, columns)
    for name in read.network.columns:
        if name not in columns:
            raise UnknownColumnError(name, columns, where=f"the table, but in {arrows!r}")
    refuse_cycle(read.network.edges)
    network = Network.of(columns, read.network.edges)
    return GivenNetwork(network, read if read.tables else None)
