"""Small clinics on a ledger for two years: what is published when, and how far off totals are."""

import shutil
import tempfile
from itertools import product
from pathlib import Path

import numpy as np
import pyarrow as pa

import sfumato as sf
from docs.histories.clinic import VALUES, Clinic, Month, Setting
from docs.papers.results import Record, say
from sfumato.typing import IntArray

BEFORE = 4
"""Months whose people are in the first release."""

MONTHS = 24
NEWCOMERS = (100, 400)
ALPHAS = (0.5, 0.34)
SENSITIVE = ("diagnosis", "ward")
FEWEST = 20
"""Totals of values that fewer people have are not compared."""

K = 5


def policy(alpha: float) -> sf.Policy:
    """Return a policy by which the first release is within alpha: its levels are found."""
    ages = {"kind": "intervals", "widths": [20, 40]}
    return sf.Policy(
        columns={
            "id": "identifier",
            "age": {"role": "quasi-identifier", "hierarchy": ages},
            "region": {"role": "quasi-identifier", "hierarchy": {"kind": "star"}},
            "sex": "quasi-identifier",
            **dict.fromkeys(SENSITIVE, "sensitive"),
        },
        models=[
            sf.models.KAnonymity(K),
            *(sf.models.ProbabilisticLDiversity(name, 1 / alpha) for name in SENSITIVE),
        ],
    )


def run_streams(months: int = MONTHS) -> list[Record]:
    """Publish every clinic, with who waits told and hidden."""
    found = []
    for newcomers, alpha, hidden in product(NEWCOMERS, ALPHAS, (False, True)):
        record = _Stream(newcomers, alpha, months, hidden=hidden).run()
        say(f"{newcomers} a month, alpha {alpha}, {'hidden' if hidden else 'told'}: {record}")
        found.append(record)
    return found


class _Stream:
    def __init__(self, newcomers: int, alpha: float, months: int, *, hidden: bool) -> None:
        setting = Setting(
            months=BEFORE + months, newcomers=newcomers, leaving=0.03, leaving_of_all=True
        )
        self.clinic, self.alpha, self.hidden = Clinic(setting), alpha, hidden
        self.came = np.arange(setting.months * newcomers) // newcomers

    def run(self) -> Record:
        """Return what became of the newcomers, and of those who left."""
        folder = Path(tempfile.mkdtemp(prefix="stream-"))
        try:
            return self._run(folder)
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def _run(self, folder: Path) -> Record:
        clinic, last = self.clinic, self.clinic.setting.months - 1
        ledger: sf.Ledger | None = None
        aside = 0
        left: set[int] = set()
        for number, month in enumerate(clinic.run()):
            if number == BEFORE - 1:
                ledger = self._start(folder, number)
            elif ledger is not None:
                output = folder / "last" if number == last else None
                aside = self._publish(ledger, month, number, output)
                left |= {*month.left.tolist()}
        assert ledger is not None  # noqa: S101 - it began after some months
        return {
            "newcomers": clinic.setting.newcomers,
            "alpha": self.alpha,
            "hidden": self.hidden,
            "aside": aside,
            **self._describe(ledger, left),
            **self._compare(folder / "last"),
        }

    def _start(self, folder: Path, number: int) -> sf.Ledger:
        people = np.flatnonzero(self.clinic.here)
        source = self._rows(people)
        release = sf.decouple(
            sf.anonymize(source, policy(self.alpha), seed=number), "break-merge", seed=number
        )
        return sf.Ledger.start(
            release,
            folder / "clinic.ledger",
            alpha=self.alpha,
            policy=policy(self.alpha),
            source=source,
            hide_waiting=self.hidden,
        )

    def _rows(self, people: IntArray, before: dict[str, IntArray] | None = None) -> pa.Table:
        names = [name for name in VALUES if name not in SENSITIVE]
        names += [f"old_{name}" for name in names] if before else []
        return self.clinic.rows(people, before).drop_columns(names)

    def _publish(self, ledger: sf.Ledger, month: Month, number: int, output: Path | None) -> int:
        # Who came before the first release and is gone is unknown to the ledger.
        done = ledger.publish(
            self._rows(np.concatenate(month[:3])),
            delete=self._rows(month.left) if len(month.left) else None,
            correct=self._rows(month.corrected, month.before) if len(month.corrected) else None,
            output=output,
            say_left=output is not None,
            again=True,
            seed=number,
        )
        return done.aside

    def _describe(self, ledger: sf.Ledger, left: set[int]) -> Record:
        """Return who is published, and when, of those who came after the first release."""
        names = [f"p{person:06d}" for person in range(len(self.came))]
        found = ledger.find(names)
        new = [i for i in range(len(names)) if self.came[i] >= BEFORE]
        joined = {i: found[i].joined for i in new}
        # The first increment is release 2, in month BEFORE.
        late = [n - 2 - int(self.came[i] - BEFORE) for i, n in joined.items() if n is not None]
        delays = [months for months in late if months > 0]
        gone = [i for i in left if not self.clinic.here[i] and found[i].joined is not None]
        return {
            "came": len(new),
            "published": len(late),
            "in their month": sum(months <= 0 for months in late),
            "mean delay": sum(delays) / max(len(delays), 1),
            "left": len(gone),
            "counted still": sum(found[i].left is None for i in gone),
        }

    def _compare(self, folder: Path) -> Record:
        """Return how far off totals are, as they are counted and as they are estimated."""
        here = np.flatnonzero(self.clinic.here)
        counted, estimated = [], []
        every = sf.estimate(folder, {"sex": ["female", "male"]})
        assert every.staying is not None  # noqa: S101 - the release says who left
        table = self._rows(here)
        for name in SENSITIVE:
            values = table.column(name).to_pylist()
            for value in sorted({each for each in values if each is not None}):
                true = values.count(value)
                if true < FEWEST:
                    continue
                total = sf.estimate(folder, {name: value})
                assert total.staying is not None  # noqa: S101
                counted.append(abs(total.estimate - true) / true)
                estimated.append(abs(total.staying.estimate - true) / true)
        return {
            "here": len(here),
            "rows": every.rows,
            "rows staying": every.staying.rows,
            "totals compared": len(counted),
            "error counted": float(np.mean(counted)),
            "error estimated": float(np.mean(estimated)),
        }
