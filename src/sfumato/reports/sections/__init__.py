"""The sections of a report, one file each, in the order in which they are read."""

from sfumato.reports.sections.attacks import ATTACKS
from sfumato.reports.sections.base import Chapter
from sfumato.reports.sections.breaches import BREACHES
from sfumato.reports.sections.checks import CHECKS
from sfumato.reports.sections.columns import COLUMNS
from sfumato.reports.sections.correlations import CORRELATIONS
from sfumato.reports.sections.dependencies import DEPENDENCIES
from sfumato.reports.sections.headroom import HEADROOM
from sfumato.reports.sections.levels import LEVELS
from sfumato.reports.sections.people import PEOPLE
from sfumato.reports.sections.promises import PROMISES
from sfumato.reports.sections.rule import RULE
from sfumato.reports.sections.shift import SHIFT
from sfumato.reports.sections.utility import UTILITY
from sfumato.reports.sections.verdict import VERDICT

CHAPTERS: tuple[Chapter, ...] = (
    VERDICT,
    RULE,
    CHECKS,
    COLUMNS,
    PEOPLE,
    SHIFT,
    DEPENDENCIES,
    CORRELATIONS,
    BREACHES,
    HEADROOM,
    LEVELS,
    UTILITY,
    ATTACKS,
    PROMISES,
)

__all__ = ["CHAPTERS", "Chapter"]
