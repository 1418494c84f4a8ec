"""Profiles: the rules people answer to, as clauses that are checked.

Every rule is one file and one frozen dataclass; `PROFILES` finds them by name. One's own are
written in YAML, or come from a package (entry point `sfumato.profiles`).
"""

from collections.abc import Mapping
from os import PathLike
from typing import TypeAlias

from sfumato.errors import ParameterError
from sfumato.policy.document import Fault, LinePlaces, faults_of, policy_error
from sfumato.policy.parts import choose
from sfumato.profiles.base import (
    Clause,
    ClauseCheck,
    ClauseFinding,
    ClauseResult,
    ClauseStanding,
    Profile,
    PublishedFacts,
    RuleReport,
)
from sfumato.profiles.checks import CHECKS
from sfumato.profiles.ema_0070 import Ema0070
from sfumato.profiles.hipaa_safe_harbor import HipaaSafeHarbor
from sfumato.profiles.statistics_office import StatisticsOffice
from sfumato.profiles.wp216 import Wp216
from sfumato.profiles.written import WrittenProfile
from sfumato.registry import Registry

__all__ = [
    "CHECKS",
    "PROFILES",
    "Clause",
    "ClauseCheck",
    "ClauseFinding",
    "ClauseResult",
    "ClauseStanding",
    "Ema0070",
    "GivenProfile",
    "HipaaSafeHarbor",
    "Profile",
    "PublishedFacts",
    "RuleReport",
    "StatisticsOffice",
    "Wp216",
    "WrittenProfile",
    "profile_of",
]

PROFILES: Registry[Profile] = Registry(
    "profile",
    "sfumato.profiles",
    [HipaaSafeHarbor, Wp216, Ema0070, StatisticsOffice, WrittenProfile],
)

GivenProfile: TypeAlias = Profile | str | PathLike[str] | Mapping[str, object]
"""A profile, its name, the path of one written in YAML, or a mapping of its name and settings."""

_FILES = (".yaml", ".yml")


def profile_of(given: GivenProfile | None) -> Profile | None:
    """Return the profile that was given.

    >>> profile_of({"profile": "statistics-office", "minimum": 3})
    StatisticsOffice(minimum=3, share=0.9)
    >>> profile_of("wp261")
    Traceback (most recent call last):
    sfumato.errors.PolicyError: profile: no profile 'wp261'. Did you mean 'wp216'? Known:
    'ema-0070', 'file', 'hipaa-safe-harbor', 'statistics-office', 'wp216'.
    """
    if given is None or isinstance(given, Profile):
        return given
    if isinstance(given, PathLike) or (isinstance(given, str) and given.endswith(_FILES)):
        return WrittenProfile(str(given))
    if not isinstance(given, str | Mapping):
        expected = "the name of a profile, the path of one in YAML, or a mapping of its settings"
        raise ParameterError("profile", given, expected)
    try:
        return choose(PROFILES, "profile", given)
    except Fault as fault:
        raise policy_error(faults_of(fault), LinePlaces("profile")) from None
