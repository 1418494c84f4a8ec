"""The same random tables and policies where rows stay in a database."""

import json
import random
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import pyarrow as pa

from tests.fuzz.canaries import bytes_of_table
from tests.fuzz.guards import Case
from tests.fuzz.recount import Row, read_table
from tests.fuzz.releases import Releases
from tests.tables import databases

_FINE = pa.timestamp("ns")


class Stored(Releases):
    """Releases of tables in a database, into tables of it and into folders."""

    kind: ClassVar[type]
    """Which database of the engine suite."""

    weight = 0.6
    few = 12
    outputs = ("table", "table", "csv", "parquet")
    chains = ("anonymize", "anonymize", "break-merge", "protect", "anatomy", "bucketization")

    @cached_property
    def database(self) -> Any:
        return self.kind()

    def close(self) -> None:
        if "database" not in self.__dict__:
            return
        if hasattr(self.database, "stop"):
            self.database.stop()
        else:
            self.database.connection.close()
        del self.__dict__["database"]

    def draw(self, rng: random.Random) -> Case:
        case = super().draw(rng)
        case["source"] = self.kind.name
        for column in case["columns"].values():
            if isinstance(column["rule"], dict):
                # Rows of a database are not published as numbers.
                column["rule"].pop("as", None)
        if _FINE not in self.kind.types:
            self._round_moments(case)
        return case

    def _round_moments(self, case: Case) -> None:
        """Leave only moments that the database can store, in whole microseconds."""
        for i, column in enumerate(case["columns"].values()):
            for row in (
                [*case["rows"], *case.get("others", ())] if column["make"] == "moment" else ()
            ):
                row[i] = row[i] and row[i] // 1000 * 1000

    def give(self, table: pa.Table, case: Case, folder: Path) -> object:
        self.database.clear()
        if _FINE not in self.kind.types:
            kinds = [pa.timestamp("us") if kind == _FINE else kind for kind in table.schema.types]
            table = table.cast(pa.schema(zip(table.schema.names, kinds, strict=True)))
        return self.database.stored(table, "given")

    def place(self, case: Case, folder: Path) -> dict[str, Any]:
        if case["output"] == "table":
            return {"output": "table:release"}
        return super().place(case, folder)

    def beside(self, into: dict[str, Any], folder: Path) -> dict[str, Any]:
        if into["output"] == "table:release":
            return {"output": "table:broken"}
        return super().beside(into, folder)

    def names_of(self, release: Any) -> list[str]:
        told = release.manifest.to_dict()
        if "files" in told:
            return [file["name"] for file in told["files"]]
        name = told["table"]
        return [name["name"] if isinstance(name, dict) else str(name)]

    def tables_of(self, release: Any) -> dict[str, list[Row]]:
        if release.folder is not None:
            return super().tables_of(release)
        parts = {
            file["name"]: file["table"] for file in release.manifest.to_dict().get("files", ())
        }
        found = {}
        for name in self.names_of(release):
            part = "qi" if parts.get(name) == "qi" else name
            found[part] = read_table(self.database.read(name))
        return found

    def bytes_of(self, release: Any) -> Iterator[tuple[str, bytes]]:
        if release.folder is not None:
            yield from super().bytes_of(release)
            return
        yield "the manifest", json.dumps(release.manifest.to_dict(), ensure_ascii=False).encode()
        for name in self.database.tables():
            yield "a table name", name.encode()
        names = self.names_of(release)
        for name in (*names, f"{names[0]}_manifest"):
            yield from bytes_of_table(self.database.read(name))


class DuckdbReleases(Stored):
    """Releases in DuckDB."""

    name = "duckdb-releases"
    kind = databases.DuckDB
    few = 15


class PostgresReleases(Stored):
    """Releases in PostgreSQL."""

    name = "postgres-releases"
    needs = "postgres"
    kind = databases.Postgres


class SparkReleases(Stored):
    """Releases in Spark, where the smallest takes seconds."""

    name = "spark-releases"
    needs = "spark"
    kind = databases.Spark
    few = 2
    # A case asks dozens of queries, and each takes seconds where others are at work.
    patience = 900
