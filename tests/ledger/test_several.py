"""Ledgers in which people have several rows: the adversary, the rules, and what is told."""

from fractions import Fraction
from itertools import product

import pytest

import sfumato as sf
from sfumato.ledger import increment
from sfumato.ledger import store as ledger_store
from tests.ledger.test_worlds import TinyLedger, group_of, trusted
from tests.ledger.worlds import (
    count_changes,
    count_parts,
    judge,
    judge_people,
    list_worlds,
    person_belief,
    split_components,
    tables_of,
    view_of,
)

__all__ = ["trusted"]


class TinyPanel(TinyLedger):
    """A tiny ledger in which people come again and again."""

    identifiers = ("id", "visit")
    said_of_people = {"person": "id"}  # noqa: RUF012

    def __init__(self, folder, seed, **fixed):
        self.owners = {}
        """Whose each row is."""
        self.most = fixed.pop("most", [2, 2, 3, "any"][seed % 4])
        alphas = {2: (0.67, 0.75, 0.8), 3: (0.75, 0.8, 0.88), "any": (0.34, 0.5, 0.6)}
        fixed.setdefault("alpha", alphas[self.most][seed // 4 % 3])
        self.settings = {"rows_per_person": self.most}
        self.share = 1 - (1 - fixed["alpha"]) ** (1 / (1 if self.most == "any" else self.most))
        super().__init__(folder, seed, **fixed)

    @property
    def limit(self):
        """What values have a good chance with."""
        return self.share + 1e-9

    @property
    def alpha_told(self):
        return Fraction(str(self.alpha))

    def identify(self, row):
        return self.owners[row], row

    def add_people(self, rows):
        found = super().add_people(rows)
        for row in found:
            known = sorted({*self.owners.values()})
            again = known and hasattr(self, "ledger") and self.rng.random() < 0.6
            self.owners[row] = self.rng.choice(known) if again else f"owner of {row}"
        return found

    def note(self, done, folder):
        self.happened["rows above the number"] += sum("rows in the" in r.why for r in done.refused)
        super().note(done, folder)

    @property
    def verdict(self):
        most = 1 if self.most == "any" else self.most
        return judge_people(self.states, self.people, self.owners, most, harmless=self.harmless)

    @property
    def is_kept(self):
        """Whether what is promised holds."""
        found = self.verdict
        return (
            found.strongest <= self.alpha_told
            and found.mixed <= self.alpha_told
            and found.smallest >= self.k
            and not found.shared
        )

    @property
    def rows_of_most(self):
        """The rows of the person who has most."""
        owners = [self.owners[row] for row in self.people]
        return max(map(owners.count, owners))


FEW = {"releases": 4, "wishes": {"": 4, "leave": 2, "move": 1, "correct": 2}}


def check_panels(folder, seeds):
    happened, several = sf_counter(), 0
    for seed in seeds:
        tiny = TinyPanel(folder / str(seed), seed, written=seed % 8 == 0, **FEW)
        assert tiny.agrees, f"seed {seed}"
        assert tiny.is_kept, f"seed {seed}: {tiny.verdict}"
        if tiny.most != "any":
            assert tiny.rows_of_most <= tiny.most, f"seed {seed}"
        else:
            assert not judge(tiny.states, tiny.people, harmless=tiny.harmless).above(
                tiny.alpha_told
            )
        assert tiny.ledger.verify() == []
        happened += tiny.happened
        several += tiny.rows_of_most > 1
    assert several > len(seeds) / 4
    few = {w: happened[w] for w, n in ENOUGH.items() if happened[w] < n * len(seeds)}
    assert not few, happened


def sf_counter():
    from collections import Counter

    return Counter()


ENOUGH = {
    "joined": 4,
    "left": 0.1,
    "moved": 0.05,
    "corrected": 0.05,
    "rows above the number": 0.1,
}


def test_it_is_believed_of_nobody_above_alpha_whose_rows_are_several(tmp_path, trusted):
    check_panels(tmp_path, range(24))
