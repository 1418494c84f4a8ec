"""Start a ledger and publish on it from the command line, and be killed at chosen steps.

    python killing.py FOLDER HOW_MANY

A step is whatever changes the disk: a file that is opened to be written, a name that is given,
changed or removed, a file that is put on the disk, a statement of the ledger's database. After each
kill the same command is given again, and what both left behind is looked at. Run as a script:
what the commands import is imported first, and every command is a child that is forked off.
"""

import json
import os
import shutil
import signal
import sqlite3
import sys
from contextlib import suppress
from importlib import import_module
from math import sqrt
from pathlib import Path

import sfumato as sf
from tests.cli.conftest import POLICY, everything_in

ILL = ["flu", "gout", "hiv", "cold"]
MARK = "rawperson"
"""What the identifiers begin with: in no file but the rows that are given."""

OLD, NEW = 16, 8
"""How many people there are, and how many join."""

COMMANDS = {
    "start": "ledger start work/x.ledger apart --alpha 0.5 -k 2 -p policy.yaml --data old.csv",
    "increment": "ledger add work/x.ledger new.csv -o work/out",
}
CHANGES = {"os.rename", "os.link", "os.remove", "os.mkdir", "os.rmdir", "os.chmod", "os.truncate"}
TRACED = ("BEGIN", "COMMIT", "DELETE", "INSERT INTO releases", "INSERT INTO pending")
"""Statements before which something may go wrong. The rest is not written before they are over."""


class Steps:
    """Counts the steps of this process, and ends it at one of them."""

    def __init__(self, last: int | None) -> None:
        self.names: list[str] = []
        self.last = last
        sync = os.fsync

        def counted(handle: int) -> None:
            self.take("fsync")
            sync(handle)

        os.fsync = counted
        connect = sqlite3.connect

        def traced(*args, **settings) -> sqlite3.Connection:
            found = connect(*args, **settings)
            found.set_trace_callback(self.trace)
            return found

        sqlite3.connect = traced
        sys.addaudithook(self.hear)

    def take(self, name: str) -> None:
        self.names.append(name)
        if len(self.names) == self.last:
            os.kill(os.getpid(), signal.SIGKILL)

    def hear(self, event: str, given: tuple) -> None:
        writing = os.O_WRONLY | os.O_RDWR
        if event in CHANGES or (event == "open" and given[2] & writing):
            self.take(f"{event} {Path(str(given[0])).name}")

    def trace(self, statement: str) -> None:
        if statement.startswith(TRACED):
            self.take(statement[:30])


def forked(work, answer: Path) -> tuple[int, object]:
    """Do something in a child; return the signal that ended it, or 0, and what it returned."""
    answer.unlink(missing_ok=True)
    child = os.fork()
    if not child:
        try:
            answer.write_text(json.dumps(work()))
        except BaseException as error:  # noqa: BLE001 - the parent must hear of it
            sys.stderr.write(repr(error))
            sys.stderr.flush()
            os._exit(3)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        return os.WTERMSIG(status), None
    if os.WEXITSTATUS(status):
        sys.exit("a child failed")
    return 0, json.loads(answer.read_text())


def run(*commands: str):
    """Run commands, and return exit code and messages of each."""
    from typer.testing import CliRunner

    from sfumato.cli.app import app

    done = [CliRunner().invoke(app, command.split()) for command in commands]
    return [(each.exit_code, each.stdout + each.stderr) for each in done]


def killed(command: str, last: int | None):
    """Run a command up to some step, and return all steps there were."""
    steps = Steps(last)
    [(code, told)] = run(command)
    assert code == 0, told
    steps.last = None
    return steps.names


def look():
    """Return what others see: whether the ledger holds, and the release, if there is one."""
    ledger, out = Path("work/x.ledger"), Path("work/out")
    found = sf.Ledger(ledger) if ledger.exists() else None
    return {
        "told": run("ledger verify work/x.ledger") if found else [],
        "release": run("verify work/out --only-promises")[0] if out.exists() else None,
        "entries": len(found.history) if found else 0,
        "people": found.contents().tables.total if found else 0,
    }


def write_rows(path: str, people: int, first: int) -> None:
    rows = (
        f"{MARK}{first + i},{20 + 10 * (i // 4 % 2)},4711,{ILL[i % len(ILL)]}"
        for i in range(people)
    )
    Path(path).write_text("\n".join(["name,age,zip,ill", *rows, ""]), encoding="utf-8")


def prepare():
    """Make releases and ledgers, and return all modules that this took."""
    write_rows("old.csv", OLD, 0)
    write_rows("new.csv", NEW, 100)
    Path("policy.yaml").write_text(POLICY, encoding="utf-8")
    run("anonymize old.csv -p policy.yaml -o release", "decouple release -o apart")
    Path("work").mkdir()
    shutil.copytree("work", "before-start")
    run(COMMANDS["start"])
    shutil.copytree("work", "before-increment")
    run(COMMANDS["increment"])
    look()
    return list(sys.modules)


def restore(what: str) -> None:
    shutil.rmtree("work", ignore_errors=True)
    shutil.copytree(f"before-{what}", "work")


class Trial:
    """A command that is killed at one step after the other."""

    def __init__(self, what: str, answer: Path) -> None:
        self.what, self.answer = what, answer
        self.command = COMMANDS[what]
        self.before = (0, 0) if what == "start" else (1, OLD)
        self.after = (1, OLD) if what == "start" else (2, OLD + NEW)
        self.refusals = (
            ["exists. Give another name"]
            if what == "start"
            else ["given before, as increment 2", "is release 2 of a ledger"]
        )
        restore(what)
        self.steps = forked(lambda: killed(self.command, None), answer)[1]
        self.committed = 0

    def attempt(self, last: int) -> None:
        """Be killed at a step, look at what is there, and try again."""
        restore(self.what)
        ended, _ = forked(lambda: killed(self.command, last), self.answer)
        assert ended == signal.SIGKILL, "it was not killed"
        _, seen = forked(look, self.answer)
        state = (seen["entries"], seen["people"])
        assert state in (self.before, self.after), "half an entry"
        assert all(code == 0 for code, _ in seen["told"]), seen["told"]
        assert seen["release"] is None or seen["release"][0] == 0, "half a release"
        done = state == self.after
        self.committed += done
        _, [(code, told)] = forked(lambda: run(self.command), self.answer)
        assert code == (2 if done else 0), told
        assert not done or any(each in told for each in self.refusals), told
        if done:
            # What is there already is refused without a look at the ledger. The next one cleans up.
            more = "ledger add work/x.ledger new.csv --again --dry-run"
            _, [(code, told)] = forked(lambda: run(more), self.answer)
            assert code == 0, told
        _, seen = forked(look, self.answer)
        assert (seen["entries"], seen["people"]) == self.after, "someone is lost, or there twice"
        assert self.what == "start" or seen["release"][0] == 0, "no release"
        expected = {"x.ledger"} if self.what == "start" else {"x.ledger", "out"}
        left = {name for name in everything_in("work") if "/" not in name}
        assert left == expected, f"something is left: {left}"
        files = [path for path in Path("work").rglob("*") if path.is_file()]
        assert not any(MARK.encode() in path.read_bytes() for path in files), "names are left"


def main(folder: Path, few: int) -> None:
    os.chdir(folder)
    answer, told = folder / "answer", {}
    for name in forked(prepare, answer)[1]:
        with suppress(ImportError):
            import_module(name)
    for what in COMMANDS:
        trial = Trial(what, answer)
        last = len(trial.steps) - 1
        # Most of what can go wrong goes wrong towards the end.
        moments = (sqrt(i / (few - 1)) for i in range(few))
        tried = sorted({1 + round(last * moment) for moment in moments})
        for step in tried:
            try:
                trial.attempt(step)
            except AssertionError as error:
                sys.exit(f"{what}, killed before {trial.steps[step - 1]!r}: {error}")
        told[what] = {"tried": len(tried), "committed": trial.committed, "steps": trial.steps}
    sys.stdout.write(json.dumps(told))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
