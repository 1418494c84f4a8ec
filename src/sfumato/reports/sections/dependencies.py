"""The section on dependencies: Bayesian networks, and the rules that exceed alpha."""

from collections.abc import Sequence

from sfumato.decouplings import kind_of
from sfumato.leaks import Findings
from sfumato.leaks.findings import facts_table
from sfumato.leaks.rules import Rule
from sfumato.networks import Network
from sfumato.reports.dossier import Dossier
from sfumato.reports.sections.base import Chapter, NotHereError, without_badges
from sfumato.showing.content import (
    Badge,
    Beside,
    Cell,
    ContentTable,
    Drawing,
    Figures,
    Heading,
    Listing,
    Part,
    Sentence,
    Share,
)
from sfumato.showing.network import network_svg
from sfumato.tasks.detect import detect, marked_edges
from sfumato.text import brief

_MOST_COLUMNS = 40
"""Networks of more columns are not drawn: no reader could follow them."""

_MOST_RULES = 15


def _parts(dossier: Dossier) -> Sequence[Part]:
    if not kind_of(dossier.kind).keeps_classes:
        raise NotHereError(
            f"a release by {dossier.kind} has no rows to learn from; its attacks say what it "
            "reveals"
        )
    findings = detect(dossier.release, levels=dossier.levels)
    parts: list[Part] = [_figures(findings)]
    drawings = []
    for name, network in findings.networks.items():
        if not network.edges:
            parts.append(Sentence(f"Among {_whose(name)} no dependency was found."))
        elif len(network.columns) > _MOST_COLUMNS:
            text = f"The network of {_whose(name)} has {len(network.columns)} columns: not drawn."
            parts.append(Sentence(text))
        else:
            drawings.append(Drawing.of(_draw(findings, name, network)))
    if drawings:
        parts.append(Beside(tuple(drawings)))
    if findings.leaks:
        parts.append(without_badges(_rules(findings)))
    if findings.harmful_facts:
        facts = facts_table(findings.harmful_facts, "Facts about few or many people")
        parts.append(without_badges(facts))
    if findings.notes:
        parts.append(Listing.of([f"Note: {brief(note, most=300)}." for note in findings.notes]))
    if not kind_of(dossier.kind).in_one_piece:
        parts.append(
            Sentence(
                "The release has no rows any more. This is what one of the tables tells that fit "
                "it, dealt out by chance; ties between columns that were decoupled are gone."
            )
        )
    return parts


def _whose(name: str) -> str:
    return "all columns" if name == "all" else f"{name} columns".replace("iers columns", "iers")


def _figures(findings: Findings) -> Figures:
    alpha = Share(findings.alpha)
    return Figures(
        "Rules",
        (
            ("alpha", alpha, "A rule is reported if its probability is above this."),
            (
                "rules that reveal",
                len(findings.leaks),
                "How many rules reveal a sensitive value with such a probability.",
            ),
            (
                "people told",
                findings.exposed,
                "How many people a rule is right about, or a fact reveals something about.",
            ),
            (
                "rules that restate",
                len(findings.restatements),
                "How many rules reveal only what others may know anyway.",
            ),
        ),
    )


def _draw(findings: Findings, name: str, network: Network) -> str:
    short = _short_names(network)
    marked = marked_edges(findings, network)
    kinds = dict.fromkeys(findings.quasi_identifiers, "quasi-identifier")
    kinds |= dict.fromkeys(findings.sensitive, "sensitive")
    return network_svg(
        Network.of(
            [short[column] for column in network.columns],
            [(short[a], short[b]) for a, b in network.edges],
            chosen=[(short[a], short[b]) for a, b in network.chosen],
        ),
        marked={(short[a], short[b]): strength for (a, b), strength in marked.items()},
        groups={short[column]: kinds[column] for column in network.columns},
        title=_whose(name).capitalize(),
    )


def _short_names(network: Network) -> dict[str, str]:
    """Return short names of columns that still differ."""
    found: dict[str, str] = {}
    for number, column in enumerate(network.columns):
        short = brief(column, most=60)
        found[column] = short if short not in found.values() else f"{short} ({number})"
    return found


def _rules(findings: Findings) -> ContentTable:
    return ContentTable.of(
        "Rules that reveal a sensitive value",
        [
            Heading("who knows", "What an adversary knows of a person."),
            Heading("learns", "What it reveals."),
            Heading("before", "How likely that is without knowing anything: its share of all."),
            Heading("after", "How likely it is to an adversary who knows."),
            Heading("how sure", "The publisher's name for that; who is harmed, attacks judge."),
            Heading("people", "About how many people the whole rule is right."),
        ],
        [_row(rule) for rule in findings.leaks],
        most=_MOST_RULES,
    )


def _row(rule: Rule) -> list[Cell]:
    strongest = max(rule.top_entries(), key=lambda entry: entry["posterior"])
    return [
        _join_named(strongest["known"]),
        _join_named(strongest["told"]),
        Share(strongest["prior"]),
        Share(strongest["posterior"]),
        Badge(rule.level),
        rule.people,
    ]


def _join_named(named: "dict[str, str | None]") -> str:
    return ", ".join(f"{name}={brief(value, most=40)}" for name, value in named.items())


DEPENDENCIES = Chapter(
    "dependencies",
    "What columns reveal about each other",
    "An arrow says that one column depends on another; a thick arrow carries a rule, and its "
    "number is the probability of the value.",
    _parts,
    of_people=True,
)
