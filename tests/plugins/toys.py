"""A package of others: a file format, a decoupling, and what verifies both."""

import json
from dataclasses import dataclass
from typing import ClassVar

import pyarrow as pa

from sfumato.decouplings import BreakMerge
from sfumato.tables.formats import FileFormat
from sfumato.verifier.decoupled import KINDS
from sfumato.verifier.formats import VerifiedFormat


class Rows(FileFormat):
    """A row per line, as JSON."""

    name = "rows"
    endings = (".rows",)
    pandas = 'pd.read_json("{file}", lines=True)'

    def read(self, path):
        with path.open(encoding="utf-8") as file:
            return pa.Table.from_pylist([json.loads(line) for line in file])

    def write(self, table, path):
        lines = (json.dumps(row, default=str) + "\n" for row in table.to_pylist())
        path.write_text("".join(lines), encoding="utf-8")


class VerifiedRows(VerifiedFormat):
    """The same, read in another way."""

    name = "rows"
    endings = (".rows",)

    def read(self, path):
        rows = json.loads("[" + ",".join(path.read_text(encoding="utf-8").splitlines()) + "]")
        return pa.table({name: [row.get(name) for row in rows] for name in rows[0]})

    def find_hidden(self, path):
        text = path.read_text(encoding="utf-8")
        return ["lines without a row"] if "\n\n" in text else []


@dataclass(frozen=True)
class Teams(BreakMerge):
    """People who look alike, under another word."""

    name: ClassVar[str] = "teams"
    groups: ClassVar[tuple[str, str]] = ("team", "teams")
    translations: ClassVar[dict[str, dict[str, str]]] = {
        "de": {"People who look alike, under another word.": "Leute, die einander gleichen."}
    }


VERIFIED_TEAMS = KINDS["break-merge"]
