"""Verify: may this be published? Promises recomputed, attacks run, one answer."""

from collections.abc import Sequence
from dataclasses import replace
from importlib import import_module

from sfumato.attacks import ATTACKS, Attack, Linking, Outcome, Target
from sfumato.attacks.adversary.assumptions import assumptions_of
from sfumato.attacks.adversary.claims import chance_claims
from sfumato.attacks.adversary.judging import COUNTING, held_to, judge
from sfumato.attacks.adversary.target import (
    target_of,
    with_earlier,
    with_list,
    with_maker,
    with_members,
)
from sfumato.attacks.adversary.trial import Trial
from sfumato.drafting.unprotected import ColumnFinding, find_unprotected
from sfumato.errors import (
    ParameterError,
    SfumatoError,
    UnknownColumnError,
    names_in,
    require_int,
    require_number,
)
from sfumato.harm import HarmRule
from sfumato.policy import GivenPolicy, Policy, RiskLevels, Tolerance, policy_of
from sfumato.policy.adversaries import Knows
from sfumato.populations import SampleRisk
from sfumato.populations.weights import add_weights
from sfumato.profiles import PROFILES, GivenProfile, Profile, PublishedFacts, profile_of
from sfumato.releases.opening import Published, PublishedTable, Roles, open_release
from sfumato.releases.people import require_people, require_unlinked
from sfumato.releases.recompute import private_columns
from sfumato.releases.release import DecoupledRelease, Release
from sfumato.tables import open_table
from sfumato.tasks.assessment import Assessment
from sfumato.tasks.judge_drawn import judge_drawn
from sfumato.typing import Progress, silent
from sfumato.verifier import Verdict


def _people_promised(release: Published, data: object, population: object) -> object:
    """Return the people whom promises are about: of some slices those who are in the data."""
    # A manifest that cannot be read promises nothing; what is wrong with it is said later.
    promised = () if release.record is None else release.record.models
    about = any("check" in promise.settings for promise in promised)
    return data if population is None and about else population


def verify(  # noqa: PLR0913 - all but two have a default and are named
    what: object,
    policy: GivenPolicy | None = None,
    *,
    population: object = None,
    quasi_identifiers: Sequence[str] | None = None,
    sensitive: Sequence[str] | None = None,
    exact_spelling: Sequence[str] = (),
    attacks: bool | Sequence[str | Attack] = True,
    threshold: float | None = None,
    people: int | None = None,
    data: object = None,
    outside: object = None,
    earlier: object = None,
    people_file: object = None,
    remedies: bool = False,
    profile: GivenProfile | None = None,
    progress: Progress | None = None,
) -> Assessment:
    """Judge whether a release or a table may be published, and why.

    First what it is said to keep is recomputed by code that had no part in making it. A release
    is held to its own manifest, and to the policy too if one is given: that its manifest
    promises less than the policy asks is then a broken check. A plain table is held to the policy
    as it stands; nothing is generalised, and no row counts as suppressed. Then every attack
    that applies is run, and every published column that nothing protects is looked at: one that
    names people is a *no*, one that singles people out, or has no role, leaves *with care* at
    best. A person is at risk if what an adversary believes of them is likely and the release made
    it so: see `sfumato.harm.HarmRule`.

    Does not promise: that the roles are right. A column that others know and that is not
    named a quasi-identifier protects no person.

    Args:
        what: A release, decoupled or not, the folder of one, or a plain table of any origin:
            a path (CSV, Parquet, SPSS, Excel …), a pandas, Polars or Arrow table, or a table of
            DuckDB, PostgreSQL or Spark, which does the counting itself.
        policy: A policy, its path, or its settings as a mapping. A plain table is held to its
            models; a release
            needs it only to find the population's labels and to be compared with.
        population: A path or table of all people the data was drawn from, for the models
            that compare with it, and as a list to link with if there is no other; None takes
            the policy's. For a release, hierarchies are
            built again from the policy for the population's values, so the people the
            release was made from should be among them.
        quasi_identifiers: The columns others may know, if neither a release nor a policy says so.
            Without any, nothing is judged: that is refused.
        sensitive: The columns that should not become known, likewise.
        exact_spelling: Sensitive columns in which values that differ only in spelling (case,
            blanks, forms of Unicode, 1 and 1.0) are different values; those of the policy are,
            too. What a manifest says of it does not count.
        attacks: Whether to attack, or only by which: names from `sf.attacks.ATTACKS`, or attacks.
        threshold: Probability from which a person is at risk; None takes the policy's, or where
            *very high* begins among the risk levels, which is 0.75 by default.
        people: How many people may be at risk by any one attack; None takes the policy's, or 0.
        data: The table the release was made of, for the attack on who is in it and, with the
            policy it was made with, for running the tool on candidates.
        outside: A list of people with some of the quasi-identifiers as they are, and perhaps
            their names, to be linked with the release; None takes the population.
        earlier: A release of the same people before this one, or several in a list: of any kind,
            or tables with the same column names. What they tell together with this one is found.
        people_file: The people file of a release that counts people, which `sf.anonymize` wrote;
            None takes the people that the release has when it was just made. Without either,
            what is promised of people is *not recounted*, and the answer is *with care* at best.
            Of a plain table without the policy's `person`: a table with the same rows that has it.
        remedies: Whether to try what can be done about the reasons, and say what each remedy costs
            and what the answer is afterwards: on `data`, with the policy. Without them, only
            what can be done to the published rows is tried. It takes a few times as long.
        profile: The rule you answer to: the name of a profile from `sf.profiles.PROFILES`, the path
            of one written in YAML, or a mapping; None takes the policy's. Each of its clauses is
            checked as far as a program can. It never makes an answer better.
        progress: Told how far each stage is.

    Example:
        >>> import pyarrow as pa
        >>> import sfumato as sf
        >>> ills = ["flu", "gout", "hiv", "hiv"]
        >>> table = pa.table({"age": ["3*", "3*", "4*", "4*"], "ill": ills})
        >>> found = sf.verify(table, quasi_identifiers=["age"], sensitive=["ill"])
        >>> found.holds
        False
        >>> print(found.attack("homogeneity"))
        homogeneity(ill): 2 of 4 people at risk; strongest belief 100 %, 50 % before
        >>> print(found.attack("homogeneity").worst[0])
        age=4* (2): ill = hiv, 50 % before, 100 % after
    """
    policy = _policy_for(what, policy)
    held = _profile_for(policy, profile)
    if held is not None and not attacks:
        why = "its clauses are about what adversaries learn, and nothing is attacked"
        raise ParameterError("profile", held.called, "left out, or attacks allowed", why=why)
    if remedies:
        # It verifies what it tries, so it is loaded by name.
        priced = import_module("sfumato.tasks.priced_verdict")
        given = {
            "population": population,
            "quasi_identifiers": quasi_identifiers,
            "sensitive": sensitive,
            "exact_spelling": exact_spelling,
            "attacks": attacks,
            "threshold": threshold,
            "people": people,
            "outside": outside,
            "earlier": earlier,
            "people_file": people_file,
            "profile": held,
        }
        tried: Assessment = priced.verify_with_prices(
            what, policy, data=data, options=given, progress=progress
        )
        return tried
    if threshold is not None:
        require_number("threshold", threshold, above=0, at_most=1)
    if people is not None:
        require_int("people", people, at_least=0)
    release = open_release(
        what,
        policy,
        quasi_identifiers=quasi_identifiers,
        sensitive=sensitive,
        people_file=people_file,
    )
    release = _with_spelling(release, exact_spelling)
    verdict = release.recompute(_people_promised(release, data, population))
    apart = _columns_apart(release)
    _require_something(attacks, verdict, policy)
    _require_known(release)
    try:
        if release.manifest is not None and not release.manifest.rows.published:
            # No person is in it, so none can be betrayed.
            return Assessment(verdict)
        levels, tolerated = _bar_of(policy)
        drawn = judge_drawn(release, verdict, levels, tolerated, threshold, people)
        if drawn is not None:
            return _about_drawn(drawn, release, held)
        columns, believed = find_unprotected(release), _believed_roles(release)
        seeded = release.manifest is not None and release.manifest.reproducible
        if not attacks:
            return Assessment(
                verdict,
                untried=("every attack",),
                columns=columns,
                believed=believed,
                reproducible=seeded,
                apart=apart,
            )
        target = target_of(release)
    except SfumatoError:
        # What is wrong with the files has been found already, and is said there.
        if verdict.checks and not verdict.holds:
            return Assessment(verdict)
        raise
    sample = _estimate_sample(target, release)
    target = _inform(target, release, data, outside, population)
    target = _beside_earlier(target, release, earlier, data)
    rule = tolerated.rule(levels, threshold)
    target = held_to(target, policy)
    chosen = list(ATTACKS) if attacks is True else attacks
    allowed = tolerated.people if people is None else people
    found, lines = judge(
        target, chosen, rule, policy, release.quasi_identifiers, progress or silent
    )
    found = tuple(_hide_names(outcome, columns) for outcome in found)
    untried = _list_untried(target, found, rule)
    assumed = assumptions_of(release, target, rule, found, lines)
    facts = PublishedFacts(release, target, found, lines, columns, untried, rule)
    return Assessment(
        verdict,
        found,
        levels,
        allowed,
        untried,
        columns,
        believed,
        seeded,
        apart,
        sample,
        assumed,
        lines,
        tuple(Knows) if policy is None else policy.against,
        refuted=_refuted_claims(release),
        rule=None if held is None else held.judge(facts),
    )


def _beside_earlier(target: Target, release: Published, earlier: object, data: object) -> Target:
    """Return a target with what was published of the same people before, if anything was."""
    if earlier is None:
        return target
    several = earlier if isinstance(earlier, list) else [earlier]
    return with_earlier(target, release, several, data)


def _bar_of(policy: Policy | None) -> tuple[RiskLevels, Tolerance]:
    """Return what is tolerated: the bar is the reader's, and no manifest lowers it for itself."""
    if policy is None:
        return RiskLevels(), Tolerance()
    return policy.risk_levels, policy.verdict


def _about_drawn(found: Assessment, release: Published, held: Profile | None) -> Assessment:
    """Return the answer on synthetic rows, with the roles and the rule that it leaves open."""
    unjudged = () if held is None else (_NO_ROWS_OF_PEOPLE.format(held.called),)
    return replace(found, believed=_believed_roles(release), loose=(*found.loose, *unjudged))


_NO_ROWS_OF_PEOPLE = (
    "the rule {} was not judged: it is about rows of people, and a mechanism drew these"
)


def _profile_for(policy: Policy | None, profile: GivenProfile | None) -> Profile | None:
    """Return the rule that something is held to: as it was named, or as the policy says."""
    given = profile_of(profile)
    return given if given is not None or policy is None else policy.make_profile(PROFILES)


def foresee(trial: Trial, policy: Policy) -> Assessment:
    """Return the verdict on what a trial would publish, as far as the answer goes by it.

    How it was decided keeps the promises, which are not recomputed, and assumptions have no price.

    Args:
        trial: What would be published; it has its release.
        policy: What it is held to.
    """
    release = open_release(trial.release, policy)
    rule = policy.verdict.rule(policy.risk_levels)
    target = held_to(target_of(release), policy)
    found, lines = judge(target, COUNTING, rule, policy, release.quasi_identifiers)
    return Assessment(
        Verdict(()),
        found,
        policy.risk_levels,
        policy.verdict.people,
        columns=find_unprotected(release),
        assumptions=assumptions_of(release, target, rule, found, lines, priced=False),
        adversaries=lines,
        against=policy.against,
    )


def _policy_for(what: object, policy: GivenPolicy | None) -> Policy | None:
    """Return the policy that something is held to: in the hands of its maker, a release's own."""
    given = policy_of(policy)
    return what.policy if given is None and isinstance(what, Release | DecoupledRelease) else given


def _hide_names(outcome: Outcome, columns: Sequence[ColumnFinding]) -> Outcome:
    """Return an outcome whose examples do not name people: reports have more readers than files."""
    named = {name for each in columns if each.kind == "identifier" for name in each.columns}
    if not any(named & {*case.who} for case in outcome.worst):
        return outcome
    shown = [{n: "…" if n in named else v for n, v in case.who.items()} for case in outcome.worst]
    hidden = (replace(case, who=who) for case, who in zip(outcome.worst, shown, strict=True))
    return replace(outcome, worst=tuple(hidden))


def _estimate_sample(target: Target, release: Published) -> SampleRisk | None:
    """Estimate how likely people are found in the population; None if nothing tells of it.

    From what is published alone: suppressed rows are in no estimate. Not for rows in several
    tables, nor for people with several rows or cells that match any: classes share people there.
    """
    classes = target.classes
    if target.counts is None or classes.by_person or classes.overlap is not None:
        return None
    fraction, weight = release.sampling_fraction, release.weight
    if fraction is not None:
        return SampleRisk.of(classes.sizes, fraction=fraction)
    if weight is None:
        return None
    [counts] = release.counts((*release.quasi_identifiers, weight)).tables
    found, people = add_weights(counts, weight)
    shown = people > 0
    if not people.sum() > found.rows[shown].sum() * 1.001:
        # Weights that are scaled to a mean of 1 say nothing of how many people there are.
        return None
    return SampleRisk.of(found.rows[shown], people=people[shown], weight=weight)


def _columns_apart(release: Published) -> tuple[str, ...]:
    """Return the columns of a plain table that tell people apart; raise if it is not said which."""
    policy = release.policy
    if policy is None or not release.is_plain:
        return ()
    require_unlinked(release.table, policy)
    person = policy.counted_person
    if person is None:
        require_people(release.table, policy)
    elif person not in release.table.columns and release.people_file is None:
        raise ParameterError(
            "people_file",
            None,
            f"a table with these rows and the column {person!r}",
            why=f"the policy counts people by {person!r}, and nothing here says whose the rows "
            f"are. Give it (--people-file), or judge the table with its {person!r}",
        )
    return tuple(name for name in private_columns(policy) if name in release.table.columns)


def _believed_roles(release: Published) -> dict[str, tuple[str, ...]]:
    """Return the columns of each role, if only the manifest says what they are."""
    manifest = release.manifest
    if manifest is None or release.policy is not None or release.named != Roles(None, None):
        return {}
    found: dict[str, list[str]] = {}
    for column in manifest.columns:
        # What others know belongs to the role.
        said = " (known: false)" if column.known is False else ""
        found.setdefault(f"{column.role}{said}", []).append(column.name)
    return {role: tuple(names) for role, names in found.items()}


def _refuted_claims(release: Published) -> tuple[str, ...]:
    """Return what a manifest says of chance that no one believes, and why."""
    return tuple(
        f"its manifest says {each}. The column is judged as it stands"
        for each in chance_claims(release)
        if not each.believed
    )


def _with_spelling(release: Published, names: Sequence[str]) -> Published:
    """Return a release with columns in which spellings are different values."""
    exact = names_in("exact_spelling", names)
    for name in exact:
        if name not in release.sensitive:
            raise UnknownColumnError(name, release.sensitive, where="the sensitive columns")
    return replace(release, exact_spelling=exact) if exact else release


def _require_known(release: Published) -> None:
    """Raise if nothing says what an adversary knows: then no class could be too small.

    A release without quasi-identifiers is not a wrong request but a broken check.
    """
    named = release.named.quasi_identifiers
    plain = isinstance(release, PublishedTable) and release.manifest is None
    # A release that cannot be read has no roles to ask for; the verdict says what is wrong.
    unknown = plain and not release.quasi_identifiers and not release.sets
    if (named is not None and not named) or unknown:
        raise ParameterError(
            "quasi_identifiers",
            named,
            "the columns that others may know, at least one",
            why="without any, every table would look safe. Name them (--qi age,zip), or give a "
            "policy (-p policy.yaml)",
        )


def _list_untried(target: Target, found: Sequence[Outcome], rule: HarmRule) -> tuple[str, ...]:
    """Return the names of attacks that count and apply to a release, and were not tried on it."""
    # One that could not be gone through to its end is not tried either; some say why themselves.
    failed = {outcome.attack for outcome in found if not outcome.tried and not outcome.unreached}
    tried = {outcome.attack for outcome in found} - failed
    return tuple(
        name for name in COUNTING if name not in tried and ATTACKS[name].against(target, rule)
    )


def _require_something(attacks: object, verdict: Verdict, policy: Policy | None) -> None:
    """Raise if no attack is asked for and nothing is promised, or if a list has no attack."""
    if attacks:
        return
    if not isinstance(attacks, bool):
        raise ParameterError("attacks", attacks, "True, False, or a list of names or attacks")
    if policy is None and not verdict.checks:
        raise ParameterError(
            "policy",
            None,
            "a policy with the roles of the columns and the models",
            why="a plain table promises nothing by itself. Name the policy it should keep "
            "(-p policy.yaml), give the folder of a release, or let it be attacked",
        )


def _inform(
    target: Target, release: Published, data: object, outside: object, population: object
) -> Target:
    """Attach what an adversary has besides the release.

    Args:
        target: The release as it is attacked.
        release: The same, opened.
        data: The table it was made of, if it was given.
        outside: A list of people, if one was given.
        population: All people the data was drawn from; they are the list if there is no other.
    """
    if population is None and release.policy is not None:
        population = release.policy.population_table
    linked = bool(Linking.against(target, HarmRule()))
    if outside is not None and linked:
        target = with_list(target, release, outside)
    elif outside is not None:
        # A list that cannot be read is refused even if no person can be linked by it.
        open_table(outside)
    elif population is not None and linked:
        target = with_list(target, release, population, names=release.quasi_identifiers)
    if data is None or not release.quasi_identifiers:
        # What is attached to it goes by the quasi-identifiers of people.
        return target
    return with_maker(with_members(target, release, data), release, data)
