"""Trying releases of a table that stays in its database: decided on counts, and never written."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from sfumato.errors import InputError
from sfumato.leaks import Findings
from sfumato.policy import Policy
from sfumato.release import Release
from sfumato.tasks.anonymize import Progress, decide, population_of, with_findings
from sfumato.tasks.manifest import build_manifest
from sfumato.tasks.problem import counted_columns
from sfumato.tasks.recoded import recoded
from sfumato.verifier import Verdict

if TYPE_CHECKING:
    from sfumato.engines.ibis.table import IbisTable


class Attempts:
    """Releases of one table, which is counted once for all of them.

    Args:
        table: The opened table.
        policy: What every attempt keeps.
        report: Told how far each stage is.
    """

    def __init__(self, table: "IbisTable", policy: Policy, report: Progress) -> None:
        self._table = table
        self._policy = policy
        self._report = report
        self._roles = policy.check_against(table.columns)
        columns = tuple(dict.fromkeys([*counted_columns(policy), *policy.sensitive]))
        self._counts = table.count(
            columns, progress=lambda done, total: report("count", done, total)
        )
        if not self._counts.total:
            raise InputError("the table has no rows: there is nobody to protect")
        self._population = population_of(policy, report)

    def release(self, refine: Sequence[Findings] = ()) -> Release:
        """Decide as `sf.anonymize` would; what would be published can be counted, and no more."""
        from sfumato.engines.ibis.tried import TriedTable

        asked = with_findings(self._policy, refine) if refine else self._policy
        decided = counted_columns(asked)
        counts = self._counts.project(decided)
        decision = decide(self._policy, asked, counts, self._population, self._report)
        rng = np.random.default_rng()
        published = recoded(self._counts, decision.recoding, decided, rng)
        manifest = build_manifest(asked, self._roles, decision, reproducible=False)
        # Suppressed rows are not among these counts, not even as stars.
        manifest["rows"]["suppression"] = "remove"
        tried = TriedTable(self._table, published)
        return Release(manifest, Verdict(()), place=self._table.name, source=tried)
