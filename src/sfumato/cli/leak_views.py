"""How findings look: rules, facts, beliefs."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from sfumato.cli.show import bar, cell, table
from sfumato.tasks.percent import percent

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

    from sfumato.leaks import Findings, Inference, Rule
    from sfumato.tasks.protect import Protected

_MOST_RULES = 20
_MOST_ENTRIES = 3
_MOST_FACTS = 10


def findings_view(findings: "Findings", size: int) -> list["RenderableType"]:
    """What leaks, what only restates the generalisation, what to do."""
    parts: list[RenderableType] = [cell(str(findings).splitlines()[0])]
    if findings.leaks:
        parts += [rules_view(findings.leaks), entries_view(findings.leaks)]
    if findings.restatements:
        parts.append(
            cell(
                f"{len(findings.restatements)} rules among the quasi-identifiers restate how they "
                "were generalised: "
                + "; ".join(str(rule) for rule in findings.restatements[:_MOST_ENTRIES])
                + (" …" if len(findings.restatements) > _MOST_ENTRIES else "")
            )
        )
    facts = findings.facts(size=size)
    if facts:
        heads = ("whoever knows", "learns", "how surely", "before", "people")
        rows = [
            (
                ", ".join(f"{name}={_text(value)}" for name, value in fact.known) or "nothing",
                f"{fact.told[0]}={_text(fact.told[1])}",
                percent(fact.posterior),
                percent(fact.prior),
                fact.people,
            )
            for fact in facts[:_MOST_FACTS]
        ]
        parts.append(table(heads, rows, right=heads[2:]))
        if len(facts) > _MOST_FACTS:
            parts.append(cell(f"… and {len(facts) - _MOST_FACTS} more such facts"))
    parts.append(cell(str(findings.advice()), keep="\n"))
    return parts


def steps_view(done: "Protected") -> list["RenderableType"]:
    """What was done, and how many people were exposed after each step."""
    heads = ("step", "why", "rules", "people exposed", "")
    rows = []
    for step in done.steps:
        total = step.findings.counts.total
        share = step.exposed / total if total else 0.0
        rows.append((step.action, step.why, len(step.findings.leaks), step.exposed, bar(share, 20)))
    parts: list[RenderableType] = [table(heads, rows, right=("rules", "people exposed"))]
    if done.findings.leaks:
        parts.append(rules_view(done.findings.leaks))
    return parts


def rules_view(rules: "tuple[Rule, ...]") -> "Table":
    """One line per rule that reveals something."""
    heads = ("rule", "networks", "up to", "", "level", "people", "fewest rows behind it")
    rows = [
        (
            f"{', '.join(column.name for column in rule.known)} → {rule.told.name}",
            ", ".join(rule.networks),
            percent(rule.strongest),
            bar(rule.strongest, 10),
            rule.level,
            rule.people,
            rule.least_support,
        )
        for rule in rules[:_MOST_RULES]
    ]
    return table(heads, rows, right=("up to", "people", "fewest rows behind it"))


def entries_view(rules: "tuple[Rule, ...]") -> "Table":
    """The entries that expose most people."""
    heads = ("known", "told", "how surely", "before", "people", "of rows")
    rows = []
    for rule in rules[:_MOST_ENTRIES]:
        for entry in rule.shown(_MOST_ENTRIES):
            known = ", ".join(f"{n}={_text(v)}" for n, v in entry["known"].items())
            [(name, value)] = entry["told"].items()
            rows.append(
                (
                    known,
                    f"{name}={_text(value)}",
                    percent(entry["posterior"]),
                    percent(entry["prior"]),
                    entry["people"],
                    entry["support"],
                )
            )
    return table(heads, rows, right=heads[2:])


def inference_view(inferred: "Mapping[str, Inference]") -> list["RenderableType"]:
    """What an adversary believes of each column, before and after."""
    parts: list[RenderableType] = []
    for one in inferred.values():
        heads = (one.column, "before", "by the network", "", "among the rows that match")
        values = sorted(one.prior, key=lambda v, one=one: -one.network.get(v, 0.0))  # type: ignore[misc]
        rows = [
            (
                _text(value),
                percent(one.prior[value]),
                percent(one.network.get(value, 0.0)),
                bar(one.network.get(value, 0.0), 20),
                percent(one.counted.get(value, 0.0)) if one.support else "no row matches",
            )
            for value in values[:_MOST_FACTS]
        ]
        parts.append(table(heads, rows, right=(heads[1], heads[2], heads[4])))
    support = next((one.support for one in inferred.values()), 0)
    return [*parts, cell(f"{support} rows match what is known.")]


def _text(value: object) -> str:
    from sfumato.text import text_of

    return "(missing)" if value is None else text_of(value)
