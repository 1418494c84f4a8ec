"""Run the guards within a budget and print what they found: `python -m tests.fuzz --help`."""

import argparse
import json
import random
import sys
from pathlib import Path

from tests.fuzz.every import GUARDS, lacking
from tests.fuzz.guards import CORPUS, Outcome, hunt, try_case
from tests.warm import warm_readers


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--seconds", type=float, help="budget of all guards together")
    parser.add_argument("--cases", type=int, help="instead: cases of each guard")
    parser.add_argument("--seed", type=int, help="drawn and printed if it is not given")
    parser.add_argument("--guard", action="append", choices=list(GUARDS), help="only these")
    parser.add_argument("--corpus", type=Path, default=CORPUS, help="where faults are kept")
    parser.add_argument("--replay", type=Path, help="try one kept case again")
    given = parser.parse_args()
    if given.replay:
        return replay(given.replay)
    seed = random.SystemRandom().randrange(10**9) if given.seed is None else given.seed
    print(f"seed {seed}", flush=True)
    chosen = {name: GUARDS[name]() for name in given.guard or GUARDS}
    missing = {name: why for name, guard in chosen.items() if (why := lacking(guard))}
    for name, why in missing.items():
        print(f"{name}: left out, {why}")
        del chosen[name]
    seconds = given.seconds if given.seconds or given.cases else 60.0
    total = sum(guard.weight for guard in chosen.values())
    outcomes = []
    for guard in chosen.values():
        share = seconds * guard.weight / total if seconds else None
        outcomes.append(hunt(guard, seed, cases=given.cases, seconds=share, corpus=given.corpus))
        guard.close()
        for text in outcomes[-1].faults.values():
            print(f"\n{guard.name}: {text}", flush=True)
    print("\n" + table(outcomes))
    return int(any(outcome.faults for outcome in outcomes))


def replay(path: Path) -> int:
    guard = GUARDS[path.parent.name]()
    try:
        fault = try_case(guard, json.loads(path.read_text(encoding="utf-8")))
    finally:
        guard.close()
    print(fault or "no fault")
    return int(fault is not None)


def table(outcomes: list[Outcome]) -> str:
    """Return a table of guards, runs and faults."""
    rows = [
        (o.guard, f"{o.runs}", f"{len(o.faults)}", f"{o.tally}", f"{o.seconds:.0f}")
        for o in outcomes
    ]
    rows.append(
        ("all", f"{sum(o.runs for o in outcomes)}", f"{sum(len(o.faults) for o in outcomes)}",
         f"{sum(o.tally for o in outcomes)}", f"{sum(o.seconds for o in outcomes):.0f}")
    )  # fmt: skip
    rows.insert(0, ("guard", "runs", "faults", "cases with one", "seconds"))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for name, *figures in rows:
        right = [cell.rjust(width) for cell, width in zip(figures, widths[1:], strict=True)]
        lines.append("  ".join([name.ljust(widths[0]), *right]))
    return "\n".join(lines)


if __name__ == "__main__":
    with warm_readers():
        sys.exit(main())
