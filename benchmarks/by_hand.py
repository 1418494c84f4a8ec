"""What somebody would write by hand for one table and one database, in its own words.

The same work as the engine's, with the same guarantees: rows are counted before they are recoded,
stored in random order and counted afterwards. It may know every lookup in advance, and it need
not know of missing values, odd names, other types or failures.
"""

from typing import Any, ClassVar, Protocol

import numpy as np
import pyarrow as pa

from sfumato.recoding import FullDomainRecoding, LocalRecoding


class ByHand(Protocol):
    """The three statements, for one database."""

    def count(self) -> object: ...
    def full_domain(self) -> object: ...
    def local(self) -> object: ...


class Lookups:
    """What values and combinations become, as tables."""

    def __init__(self, full: FullDomainRecoding, local: LocalRecoding) -> None:
        self.names = [c.column for c in local.columns] + [c.name for c in local.others]
        self.recoded = len(local.columns)
        self.levels = [column.level for column in full.columns]
        self.values = [
            pa.table(
                {
                    f"value{i}": pa.array(column.values),
                    f"label{i}": pa.array([str(column.labels[code]) for code in column.codes]),
                    f"code{i}": pa.array(column.codes),
                }
            )
            for i, column in enumerate(full.columns)
        ]
        self.suppressed = pa.table(
            {f"class{i}": codes.astype(np.int32) for i, codes in enumerate(full.suppressed.T)}
        )
        values = [c.values for c in local.columns] + [c.values for c in local.others]
        keys = {
            f"key{i}": pa.array(known).take(pa.array(codes))
            for i, (known, codes) in enumerate(zip(values, local.combinations, strict=True))
        }
        self.combinations = pa.table({**keys, "class": local.classes[local.starts[:-1]]})
        labels = {
            f"label{i}": pa.array([str(column.labels[code]) for code in codes])
            for i, (column, codes) in enumerate(zip(local.columns, local.labels, strict=True))
        }
        self.classes = pa.table({"class": np.arange(local.labels.shape[1]), **labels})


class DuckDBByHand:
    """SQL for a table `people` of a connection."""

    limit: ClassVar[float] = 1.2

    def __init__(self, connection: Any, lookups: Lookups) -> None:
        self._connection = connection
        self._lookups = lookups
        tables = {f"values{i}": table for i, table in enumerate(lookups.values)}
        tables |= {
            "suppressed": lookups.suppressed,
            "combinations": lookups.combinations,
            "classes": lookups.classes,
        }
        for name, table in tables.items():
            connection.register("incoming", table)
            connection.execute(f"CREATE TEMP TABLE {name} AS FROM incoming")
            connection.unregister("incoming")

    def count(self) -> object:
        names = ", ".join(_quoted(name) for name in self._lookups.names)
        statement = f"SELECT {names}, count(*) AS n FROM people GROUP BY {names}"
        return self._connection.sql(statement).to_arrow_table()

    def full_domain(self) -> object:
        recoded = self._lookups.names[: self._lookups.recoded]
        joins = " ".join(
            f"JOIN values{i} ON people.{_quoted(name)} = value{i}" for i, name in enumerate(recoded)
        )
        hits = " AND ".join(f"code{i} = class{i}" for i in range(len(recoded)))
        cells = [
            f"label{i} AS {_quoted(name)}" if level else f"people.{_quoted(name)}"
            for i, (name, level) in enumerate(zip(recoded, self._lookups.levels, strict=True))
        ]
        return self._stored(cells, f"{joins} ANTI JOIN suppressed ON {hits}")

    def local(self) -> object:
        names = self._lookups.names
        equal = " AND ".join(f"people.{_quoted(name)} = key{i}" for i, name in enumerate(names))
        cells = [
            f"label{i} AS {_quoted(name)}" for i, name in enumerate(names[: self._lookups.recoded])
        ]
        return self._stored(cells, f"JOIN combinations ON {equal} JOIN classes USING (class)")

    def _stored(self, cells: list[str], joins: str) -> object:
        self.count()
        plain = [f"people.{_quoted(name)}" for name in self._lookups.names[len(cells) :]]
        select = f"SELECT {', '.join(cells + plain)} FROM people {joins} ORDER BY random()"
        self._connection.execute(f"CREATE TABLE unfinished AS {select}")
        found = self._connection.execute("SELECT count(*) FROM unfinished").fetchall()
        self._connection.execute("DROP TABLE IF EXISTS by_hand")
        self._connection.execute("ALTER TABLE unfinished RENAME TO by_hand")
        return found


class SparkByHand:
    """DataFrames for one of people, every lookup sent to all workers."""

    limit: ClassVar[float] = 1.5

    def __init__(self, people: Any, lookups: Lookups) -> None:
        from pyspark.sql import functions

        self._people = people
        self._session = people.sparkSession
        self._f = functions
        self._lookups = lookups
        self._values = [self._sent(table) for table in lookups.values]
        self._suppressed = self._sent(lookups.suppressed)
        self._combinations = self._sent(lookups.combinations)
        self._classes = self._sent(lookups.classes)

    def _sent(self, table: pa.Table) -> Any:
        return self._f.broadcast(self._session.createDataFrame(table))

    def count(self) -> object:
        return self._people.groupBy(*self._lookups.names).count().toArrow()

    def full_domain(self) -> object:
        frame, column = self._people, self._f.col
        recoded = self._lookups.names[: self._lookups.recoded]
        for i, (name, values) in enumerate(zip(recoded, self._values, strict=True)):
            frame = frame.join(values, column(name) == column(f"value{i}"))
        hits = [column(f"code{i}") == column(f"class{i}") for i in range(len(recoded))]
        cells = [
            column(f"label{i}").alias(name) if level else column(name)
            for i, (name, level) in enumerate(zip(recoded, self._lookups.levels, strict=True))
        ]
        return self._stored(frame.join(self._suppressed, hits, "left_anti"), cells)

    def local(self) -> object:
        column, names = self._f.col, self._lookups.names
        equal = [column(name) == column(f"key{i}") for i, name in enumerate(names)]
        frame = self._people.join(self._combinations, equal).join(self._classes, "class")
        recoded = names[: self._lookups.recoded]
        return self._stored(
            frame, [column(f"label{i}").alias(name) for i, name in enumerate(recoded)]
        )

    def _stored(self, frame: Any, cells: list[Any]) -> object:
        self.count()
        plain = self._lookups.names[len(cells) :]
        frame = frame.select(*cells, *plain).orderBy(self._f.rand())
        frame.write.saveAsTable("unfinished")
        found = self._session.table("unfinished").count()
        self._session.sql("DROP TABLE IF EXISTS by_hand")
        self._session.sql("ALTER TABLE unfinished RENAME TO by_hand")
        return found


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
