"""The clinic's history, published by a ledger: what is held back, and what an increment costs."""

import shutil
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import cast

import numpy as np

import sfumato as sf
from docs.histories.clinic import VALUES, Clinic, Month, Setting, policy
from docs.papers.results import Record, say
from sfumato.ledger.publishing.increments import Publication
from sfumato.typing import IntArray

K = 5


def publish_history(setting: Setting, alpha: float) -> list[Record]:
    """Publish all months, and return what became of each."""
    clinic = Clinic(setting)
    folder = Path(tempfile.mkdtemp(prefix="history-"))
    try:
        return _Publisher(clinic, alpha, folder).run()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


class _Publisher:
    def __init__(self, clinic: Clinic, alpha: float, folder: Path) -> None:
        self.clinic, self.alpha, self.folder = clinic, alpha, folder
        self.file = folder / "clinic.ledger"
        self.records: list[Record] = []

    def run(self) -> list[Record]:
        ledger: sf.Ledger | None = None
        for number, month in enumerate(self.clinic.run()):
            begun = time.process_time()
            if ledger is None:
                first = fit(self.clinic, month.new, self.alpha)
                ledger, started = self._start(first)
                rest = np.setdiff1d(month.new, first)
                # Those whom the first release cannot take wait in the ledger from the beginning.
                done = ledger.publish(self.clinic.rows(rest), seed=0) if len(rest) else started
            else:
                done = self._publish(ledger, month, number)
            seconds = time.process_time() - begun
            self.records.append(self._describe(number, ledger, done, seconds))
            if number % 10 == 9:
                say(f"  {number + 1}: {self.records[-1]}")
        return self.records

    def _start(self, people: IntArray) -> tuple[sf.Ledger, Publication]:
        source = self.clinic.rows(people)
        release = sf.decouple(sf.anonymize(source, policy(K)), output=self.folder / "0")
        ledger = sf.Ledger.start(
            release, self.file, alpha=self.alpha, k=K, policy=policy(K), source=source
        )
        return ledger, cast("Publication", ledger.started)

    def _publish(self, ledger: sf.Ledger, month: Month, number: int) -> Publication:
        rows, clinic = np.concatenate(month[:3]), self.clinic
        output = self.folder / str(number)
        done = ledger.publish(
            clinic.rows(rows),
            delete=clinic.rows(month.left) if len(month.left) else None,
            correct=clinic.rows(month.corrected, month.before) if len(month.corrected) else None,
            output=output,
            seed=number,
        )
        shutil.rmtree(self.folder / str(number - 1))
        return done

    def _describe(
        self, number: int, ledger: sf.Ledger, done: Publication, seconds: float
    ) -> Record:
        waiting: Counter[str] = Counter()
        for held in done.held:
            kind = "move" if held.ask.moves() else held.ask.kind
            waiting[kind] += held.rows
        refused: Counter[str] = Counter()
        for each in done.refused:
            refused["return" if "left in release" in each.why else "twice"] += each.rows
        tables = done.tables if number and done.tables is not None else ledger.current
        return {
            "month": number + 1,
            "here": int(self.clinic.here.sum()),
            "published": tables.total,
            "cells": len(tables),
            "joined": done.admitted,
            "left": done.left,
            "corrected": done.corrected,
            "withdrawn": done.withdrawn,
            "waiting to join": waiting["add"],
            "waiting to leave": waiting["remove"],
            "waiting to be corrected": waiting["correct"],
            "waiting to move": waiting["move"],
            # In groups that an increment does not concern; a month of the clinic concerns all.
            "waiting elsewhere": done.waiting - sum(waiting.values()),
            "returns refused": refused["return"],
            "twice": refused["twice"],
            "CPU s": round(seconds, 2),
            "ledger MB": round(self.file.stat().st_size / 1e6, 2),
            "release MB": round(
                sum(each.stat().st_size for each in (self.folder / str(number)).iterdir()) / 1e6, 3
            ),
        }


def fit(clinic: Clinic, people: IntArray, alpha: float) -> IntArray:
    """Return the people of the first month whom its groups can take within alpha."""
    known = clinic.known
    group = known["age"] // 20 * 8 + known["region"] * 2 + known["sex"]
    kept = []
    for g in np.unique(group[people]).tolist():
        these = people[group[people] == g]
        while (worst := _excess(clinic, these, alpha)) is not None:
            these = np.delete(these, worst)
        kept.append(these if len(these) >= K else these[:0])
    return np.sort(np.concatenate(kept))


def _excess(clinic: Clinic, people: IntArray, alpha: float) -> int | None:
    """Return the place of one who has a value that is too frequent; None if none is."""
    for name in VALUES:
        codes = clinic.known[name][people]
        counts = np.bincount(codes[codes > 0], minlength=2)
        if counts.max() > alpha * counts.sum():
            return int(np.flatnonzero(codes == counts.argmax())[-1])
    return None
