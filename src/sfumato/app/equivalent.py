"""The same in Python and on the command line: what a page does, and how to do it without one."""

from shlex import quote
from typing import NamedTuple

from sfumato.app.desk import Desk


class Equivalent(NamedTuple):
    """What does the same as a page."""

    command: str
    python: str


def equivalents(desk: Desk, step: str) -> Equivalent:
    """Return the command and the Python that do what a step does."""
    data = "patients.csv" if desk.source is None else _name(desk)
    policy = desk.policy_file.name
    release = "release" if desk.release is None else desk.release.name
    seed = "" if desk.seed is None else f" --seed {desk.seed}"
    seeded = "" if desk.seed is None else f", seed={desk.seed}"
    commands = {
        "data": f"sfumato init {quote(data)} -o {quote(policy)}",
        "roles": f"sfumato inspect {quote(data)} -p {quote(policy)}",
        "hierarchies": f"sfumato hierarchies {quote(data)} -p {quote(policy)}",
        "promises": f"sfumato lattice {quote(data)} -p {quote(policy)}",
        "explore": f"sfumato compare {quote(data)} -p {quote(policy)}",
        "look": f"sfumato anonymize {quote(data)} -p {quote(policy)}{seed} -o {quote(release)}",
        "verdict": f"sfumato verify {quote(release)}",
        "decouple": f"sfumato decouple {quote(release)} -p {quote(policy)} -o decoupled",
        "publish": f"sfumato anonymize {quote(data)} -p {quote(policy)}{seed} -o {quote(release)}",
    }
    calls = {
        "data": f"draft = sf.draft({data!r})",
        "roles": f"print(sf.inspect({data!r}, policy={policy!r}))",
        "hierarchies": f"print(sf.tools.hierarchies({data!r}))",
        "promises": f"print(sf.tools.lattice({data!r}, {policy!r}))",
        "explore": f"print(sf.compare({data!r}, {policy!r}))",
        "look": f"release = sf.anonymize({data!r}, {policy!r}{seeded})",
        "verdict": f"print(sf.verify({release!r}))",
        "decouple": f"sf.decouple({release!r}, policy={policy!r}, output='decoupled')",
        "publish": f"sf.anonymize({data!r}, {policy!r}{seeded}, output={release!r})",
    }
    return Equivalent(commands[step], f"import sfumato as sf\n\n{calls[step]}")


def _name(desk: Desk) -> str:
    source = desk.require_source()
    return source.address if source.kind == "database" else source.name
