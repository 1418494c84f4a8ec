"""Verify: may this be published? Promises recomputed, attacks run, one answer."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

from sfumato.attacks import ATTACKS, Attack, KnowledgeBreach, Linking, Outcome, Target
from sfumato.attacks.adversary.target import (
    randomised_columns,
    target_of,
    with_earlier,
    with_list,
    with_maker,
    with_members,
)
from sfumato.attacks.base import ONE_ROW_EACH, accept
from sfumato.drafting.unprotected import (
    ColumnFinding,
    find_unprotected,
    findings_table,
    first_findings,
)
from sfumato.errors import (
    ParameterError,
    SfumatoError,
    UnknownColumnError,
    UnknownNameError,
    names_in,
    require_int,
    require_number,
)
from sfumato.harm import HarmRule
from sfumato.policy import GivenPolicy, Policy, RiskLevels, Tolerance, policy_of
from sfumato.policy.remedies import Accept, GiveRole, Remedy
from sfumato.populations import SampleRisk
from sfumato.populations.weights import add_weights
from sfumato.releases.opening import Published, PublishedTable, Roles, open_release
from sfumato.releases.people import require_people, require_unlinked
from sfumato.releases.recompute import private_columns
from sfumato.schema import Role
from sfumato.showing.content import (
    Badge,
    Cell,
    Content,
    ContentTable,
    Heading,
    Listing,
    Part,
    Sentence,
    Share,
    Showable,
)
from sfumato.tables import open_table
from sfumato.text import join_words
from sfumato.typing import Progress, silent
from sfumato.verifier import Check, Verdict
from sfumato.verifier.models import NOT_RECOUNTED

if TYPE_CHECKING:
    from sfumato.tasks.price import Prices

# May this be published? The promises and the attacks, under one answer.


Answer = Literal["yes", "with care", "no"]


@dataclass(frozen=True)
class Reason:
    """One reason of an answer: a sentence, and what it comes from."""

    text: str
    refuses: bool = False
    """Whether the answer is *no* because of it."""

    outcome: Outcome | None = None
    finding: ColumnFinding | None = None
    check: Check | None = None

    @property
    def remedies(self) -> tuple[Remedy, ...]:
        """Changes of a policy that help: first what is advised, then what else there is."""
        if self.finding is not None:
            return self.finding.remedies
        found = self.outcome
        if found is None or found.accepted:
            return ()
        more: list[Remedy] = [GiveRole(name, Role.DROPPED) for name in found.columns]
        if len(found.columns) == 1 and found.judged:
            # More than one column cannot be accepted as one.
            more.append(Accept(found.columns[0], found.attack, found.concerned))
        return (*found.remedies, *(each for each in more if each not in found.remedies))


@dataclass(frozen=True)
class Assessment(Showable):
    """Everything that was found out about a release, and whether it may be published.

    The answer is *no* if a promise is broken or could not be checked, if an attack the release is
    to withstand puts more people at risk than are allowed, or if a published column names people.
    It is *with care* if without that a belief about a person is of level *moderate* or more (see
    `sfumato.harm`), if a finding was accepted, if an attack that applies was not tried, or only in
    part, if an adversary who knows a column that others do not, as the publisher says, would learn
    of a person what harms very highly, if people were not recounted (which takes the people file,
    and only the publisher has it), if a published column that nothing protects singles people out
    or has no role, if the table still has the column that tells people apart, or if the release was
    drawn with a fixed seed; else *yes*.

    Does not promise: that the roles are right, or that there is no better attack.

    Example:
        >>> checks = (Check("k-anonymity", "holds", {"k": 2}, {"k": 3}),)
        >>> weak = Outcome("linking", None, people=0, of=9, prior=1 / 9, posterior=1 / 3,
        ...     threshold=0.75)
        >>> found = Assessment(Verdict(checks), (weak,))
        >>> found.answer, found.holds, found["k-anonymity"].status
        ('yes', True, 'holds')
    """

    verdict: Verdict
    """The promises, recomputed from the files."""

    attacks: tuple[Outcome, ...] = ()
    levels: RiskLevels = field(default_factory=RiskLevels)
    allowed: int = 0
    """How many people may be at risk by any one attack."""

    untried: tuple[str, ...] = ()
    """The names of attacks that apply and were not asked for."""

    columns: tuple[ColumnFinding, ...] = ()
    """What published columns that nothing protects give away."""

    believed: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """The columns of each role, where nothing but the manifest says so: another role, another
    answer. Empty if a policy or the caller names the roles."""

    reproducible: bool = False
    """Whether others may know the seed that the release was drawn with."""

    apart: tuple[str, ...] = ()
    """The columns that tell people apart in a table, which is judged as if they were left out."""

    sample: SampleRisk | None = None
    """How likely people are found in the population, estimated from the published rows and a
    sampling fraction or weights. It decides nothing: estimates are no promises."""

    perturbed: tuple[str, ...] = ()
    """What chance did to which columns, as the manifest says. Files cannot show it: attacks on
    these columns believe it."""

    prices: "Prices | None" = field(default=None, compare=False)
    """What can be done about the reasons and what it costs, if remedies were tried."""

    @property
    def checks(self) -> tuple[Check, ...]:
        """Every promise, in the order they were checked."""
        return self.verdict.checks

    def __getitem__(self, name: str) -> Check:
        """Find the first check of a name."""
        return self.verdict[name]

    def attack(self, name: str, column: str | None = None) -> Outcome:
        """Find what an attack achieved; with several of a name, the one on a column."""
        for outcome in self.attacks:
            if outcome.attack == name and column in (None, outcome.column):
                return outcome
        known = [outcome.attack for outcome in self.attacks]
        raise UnknownNameError("attack", name if column is None else f"{name}({column})", known)

    @property
    def succeeded(self) -> tuple[Outcome, ...]:
        """The attacks that put more people at risk than are allowed, and were not accepted."""
        return tuple(
            each for each in self.judged if each.people > self.allowed and not each.accepted
        )

    @property
    def judged(self) -> tuple[Outcome, ...]:
        """The attacks that the release is to withstand."""
        return tuple(each for each in self.attacks if each.judged and each.tried)

    @property
    def accepted(self) -> tuple[Outcome, ...]:
        """The attacks that succeed and were accepted, with a reason."""
        return tuple(each for each in self.judged if each.level and each.accepted)

    @property
    def concerns(self) -> tuple[Outcome, ...]:
        """The attacks that are no reason to refuse and still give something away, worst first."""
        left = [
            each
            for each in self.judged
            if each.level and not each.accepted and each not in self.succeeded
        ]
        return tuple(sorted(left, key=_weight))

    @property
    def supposed(self) -> tuple[Outcome, ...]:
        """The attacks that would put people at risk if others knew what they do not know."""
        found = [each for each in self.attacks if each.supposed and each.people > self.allowed]
        return tuple(sorted(found, key=_weight))

    @property
    def named(self) -> tuple[ColumnFinding, ...]:
        """The published columns that name people, unless the publisher said why."""
        return tuple(each for each in self.columns if each.answer == "no")

    @property
    def holds(self) -> bool:
        """Whether it may be published: promises hold, and nothing betrays people.

        That is: no attack puts people at risk, and no column names people.

        A table that promises nothing is judged by the attacks alone; if there were none, nothing
        was looked at, and that is no yes.
        """
        # What only the publisher can recount was not tried here, and is no reason to refuse.
        kept = all(check.status in ("holds", "not recounted") for check in self.checks)
        kept = kept if self.checks else bool(self.attacks)
        return kept and not self.succeeded and not self.named

    @property
    def answer(self) -> Answer:
        """The answer in a word or two: yes, with care, no."""
        if not self.holds:
            return "no"
        care = self.concerns or self.accepted or self.untried or self._unreached
        care = care or self._not_recounted or self.supposed
        columns = any(each.answer != "yes" for each in self.columns)
        return "with care" if care or columns or self.reproducible or self.apart else "yes"

    @property
    def why(self) -> tuple[str, ...]:
        """The reasons of the answer, the weightiest first, each a sentence."""
        return tuple(reason.text for reason in self.reasons)

    @property
    def reasons(self) -> tuple[Reason, ...]:
        """The reasons of the answer, the weightiest first, with what can be done about each."""
        broken = [
            Reason(
                f"the promise {check.name} is {check.status}"
                + (f": {check.detail}" if check.detail else ""),
                refuses=True,
                check=check,
            )
            for check in self.checks
            if check.status not in ("holds", "not recounted")
        ]
        attacked = [
            Reason(outcome.reason, refuses=True, outcome=outcome)
            for outcome in _distinct(self.succeeded)
        ]
        seeded = (*([_SEEDED] if self.reproducible else []), *self._apart, *self._not_recounted)
        first = [Reason(text) for text in seeded]
        accepted = [
            Reason(f"accepted: {each.reason} {each.accepted}", outcome=each)
            for each in self.accepted
        ]
        if broken or attacked or self.named:
            named = [
                Reason(text, refuses=True, finding=each)
                for text, each in first_findings(self.named)
            ]
            return (*broken, *named, *attacked, *first, *accepted)
        columns = [Reason(text, finding=each) for text, each in first_findings(self.columns)]
        if self.answer == "with care":
            care = [Reason(each.reason, outcome=each) for each in _distinct(self.concerns)]
            rest = [Reason(text) for text in (*self._untried, *self._unreached)]
            return (*first, *care, *columns, *self._supposed, *accepted, *rest)
        held = (
            "the promise holds"
            if len(self.checks) == 1
            else f"all {len(self.checks)} promises hold"
        )
        kept = held if self.checks else "nothing is promised"
        told = [e for e in self.attacks if not e.judged and not e.supposed and e.people]
        # What is only told is no reason to refuse, and still not to be denied.
        those = " that is judged" if told else ""
        also = [Reason(f"told only: {outcome}", outcome=outcome) for outcome in told]
        return (Reason(f"{kept} and no attack{those} puts any person at risk"), *also, *columns)

    @property
    def _not_recounted(self) -> tuple[str, ...]:
        names = [check.name for check in self.checks if check.status == "not recounted"]
        if not names:
            return ()
        promised = [name for name in names if name != "people"]
        which = f"not recounted: {join_words(promised)}" if promised else "people not recounted"
        rows = ". Attacks took each row for a person" if self.attacks else ""
        return (f"{which}; {NOT_RECOUNTED}{rows}",)

    @property
    def _apart(self) -> tuple[str, ...]:
        if not self.apart:
            return ()
        told = "tells people apart" if len(self.apart) == 1 else "tell people and households apart"
        which = join_words([repr(name) for name in self.apart])
        return (f"{which} {told}, and the table was judged without: publish it without, too",)

    @property
    def _supposed(self) -> list[Reason]:
        who = "its manifest" if self.believed else "the policy"
        told = f"only if others know what they do not know, as {who} says (known: false):"
        return [Reason(f"{told} {each.reason}", outcome=each) for each in _distinct(self.supposed)]

    @property
    def _untried(self) -> tuple[str, ...]:
        if not self.untried:
            return ()
        applies = "they apply" if len(self.untried) > 1 else "it applies"
        told = f"not tried, though {applies}: {join_words(self.untried)}"
        return (f"{told}; leave out --attack and --only-promises to try all",)

    @property
    def _unreached(self) -> tuple[str, ...]:
        parts = {(each.attack, each.unreached): None for each in self.judged if each.unreached}
        none = {
            each.attack: each.unreached
            for each in self.attacks
            if each.unreached and not each.tried
        }
        return (
            *(f"of {attack} only a part was tried: {part}" for attack, part in parts),
            *(f"{attack} was not tried: {why}" for attack, why in none.items()),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values that JSON can hold."""
        return {
            "answer": self.answer,
            **self.verdict.to_dict(),
            "holds": self.holds,
            "why": list(self.why),
            "levels": self.levels.to_plain(),
            "allowed": self.allowed,
            "untried": list(self.untried),
            "attacks": [outcome.to_dict() for outcome in self.attacks],
            "columns": [found.to_dict() for found in self.columns],
            "believed": {role: list(names) for role, names in self.believed.items()},
            **({} if self.sample is None else {"sample": asdict(self.sample)}),
            **({"perturbed": list(self.perturbed)} if self.perturbed else {}),
            **({} if self.prices is None else {"remedies": self.prices.to_dict()}),
        }

    @property
    def headline(self) -> str:
        """The question and its answer."""
        return f"May it be published? {self.answer.capitalize()}."

    def content(self) -> Content:
        """Return the checks, the attacks, their worst cases, and the answer."""
        reasons = [f"{why[:1].upper()}{why[1:]}" for why in self.why]
        parts: list[Part] = [Listing.of(reasons, most=8)]
        if self.prices is not None:
            prices = self.prices.content()
            parts += [Sentence(prices.headline), *prices.parts]
        if self.checks:
            promises = self.verdict.content()
            parts += [Sentence(promises.headline), *promises.parts]
        else:
            parts.append(Sentence("Nothing is promised."))
        tried = [outcome for outcome in self.attacks if outcome.tried]
        if tried:
            parts.append(ContentTable.of("", _HEADINGS, map(self._attack_row, tried), most=None))
        if self.columns:
            parts.append(findings_table(self.columns, "Columns that nothing protects"))
        if self.believed:
            roles = [f"{role} {join_words(names)}" for role, names in self.believed.items()]
            parts.append(Sentence(f"Roles, by its manifest alone: {'; '.join(roles)}."))
        if self.perturbed:
            told = join_words(self.perturbed)
            parts.append(Sentence(f"Believed, because files cannot show it: {told}."))
        if self.sample is not None:
            parts.append(self.sample.sentence())
        missing = [f"{each.attack} ({each.note})" for each in self.attacks if not each.tried]
        if missing:
            parts.append(Sentence("Not tried: " + ", ".join(missing)))
        return Content(self.headline, tuple(parts), self.answer)

    def _attack_row(self, outcome: Outcome) -> list[Cell]:
        return [
            outcome.attack,
            outcome.about,
            self.result_of(outcome),
            f"{outcome.people} of {outcome.of}",
            outcome.high,
            "" if outcome.prior is None else Share(outcome.prior),
            Share(outcome.posterior or 0.0),
        ]

    def result_of(self, outcome: Outcome) -> Badge:
        """Return whether an attack was withstood, puts people at risk, or is only shown."""
        if not outcome.judged:
            return Badge("told")
        if outcome.accepted and outcome.level:
            return Badge("accepted")
        if outcome.people > self.allowed:
            return Badge("at risk")
        return Badge(str(outcome.level) if outcome.level else "withstood")

    def __repr__(self) -> str:
        return (
            f"<Assessment: {self.answer}, {len(self.checks)} checks, {len(self.attacks)} attacks>"
        )


_SEEDED = (
    "it was drawn with a fixed seed, and who knows that can put the rows back in the order of the "
    "original: not for publication. Make it again without a seed"
)

_HEADINGS = (
    "attack",
    Heading("on", "The sensitive column it is after, and the setting it was tried with."),
    Heading("result", "Told: worth knowing, but no reason to refuse the release."),
    Heading("people at risk", "Those of whom what is believed harms them very highly."),
    Heading("high", "Those of whom it harms them highly."),
    Heading("before", "In the worst case, the belief without the release."),
    Heading("after", "In the worst case, the belief with it."),
)


def _weight(outcome: Outcome) -> tuple[int, int, float]:
    """Return where an outcome stands among others: the worst level and most people first."""
    return -outcome.level, -outcome.concerned, -(outcome.posterior or 0.0)


def _distinct(found: Sequence[Outcome]) -> list[Outcome]:
    """Return outcomes without those that say no more than another: several find one class."""
    kept: list[Outcome] = []
    for each in sorted(found, key=_weight):
        worst = each.worst[:1]
        known = set(worst[0].who) if worst else set()
        said = any(
            other.columns == each.columns
            and other.level >= each.level
            and other.worst
            and set(other.worst[0].who) == known
            for other in kept
        )
        if not said:
            kept.append(each)
    return kept


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
        threshold: From which belief on a person is at risk; None takes the policy's, or where
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
    policy = policy_of(policy)
    if remedies:
        from sfumato.tasks.priced_verdict import verify_with_prices

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
        }
        return verify_with_prices(what, policy, data=data, options=given, progress=progress)
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
    if earlier is not None:
        several = earlier if isinstance(earlier, list) else [earlier]
        target = with_earlier(target, release, several, data)
    # The bar is the reader's: a manifest cannot lower it for itself.
    levels = RiskLevels() if policy is None else policy.risk_levels
    tolerated = Tolerance() if policy is None else policy.verdict
    rule = tolerated.rule(levels, threshold)
    target = replace(target, others=tolerated.others)
    chosen = list(ATTACKS) if attacks is True else attacks
    allowed = tolerated.people if people is None else people
    found = outcomes(target, chosen, rule, progress or silent)
    if policy is not None:
        found = tuple(accept(_accept_together(outcome, policy), policy.accept) for outcome in found)
    untried = _list_untried(target, found, rule)
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
        _believed_chance(release),
    )


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


def _believed_chance(release: Published) -> tuple[str, ...]:
    """Return what chance did to columns, as the manifest says."""
    return tuple(f"{each.name} of {name}" for name, each in randomised_columns(release).items())


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
    """Return the names of attacks that apply to a release and were not tried on it."""
    # One that could not be gone through to its end is not tried either.
    failed = {outcome.attack for outcome in found if not outcome.tried}
    tried = {outcome.attack for outcome in found} - failed
    return tuple(
        name for name in ATTACKS if name not in tried and ATTACKS[name].against(target, rule)
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


def outcomes(
    target: Target, asked: Sequence[str | Attack], rule: HarmRule, report: Progress = silent
) -> tuple[Outcome, ...]:
    """Run attacks on a release; of those that are named, everything that applies."""
    if isinstance(asked, str) or not isinstance(asked, Sequence):
        raise ParameterError("attacks", asked, "True, False, or a list of names or attacks")
    found: list[Outcome] = []
    for position, each in enumerate(asked):
        name = each.name if isinstance(each, Attack) else each
        report(f"attacking: {name}", position, len(asked))
        if isinstance(each, Attack):
            found.append(_run(each, _target_for(target, each), rule))
            continue
        kind = ATTACKS[each]
        tried = [_run(attack, target, rule) for attack in kind.against(target, rule)]
        for other in target.also:
            # What is not after a sensitive column was tried already.
            more = [_run(attack, other, rule) for attack in kind.against(other, rule)]
            tried += [_within(other, one) for one in more if one.column is not None]
        found += tried
        if not tried:
            found.append(_not_tried(kind, target, rule))
    return tuple(found)


def _run(attack: Attack, target: Target, rule: HarmRule) -> Outcome:
    """Attack a release; what can be done about it is said as changes of a policy, too."""
    outcome = attack.on(target, rule)
    if outcome.remedies or not outcome.level:
        return outcome
    return replace(outcome, remedies=attack.remedies(outcome, rule))


def _within(target: Target, outcome: Outcome) -> Outcome:
    """Return an outcome that says so, if one of several columns that stay together is known."""
    if target.counts is None or outcome.attack != KnowledgeBreach.name:
        return outcome
    settings = {**outcome.settings, "together": list(target.sensitive)}
    advice = (
        "If they are meant to stay together, hold it to the policy that says so (-p policy.yaml); "
        "else leave that out, and they are published apart."
    )
    return replace(outcome, settings=settings, advice=advice)


def _accept_together(outcome: Outcome, policy: Policy) -> Outcome:
    """Return an outcome as accepted, if the policy keeps the columns together that it is about."""
    names = outcome.settings.get("together")
    meant = [] if policy.decouple is None else [{*each} for each in policy.decouple.together]
    if not isinstance(names, list) or {*names} not in meant or not outcome.level:
        return outcome
    return replace(outcome, accepted=f"The policy keeps {join_words(names)} together.")


def _target_for(target: Target, attack: Attack) -> Target:
    """Return the target whose sensitive column an attack names."""
    named = getattr(attack, "column", None)
    return next((each for each in target.also if named in each.sensitive), target)


def _not_tried(kind: type[Attack], target: Target, rule: HarmRule) -> Outcome:
    why = kind.why_not(target)
    return Outcome(
        kind.name,
        None,
        people=0,
        of=target.classes.n_people,
        prior=None,
        posterior=None,
        threshold=rule.very_high,
        how=kind.how,
        note=why,
        # It would apply to rows, so that it was not tried is no sign of safety.
        unreached=why if why == ONE_ROW_EACH else "",
    )
