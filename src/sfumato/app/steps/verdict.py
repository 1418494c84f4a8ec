"""Verdict: may it be published, who could learn what, and buttons that do what is advised."""

import secrets
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from sfumato.app.desk import Desk
from sfumato.app.fields import Fields
from sfumato.app.jobs import Job
from sfumato.app.releasing import ReleaseWish, decoupling_of, rows_at_hand
from sfumato.app.steps import ALL, Answer, Context
from sfumato.app.texts import Translator, translator
from sfumato.app.wording import sentence_of
from sfumato.dataclasses import dataclass
from sfumato.errors import InputError, SfumatoError
from sfumato.policy import Policy
from sfumato.policy.adversaries import Knows
from sfumato.policy.parts import ProfileRule, member_settings
from sfumato.policy.remedies import Remedy
from sfumato.profiles import PROFILES, WrittenProfile
from sfumato.releases.release import DecoupledRelease, Release
from sfumato.showing.content import Markup
from sfumato.tasks.assessment import Assessment, Reason
from sfumato.typing import Progress

if TYPE_CHECKING:
    from sfumato.attacks.at_risk import AdversaryLine
    from sfumato.tasks.price import PricedRemedy, Prices, Standing

step = ALL["verdict"]

JOB, OPENED, LEAKS, PRICES = "verdict", "judge", "findings", "prices"
"""The work: to judge the release of the policy, a release that was opened, to find leaks, and to
try what is advised."""

MEANINGS = {
    "yes": "Every promise holds, every attack that applies was tried, and nothing about any person "
    "becomes likely that was not.",
    "with care": "Every promise holds and no person is at risk, but something is open. Read the "
    "reasons before you publish.",
    "no": "Do not publish it as it is. Every reason below says what to do about it.",
}

ADVERSARIES = {
    Knows.QUASI_IDENTIFIERS: "By who knows the quasi-identifiers:",
    Knows.ONE_VALUE: "By who also knows one other value:",
    Knows.TWO_VALUES: "By who also knows two other values:",
}

SIGNS = {"yes": "✓", "with care": "!", "no": "✗"}

NO_COLUMN = "no column of it would be published"

LEVELS = ("low", "moderate", "high", "very high")

TEXTS = (*MEANINGS.values(), *ADVERSARIES.values(), *LEVELS)

_MOST_CASES = 3
_MOST_VALUES = 200
"""The most values of a column that a form suggests."""

_DRAWN = 300
"""Rows of which one is drawn as an example."""


@dataclass(frozen=True)
class VerdictShown:
    """What was judged, and what was found."""

    assessment: Assessment
    release: Release | DecoupledRelease | Path
    whole: Release | None
    """The release in one piece that it was made of; None of a folder or of buckets."""

    original: "tuple[AdversaryLine, ...]" = ()
    """Who would be at risk if the table were published as it is, without identifiers; nothing if
    that was not counted."""

    why_no_original: str = ""
    """Why that was not counted."""

    @property
    def answer(self) -> str:
        """The answer, as the state of the whole shows it."""
        return self.assessment.answer


@step.page
def show(desk: Desk, asked: Fields) -> Context:
    """Return the answer with its reasons, or how far the work is."""
    opened = desk.source is None or "opened" in asked
    job = desk.jobs.get(OPENED if opened else JOB)
    found: VerdictShown | None = job.result if job is not None and job.ready else None
    return {
        "opened": opened,
        "job": job,
        "found": found,
        "reasons": [] if found is None else _describe_all(desk, found, asked.language),
        "signs": SIGNS,
        "meanings": MEANINGS,
        "adversaries": ADVERSARIES,
        "sides": [] if found is None else list(_list_sides(found)),
        "untried": [] if found is None else [o for o in found.assessment.attacks if not o.tried],
        "leaks": _leaks(desk, found),
        "prices": None if opened else _prices(desk, found),
        "prices_job": None if opened else _start_pricing(desk, found),
        "best": None if opened else _best(_prices(desk, found)),
        "leaks_job": None if opened else desk.jobs.get(LEAKS),
        "known": _suggestions(desk) if found is not None and not opened else {},
        "sensitive": () if desk.policy is None else desk.policy.sensitive,
        "person": _person(asked),
        "by": desk.settings.get("by", ""),
        "releases": desk.releases(),
        "seeded": desk.seed is not None,
        "rules": {n: k.title for n, k in PROFILES.items() if k is not WrittenProfile},
        "rule": _rule_of(desk),
    }


def _list_sides(found: VerdictShown) -> "Iterator[tuple[AdversaryLine, AdversaryLine | None]]":
    """Yield what each adversary learns from the release, and from the table as it is."""
    before = {line.knows: line for line in found.original}
    for line in found.assessment.adversaries:
        yield line, before.get(line.knows)


def _rule_of(desk: Desk) -> str:
    """Return what the policy calls the rule that is answered to; empty if it names none."""
    rule = None if desk.policy is None else desk.policy.profile
    return "" if rule is None else str(rule.options.get("file", rule.name))


# The work.


@step.action("judge")
def judge(desk: Desk, asked: Fields) -> Answer:
    """Begin to judge the release of the present policy."""
    start(desk)
    return None


def start(desk: Desk) -> Job:
    """Begin to make the release in memory and to judge it."""
    address, policy, seed = desk.require_source().address, desk.task_policy, desk.seed
    made = desk.jobs.get("release")
    ready: Release | None = None
    if made is not None and made.ready and not desk.is_old(made):
        ready = made.result.release

    def work(report: Progress) -> VerdictShown:
        from sfumato.tasks.verify import verify

        source = rows_at_hand(address)
        wish = ReleaseWish(source, policy, seed=seed)
        decoupling, whole = decoupling_of(policy), ready
        what: Release | DecoupledRelease
        if decoupling is None or decoupling.keeps_classes:
            whole = ready or wish.anonymize(None, progress=report)
        if decoupling is None:
            assert whole is not None  # noqa: S101 - it was just made
            what = whole
        else:
            what = wish.part(whole if decoupling.keeps_classes else source, None, progress=report)
        found = verify(what, policy, data=source, progress=report)
        before, why_not = judge_original(source, policy, report)
        return VerdictShown(found, what, whole, before, why_not)

    return desk.start(JOB, work)


def judge_original(
    source: object, policy: Policy, report: Progress
) -> "tuple[tuple[AdversaryLine, ...], str]":
    """Return how many people each adversary would learn too much of in the table as it is.

    Columns that name people, or are dropped, are left out. If nothing is returned, why not.
    """
    from sfumato.attacks.adversary.judging import COUNTING
    from sfumato.recode.recoded import rows_of
    from sfumato.releases.manifest import PUBLISHED
    from sfumato.releases.preparing import open_prepared
    from sfumato.tasks.verify import verify

    attacks = list(COUNTING)
    if policy.counted_person is not None or policy.sets or policy.weights:
        # Whose rows are whose, what stands in a cell, how many people a row is: the policy says it.
        whole = policy.replace(decouple=None)
        try:
            return verify(source, whole, attacks=attacks, progress=report).adversaries, ""
        except SfumatoError as error:
            return (), str(error)
    table = open_prepared(source, policy)
    names = [name for name in table.columns if policy.role_of(name) in PUBLISHED]
    if not names:
        return (), NO_COLUMN
    counted = table.count(tuple(names), progress=lambda done, total: report("count", done, total))
    rows = rows_of(counted).select(names)
    secret = [name for name in names if name in policy.sensitive]
    known = [name for name in names if name in policy.quasi_identifiers]
    found = verify(
        rows, None, quasi_identifiers=known, sensitive=secret, attacks=attacks, progress=report
    )
    return found.adversaries, ""


@step.action("opened")
def judge_opened(desk: Desk, asked: Fields) -> Answer:
    """Begin to judge a release that lies in the folder, as its recipients see it."""
    folder = desk.release if "folder" not in asked else desk.inside(asked.text("folder"))
    if folder is None or folder not in desk.releases():
        raise InputError("this is no longer a release in the folder. Open another on page Data")
    desk.release = folder

    def work(report: Progress) -> VerdictShown:
        from sfumato.tasks.verify import verify

        return VerdictShown(verify(folder, progress=report), folder, None)

    desk.start(OPENED, work)
    return None


@step.action("prices")
def try_remedies(desk: Desk, asked: Fields) -> Answer:
    """Begin once more to try what is advised, to say what it costs and what the answer is then."""
    _current(desk)
    _price(desk)
    return None


def _start_pricing(desk: Desk, found: VerdictShown | None) -> Job | None:
    """Begin to try what is advised as soon as there is a verdict; what was stopped stays so."""
    job, judged = desk.jobs.get(PRICES), desk.jobs.get(JOB)
    if job is not None and job.running and desk.is_old(job):
        job.stop()
    if found is None or desk.is_old(judged) or (job is not None and not desk.is_old(job)):
        return None if job is None or desk.is_old(job) else job
    able = any(reason.remedies for reason in found.assessment.reasons)
    return _price(desk) if able and found.answer != "yes" else None


def _price(desk: Desk) -> Job:
    address, policy = desk.require_source().address, desk.task_policy

    def work(report: Progress) -> Any:  # noqa: ANN401 - prices, imported where needed
        from sfumato.releases.preparing import open_prepared
        from sfumato.tasks.priced_verdict import price_remedies
        from sfumato.tasks.trying import judge_quickly, judge_trial

        table = open_prepared(rows_at_hand(address), policy)
        return price_remedies(table, policy, judge_trial, quick=judge_quickly, report=report)

    return desk.start(PRICES, work)


@step.action("leaks")
def find_leaks(desk: Desk, asked: Fields) -> Answer:
    """Begin to learn what columns tell about each other in the release that was judged."""
    found, policy = _current(desk), desk.task_policy

    def work(report: Progress) -> Any:  # noqa: ANN401 - findings, imported where needed
        from sfumato.tasks.detect import detect

        return detect(found.release, policy=policy, progress=report)

    desk.start(LEAKS, work)
    return None


def _current(desk: Desk) -> VerdictShown:
    """Return what was judged of the present policy; an error if it was not."""
    job = desk.jobs.get(JOB)
    if job is None or not job.ready or desk.is_old(job):
        raise InputError("the policy has changed, or nothing was judged yet. Judge it first")
    found: VerdictShown = job.result
    return found


# Doing what is advised.


@step.action("mend")
def mend(desk: Desk, asked: Fields) -> Answer:
    """Follow what one reason advises, and judge again."""
    with desk.lock:
        reason = _reason(_current(desk), asked.integer("reason"))
        remedies = reason.remedies
        at = asked.integer("remedy")
        if not 0 <= at < len(remedies):
            raise InputError("this advice is not there any more. Load the page again")
        remedy = remedies[at]
        because, by = asked.text("because", ""), asked.text("by", "")
        if by.strip():
            desk.settings["by"] = by.strip()
        changed = remedy.apply(desk.require_policy(), because=because, by=by)
        if not _change(desk, changed, _in_brief(remedy)):
            return None
    if remedy.kind == "apart":
        return "decouple"
    start(desk)
    return None


@step.action("buy")
def buy(desk: Desk, asked: Fields) -> Answer:
    """Follow advice that was tried, and judge again: what it leads to was said before."""
    with desk.lock:
        prices = _prices(desk, _current(desk))
        if prices is None:
            raise InputError("what the advice costs is not known any more. Try the remedies again")
        chosen = asked.text("remedy")
        offers = {_name_of(*place): each for *place, each in _list_offers(prices)}
        taken = [offers[chosen]] if chosen in offers else []
        if chosen == CHAIN and prices.chain is not None:
            taken = list(prices.chain.steps)
        if not taken:
            raise InputError("this advice is not there any more. Load the page again")
        policy = desk.require_policy()
        for each in taken:
            policy = each.remedy.apply(policy)
        if not _change(desk, policy, "; ".join(_in_brief(each.remedy) for each in taken)):
            return None
    start(desk)
    return None


@step.action("strengthen")
def protect_more(desk: Desk, asked: Fields) -> Answer:
    """Promise for a column what a draft would, a step stronger than now, and judge again."""
    from sfumato.tasks.strengthen import strengthen

    name = asked.text("column")
    changed = strengthen(desk.require_source().address, desk.task_policy, name)
    with desk.lock:
        changed = desk.require_policy().replace(models=changed.models)
        if not _change(desk, changed, f"{name}: protected as a draft would"):
            return None
    start(desk)
    return None


@step.action("rule")
def choose_rule(desk: Desk, asked: Fields) -> Answer:
    """Answer to a rule from now on, or to none, and judge again."""
    name = asked.text("rule", "")
    with desk.lock:
        rule = ProfileRule.read(name) if name in PROFILES else None
        if not _change(desk, desk.require_policy().replace(profile=rule), name or "no rule"):
            return None
    start(desk)
    return None


@step.action("unseed")
def take_seed_away(desk: Desk, asked: Fields) -> Answer:
    """Draw the order of rows by chance from now on, and judge again."""
    desk.seed = None
    desk.save()
    start(desk)
    return None


def _change(desk: Desk, policy: Policy, what: str) -> bool:
    if policy == desk.policy:
        desk.say("note", "The policy says so already, and there is no stricter step. Try another.")
        return False
    desk.change(policy, "verdict", what[:200])
    return True


def _reason(found: VerdictShown, at: int) -> Reason:
    reasons = found.assessment.reasons
    if not 0 <= at < len(reasons):
        raise InputError("this reason is not there any more. Load the page again")
    return reasons[at]


def _in_brief(remedy: Remedy) -> str:
    """Return what was done, for the history."""
    if remedy.kind == "promise":
        return f"promised more of {', '.join(remedy.about) or 'all people'}"
    return _in_words(remedy)


def _in_words(remedy: Remedy) -> str:
    about = ", ".join(remedy.about)
    if remedy.kind == "promise":
        told = [member_settings(model, "model") for model in getattr(remedy, "models", ())]
        return "\n".join(f"- {_one_line(each)}" for each in told)
    if remedy.kind == "role":
        return f"{about}: {getattr(remedy, 'role', '')}"
    return f"{about}: {remedy.kind}"


def _one_line(settings: Mapping[str, object]) -> str:
    """Return settings as a policy writes them in one line."""
    import yaml

    text = yaml.safe_dump(settings, default_flow_style=True, width=10_000, sort_keys=False)
    return text.strip()


# What the page shows of a reason.


def _describe_all(desk: Desk, found: VerdictShown, language: str) -> list[dict[str, Any]]:
    sensitive = () if desk.policy is None else desk.policy.sensitive
    prices = _prices(desk, found)
    return [
        {
            **_describe(at, reason, sensitive, prices),
            "promised": _list_promises(reason, translator(language)),
        }
        for at, reason in enumerate(found.assessment.reasons)
    ]


def _prices(desk: Desk, found: VerdictShown | None) -> "Prices | None":
    """Return what the remedies cost that were tried; None before they are."""
    job = desk.jobs.get(PRICES)
    if found is None or job is None or not job.ready or desk.is_old(job):
        return None
    prices: Prices = job.result
    return prices


CHAIN = "chain"
"""What remedies that are taken in turn are called in a form."""


class Offer(NamedTuple):
    """A remedy that was tried, as a button shows it."""

    name: str
    """What a form calls it."""

    steps: "Sequence[PricedRemedy]"
    """What is done; several in turn if none is enough by itself."""

    before: "Standing"
    after: "Standing"
    lost: Sequence[str] = ()
    """The columns that are gone then."""


def _list_offers(prices: "Prices") -> "list[tuple[int, int, PricedRemedy]]":
    """Return the remedies that were tried, each with the places of its reason and its own."""
    return [
        (i, j, one)
        for i, each in enumerate(prices.reasons)
        for j, one in enumerate(each.remedies)
        if one.tried
    ]


def _name_of(reason: int, remedy: int) -> str:
    return f"{reason}-{remedy}"


def _offer(name: str, each: "PricedRemedy") -> Offer:
    assert each.after is not None  # noqa: S101 - it was tried
    return Offer(name, (each,), each.before, each.after, each.columns_lost)


def _best(prices: "Prices | None") -> Offer | None:
    """Return what leads to a better answer for the least, or puts fewest people at risk.

    None if nothing that was tried does either.
    """
    from sfumato.tasks.price import ORDER

    if prices is None:
        return None
    now = prices.before
    offers = [(_offer(_name_of(i, j), each), each.cost) for i, j, each in _list_offers(prices)]
    if prices.chain is not None and prices.chain.steps:
        steps, last = prices.chain.steps, prices.chain.last
        lost = [name for each in steps for name in each.columns_lost]
        # What is done at one go comes first where it leads as far.
        offers.append((Offer(CHAIN, steps, now, last, lost), (2.0, 2.0)))
    ranked = [
        ((-ORDER.index(each.after.answer), each.after.people, cost), each) for each, cost in offers
    ]
    better = [one for one in ranked if one[1].after.answer != now.answer]
    if better:
        # To leave out what is sensitive is a plain yes, and seldom what is wanted.
        return min(better, key=lambda one: (one[0][2], one[0][0]))[1]
    fewer = [one for one in ranked if one[1].after.people < now.people]
    return min(fewer, key=lambda one: one[0])[1] if fewer else None


def _offers_of(reason: Reason, prices: "Prices | None") -> list[Offer] | None:
    """Return the remedies for a reason that were tried, the cheapest first; None if none were."""
    if prices is None:
        return None
    for i, each in enumerate(prices.reasons):
        if _is_same(each.reason, reason):
            return [_offer(_name_of(i, j), one) for j, one in enumerate(each.remedies) if one.tried]
    return None


def _is_same(one: Reason, other: Reason) -> bool:
    """Return whether two verdicts give the same reason; its figures may differ by a draw."""
    if one.outcome is None or other.outcome is None:
        return one.outcome is other.outcome and one.text == other.text
    ours = (one.outcome.attack, one.outcome.columns)
    return ours == (other.outcome.attack, other.outcome.columns)


def _list_promises(reason: Reason, t: Translator) -> list[tuple[str, Sequence[str]]]:
    """Return what a reason advises to promise, in sentences with the values that they name."""
    return [
        (
            sentence_of(t, type(model), model.params()),
            [str(value) for value in getattr(model, "protected", None) or ()],
        )
        for remedy in reason.remedies[:1]
        for model in getattr(remedy, "models", ())
    ]


def _describe(
    at: int, reason: Reason, sensitive: Sequence[str], prices: "Prices | None"
) -> dict[str, Any]:
    outcome = reason.outcome
    text = reason.text[:1].upper() + reason.text[1:]
    remedies: list[dict[str, Any]] = [
        {
            "at": number,
            "kind": each.kind,
            "remedy": each,
            "words": _in_words(each),
        }
        for number, each in enumerate(reason.remedies)
    ]
    own = [] if outcome is None else [n for n in outcome.columns if n in sensitive]
    return {
        "at": at,
        "reason": reason,
        "text": text,
        "outcome": outcome,
        "cases": () if outcome is None else outcome.worst[:_MOST_CASES],
        "acts": [each for each in remedies if not each["remedy"].needs_reason],
        "offers": _offers_of(reason, prices),
        "says": [each for each in remedies if each["remedy"].needs_reason],
        "strengthen": own[:1] if outcome is not None and not outcome.accepted else [],
    }


def _leaks(desk: Desk, found: VerdictShown | None) -> dict[str, Any] | None:
    """Return the networks drawn, and what the rules and facts tell; None before they are found."""
    job = desk.jobs.get(LEAKS)
    if found is None or job is None or not job.ready or desk.is_old(job):
        return None
    from sfumato.tasks.detect import draw_networks

    findings = job.result
    return {
        "content": findings.content(),
        "headline": findings.headline,
        "networks": [Markup(svg) for svg in draw_networks(findings).values()],
        "alpha": findings.alpha,
    }


# One person explained.


def _person(asked: Fields) -> Mapping[str, str]:
    """Return what a form says of a person, by the column."""
    found = {}
    for name in asked.fields:
        text = asked.text(name).strip()
        if name.startswith("of:") and text:
            found[name.removeprefix("of:")] = text
    return found


def _suggestions(desk: Desk) -> dict[str, list[str]]:
    """Return values of each quasi-identifier that a form may suggest."""
    from sfumato.text import text_of

    found = _current_or_none(desk)
    policy = desk.policy
    if found is None or policy is None or found.whole is None:
        return {} if policy is None else {name: [] for name in policy.quasi_identifiers}
    recoding = getattr(found.whole, "recoding", None)
    columns = {} if recoding is None else {each.column: each.values for each in recoding.columns}
    return {
        name: [
            text_of(value) for value in columns.get(name, ())[:_MOST_VALUES] if value is not None
        ]
        for name in policy.quasi_identifiers
    }


def _current_or_none(desk: Desk) -> VerdictShown | None:
    try:
        return _current(desk)
    except SfumatoError:
        return None


@step.part("person")
def explain_person(desk: Desk, asked: Fields) -> Context:
    """Return what others learn of one person from the release that was judged."""
    from sfumato.tasks.explain import explain

    found, policy = _current(desk), desk.task_policy
    source = desk.require_source().address
    person = dict(_person(asked))
    row: Mapping[str, Any] = {}
    if "anybody" in asked:
        row = _draw(source, policy)
        person = {n: row[n] for n in policy.quasi_identifiers if row.get(n) is not None}
    if not person:
        raise InputError("say at least one thing that is known of the person, as in age: 41")
    rules_out = asked.text("not", "").strip()
    knows = {"not": rules_out} if rules_out else None
    told = explain(found.release, person, knows=knows, policy=policy, data=source)
    return {
        "told": told,
        "person": {name: str(value) for name, value in person.items()},
        "truth": {name: row[name] for name in policy.sensitive if name in row},
        "drawings": [Markup(svg) for svg in told.drawings()],
    }


def _draw(source: str, policy: Policy) -> Mapping[str, Any]:
    """Return one of the first rows, drawn by chance: to see what others would learn of it."""
    from sfumato.releases.preparing import open_prepared

    rows = open_prepared(source, policy).head(_DRAWN).to_pylist()
    if not rows:
        raise InputError("the table has no rows")
    found: Mapping[str, Any] = secrets.choice(rows)
    return found
