"""Publish again and again, and be killed at a random moment of each. Run as a script.

    python crashing.py FOLDER ROUNDS SEED

After every kill the ledger must be in the state before or after, and the folder whole or absent.
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
import sfumato.publishing.ledger
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


def publish_in_a_child(ledger: Path, target: Path, seed: int) -> int:
    child = os.fork()
    if child:
        return child
    try:
        rows = pa.table({name: [row[i] for row in NEW] for i, name in enumerate(NAMES)})
        sf.Ledger(ledger).publish(rows, output=target, again=True, seed=seed)
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


def main(folder: Path, rounds: int, rng: random.Random) -> None:
    ledger = folder / "x.ledger"
    sf.Ledger.start(grouped_of(START), ledger, alpha=0.5, k=2)
    sums = sums_of(counted(sf.Ledger(ledger).contents().tables))
    os.waitpid(publish_in_a_child(ledger, folder / "warm-up", 0), 0)
    for name in (folder / "imported").read_text().splitlines():
        with suppress(ImportError):
            import_module(name)
    begun = time.monotonic()
    os.waitpid(publish_in_a_child(ledger, folder / "usual", 0), 0)
    usual = reach = time.monotonic() - begun
    targets: dict[int, Path] = {2: folder / "warm-up", 3: folder / "usual"}
    survived = 0
    for i in range(rounds):
        last = sf.Ledger(ledger).history[-1]["sequence"]
        before = counted(sf.Ledger(ledger).contents().tables)
        target = folder / f"out-{i}"
        child = publish_in_a_child(ledger, target, i)
        time.sleep(rng.uniform(0, 1.2 * reach))
        os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        assert not (os.WIFEXITED(status) and os.WEXITSTATUS(status)), "a publish failed"
        assert sf.Ledger(ledger).verify() == [], "the chain is broken"
        now = sf.Ledger(ledger).history[-1]["sequence"]
        after = counted(sf.Ledger(ledger).contents().tables)
        # Other programs make a publish slower or faster; kills should come before and after.
        reach *= 1.05 if now == last else 0.9
        if now == last:
            assert after == before, "half a release"
            assert not target.exists(), "a folder of a release that never was"
        else:
            survived += 1
            assert now == last + 1
            targets[now] = target
            assert after["20s",][0] == before["20s",][0] + len(NEW), "half a release"
            with reading(ledger) as db:
                waits = staged_names(db)
            assert target.exists() or waits, "a release without its folder"
        if target.exists():
            assert is_whole(target), "half a folder"
    os.waitpid(publish_in_a_child(ledger, folder / "last", 0), 0)
    targets[sf.Ledger(ledger).history[-1]["sequence"]] = folder / "last"
    assert len(targets) == len(sf.Ledger(ledger).history) - 1
    assert all(is_whole(target) for target in targets.values())
    for target in targets.values():
        sums += sums_of_folder(target)
    held = sums_of(counted(sf.Ledger(ledger).contents().tables))
    assert sums == held, "the folders and the ledger do not add up"
    assert not list(folder.glob(".*.unfinished")), "something was left behind"
    sys.stdout.write(json.dumps({"rounds": rounds, "after": survived, "usual": usual}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), random.Random(int(sys.argv[3])))
