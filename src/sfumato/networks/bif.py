"""Networks with their tables in the Interchange Format (BIF 0.15): written, and read again."""

import re
import sys
from collections.abc import Collection, Mapping, Sequence
from dataclasses import field
from functools import cached_property
from itertools import product
from math import isfinite, prod
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

import numpy as np

from sfumato.counts import Column
from sfumato.dataclasses import dataclass
from sfumato.errors import InputError, reason_of
from sfumato.files import read_small
from sfumato.networks.network import Network
from sfumato.networks.tables import ConditionalTable
from sfumato.text import brief, format_integer, is_missing, text_of
from sfumato.typing import BoolArray, FloatArray, IntArray, Value

MOST_NUMBERS = 10**6
"""The most probabilities that a BIF file may hold."""

MOST_BYTES = 2**25
"""The largest BIF file, written or read."""

MISSING = "_xMISSING_"
"""How BIF files write a missing value; no text is ever written so."""

NEVER = "_xNEVER_"
"""A second value, of probability 0, for columns that have but one: readers want two."""

_EMPTY = "_xEMPTY_"
"""The same for an empty text."""

_KEYWORDS = frozenset(
    ("network", "variable", "probability", "property", "type", "discrete", "default", "table")
)


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
    text = "".join([f"network {to_bif_name(name)} {{\n}}\n", *variables, *shares])
    if len(text) > MOST_BYTES:
        raise InputError(
            f"the file would have {format_integer(len(text))} bytes, and a BIF file may have "
            f"{format_integer(MOST_BYTES)}. "
            "Generalise columns with long values or many of them, or take an edge out"
        )
    return text


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
    return re.sub(r"_x([0-9A-F]{1,6})_", _character, word)


def _character(found: re.Match[str]) -> str:
    """Return what a code stands for; what is no character stays as it is written."""
    code = int(found[1], 16)
    return found[0] if code > sys.maxunicode else chr(code)


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


# Reading. A file may come from anyone: it is parsed without recursion, in one pass, and what is
# wrong with it is said with its line.


@dataclass(frozen=True, eq=False)
class BelievedTable(ConditionalTable):
    """A conditional table that was given: there are shares in it, and no rows behind them."""

    shares: FloatArray = field(default_factory=lambda: np.zeros(0))
    """The probability of each entry."""

    @cached_property
    def probability(self) -> FloatArray:
        """The probability of each entry: its value, given its combination."""
        return self.shares

    @cached_property
    def rest(self) -> FloatArray:
        """Per combination, the probability of a value without an entry: none."""
        return np.zeros(len(self))

    def _take_entries(self, entries: BoolArray) -> dict[str, Any]:
        return {**super()._take_entries(entries), "shares": self.shares[entries]}


@dataclass(frozen=True, eq=False)
class BifNetwork:
    """What a BIF file says: which columns depend on which and, if it does, how."""

    network: Network
    tables: Mapping[str, ConditionalTable]
    """The file's own probabilities, by column; empty unless it has them for every column."""


def read_bif(path: str | PathLike[str], columns: Collection[str] = ()) -> BifNetwork:
    """Read a network of a BIF file, of this package or of another program.

    Names and values are read with `from_bif`. Where a file gives no probabilities for a
    combination of parents, all values are alike there.

    Args:
        path: The file.
        columns: Columns of a table: a word that is one of them stands for itself, unless it
            stands for another of them by the codes of `from_bif`.

    Raises:
        InputError: The file cannot be read, is too large, or is no network in this format.

    Example:
        >>> import tempfile
        >>> text = "variable a { type discrete [ 2 ] { x, y }; } probability ( a ) { table .2 .8; }"
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     _ = Path(folder, "a.bif").write_text(text)
        ...     read = read_bif(Path(folder, "a.bif"))
        >>> read.network.columns, read.tables["a"].probability.tolist()
        (('a',), [0.2, 0.8])
    """
    file = Path(path)
    try:
        hint = "Take out columns or arrows."
        data = read_small(file, "a BIF file", MOST_BYTES, hint=hint)
    except OSError as error:
        raise InputError(f"cannot read {str(path)!r}: {reason_of(error)}.") from None
    except ValueError as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"cannot read {str(path)!r}: {error}.") from None
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InputError(
            f"{path}, line {line}: a BIF file is text in UTF-8, and this is not. "
            "Write the network again with sfumato detect --export, or save it as UTF-8."
        ) from None
    return _BifReader(text, str(path), columns).network()


class _Token(NamedTuple):
    kind: str
    """word, text (in quotes), sign, or end."""

    text: str
    start: int
    end: int


_TOKENS = re.compile(
    r'\s+|//[^\n]*|/\*.*?(?:\*/|\Z)|"(?P<text>[^"\n]*)"|(?P<sign>[{}()\[\];,|])'
    r'|(?P<word>[^\s{}()\[\];,|"]+)|(?P<bad>.)',
    re.DOTALL,
)
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_RUN = re.compile(r"([0-9.eE,\s+-]*);")
_ROUNDED = 0.01
"""By how much the probabilities of a row may miss 1: files hold rounded ones."""


@dataclass
class _Variable:
    at: int
    words: list[str]
    """Its values as they are written."""


@dataclass
class _Block:
    """What a file says about one column given others."""

    at: int
    parents: list[str]
    rows: dict[tuple[str, ...], list[float]] = field(default_factory=dict)
    table: list[float] | None = None
    default: list[float] | None = None

    @property
    def says(self) -> bool:
        return bool(self.rows) or self.table is not None or self.default is not None


class _BifReader:
    """A pass through the text of a file."""

    def __init__(self, text: str, origin: str, columns: Collection[str]) -> None:
        self._text = text
        self._origin = origin
        self._columns = frozenset(columns)
        self._at = 0
        self._now = self._scan()
        self._variables: dict[str, _Variable] = {}
        self._blocks: dict[str, _Block] = {}

    def _scan(self) -> _Token:
        while found := _TOKENS.match(self._text, self._at):
            self._at = found.end()
            if found.lastgroup == "bad":
                self._refuse(found.start(), "a quotation mark is never closed")
            if found.lastgroup is not None:
                kind = found.lastgroup
                return _Token(kind, found[kind], found.start(), found.end())
        end = len(self._text)
        return _Token("end", "", end, end)

    def _refuse(self, at: int, what: str) -> NoReturn:
        line = self._text.count("\n", 0, at) + 1
        raise InputError(f"{self._origin}, line {line}: {what}")

    def _next(self) -> _Token:
        token, self._now = self._now, self._scan()
        return token

    def _sees(self, *texts: str, kind: str = "sign") -> bool:
        return self._now.kind == kind and self._now.text in texts

    def _take(self, text: str, kind: str = "sign") -> _Token:
        if not self._sees(text, kind=kind):
            self._refuse(self._now.start, f"expected {text!r}, got {self._show()}")
        return self._next()

    def _show(self) -> str:
        return "the end of the file" if self._now.kind == "end" else repr(brief(self._now.text))

    def _skip_to(self, sign: str) -> None:
        while not self._sees(sign):
            if self._now.kind == "end":
                self._refuse(self._now.start, f"expected {sign!r} before the end of the file")
            self._next()
        self._next()

    def network(self) -> BifNetwork:
        """Read the whole file."""
        known = {"network": self._head, "variable": self._variable, "probability": self._block}
        while self._now.kind != "end":
            if not self._sees(*known, kind="word"):
                # Perhaps no network at all, but a file with secrets: nothing of it is quoted.
                self._refuse(
                    self._now.start,
                    "expected network, variable or probability: this is no BIF file, or a damaged "
                    "one. sfumato detect --export net.bif writes one",
                )
            known[self._next().text]()
        if not self._variables:
            self._refuse(0, "the file has no variable, so there is no network in it")
        return self._assemble()

    def _head(self) -> None:
        while not self._sees("{"):
            if self._now.kind not in ("word", "text"):
                self._refuse(self._now.start, f"expected '{{', got {self._show()}")
            self._next()
        self._skip_to("}")

    def _name(self) -> tuple[str, int]:
        token = self._now
        if token.kind not in ("word", "text"):
            self._refuse(token.start, f"expected the name of a variable, got {self._show()}")
        self._next()
        return self._resolve(token), token.start

    def _resolve(self, token: _Token) -> str:
        if token.kind == "text" or token.text == MISSING:
            return token.text
        read = from_bif(token.text) or ""
        if read in self._columns or token.text not in self._columns:
            return read
        return token.text

    def _variable(self) -> None:
        name, at = self._name()
        if name in self._variables:
            self._refuse(at, f"there is a variable {brief(name)!r} already")
        self._take("{")
        words: list[str] | None = None
        while not self._sees("}"):
            if self._sees("property", kind="word"):
                self._skip_to(";")
                continue
            self._take("type", "word")
            if not self._sees("discrete", kind="word"):
                self._refuse(
                    self._now.start,
                    f"variable {brief(name)!r} must be discrete, got {self._show()}: networks "
                    "of numbers that are not counted cannot be used",
                )
            self._next()
            words = self._values(name)
            if self._sees(";"):
                self._next()
        self._next()
        if words is None:
            self._refuse(at, f"variable {brief(name)!r} has no values: its type is missing")
        self._variables[name] = _Variable(at, words)

    def _values(self, name: str) -> list[str]:
        stated: _Token | None = None
        if self._sees("["):
            self._next()
            stated = self._next()
            self._take("]")
        at = self._take("{").start
        words = self._read_list("}", "" if stated is None else stated.text)
        if not words:
            self._refuse(at, f"variable {brief(name)!r} has no values")
        if stated is not None and stated.text != str(len(words)):
            self._refuse(
                stated.start,
                f"variable {brief(name)!r} should have {brief(stated.text)} values and has "
                f"{len(words)}. A value with a comma or a brace must stand in quotes",
            )
        if len({*words}) < len(words):
            self._refuse(at, f"variable {brief(name)!r} has a value twice")
        return words

    def _read_list(self, closing: str, wanted: str) -> list[str]:
        """Read what stands between commas up to a sign, as it is written; quotes are left off.

        Other programs write blanks and brackets within values; still others blanks between them,
        and no commas. As many as are wanted tells which.
        """
        found: list[str] = []
        single: list[str] = []
        first: _Token | None = None
        last: _Token | None = None
        depth = 0
        while True:
            if self._now.kind == "end":
                self._refuse(self._now.start, f"expected {closing!r} before the end of the file")
            ends = self._sees(closing) and not depth
            if ends or (self._sees(",") and not depth):
                if first is None or last is None:
                    if ends and not found:
                        break
                    self._refuse(self._now.start, f"expected a value, got {self._show()}")
                quoted = first.kind == "text" and first is last
                found.append(first.text if quoted else self._text[first.start : last.end])
                first = last = None
                if ends:
                    break
            else:
                first, last = first or self._now, self._now
                single.append(self._now.text)
                depth += self._sees("(", "[")
                depth -= bool(depth) and self._sees(")", "]")
            self._next()
        self._next()
        return single if str(len(found)) != wanted == str(len(single)) else found

    def _block(self) -> None:
        self._take("(")
        child, at = self._name()
        parents: list[str] = []
        while not self._sees(")"):
            if self._sees(",", "|"):
                self._next()
                continue
            parents.append(self._name()[0])
        self._next()
        if child in self._blocks:
            self._refuse(at, f"the probabilities of {brief(child)!r} are given twice")
        if len({child, *parents}) <= len(parents):
            self._refuse(at, f"{brief(child)!r} depends on itself, or on a column twice")
        self._blocks[child] = block = _Block(at, parents)
        self._take("{")
        while not self._sees("}"):
            self._entry(block)
        self._next()

    def _entry(self, block: _Block) -> None:
        at = self._now.start
        if self._sees("property", kind="word"):
            self._skip_to(";")
        elif self._sees("table", kind="word"):
            self._next()
            block.table = self._numbers()
        elif self._sees("default", kind="word"):
            self._next()
            block.default = self._numbers()
        elif self._sees("("):
            self._next()
            given = tuple(self._read_list(")", str(len(block.parents))))
            if given in block.rows:
                self._refuse(at, "the probabilities of these values are given twice")
            block.rows[given] = self._numbers()
        else:
            self._refuse(at, f"expected table, default or '(', got {self._show()}")

    def _numbers(self) -> list[float]:
        # Most of a file is numbers: a run of them is read at once, if nothing is wrong in it.
        run = _RUN.match(self._text, self._now.start)
        words = [] if run is None else run[1].replace(",", " ").split()
        if run is not None and all(map(_NUMBER.fullmatch, words)):
            numbers = list(map(float, words))
            if not numbers or 0 <= min(numbers) <= max(numbers) <= 1:
                self._at = run.end()
                self._now = self._scan()
                return numbers
        found: list[float] = []
        while not self._sees(";"):
            if self._sees(","):
                self._next()
                continue
            number = float(self._now.text) if _NUMBER.fullmatch(self._now.text) else -1.0
            if self._now.kind != "word" or not isfinite(number) or not 0 <= number <= 1:
                self._refuse(
                    self._now.start, f"expected a probability from 0 to 1, got {self._show()}"
                )
            found.append(number)
            self._next()
        self._next()
        return found

    def _assemble(self) -> BifNetwork:
        for child, block in self._blocks.items():
            for name in (child, *block.parents):
                if name not in self._variables:
                    self._refuse(block.at, f"there is no variable {brief(name)!r}")
        names = tuple(self._variables)
        rank = {name: i for i, name in enumerate(names)}
        parents = {
            name: tuple(sorted(self._blocks[name].parents, key=rank.__getitem__))
            if name in self._blocks
            else ()
            for name in names
        }
        network = Network(names, parents)
        # Every table is read, also if another is missing: what is wrong in a file is said.
        said = {name: block for name, block in self._blocks.items() if block.says}
        tables = {name: self._read_table(name, block) for name, block in said.items()}
        whole = len(tables) == len(names)
        return BifNetwork(network, {name: tables[name] for name in names} if whole else {})

    def _column(self, name: str) -> Column:
        values = tuple(map(from_bif, self._real(name)))
        if len({*values}) < len(values):
            at = self._variables[name].at
            self._refuse(at, f"variable {brief(name)!r} has a value twice, in two ways of writing")
        return Column(name, values)

    def _real(self, name: str) -> list[str]:
        """Return the values of a column, without the one that no row has."""
        words = self._variables[name].words
        return words[:-1] if len(words) == 2 and words[-1] == NEVER else words

    def _read_table(self, name: str, block: _Block) -> BelievedTable:
        words = [self._variables[parent].words for parent in block.parents]
        rows = self._rows(name, block, words)
        code = [{word: i for i, word in enumerate(self._real(p))} for p in block.parents]
        kept = {
            tuple(c[word] for c, word in zip(code, given, strict=True)): shares
            for given, shares in rows.items()
            if all(word in c for c, word in zip(code, given, strict=True))
        }
        # The parents of a network are in the order of its columns, which may be another.
        rank = {variable: i for i, variable in enumerate(self._variables)}
        order = sorted(range(len(code)), key=lambda p: rank[block.parents[p]])
        found = sorted((tuple(given[p] for p in order), shares) for given, shares in kept.items())
        r, n = len(self._real(name)), len(found)
        combinations = np.array([given for given, _ in found], dtype=np.int32)
        shares: FloatArray = np.array([self._row(name, block, each) for _, each in found])
        none: IntArray = np.zeros(n * r, dtype=np.int64)
        return BelievedTable(
            self._column(name),
            tuple(self._column(block.parents[p]) for p in order),
            combinations.reshape(n, len(order)).T,
            none[:n],
            np.arange(n + 1) * r,
            np.tile(np.arange(r, dtype=np.int32), n),
            none,
            shares=shares.reshape(-1),
        )

    def _rows(
        self, name: str, block: _Block, words: Sequence[Sequence[str]]
    ) -> dict[tuple[str, ...], list[float]]:
        """Return the probabilities for each combination of parent values that the file has."""
        rows = dict(block.rows)
        known = [frozenset(each) for each in words]
        for given in rows:
            if len(given) != len(words) or any(
                word not in each for word, each in zip(given, known, strict=True)
            ):
                self._refuse(
                    block.at,
                    f"the probabilities of {brief(name)!r} are given for "
                    f"({brief(', '.join(given))}), which are no values of its parents",
                )
        if block.table is None and block.default is None:
            return rows
        combinations = prod(map(len, words))
        width = len(self._variables[name].words)
        if combinations * width > MOST_NUMBERS:
            # Not how many: a number of thousands of digits cannot be written.
            self._refuse(
                block.at,
                f"the table of {brief(name)!r} would have more numbers than the {MOST_NUMBERS} "
                "that a BIF file may have",
            )
        if block.table is not None:
            if len(block.table) != combinations * width:
                self._refuse(
                    block.at,
                    f"the table of {brief(name)!r} must have {combinations * width} numbers, and "
                    f"has {len(block.table)}",
                )
            # Those who defined the format let the last parent vary fastest, and the child slowest.
            dense = np.array(block.table).reshape(width, combinations).T.tolist()
            return {**dict(zip(product(*words), dense, strict=True)), **rows}
        default = block.default or []
        return {given: rows.get(given, default) for given in product(*words)}

    def _row(self, name: str, block: _Block, shares: list[float]) -> FloatArray:
        words, real = self._variables[name].words, self._real(name)
        if len(shares) != len(words):
            self._refuse(
                block.at,
                f"{brief(name)!r} has {len(words)} values, and {len(shares)} probabilities",
            )
        row: FloatArray = np.array(shares[: len(real)])
        total = float(row.sum())
        if abs(total - 1) > _ROUNDED:
            self._refuse(
                block.at,
                f"the probabilities of {brief(name)!r} add up to {total:g} somewhere, not to 1",
            )
        return row if abs(total - 1) < 1e-9 else row / total
