"""Sfumato: publish data about people without betraying them.

    import sfumato as sf

    policy = sf.Policy.load("policy.yaml")
    release = sf.anonymize("patients.csv", policy, output="release")
    print(release)

`sf.draft` writes a first policy for a table, `sf.inspect` shows its risk as it is, `sf.compare`
weighs several policies. `sf.anonymize` generalises the table until the privacy models hold,
`sf.detect` finds what the release still tells, `sf.protect` mends it, `sf.decouple` publishes
sensitive columns apart, `sf.merge` joins them again and `sf.breach` says what they leave to guess.

`sf.verify` says whether a release or any table may be published: it recomputes every promise and
runs every attack. `sf.report` shows it on one page, `sf.diff` what changed since the last release,
`sf.explain` what others learn of one person, `sf.membership` whether they can tell who is in it;
`sf.attack` attacks a table as it is. `sf.sign` and `sf.check_evidence` prove that a release is
unchanged, and `sf.Ledger` adds people to it, as many as it takes. `sf.utility` says how well a
release still answers questions, `sf.estimate` answers one from it alone, `sf.correlations` tells
which columns belong together.

Everything a policy can name is in `sf.models`, `sf.hierarchy`, `sf.losses`, `sf.search`,
`sf.partition` and `sf.decouplings`; the attacks are in `sf.attacks`, the learners of networks in
`sf.networks`.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from sfumato._version import __version__

if TYPE_CHECKING:
    from sfumato import (
        attacks,
        decouplings,
        hierarchy,
        leaks,
        losses,
        models,
        networks,
        partition,
        samples,
        search,
    )
    from sfumato.comparison.compare import compare
    from sfumato.comparison.diff import diff
    from sfumato.errors import SfumatoError
    from sfumato.evidence import SigningKey
    from sfumato.policy import Policy
    from sfumato.publishing.ledger import Ledger
    from sfumato.releases.release import Decoupled, Release
    from sfumato.reports.report import report
    from sfumato.tasks.anonymize import anonymize
    from sfumato.tasks.attack import attack
    from sfumato.tasks.breach import breach
    from sfumato.tasks.decouple import decouple, merge
    from sfumato.tasks.detect import detect
    from sfumato.tasks.draft import draft, inspect
    from sfumato.tasks.estimate import estimate
    from sfumato.tasks.evidence import check_evidence, keygen, sign
    from sfumato.tasks.explain import explain
    from sfumato.tasks.membership import membership
    from sfumato.tasks.protect import protect
    from sfumato.tasks.utility import compare_utility, correlations, utility
    from sfumato.tasks.verify import verify

__all__ = [
    "Decoupled",
    "Ledger",
    "Policy",
    "Release",
    "SfumatoError",
    "SigningKey",
    "__version__",
    "anonymize",
    "attack",
    "attacks",
    "breach",
    "check_evidence",
    "compare",
    "compare_utility",
    "correlations",
    "decouple",
    "decouplings",
    "detect",
    "diff",
    "draft",
    "estimate",
    "explain",
    "hierarchy",
    "inspect",
    "keygen",
    "leaks",
    "losses",
    "membership",
    "merge",
    "models",
    "networks",
    "partition",
    "protect",
    "report",
    "samples",
    "search",
    "sign",
    "utility",
    "verify",
]

_WHERE = {
    "Decoupled": "sfumato.releases.release",
    "Ledger": "sfumato.publishing.ledger",
    "Policy": "sfumato.policy",
    "Release": "sfumato.releases.release",
    "SfumatoError": "sfumato.errors",
    "SigningKey": "sfumato.evidence",
    "anonymize": "sfumato.tasks.anonymize",
    "attack": "sfumato.tasks.attack",
    "breach": "sfumato.tasks.breach",
    "check_evidence": "sfumato.tasks.evidence",
    "compare": "sfumato.comparison.compare",
    "compare_utility": "sfumato.tasks.utility",
    "correlations": "sfumato.tasks.utility",
    "decouple": "sfumato.tasks.decouple",
    "detect": "sfumato.tasks.detect",
    "diff": "sfumato.comparison.diff",
    "draft": "sfumato.tasks.draft",
    "estimate": "sfumato.tasks.estimate",
    "explain": "sfumato.tasks.explain",
    "inspect": "sfumato.tasks.draft",
    "membership": "sfumato.tasks.membership",
    "keygen": "sfumato.tasks.evidence",
    "merge": "sfumato.tasks.decouple",
    "protect": "sfumato.tasks.protect",
    "sign": "sfumato.tasks.evidence",
    "report": "sfumato.reports.report",
    "utility": "sfumato.tasks.utility",
    "verify": "sfumato.tasks.verify",
}


def __getattr__(name: str) -> Any:  # noqa: ANN401 - whatever the name stands for
    """Import on first use: `import sfumato` and `sfumato --help` stay fast."""
    if name in _WHERE:
        value = getattr(import_module(_WHERE[name]), name)
    elif name in __all__:
        value = import_module(f"sfumato.{name}")
    else:
        raise AttributeError(f"module 'sfumato' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
