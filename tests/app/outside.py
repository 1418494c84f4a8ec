"""What lies beside the folder of an app, and is none of its business: unread and unwritten."""

import os
import sqlite3
from contextlib import closing
from pathlib import Path

import duckdb

CANARY = "Outside-Canary-4711"
_LONG_AGO = 1_000_000_000_000_000_000


class Outside:
    """A folder with files of every kind that the app reads, and a folder to work in."""

    def __init__(self, around: Path) -> None:
        self.around = around
        self.work = around / "work"
        self.work.mkdir()
        self._write("outside.csv", f"age,sex,who\n{f'1,f,{CANARY}{chr(10)}' * 40}")
        self._write("hierarchy.csv", f"f;{CANARY};*\nm;{CANARY};*\n")
        self._write("taxonomy.yaml", f"{CANARY}: [f, m]\n")
        self._write("network.bif", f"network {CANARY} {{}}\n")
        self._write("policy.yaml", f"columns: {{{CANARY}: quasi-identifier}}\n")
        self._write("shift.key", f"sfumato shift key {'ab' * 32}\n")
        self._write("clinic.ledger", CANARY)
        self._write("sign.key", f"-----BEGIN PRIVATE KEY-----\n{CANARY}\n")
        (around / "release").mkdir()
        self._write("release/manifest.json", f'{{"sfumato": "{CANARY}", "columns": {{}}}}')
        with duckdb.connect(str(around / "outside.db")) as made:
            made.execute(f"CREATE TABLE t AS SELECT '{CANARY}' who, range age FROM range(40)")
        with closing(sqlite3.connect(around / "outside.sqlite")) as lite:
            lite.execute("CREATE TABLE t (who TEXT, age INTEGER)")
            lite.executemany("INSERT INTO t VALUES (?, ?)", [(CANARY, n) for n in range(40)])
            lite.commit()
        self.files = {path: path.read_bytes() for path in self._outside() if path.is_file()}
        self._make_links()
        self._make_databases()
        self.everything = {*self._outside()}
        self.tells_reading = self._tells_reading()
        self.forget_reading()

    def _write(self, name: str, text: str) -> None:
        (self.around / name).write_text(text, encoding="utf-8")

    def _make_links(self) -> None:
        for name in ("outside.csv", "outside.db", "hierarchy.csv", "shift.key", "sign.key"):
            (self.work / f"link-{name}").symlink_to(self.around / name)
        (self.work / "clinic.ledger").symlink_to(self.around / "clinic.ledger")
        (self.work / "linked").symlink_to(self.around)
        (self.work / "linked-release").symlink_to(self.around / "release")
        (self.work / "hollow").mkdir()
        (self.work / "hollow" / "manifest.json").symlink_to(self.around / "release/manifest.json")
        # With it, `x://../` is a way up that has the form of an address.
        (self.work / "x:").mkdir()

    def _make_databases(self) -> None:
        people = "SELECT 'inside' || range % 4 AS who, 20 + range % 30 AS age FROM range(60)"
        csv = self.around / "outside.csv"
        with duckdb.connect(str(self.work / "inside.db")) as made:
            made.execute(f"CREATE TABLE t AS {people}")
            made.execute(f"CREATE VIEW reads AS SELECT * FROM read_csv('{csv}')")
            made.execute(f"CREATE VIEW globs AS SELECT * FROM read_csv('{self.around}/*.csv')")
            made.execute(f"CREATE MACRO m() AS TABLE SELECT * FROM read_csv('{csv}')")
            made.execute("CREATE VIEW by_macro AS SELECT * FROM m()")

    def _outside(self):
        return {p for p in self.around.rglob("*") if not p.is_relative_to(self.work)}

    def _tells_reading(self) -> bool:
        """Whether the disk notes when a file was read."""
        path = self.around / "outside.csv"
        self.forget_reading()
        path.read_bytes()
        return path.stat().st_atime_ns != _LONG_AGO

    def forget_reading(self) -> None:
        for path in self.files:
            os.utime(path, ns=(_LONG_AGO, path.stat().st_mtime_ns))

    def assert_untouched(self, what: object) -> None:
        """Nothing was read, changed, made or removed outside of the folder."""
        if self.tells_reading:
            read = [path.name for path in self.files if path.stat().st_atime_ns != _LONG_AGO]
            assert not read, (what, read)
        assert self._outside() == self.everything, what
        for path, before in self.files.items():
            assert path.read_bytes() == before, (what, path.name)
        self.forget_reading()
