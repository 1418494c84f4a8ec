"""Commands on a busy machine: whoever did the work well says so by the exit code.

Threads of libraries may still hold something of Python's when the interpreter ends, and a machine
with more to do than it can do finds that out.

By hand: `python -m tests.fuzz.endings 200 anonymize`.
"""

import argparse
import gzip
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet

from tests.fuzz.guards import Case, Fault, Guard

ROOT = Path(__file__).parents[2]
ROWS = 20_000

COMMANDS: dict[str, list[str]] = {
    "anonymize": ["anonymize", "{table}", "-p", "{policy}", "-o", "{new}", "-q"],
    "init": ["init", "{table}", "-o", "{new}.yaml"],
    "inspect": ["inspect", "{table}", "-p", "{policy}"],
    "verify": ["verify", "{release}"],
    "detect": ["detect", "{release}"],
    "utility": ["utility", "{table}", "{release}"],
    "report": ["report", "{release}", "-o", "{new}.html"],
    "refused": ["anonymize", "{uneven}", "-p", "{policy}", "-o", "{new}", "-q"],
}
"""What is run, by name; names of files in braces."""

CODES = {"refused": {2}}
"""The exit codes that are right; 0 and 1, which is the verdict's, for what is not named."""

FORMS = ("csv", "csv.gz", "parquet", "feather")


class Endings(Guard):
    """Run a command again and again while all processors are busy."""

    name = "endings"
    few = 1
    patience = 3600

    def __init__(self) -> None:
        self._bench: Bench | None = None

    def draw(self, rng: random.Random) -> Case:
        return {"command": rng.choice([*COMMANDS]), "form": rng.choice(FORMS), "rounds": 2}

    def attempt(self, case: Case, folder: Path) -> None:
        self._bench = self._bench or Bench(Path(tempfile.mkdtemp()))
        with busy():
            codes = [self._bench.run(case["command"], case["form"]) for _ in range(case["rounds"])]
        wrong = Counter(codes) - Counter({code: len(codes) for code in right(case["command"])})
        if wrong:
            raise Fault(f"{case['command']} ends with {min(wrong)}", str(self._bench.last))

    def close(self) -> None:
        if self._bench is not None:
            shutil.rmtree(self._bench.folder)


def right(command: str) -> set[int]:
    """Return the exit codes with which a command may end."""
    return CODES.get(command, {0, 1})


@contextmanager
def busy() -> Iterator[None]:
    """Keep all processors busy, until the block is left or this process ends."""
    burn = "import os\nparent = os.getppid()\nwhile os.getppid() == parent: sum(range(10**6))"
    burners = [
        subprocess.Popen([sys.executable, "-S", "-c", burn]) for _ in range(os.cpu_count() or 1)
    ]
    try:
        yield
    finally:
        for each in burners:
            each.kill()
            each.wait()


POLICY = """
columns:
  age: {role: quasi-identifier, hierarchy: {kind: intervals, widths: [5, 20]}}
  zip: {role: quasi-identifier, hierarchy: masking}
  sex: quasi-identifier
  ill: sensitive
models:
  - {model: k-anonymity, k: 5}
suppression: 5%
"""


class Bench:
    """The files that commands are run on.

    Args:
        folder: An empty one, for all of them.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.last: tuple[list[str], str] = [], ""
        (folder / "policy.yaml").write_text(POLICY)
        self._write_tables()

    def _write_tables(self) -> None:
        rng = random.Random(1)
        people = {
            "age": [rng.randint(18, 90) for _ in range(ROWS)],
            "zip": [str(10_000 + rng.randrange(400)) for _ in range(ROWS)],
            "sex": rng.choices("mf", k=ROWS),
            "ill": rng.choices(["flu", "gout", "asthma"], k=ROWS),
        }
        text = self.folder / "people.csv"
        pyarrow.csv.write_csv(pa.table(people), text)
        (self.folder / "people.csv.gz").write_bytes(gzip.compress(text.read_bytes()))
        (self.folder / "uneven.csv").write_bytes(text.read_bytes() + b"1,2\n")
        pyarrow.parquet.write_table(pa.table(people), self.folder / "people.parquet")
        pyarrow.feather.write_feather(pa.table(people), self.folder / "people.feather")

    def _named(self, form: str) -> dict[str, str]:
        return {
            "table": f"people.{form}",
            "uneven": "uneven.csv",
            "policy": "policy.yaml",
            "release": f"release-{form}",
        }

    def run(self, command: str, form: str) -> int:
        """Run a command, and return how it ended; what it wrote is removed."""
        if "{release}" in COMMANDS[command] and not (self.folder / f"release-{form}").exists():
            code = self._call(command="anonymize", form=form, new=f"release-{form}")
            if code:
                raise RuntimeError(f"the bench cannot be made: {self.last}")
        try:
            return self._call(command=command, form=form, new="new")
        finally:
            for path in self.folder.glob("new*"):
                shutil.rmtree(path) if path.is_dir() else path.unlink()

    def _call(self, *, command: str, form: str, new: str) -> int:
        files = {**self._named(form), "new": new}
        given = [each.format(**files) for each in COMMANDS[command]]
        done = subprocess.run(
            [sys.executable, "-c", "from sfumato.cli import main; main()", *given],
            cwd=self.folder,
            env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
            capture_output=True,
            text=True,
            check=False,
        )
        self.last = given, done.stderr
        return done.returncode


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.endings", description=__doc__)
    parser.add_argument("rounds", type=int)
    parser.add_argument("command", nargs="*", metavar="command", help=", ".join(COMMANDS))
    parser.add_argument("--form", choices=FORMS, default="csv")
    given = parser.parse_args()
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(Path(folder))
        with busy():
            for command in given.command or COMMANDS:
                codes = Counter[int]()
                for _ in range(given.rounds):
                    codes[bench.run(command, given.form)] += 1
                    if {*codes} - right(command):
                        sys.stdout.write(f"{bench.last}\n")
                        break
                failed += bool({*codes} - right(command))
                told = ", ".join(f"{n} times exit {code}" for code, n in codes.items())
                sys.stdout.write(f"{command}: {told}\n")
                sys.stdout.flush()
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
