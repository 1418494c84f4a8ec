"""All guards by name, and the few that need a server."""

import shutil

from tests.fuzz.endings import Endings
from tests.fuzz.guards import Guard
from tests.fuzz.kills import DuckdbKills, LedgerKills, PostgresKills
from tests.fuzz.mutants import Files, Ledgers, Manifests, Policies
from tests.fuzz.readers import Readers
from tests.fuzz.releases import Releases
from tests.fuzz.stored import DuckdbReleases, PostgresReleases, SparkReleases
from tests.fuzz.traces import DuckdbTraces, Traces

GUARDS: dict[str, type[Guard]] = {
    kind.name: kind
    for kind in (
        Releases,
        DuckdbReleases,
        PostgresReleases,
        SparkReleases,
        Traces,
        DuckdbTraces,
        Manifests,
        Ledgers,
        Policies,
        Files,
        Readers,
        LedgerKills,
        DuckdbKills,
        PostgresKills,
        Endings,
    )
}


def lacking(guard: Guard) -> str | None:
    """Return what is not installed of what a guard needs, or None."""
    if guard.needs == "spark" and shutil.which("java") is None:
        return "Java is not installed"
    if guard.needs == "postgres":
        from pathlib import Path

        if not shutil.which("initdb") and not list(Path("/usr/lib/postgresql").glob("*/bin")):
            return "PostgreSQL is not installed"
    return None
