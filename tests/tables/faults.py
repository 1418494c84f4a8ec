"""Things that go wrong: a statement that fails, a file that cannot grow, a process that is gone."""

import contextlib
import json
import resource

import pyarrow as pa

import sfumato as sf
from sfumato.tables.sql.releases import releasing


class Fault:
    """Does something bad at one step of many: before or after a statement, in turn."""

    def __init__(self, at, bad, *, forever=False):
        self.at, self.bad, self.forever = at, bad, forever
        self.steps = 0
        self.counting = False

    def step(self):
        self.steps += self.counting
        if self.steps == self.at or (self.forever and self.steps > self.at):
            self.bad()

    def around(self, method):
        """Let a method that runs a statement take two steps more, once anything is changed."""

        def run(*args, **kwargs):
            self.counting |= not str(args[1]).startswith(("SELECT", "WITH"))
            self.step()
            result = method(*args, **kwargs)
            self.step()
            return result

        return run

    @property
    def happened(self):
        return self.steps >= self.at


def raising(error):
    """Give something bad that raises an error."""

    def bad():
        raise error

    return bad


def release(database, version, *, force):
    """Publish a table and a manifest that both say which version they are."""
    with releasing(database, ("released",), force=force) as unfinished:
        with database.scope():
            rows = database.upload(pa.table({"o0": pa.array([version] * 3)}))
            database.store(rows, ["version"], unfinished.table, lambda _: None, force=False)
        unfinished.store_manifest(json.dumps({"version": version}))


def version_of(database):
    """Say which version is there, if it is there as a whole; None if there is nothing."""
    found = {name for name in database.tables() if name.startswith("released")}
    if not found:
        return None
    assert found == {"released", "released_manifest"}
    [text] = database.read("released_manifest").column(0).to_pylist()
    version = json.loads(text)["version"]
    assert database.read("released").column(0).to_pylist() == [version] * 3
    return version


@contextlib.contextmanager
def no_file_longer_than(size, process=0):
    """Let a process write no file further than this: to it, the disk is full."""
    before = resource.prlimit(process, resource.RLIMIT_FSIZE)
    resource.prlimit(process, resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.prlimit(process, resource.RLIMIT_FSIZE, before)


WIDE = pa.table(
    {
        "age": pa.array([20 + i % 7 for i in range(20_000)], pa.int64()),
        # Every text once, and none that is shorter when compressed.
        "note": [f"{i * 2654435761 % 2**32:x}{i * 40503 % 2**32:x}" for i in range(20_000)],
    }
)
"""Rows that need more room than a small disk has."""

WIDE_POLICY = sf.Policy(
    columns={"age": "quasi-identifier", "note": "plain"}, models=[sf.models.KAnonymity(5)]
)


def counted(table):
    """Count what is published, whatever order it is in."""
    names = table.column_names
    rows = table.group_by(names, use_threads=False).aggregate([([], "count_all")])
    return sorted(map(str, zip(*(rows.column(n).to_pylist() for n in [*names, "count_all"]),
                               strict=True)))  # fmt: skip
