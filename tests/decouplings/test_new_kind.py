"""A decoupling that no other file knows goes all the way, by the facts it declares."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.counts import sums
from sfumato.decouplings import (
    DECOUPLINGS,
    BreakMerge,
    DecoupledPart,
    Decoupling,
    Parts,
    random_labels,
)
from sfumato.decouplings.base import GroupedTables
from sfumato.decouplings.break_merge import publish
from sfumato.errors import InputError
from sfumato.tasks.membership import membership
from sfumato.verifier.promises import KINDS

AGES = ["20-29", "20-29", "20-29", "30-39", "30-39", "30-39"] * 5
TABLE = pa.table(
    {
        "age": AGES,
        "sex": ["f", "m"] * 15,
        "ill": ["flu", "gout", "hiv"] * 10,
        "pay": ["a", "b"] * 15,
    }
)
ROLES = {"quasi_identifiers": ["age", "sex"], "sensitive": ["ill", "pay"]}


@dataclass(frozen=True)
class Crews(BreakMerge):
    """People who look alike, under another word."""

    name: ClassVar[str] = "crews"
    groups: ClassVar[tuple[str, str]] = ("crew", "crews")


@dataclass(frozen=True)
class Crowd(Decoupling):
    """Everybody in one crowd: exact quasi-identifiers, and how often each value occurs."""

    name: ClassVar[str] = "crowd"
    groups: ClassVar[tuple[str, str]] = ("crowd", "crowds")
    keeps_classes: ClassVar[bool] = False

    def run(self, counts, quasi_identifiers, sensitive, *, rng, plain=()):
        nobody = GroupedTables.of(counts, [], sensitive)
        grouped = replace(nobody, ids=random_labels(len(nobody), rng))
        parts = publish(grouped, rng)
        people = GroupedTables.of(counts, quasi_identifiers, [])
        labels = np.repeat(grouped.labelled, len(people))
        first = publish(replace(people, ids=labels), rng).tables[0]
        tables = (DecoupledPart("qi", "qi", first.content), *parts.tables[1:])
        [table] = grouped.sensitive
        share = int(sums(table.group, table.rows, 1)[0] // table.rows.max())
        named = {"column": table.column.name, "l": 2}
        models: tuple[Mapping, ...] = (
            {"model": "distinct-l-diversity", **named, "measured": {"l": len(table.rows)}},
            {"model": "probabilistic-l-diversity", **named, "measured": {"l": float(share)}},
        )
        return Parts(grouped, parts.group, parts.count, tables, models)

    def companions(self, parts, manifest):
        return {"README.md": "Two tables, and one crowd.\n"}

    @classmethod
    def example(cls):
        return cls()


@pytest.fixture(autouse=True)
def registered(monkeypatch):
    """Registered as a plug-in would be, with its part of the verifier."""
    assert len(DECOUPLINGS)  # Plug-ins are there first: what they find would keep these.
    for member, like in ((Crews, "break-merge"), (Crowd, "anatomy")):
        monkeypatch.setitem(DECOUPLINGS._members, member.name, member)
        monkeypatch.setitem(KINDS, member.name, KINDS[like])


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("inside", [True, False])
def test_groups_of_people_who_look_alike(tmp_path, inside):
    release = sf.decouple(TABLE, "crews", output=None if inside else tmp_path / "out", **ROLES)
    given = release if inside else tmp_path / "out"
    assert release.verdict.holds
    assert sf.verify(given).verdict.holds
    assert sf.utility(TABLE, given, **ROLES, queries=50).queries.mean >= 0
    found = sf.explain(given, {"age": "20-29", "sex": "f"})
    assert "fits 1 of 4 crews" in found.where
    assert sf.breach(given).views
    assert membership(TABLE, given).people == 30
    assert sf.estimate(given, {"ill": "flu"}).exact
    ids = {section.id for section in sf.report(given, data=TABLE).document.sections}
    assert {"dependencies", "breaches"} <= ids


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("inside", [True, False])
def test_groups_of_people_who_differ(tmp_path, inside):
    roles = {**ROLES, "sensitive": ["ill"]}
    release = sf.decouple(TABLE, "crowd", output=None if inside else tmp_path / "out", **roles)
    given = release if inside else tmp_path / "out"
    assert sf.verify(given).verdict.holds
    assert sf.utility(TABLE, given, **roles, queries=50).queries.mean >= 0
    found = sf.explain(given, {"age": "20-29", "sex": "f"})
    assert "fits 1 of 1 crowds, with 30 of 30 people, not all of whom fit" in found.where
    assert sf.estimate(given, {"ill": "flu"}).exact
    assert membership(TABLE, given).matched == 30
    with pytest.raises(InputError, match="not people with the same quasi-identifiers"):
        sf.breach(given)
    ids = {section.id for section in sf.report(given, data=TABLE).document.sections}
    assert "breaches" not in ids
