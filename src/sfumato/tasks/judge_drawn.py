"""The answer on what a mechanism drew: what its promise excludes, and what it rests on."""

from sfumato.attacks.adversary.assumptions import Assumption
from sfumato.attacks.adversary.judging import COUNTING, held_to, judge
from sfumato.attacks.adversary.target import target_of
from sfumato.attacks.at_risk import AdversaryLine, largest
from sfumato.drafting.unprotected import ColumnFinding, find_unprotected
from sfumato.errors import InputError
from sfumato.policy import RiskLevels, Tolerance
from sfumato.policy.adversaries import Knows
from sfumato.releases.drawn import promise_of
from sfumato.releases.manifest import Manifest, SyntheticRecord, drawn_as_asked
from sfumato.releases.opening import Published
from sfumato.releases.release import DecoupledRelease, Release
from sfumato.synthesis.belief import bounds_of, loose_bounds
from sfumato.synthesis.domain import PublicDomain
from sfumato.synthesis.mechanisms import COUNTS
from sfumato.tasks.assessment import Assessment
from sfumato.verifier import Verdict


def judge_drawn(
    release: Published,
    verdict: Verdict,
    levels: RiskLevels,
    tolerated: Tolerance,
    threshold: float | None = None,
    people: int | None = None,
) -> Assessment | None:
    """Return the answer on rows or counts that a mechanism drew; None for any others.

    The promise holds against every adversary, so that none is tried: what it excludes follows from
    its figures. That a mechanism drew the rows is an assumption, unless this process has seen it;
    its price is the people at risk if the rows are people's. Where the promise excludes nothing,
    rows are judged as people's: nearly no noise is none. So they are where a reader names
    roles, or a policy that does not ask for such rows, drawn from that domain: a manifest alone
    does not excuse what the reader's own word says of them.

    Args:
        release: What is judged.
        verdict: What was recomputed of it.
        levels: Where levels begin.
        tolerated: What is tolerated.
        threshold: Probability from which a person is at risk; None takes the policy's.
        people: How many people may be at risk; None takes the policy's.
    """
    rule = tolerated.rule(levels, threshold)
    drawn = promise_of(release, rule)
    if drawn is None or not verdict.holds:
        return None
    bounds = bounds_of(drawn.epsilon, drawn.unit, drawn.rho)
    assert release.record is not None  # noqa: S101 - what was drawn is said there
    rows = release.record.rows.published
    policy = release.policy
    seen = (
        isinstance(release.given, Release | DecoupledRelease) and release.given.policy is not None
    )
    if not (seen or _is_believed(release, release.record, drawn)):
        return None
    at_risk: int | None = None
    columns: tuple[ColumnFinding, ...] = ()
    if not seen:
        # A column that names people is no less one because someone says that it was drawn.
        columns = tuple(each for each in find_unprotected(release) if each.answer == "no")
        target = held_to(target_of(release), policy)
        known = release.quasi_identifiers
        _, lines = judge(target, COUNTING, rule, policy, known)
        at_risk = largest(lines)
    because = "it was drawn here" if seen else None
    text = _assumption(drawn)
    against = tuple(Knows) if policy is None else policy.against
    return Assessment(
        verdict,
        levels=levels,
        columns=columns,
        allowed=tolerated.people if people is None else people,
        assumptions=(Assumption("mechanism", (), text, at_risk, rows, because),),
        adversaries=tuple(
            AdversaryLine(knows, 0, rows, release.quasi_identifiers, counts=knows in against)
            for knows in Knows
        ),
        against=against,
        beliefs=bounds,
        delta=drawn.delta,
        loose=loose_bounds(bounds, rule, drawn.delta, rows),
    )


def _is_believed(release: Published, manifest: Manifest, drawn: SyntheticRecord) -> bool:
    """Return whether the reader has no word against drawn rows, or a policy that asks for them."""
    policy = release.policy
    if policy is None:
        return drawn.mechanism == COUNTS or all(named is None for named in release.named)
    if not drawn_as_asked(manifest, policy):
        return False
    if drawn.mechanism == COUNTS:
        # Its cells are those of the levels that the policy states.
        return True
    try:
        stated = PublicDomain.of(policy, [*drawn.domain]).columns
    except InputError:
        return False
    return {each.name: each.to_dict() for each in stated} == drawn.domain


def _assumption(drawn: SyntheticRecord) -> str:
    library = drawn.library or "a mechanism"
    if drawn.mechanism == COUNTS:
        return (
            f"{library} drew the noise that is said to be in these counts, and domains and levels "
            "were not read off the data"
        )
    return (
        f"{library} drew these rows ({drawn.mechanism}) under the noise that is said, from a "
        "domain that was not read off the data"
    )
