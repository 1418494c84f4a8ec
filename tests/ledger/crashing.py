"""Publish again and again, and be killed at a random moment of each. Run as a script.

    python crashing.py FOLDER ROUNDS SEED

People join, leave and move to another group. After every kill the ledger must be in the state
before or after, and the folder whole or absent.
What the first child had to import is imported before the others are forked, so that they start at
once; no table library is used before forking, for its threads would not be there afterwards.
"""

import json
import os
import random
import signal
import sys
import time
from contextlib import suppress
from hashlib import sha256
from importlib import import_module
from pathlib import Path

import pyarrow as pa

import sfumato as sf
import sfumato.ledger.publishing.ledger
from sfumato.ledger.pending import staged_names
from sfumato.ledger.store import reading
from tests.ledger.releases import START, counted, grouped_of, sums_of, sums_of_folder

NEW = [
    ("20s", "flu", "high"),
    ("20s", "gout", "low"),
    ("20s", "hiv", "low"),
    ("20s", "cold", "high"),
]
NAMES = ("age", "ill", "pay")
WAYS = ("rows", "delete", "correct")
ENOUGH = 16
"""People of the group from which some leave or move."""


def publish_in_a_child(ledger: Path, target: Path, seed: int, how: str = "rows") -> int:
    child = os.fork()
    if child:
        return child
    try:
        rows = pa.table({name: [row[i] for row in NEW] for i, name in enumerate(NAMES)})
        if how == "correct":
            rows = rows.append_column("old_age", rows["age"])
            rows = rows.set_column(0, "age", pa.array(["30s"] * len(NEW)))
        sf.Ledger(ledger).publish(**{how: rows}, output=target, again=True, seed=seed)
        if target.name == "warm-up":
            (ledger.parent / "imported").write_text("\n".join(sys.modules))
    except BaseException as error:  # noqa: BLE001 - the parent must hear of it
        sys.stderr.write(repr(error))
        sys.stderr.flush()
        os._exit(3)
    os._exit(0)


def is_whole(folder: Path) -> bool:
    manifest = json.loads((folder / "manifest.json").read_text())
    return all(
        sha256((folder / f["name"]).read_bytes()).hexdigest() == f["sha256"]
        for f in manifest["files"]
    )


def state_of(ledger: Path) -> tuple[dict, int]:
    """Return what is published, and how many rows wait."""
    contents = sf.Ledger(ledger).contents()
    return counted(contents.tables), contents.waiting


def require_same(ledger: Path, number: int, folder: Path) -> None:
    """Raise if a folder holds other tables than the ledger has of that release."""
    told = sums_of(counted(sf.Ledger(ledger).contents(number).tables))
    manifest = json.loads((folder / "manifest.json").read_text())
    if manifest["increment"]["tables"] == "newcomers":
        told -= sums_of(counted(sf.Ledger(ledger).contents(number - 1).tables))
    assert sums_of_folder(folder) == told, "a folder and the ledger do not agree"


def main(folder: Path, rounds: int, rng: random.Random) -> None:
    ledger = folder / "x.ledger"
    sf.Ledger.start(grouped_of(START), ledger, alpha=0.5, k=2)
    os.waitpid(publish_in_a_child(ledger, folder / "warm-up", 0), 0)
    for name in (folder / "imported").read_text().splitlines():
        with suppress(ImportError):
            import_module(name)
    begun = time.monotonic()
    os.waitpid(publish_in_a_child(ledger, folder / "usual", 0), 0)
    usual = reach = time.monotonic() - begun
    targets: dict[int, Path] = {2: folder / "warm-up", 3: folder / "usual"}
    survived: dict[str, int] = dict.fromkeys(WAYS, 0)
    for i in range(rounds):
        last = sf.Ledger(ledger).history[-1]["sequence"]
        before = state_of(ledger)
        target = folder / f"out-{i}"
        many = sums_of(before[0])["20s",] >= ENOUGH
        how = rng.choice(WAYS) if many else "rows"
        child = publish_in_a_child(ledger, target, i, how)
        time.sleep(rng.uniform(0, 1.2 * reach))
        os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        assert not (os.WIFEXITED(status) and os.WEXITSTATUS(status)), "a publish failed"
        assert sf.Ledger(ledger).verify() == [], "the chain is broken"
        now = sf.Ledger(ledger).history[-1]["sequence"]
        after = state_of(ledger)
        # Other programs make a publish slower or faster; kills should come before and after.
        reach *= 1.05 if now == last else 0.9
        if now == last:
            assert after == before, "half a release"
            assert not target.exists(), "a folder of a release that never was"
        else:
            survived[how] += 1
            assert now == last + 1
            targets[now] = target
            if how == "rows":
                assert after[0]["20s",][0] >= before[0]["20s",][0] + len(NEW), "half a release"
            with reading(ledger) as db:
                waits = staged_names(db)
            assert target.exists() or waits, "a release without its folder"
        if target.exists():
            assert is_whole(target), "half a folder"
    os.waitpid(publish_in_a_child(ledger, folder / "last", 0), 0)
    targets[sf.Ledger(ledger).history[-1]["sequence"]] = folder / "last"
    assert len(targets) == len(sf.Ledger(ledger).history) - 1
    assert all(is_whole(target) for target in targets.values())
    for number, target in targets.items():
        require_same(ledger, number, target)
    numbers = [entry["rows"] for entry in sf.Ledger(ledger).history]
    rows = sum(each["joined"] - each["left"] for each in numbers)
    assert rows == sf.Ledger(ledger).contents().tables.total, "the history does not add up"
    assert not list(folder.glob(".*.unfinished")), "something was left behind"
    sys.stdout.write(json.dumps({"rounds": rounds, "after": survived, "usual": usual}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), random.Random(int(sys.argv[3])))
