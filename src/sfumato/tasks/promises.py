"""Telling the verifier what was promised, as plain data."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sfumato.policy import Policy
from sfumato.recoding import FullDomainRecoding, Recoding
from sfumato.schema import Role
from sfumato.tasks.stored import for_verifier
from sfumato.text import text_of
from sfumato.verifier import Promises, Verdict, count_population, verify_folder
from sfumato.verifier.manifest import Column, DataFile, Manifest


def promises_of(
    policy: Policy,
    roles: Mapping[str, Role],
    manifest: Mapping[str, Any],
    recoding: Recoding,
) -> Promises:
    """Say what a table in memory should keep."""
    names = policy.quasi_identifiers
    population = None
    if policy.population is not None and isinstance(recoding, FullDomainRecoding):
        people = for_verifier(policy.population)
        population = count_population(people, names, generalization_of(recoding))
    return Promises(
        quasi_identifiers=names,
        sensitive=[name for name, role in roles.items() if role is Role.SENSITIVE],
        models=manifest["models"],
        missing=manifest["missing"],
        published=manifest["rows"]["published"],
        suppressed=manifest["rows"]["suppressed"],
        suppression=manifest["rows"]["suppression"],
        hierarchies=manifest["hierarchies"],
        population=population,
        at_top=at_top_of(recoding),
    )


def verify_release_folder(folder: Path, policy: Policy, recoding: Recoding) -> Verdict:
    """Verify a written release, with the population where models compare with one."""
    if policy.population is None or not isinstance(recoding, FullDomainRecoding):
        return verify_folder(folder)
    people = for_verifier(policy.population)
    return verify_folder(folder, population=people, generalization=generalization_of(recoding))


def claims_in(plain: Mapping[str, Any]) -> Manifest:
    """Give the manifest of a release in memory as the verifier reads those of files."""
    kind = plain.get("kind")
    files = [] if kind is None else plain["files"]
    return Manifest(
        files=tuple(
            DataFile(
                *(f["name"], "", None, f["rows"], "", f["table"], f.get("column")),
                tuple(f.get("columns", ())),
            )
            for f in files
        ),
        columns=tuple(
            Column(c["name"], c["role"], c.get("level"), c.get("height")) for c in plain["columns"]
        ),
        published=plain["rows"]["published"],
        suppressed=plain["rows"]["suppressed"],
        suppression=plain["rows"]["suppression"],
        missing=plain["missing"],
        models=tuple(plain["models"]),
        hierarchies=plain["hierarchies"],
        kind=kind,
        group=plain.get("group", ""),
        count=plain.get("count", ""),
    )


def at_top_of(recoding: Recoding) -> list[str]:
    """Name the columns that have one single value for all rows."""
    if not isinstance(recoding, FullDomainRecoding):
        return []
    return [column.column for column in recoding.columns if column.level == column.height > 0]


def generalization_of(recoding: FullDomainRecoding) -> dict[str, dict[str | None, object]]:
    """Give per column the label each raw text became."""
    return {
        column.column: {
            None if value is None else text_of(value): column.labels[code]
            for value, code in zip(column.values, column.codes.tolist(), strict=True)
            if code >= 0
        }
        for column in recoding.columns
    }
