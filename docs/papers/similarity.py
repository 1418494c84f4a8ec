"""Scenario 1: how many of all minimal tables suffer the similarity attack."""

from typing import Any

import numpy as np

from docs.papers.data import CATEGORIES, ILLNESS, ILLNESSES, people
from docs.papers.setting import Setting, policy, settings
from sfumato.attacks import Similarity
from sfumato.counts import FrequencySet
from sfumato.recode.deciding import counted_columns, make_checker
from sfumato.search import Incognito
from sfumato.tables import open_table
from sfumato.typing import IntArray

PARAMETERS = {"k": 4, "p": 2, "alpha": 2}

LIMITS = (0.0, 0.001, 0.01)
"""Shares of the rows that may be suppressed; the thesis does not say what it allowed."""

ATTACK = Similarity(ILLNESS, categories=CATEGORIES)


def similarity(seed: int, reading: str, limit: float) -> list[dict[str, Any]]:
    """Find all minimal tables of each model for one draw, and attack every one."""
    table = open_table(people(seed))
    first, *others = settings(**PARAMETERS)
    counts = table.count(counted_columns(policy(first, reading=reading)))
    about = {"seed": seed, "reading": reading, "limit": limit}
    return [{**about, **_attacked(one, counts, reading, limit)} for one in (first, *others)]


def _attacked(setting: Setting, counts: FrequencySet, reading: str, limit: float) -> dict[str, Any]:
    checker = make_checker(policy(setting, reading=reading, limit=limit), counts)
    *_, found = Incognito().run(checker)
    checks = checker.checks
    assert found.minimal is not None  # noqa: S101 - without a budget it finds them all
    findings = [ATTACK.run(checker.left(checker.check(node))) for node in found.minimal]
    return {
        "model": setting.name,
        "nodes": checker.lattice.size,
        "checks": checks,
        "minimal": len(found.minimal),
        "suffering": sum(finding.suffers for finding in findings),
        "worst_classes": max(finding.classes for finding in findings),
        "worst_rows": max(finding.rows for finding in findings),
    }


def expectation(reading: str = "printed") -> dict[str, Any]:
    """Say what to expect of p-sensitive tables before any illness is drawn, by class sizes alone.

    The nodes are those that are minimal for the first draw. With p = 2 these are the
    minimal 4-anonymous ones, because no class of them has one illness only.
    """
    setting = settings(**PARAMETERS)[0]
    asked = policy(setting, reading=reading)
    checker = make_checker(asked, open_table(people(0)).count(counted_columns(asked)))
    *_, found = Incognito().run(checker)
    assert found.minimal is not None  # noqa: S101 - without a budget it finds them all
    sizes = [checker.left(checker.check(node)).sizes for node in found.minimal]
    return {
        "reading": reading,
        "minimal": len(sizes),
        "most_classes": max(map(len, sizes)),
        "exposed_classes_at_most": max(float(alike(size).sum()) for size in sizes),
        "suffering_tables": sum(1 - float(np.prod(1 - alike(size))) for size in sizes),
    }


def alike(sizes: IntArray) -> np.ndarray:
    """Give the chance that a class shows two illnesses or more, all of one category.

    Of n rows all are in a given category of two illnesses with probability (2/8)^n; in
    two of those 2^n cases they all have the same illness.

    Example:
        >>> alike(np.array([1, 2, 4])).tolist()
        [0.0, 0.125, 0.013671875]
    """
    each = len(ILLNESSES) // len(CATEGORIES)
    n = np.asarray(sizes, dtype=np.float64)
    chance: np.ndarray = len(CATEGORIES) * (
        (each / len(ILLNESSES)) ** n - each * (1 / len(ILLNESSES)) ** n
    )
    return chance
