"""Sfumato: publish data about people without betraying them.

    import sfumato as sf

    release = sf.anonymize("patients.csv", sf.Policy.load("policy.yaml"), output="release")
    print(release)

`sf.widen` makes one row per person of several. `sf.draft` writes a first policy for a table,
`sf.check_policy` says what next month's file would change, `sf.inspect` shows its risk as it is,
`sf.compare` weighs several policies. `sf.anonymize`
generalises the table until the privacy models hold, `sf.detect` finds what the release still gives
away, `sf.protect` mends it, `sf.decouple` publishes sensitive columns apart and `sf.breach`
measures what they leave to guess. `sf.synthesize` draws rows under differential privacy, which no
person has.

`sf.verify` answers whether a release or any table may be published: it recomputes every promise and
runs every attack. `sf.report` shows it on one page, `sf.diff` what changed since the last release,
`sf.explain` what others learn of one person. `sf.sign` and `sf.check_evidence` prove that a release
is unchanged, `sf.Ledger` adds people to it. `sf.utility` measures how well a release still answers
questions, `sf.estimate` answers one from it alone, `sf.read_release` reads it as a data frame.

A policy can name the members of `sf.models`, `sf.hierarchy`, `sf.losses`, `sf.search`,
`sf.partition`, `sf.derivations`, `sf.perturbations` and `sf.decouplings`. The attacks are in
`sf.attacks`, the rules people answer to in `sf.profiles`, the learners of networks in
`sf.networks`, keys in `sf.evidence`, and what is asked more rarely in `sf.tools`.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from sfumato._version import __version__

if TYPE_CHECKING:
    from sfumato import attacks as attacks
    from sfumato import decouplings as decouplings
    from sfumato import derivations as derivations
    from sfumato import evidence as evidence
    from sfumato import hierarchy as hierarchy
    from sfumato import leaks as leaks
    from sfumato import losses as losses
    from sfumato import models as models
    from sfumato import networks as networks
    from sfumato import partition as partition
    from sfumato import perturbations as perturbations
    from sfumato import populations as populations
    from sfumato import profiles as profiles
    from sfumato import samples as samples
    from sfumato import search as search
    from sfumato import tools as tools
    from sfumato.comparison.compare import compare as compare
    from sfumato.comparison.diff import diff as diff
    from sfumato.errors import SfumatoError as SfumatoError
    from sfumato.ledger.publishing.ledger import Ledger as Ledger
    from sfumato.policy import Policy as Policy
    from sfumato.releases.release import Release as Release
    from sfumato.reports.report import report as report
    from sfumato.reports.signing import sign as sign
    from sfumato.tasks.anonymize import anonymize as anonymize
    from sfumato.tasks.breach import breach as breach
    from sfumato.tasks.check_policy import check_policy as check_policy
    from sfumato.tasks.decouple import decouple as decouple
    from sfumato.tasks.detect import detect as detect
    from sfumato.tasks.draft import draft as draft
    from sfumato.tasks.draft import inspect as inspect
    from sfumato.tasks.estimate import estimate as estimate
    from sfumato.tasks.evidence import check_evidence as check_evidence
    from sfumato.tasks.explain import explain as explain
    from sfumato.tasks.protect import protect as protect
    from sfumato.tasks.read_release import read_release as read_release
    from sfumato.tasks.synthesize import synthesize as synthesize
    from sfumato.tasks.utility import utility as utility
    from sfumato.tasks.verify import verify as verify
    from sfumato.tasks.widen import widen as widen

# Where each public name is; a family is a module of its own. `__all__`, the import on first use
# and the reference page follow from this table.
_HOMES = {
    "Ledger": "sfumato.ledger.publishing.ledger",
    "Policy": "sfumato.policy",
    "Release": "sfumato.releases.release",
    "SfumatoError": "sfumato.errors",
    "anonymize": "sfumato.tasks.anonymize",
    "breach": "sfumato.tasks.breach",
    "check_evidence": "sfumato.tasks.evidence",
    "check_policy": "sfumato.tasks.check_policy",
    "compare": "sfumato.comparison.compare",
    "decouple": "sfumato.tasks.decouple",
    "detect": "sfumato.tasks.detect",
    "diff": "sfumato.comparison.diff",
    "draft": "sfumato.tasks.draft",
    "estimate": "sfumato.tasks.estimate",
    "explain": "sfumato.tasks.explain",
    "inspect": "sfumato.tasks.draft",
    "protect": "sfumato.tasks.protect",
    "read_release": "sfumato.tasks.read_release",
    "report": "sfumato.reports.report",
    "sign": "sfumato.reports.signing",
    "synthesize": "sfumato.tasks.synthesize",
    "utility": "sfumato.tasks.utility",
    "verify": "sfumato.tasks.verify",
    "widen": "sfumato.tasks.widen",
}
_FAMILIES = (
    "attacks", "decouplings", "derivations", "evidence", "hierarchy", "leaks", "losses",
    "models", "networks", "partition", "perturbations", "populations", "profiles", "samples",
    "search", "tools",
)  # fmt: skip

__all__ = ["__version__", *_HOMES, *_FAMILIES]  # noqa: PLE0604 - all of them are texts


def __getattr__(name: str) -> Any:  # noqa: ANN401 - of any type
    """Import on first use: `import sfumato` and `sfumato --help` stay fast."""
    if name in _HOMES:
        value = getattr(import_module(_HOMES[name]), name)
    elif name in _FAMILIES:
        value = import_module(f"sfumato.{name}")
    else:
        raise AttributeError(f"module 'sfumato' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
