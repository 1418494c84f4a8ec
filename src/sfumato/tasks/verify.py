"""Verify: may this be published? Promises recomputed, attacks run, one answer."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from os import PathLike
from typing import NamedTuple

from sfumato.assessment import Assessment
from sfumato.attacks import ATTACKS, Attack, Linking, Outcome, Target
from sfumato.broken import Broken
from sfumato.checks import require_int, require_number
from sfumato.engines import open_table
from sfumato.errors import ParameterError, SfumatoError
from sfumato.policy import Policy, Tolerance
from sfumato.tasks.broken_tables import parts_of
from sfumato.tasks.facets import with_list, with_members
from sfumato.tasks.published import Published, published
from sfumato.tasks.recompute import recomputed
from sfumato.tasks.stored import open_stored
from sfumato.tasks.subject import manifest_of, risk_levels_of
from sfumato.tasks.target import target_of
from sfumato.verifier import Verdict


def verify(  # noqa: PLR0913 - all but two have a default and are named
    what: object,
    policy: Policy | str | PathLike[str] | None = None,
    *,
    population: object = None,
    quasi_identifiers: Sequence[str] | None = None,
    sensitive: Sequence[str] | None = None,
    attacks: bool | Sequence[str | Attack] = True,
    threshold: float | None = None,
    people: int | None = None,
    data: object = None,
    outside: object = None,
    earlier: object = None,
) -> Assessment:
    """Say whether a release or a table may be published, and why.

    First what it is said to keep is recomputed by code that had no part in making it. A release
    is held to its own manifest, and to the policy too if one is given: that its manifest
    promises less than the policy asks is then a broken check. A plain table is held to the policy
    as it stands; nothing is generalised, and no row counts as suppressed. Then every attack
    that applies is run. Somebody is at risk if an adversary's belief reaches the threshold and the
    release at least halved the doubt.

    Does not promise: that the roles are right. A column that others know and that is not
    named a quasi-identifier protects nobody.

    Args:
        what: A release, decoupled or not, the folder of one, or a plain table, whoever made it:
            a path (CSV, Parquet, Feather), a pandas, Polars or Arrow table, or a table of DuckDB,
            PostgreSQL or Spark, which does the counting itself.
        policy: A policy or the path of one. A plain table is held to its models; a release
            needs it only to find the population's labels and to be compared with.
        population: A path or table of everybody the data was drawn from, for the models
            that compare with it, and as a list to link with if there is no other; None takes
            the policy's. For a release, hierarchies are
            built again from the policy for the population's values, so the people the
            release was made from should be among them.
        quasi_identifiers: The columns others may know, if neither a release nor a policy says so.
        sensitive: The columns nobody should learn, likewise.
        attacks: Whether to attack, or only by which: names from `sf.attacks.ATTACKS`, or attacks.
        threshold: From which belief on somebody is at risk; None takes the policy's, or where
            *very high* begins among the risk levels, which is 0.75 if nobody says otherwise.
        people: How many people may be at risk by any one attack; None takes the policy's, or 0.
        data: The table the release was made of, for the attack on who is in it.
        outside: A list of people with some of the quasi-identifiers as they are, and perhaps
            their names, to be linked with the release; None takes the population.
        earlier: The decoupled release before this one, to find out what the two tell together.

    Example:
        >>> import pyarrow as pa
        >>> import sfumato as sf
        >>> ills = ["flu", "gout", "hiv", "hiv"]
        >>> table = pa.table({"age": ["3*", "3*", "4*", "4*"], "ill": ills})
        >>> found = sf.verify(table, quasi_identifiers=["age"], sensitive=["ill"])
        >>> found.holds
        False
        >>> print(found.attack("homogeneity"))
        homogeneity(ill): 2 of 4 people at risk; strongest belief 100%, 50% before
        >>> print(found.attack("homogeneity").worst[0])
        age=4* (2): ill = hiv, 50% before, 100% after
    """
    if policy is not None and not isinstance(policy, Policy):
        policy = Policy.load(policy)
    if threshold is not None:
        require_number("threshold", threshold, above=0, at_most=1)
    if people is not None:
        require_int("people", people, at_least=0)
    # One connection for all that follows, and no other state of the table in between.
    what = open_stored(what) or what
    verdict = recomputed(what, policy, population)
    if not isinstance(attacks, bool) and not attacks:
        raise ParameterError("attacks", attacks, "True, False, or a list of names or attacks")
    if not attacks:
        return Assessment(_promising(verdict, policy))
    roles = (quasi_identifiers, sensitive)
    try:
        manifest = manifest_of(what)
        if manifest is not None and not manifest["rows"]["published"]:
            # Nobody is in it, so nobody can be betrayed.
            return Assessment(verdict)
        target = target_of(what, policy, *roles)
        levels = risk_levels_of(policy, manifest)
    except SfumatoError:
        # What is wrong with the files has been found already, and is said there.
        if verdict.checks and not verdict.holds:
            return Assessment(verdict)
        raise
    opened = partial(published, what, *roles, policy)
    target = _informed(target, opened, data, _Lists(outside, population), policy)
    if earlier is not None:
        target = replace(target, earlier=_parts(earlier))
    tolerated = Tolerance() if policy is None else policy.verdict
    limit = tolerated.from_belief(levels) if threshold is None else threshold
    chosen = list(ATTACKS) if attacks is True else attacks
    allowed = tolerated.people if people is None else people
    return Assessment(verdict, outcomes(target, chosen, limit), levels, allowed)


def _promising(verdict: Verdict, policy: Policy | None) -> Verdict:
    """Refuse to look at nothing: a plain table that promises nothing and is not attacked."""
    if policy is None and not verdict.checks:
        raise ParameterError(
            "policy",
            None,
            "a policy with the roles of the columns and the models",
            why="a plain table promises nothing by itself. Name the policy it should keep "
            "(-p policy.yaml), give the folder of a release, or let it be attacked",
        )
    return verdict


class _Lists(NamedTuple):
    """Who might be looked for: a list, or everybody the data was drawn from."""

    outside: object
    population: object


def _informed(
    target: Target,
    opened: Callable[[], Published],
    data: object,
    lists: _Lists,
    policy: Policy | None,
) -> Target:
    """Give an adversary what there is besides the release."""
    everybody = lists.population
    if everybody is None and policy is not None:
        everybody = policy.population
    linked = bool(Linking.against(target, 1))
    if lists.outside is not None and linked:
        target = with_list(target, opened(), lists.outside, policy)
    elif lists.outside is not None:
        # A list that cannot be read is refused even if nobody can be linked by it.
        open_table(lists.outside)
    elif everybody is not None and linked:
        release = opened()
        target = with_list(target, release, everybody, policy, names=release.quasi_identifiers)
    return target if data is None else with_members(target, opened(), data, policy)


def _parts(earlier: object) -> Broken:
    """Open the release before."""
    parts = parts_of(earlier)
    if parts is None:
        raise ParameterError(
            "earlier",
            earlier,
            "a release decoupled by break-merge, or its folder",
            why="what two releases tell together is found by subtracting their tables",
        )
    return parts[0]


def outcomes(
    target: Target, asked: Sequence[str | Attack], threshold: float
) -> tuple[Outcome, ...]:
    """Run attacks on a release; of those that are named, everything that applies."""
    if isinstance(asked, str) or not isinstance(asked, Sequence):
        raise ParameterError("attacks", asked, "True, False, or a list of names or attacks")
    found: list[Outcome] = []
    for each in asked:
        if isinstance(each, Attack):
            found.append(each.on(target, threshold))
            continue
        kind = ATTACKS[each]
        tried = kind.against(target, threshold)
        found += [attack.on(target, threshold) for attack in tried]
        if not tried:
            found.append(_not_tried(kind, target, threshold))
    return tuple(found)


def _not_tried(kind: type[Attack], target: Target, threshold: float) -> Outcome:
    return Outcome(
        kind.name,
        None,
        people=0,
        of=target.classes.total,
        prior=None,
        posterior=None,
        threshold=threshold,
        how=kind.how,
        note=kind.why_not(target),
    )
