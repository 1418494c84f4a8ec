"""The section on attacks: beliefs before the release and after it, and about whom."""

from collections.abc import Sequence

from sfumato.attacks import Outcome
from sfumato.reports.dossier import Dossier
from sfumato.reports.sections.base import Chapter, NotHereError
from sfumato.showing.content import Cell, ContentTable, Heading, Listing, Part, Share
from sfumato.text import brief, percent

_MOST_CASES = 15


def _parts(dossier: Dossier) -> Sequence[Part]:
    found = dossier.assessment.attacks
    tried = [outcome for outcome in found if outcome.tried]
    if not tried:
        raise NotHereError("no attack could be tried: the checks above say what is wrong first")
    parts: list[Part] = [_table(dossier, tried)]
    parts.append(Listing.of([f"{name}: {how}" for name, how in _explanations(tried)]))
    cases = _cases(tried)
    if cases:
        parts.append(_worst(cases))
    untried = [
        f"Not tried: {outcome.attack}, because {outcome.note}."
        for outcome in found
        if not outcome.tried
    ]
    return [*parts, Listing.of(untried)] if untried else parts


def _table(dossier: Dossier, tried: Sequence[Outcome]) -> ContentTable:
    threshold = tried[0].threshold
    return ContentTable.of(
        "Attacks",
        [
            "attack",
            Heading("aims at", "The sensitive column it is after; – if that is a person's row."),
            Heading("prior", "In the worst case, what is believed without the release."),
            Heading("posterior", "In the worst case, what is believed with it."),
            Heading("gain", "How much likelier the release made that."),
            Heading(
                "people at risk",
                f"Of whom something is believed with {percent(threshold)} or more that was not "
                "before: the harm is very high.",
            ),
            Heading("high", "Of how many the harm is high."),
            Heading("of", "How many people there are."),
            Heading(
                "result",
                "At risk, the level of harm, or withstood. Told: worth knowing, but no reason to "
                "refuse the release. Accepted: the publisher knows of it and says why.",
            ),
        ],
        [_row(dossier, outcome) for outcome in tried],
        most=60,
    )


def _row(dossier: Dossier, outcome: Outcome) -> list[Cell]:
    posterior = outcome.posterior or 0.0
    return [
        outcome.attack,
        outcome.column,
        None if outcome.prior is None else Share(outcome.prior),
        Share(posterior),
        None if outcome.gain is None else Share(outcome.gain),
        outcome.people,
        outcome.high,
        outcome.of,
        dossier.assessment.result_of(outcome),
    ]


def _explanations(tried: Sequence[Outcome]) -> list[tuple[str, str]]:
    """Return what each attack does, once for each."""
    return list({o.attack: o.how for o in tried if o.how}.items())


def _cases(tried: Sequence[Outcome]) -> list[list[Cell]]:
    """Return the worst cases of all attacks, those that learnt most first."""
    cases = [(outcome, case) for outcome in tried for case in outcome.worst]
    cases.sort(key=lambda pair: (-pair[1].posterior, -pair[1].gain))
    return [
        [
            outcome.attack,
            ", ".join(f"{name}={brief(value, most=40)}" for name, value in case.who.items())
            or "everyone",
            case.people,
            brief(case.believed),
            Share(case.prior),
            Share(case.posterior),
        ]
        for outcome, case in cases
    ]


def _worst(cases: list[list[Cell]]) -> ContentTable:
    return ContentTable.of(
        "The worst cases",
        [
            "attack",
            Heading("who", "What they are recognised by, as it is published."),
            Heading("people", "How many look like that."),
            Heading("believed", "What is believed of them."),
            Heading("prior", "How likely that is without the release."),
            Heading("posterior", "How likely it is with it."),
        ],
        cases,
        most=_MOST_CASES,
    )


ATTACKS = Chapter(
    "attacks",
    "What adversaries achieve",
    "Each line is one way to learn something about a person: what is believed before an "
    "adversary sees the release (prior), what after (posterior), and how many people that puts at "
    "risk.",
    _parts,
    of_people=True,
)
