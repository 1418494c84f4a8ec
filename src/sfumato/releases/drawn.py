"""Rows that a mechanism drew: whether they are nobody's, and what is not asked of them then."""

from sfumato.errors import InputError
from sfumato.harm import HarmRule
from sfumato.policy import RiskLevels, Tolerance
from sfumato.releases.manifest import SyntheticRecord
from sfumato.releases.opening import Published
from sfumato.synthesis.belief import bounds_of, promises_nothing
from sfumato.synthesis.mechanisms import COUNTS


def promise_of(release: Published, rule: HarmRule) -> SyntheticRecord | None:
    """Return what rows promise that a mechanism drew; None if they are to be taken for people's.

    They are where no mechanism drew them, and where its promise excludes nothing.

    Args:
        release: The release.
        rule: What harms.
    """
    drawn = None if release.record is None else release.record.drawn
    if drawn is None or release.record is None:
        return None
    bounds = bounds_of(drawn.epsilon, drawn.unit, drawn.rho)
    if promises_nothing(drawn.delta, release.record.rows.published):
        return None
    return None if any(each.excludes_nothing(rule) for each in bounds) else drawn


def require_rows_of_people(release: Published, asked: str) -> None:
    """Raise if what is asked is about people, and a mechanism drew the rows, which are no one's.

    Of tables that are people's, with noise in their counts, the kind of release says what applies.

    Args:
        release: The release.
        asked: What is asked, as the end of a sentence: what would be said of whom.
    """
    policy = release.policy
    levels, tolerated = (
        (RiskLevels(), Tolerance()) if policy is None else (policy.risk_levels, policy.verdict)
    )
    drawn = promise_of(release, tolerated.rule(levels))
    if drawn is None or drawn.mechanism == COUNTS:
        return
    raise InputError(
        f"these rows are nobody's: a mechanism drew them ({drawn}). So there is nobody {asked}. "
        "What the promise lets anyone believe: sfumato verify (sf.verify); attacks on people in "
        "the data, beside others: sf.tools.strangers. To look at the rows as if they were "
        "people's, give the data file itself, with its roles."
    )
