"""How results look: what each task gave, as tables."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from sfumato.adversary.explanation import listed
from sfumato.cli.command import bar, cell, clean, fits, status, table
from sfumato.leaks import ABOVE
from sfumato.leaks.breach import listing, show_value
from sfumato.text import percent

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table
    from rich.text import Text

    from sfumato.adversary.explanation import Belief, Explanation
    from sfumato.attacks import Outcome
    from sfumato.comparison.frontier import Comparison
    from sfumato.drafting.inspection import Inspection, SensitiveRisk
    from sfumato.drafting.policy import Draft
    from sfumato.leaks import (
        Breach,
        Combination,
        Exposure,
        Findings,
        Holding,
        Inference,
        RiskLevels,
        Rule,
    )
    from sfumato.leaks import (
        Comparison as BreachComparison,
    )
    from sfumato.publishing.increments import Publication
    from sfumato.publishing.ledger import Contents, Headroom
    from sfumato.releases.manifest import ColumnRecord, FileRecord
    from sfumato.releases.release import Decoupled, Release
    from sfumato.tasks.protect import Protected
    from sfumato.tasks.utility import CorrelationMap
    from sfumato.tasks.verify import Assessment
    from sfumato.verifier import Verdict

_FEW = 5
"""How many of the most telling sets of columns are shown where space is short."""


def verdict_view(verdict: "Verdict") -> list["RenderableType"]:
    """One line per check, then what there is to say about some, and the sum of all at the end."""
    from sfumato.verifier.promises import in_words

    def words(value: object) -> str:
        return "" if value is None else in_words(value)

    rows = [(c.name, status(c.status), words(c.promised), words(c.found)) for c in verdict.checks]
    notes = []
    for check in verdict.checks:
        worst = "" if check.worst is None else f"worst: {words(check.worst)}"
        note = "; ".join(filter(None, [check.detail, worst]))
        if note:
            notes.append(clean(f"{check.name}: {note}"))
    parts: list[RenderableType] = [table(("check", "", "promised", "found"), rows)]
    if notes:
        parts.append(cell("\n".join(notes), keep="\n"))
    headline = str(verdict).splitlines()[0]
    return [*parts, cell(headline, "green" if verdict.holds else "bold red")]


def release_view(release: "Release") -> list["RenderableType"]:
    """What was done to each quasi-identifier, and what each model measures."""
    manifest = release.manifest
    columns = [column for column in manifest.columns if column.recoded]
    whole = all(column.level is not None for column in columns)
    promises = [(str(model), model.figures) for model in manifest.models]
    return [
        cell(str(release).splitlines()[0]),
        levels_view(columns) if whole else shares_view(columns),
        table(("promise", "measured"), promises),
    ]


def levels_view(columns: "Sequence[ColumnRecord]") -> "Table":
    """The level of each column, where it is the same in every row."""
    rows = [(column.name, f"{column.level} of {column.height}") for column in columns]
    return table(("quasi-identifier", "level"), rows)


def shares_view(columns: "Sequence[ColumnRecord]") -> "Table":
    """The share of each column's cells at each level, where rows differ in it."""
    levels = range(max(len(column.levels or ()) for column in columns))
    heads = ["quasi-identifier", *(f"level {level}" for level in levels), "mean level", "intervals"]
    rows = [
        [
            column.name,
            *(_share(column.levels or (), level) for level in levels),
            _mean_level(column),
            "" if column.intervals is None else str(column.intervals),
        ]
        for column in columns
    ]
    used = [i for i in range(len(heads)) if any(row[i] for row in rows)]
    shown = [heads[i] for i in used]
    return table(shown, ([row[i] for i in used] for row in rows), right=shown[1:])


def _share(counts: "Sequence[int]", level: int) -> str:
    from sfumato.releases.manifest import percentage

    if level >= len(counts):
        return ""
    return percentage(counts[level], sum(counts)) if counts[level] else "-"


def _mean_level(column: "ColumnRecord") -> str:
    counts = column.levels or ()
    if not sum(counts):
        return ""
    mean = sum(level * rows for level, rows in enumerate(counts)) / sum(counts)
    return f"{mean:.2f} of {column.height}"


def inspection_view(inspection: "Inspection") -> list["RenderableType"]:
    """The risk of everybody, of each column and of a few columns together."""
    columns = [
        (c.name, c.role.value, c.distinct, percent(c.missing), percent(c.unique))
        for c in inspection.columns
    ]
    heads = ("column", "role", "distinct", "missing", "unique alone")
    parts: list[RenderableType] = [
        headline_view(inspection),
        histogram_view(inspection),
        table(heads, columns, right=heads[2:]),
    ]
    if inspection.subsets.looked_at:
        parts.append(subsets_view(inspection))
    if inspection.sensitive:
        parts.append(sensitive_view(inspection.sensitive))
    return parts


def headline_view(inspection: "Inspection") -> "RenderableType":
    """The first lines of the inspection's own text: how many, who, how likely."""
    lines = str(inspection).split("\n\n", maxsplit=1)[0].splitlines()
    return cell("\n".join(lines), keep="\n")


def histogram_view(inspection: "Inspection") -> "Table":
    """How many rows are in classes of which size."""
    heads = ("class size", "classes", "rows", "share", "")
    rows = [
        (
            b.label,
            b.classes,
            b.rows,
            percent(b.rows / inspection.rows),
            bar(b.rows / inspection.rows),
        )
        for b in inspection.classes.histogram
    ]
    return table(heads, rows, right=heads[:4])


def sizes_view(before: "Inspection", after: "Inspection") -> "Table":
    """The share of rows by class size, in two tables beside each other."""
    shares = [
        {b.label: b.rows / inspection.rows for b in inspection.classes.histogram}
        for inspection in (before, after)
    ]
    labels = {b.label: b.smallest for each in (before, after) for b in each.classes.histogram}
    rows = []
    for label in sorted(labels, key=labels.__getitem__):
        one, other = (each.get(label, 0.0) for each in shares)
        rows.append((label, percent(one), bar(one, 20), percent(other), bar(other, 20)))
    heads = ("class size", "before", "", "after", " ")
    return table(heads, rows, right=("class size", "before", "after"))


def subsets_view(inspection: "Inspection", most: int | None = None) -> "Table":
    """The sets of columns that single out most people."""
    heads = ("columns that single people out", "unique rows", "share")
    rows = [
        (", ".join(risk.columns), risk.unique_rows, percent(risk.share))
        for risk in inspection.subsets.found[:most]
    ]
    return table(heads, rows, right=heads[1:])


def sensitive_view(sensitive: "tuple[SensitiveRisk, ...]") -> "Table":
    """What the worst class gives away about each sensitive column."""
    tails = list(sensitive[0].recursive_c)
    heads = (
        "sensitive",
        "l",
        "entropy l",
        *(f"c at l={l}" for l in tails),
        "largest share",
        "in the table",
        "t equal",
        "t ordered",
    )
    rows = [
        (
            s.name,
            f"{s.distinct_l:g}",
            f"{s.entropy_l:.2f}",
            *(f"{c:.3g}" for c in s.recursive_c.values()),
            percent(s.largest_share),
            percent(s.share_in_table),
            f"{s.t_equal:.3f}",
            "" if s.t_ordered is None else f"{s.t_ordered:.3f}",
        )
        for s in sensitive
    ]
    return table(heads, rows, right=heads[1:])


def draft_view(draft: "Draft", inspection: "Inspection") -> list["RenderableType"]:
    """What each column was taken for, and what those that others may know give away."""
    measured = {c.name: (c.distinct, percent(c.unique)) for c in inspection.columns}
    rows = [
        (name, role.value, *measured.get(name, ("", "")), draft.reasons[name])
        for name, role in draft.roles.items()
    ]
    heads = ("column", "role guessed", "distinct", "unique alone", "why")
    return [table(heads, rows, right=heads[2:4]), *exposure_view(inspection)]


def exposure_view(inspection: "Inspection") -> list["RenderableType"]:
    """An inspection in short: how many are exposed, and by which columns."""
    return [headline_view(inspection), subsets_view(inspection, _FEW)]


# How a decoupled release looks: its tables, and what each model measures.


def _held(file: "FileRecord") -> str:
    return file.holds or file.column or "quasi-identifiers"


def decoupled_view(release: "Decoupled") -> list["RenderableType"]:
    """One line per table, and one per promise."""
    files = [(file.name, _held(file), str(file.rows)) for file in release.manifest.files]
    promises = [(str(model), model.figures) for model in release.manifest.models]
    return [
        cell(str(release).splitlines()[0]),
        table(("table", "holds", "rows"), files, right=("rows",)),
        table(("promise", "measured"), promises),
    ]


# How an answer looks: the promises, the attacks, and whether a release may be published.


_STYLES = {"yes": "green", "with care": "yellow", "no": "bold red"}


def assessment_view(assessment: "Assessment") -> list["RenderableType"]:
    """Show promises, attacks, the worst cases, and the answer last: that is where people look."""
    parts: list[RenderableType] = []
    if assessment.checks:
        parts += verdict_view(assessment.verdict)
    tried = [outcome for outcome in assessment.attacks if outcome.tried]
    if tried:
        parts.append(_attacks(assessment, tried))
    worst = [
        f"{outcome.attack}: {case}"
        for outcome in assessment.succeeded
        for case in outcome.worst[:1]
    ]
    if worst:
        parts.append(cell("Worst cases:\n" + "\n".join(map(clean, worst)), keep="\n"))
    missing = [f"{each.attack} ({each.note})" for each in assessment.attacks if not each.tried]
    if missing:
        parts.append(cell("Not tried: " + ", ".join(missing)))
    answer = assessment.answer
    headline = f"May it be published? {answer.capitalize()}."
    return [*parts, cell(headline, _STYLES[answer])]


def _attacks(assessment: "Assessment", tried: "list[Outcome]") -> "Table":
    heads = ("attack", "on", "", "people at risk", "believed before", "after")
    rows = [
        (
            outcome.attack,
            outcome.about,
            _result(assessment, outcome),
            f"{outcome.people} of {outcome.of}",
            "" if outcome.prior is None else percent(outcome.prior),
            percent(outcome.posterior or 0.0),
        )
        for outcome in tried
    ]
    return table(heads, rows, right=heads[3:])


def _result(assessment: "Assessment", outcome: "Outcome") -> "Text":
    if not outcome.judged:
        return cell("told")
    if outcome.people > assessment.allowed:
        return cell("succeeds", "bold red")
    return cell("fails", "green")


# How a comparison looks: a table of all policies, the front marked, and what to beware of.


def comparison_view(found: "Comparison") -> list["RenderableType"]:
    """Show the figures of all policies; those on the front have a star and are bold."""
    titles, *lines = found.cells
    front = {point.name for point in found.front}
    rows = [
        [cell(each, "bold" if line[0] in front else "") for each in (line[1], line[0], *line[2:])]
        for line in lines
    ]
    parts: list[RenderableType] = [
        cell(found.headline),
        table(("", "policy", *titles[2:]), rows, right=("", *titles[2:])),
    ]
    if found.notes:
        parts.append(cell("\n".join(map(clean, found.notes)), keep="\n"))
    return parts


# How correlations look: a heat map that says the same without colour, and the strongest pairs.


_MOST_PAIRS = 10
_SHADES = " ░▒▓█"
_GREYS = ("", "black on grey93", "black on grey78", "black on grey62", "white on grey30")
"""The number says it, the shade repeats it, and so does the grey where there are colours."""


def correlations_view(found: "CorrelationMap") -> list["RenderableType"]:
    """A table of all pairs, and a line for each of the strongest."""
    numbers = [str(number) for number in range(1, len(found.names) + 1)]
    rows = [
        (number, name, *(_shaded(value, own=i == j) for j, value in enumerate(row)))
        for i, (number, name, row) in enumerate(
            zip(numbers, found.names, found.strength.tolist(), strict=True)
        )
    ]
    strongest = [
        (f"{one} – {other}", f"{value:.2f}", bar(value, 20))
        for one, other, value in found.pairs[:_MOST_PAIRS]
    ]
    every = table(("", "column", *numbers), rows, right=("", *numbers))
    pairs = table(("strongest pairs", found.measure, ""), strongest, right=(found.measure,))
    # Numbers that are decoupled over lines are worse than none.
    shown = every if fits(every) else cell("All pairs do not fit here: see --svg or --json.")
    return [cell(str(found).splitlines()[0]), shown, pairs]


def _shaded(value: float, *, own: bool) -> "Text":
    if own:
        return cell("–")
    step = min(int(value * len(_SHADES)), len(_SHADES) - 1)
    return cell(f"{_SHADES[step]}{value:.2f}", _GREYS[step])


# How the answer about one person looks: sentences, where the person may be, bars.


_MOST = 10


def explain_view(found: "Explanation") -> list["RenderableType"]:
    """What is learned in words, the places, and two bars for each value."""
    parts: list[RenderableType] = [cell("\n".join(found.sentences), keep="\n")]
    if len(found.places) > 1:
        parts.append(_places(found))
    for belief in found.beliefs:
        parts.append(_bars(belief))
        if len(belief.values) > _MOST:
            parts.append(cell(f"… and {len(belief.values) - _MOST} values that are less likely"))
    return parts


def _places(found: "Explanation") -> "Table":
    rows: list[tuple[object, ...]] = [
        (listed(place.labels) or "everybody", place.people, percent(place.probability))
        for place in found.places[:_MOST]
    ]
    if len(found.places) > _MOST:
        rows.append((f"… and {len(found.places) - _MOST} more", "", ""))
    return table(("may be in", "people", "how likely"), rows, right=("people", "how likely"))


def _bars(belief: "Belief") -> "Table":
    heads = (belief.column, "before", "", "after", " ")
    shares = zip(belief.values, belief.prior, belief.posterior, strict=True)
    rows = [
        (value, percent(before), bar(before, 20), percent(after), bar(after, 20))
        for value, before, after in shares
    ]
    return table(heads, rows[:_MOST], right=("before", "after"))


# How findings look: rules, facts, beliefs.


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
        for entry in rule.top_entries(_MOST_ENTRIES):
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


# How breaches look: a whole release, one person, and where somebody may be.


def guesses_view(exposure: "Exposure", most: int) -> list["RenderableType"]:
    """What each adversary can guess, the worst cases, and what breaking changed."""
    grouped = exposure.grouped
    parts: list[RenderableType] = [
        cell(
            f"{grouped.total} people in {len(grouped)} groups. What can be guessed by joining the "
            "tables again, and how many people are expected at each level of risk:"
        ),
        _views(exposure),
        cell("The surest guesses at one column, and at all that are not known:"),
        _guesses(exposure, most),
    ]
    if exposure.comparison is not None:
        parts += [
            cell("How surely people's own values were told before breaking, and after:"),
            _comparison(exposure.comparison, exposure.alpha),
        ]
    return parts


def _views(exposure: "Exposure") -> "Table":
    above = [] if exposure.alpha is None else [f"above {exposure.alpha:g}"]
    levels = [name for name in exposure.levels.bounds() if name != "low"]
    heads = ("known", "guessed", "up to", "", "level", "on average", *levels, *above)
    total = max(exposure.grouped.total, 1)
    rows = []
    for view in exposure.views:
        largest = float(view.largest.max(initial=0.0))
        expected = [percent(min(view.expected[name] / total, 1.0)) for name in levels]
        if view.expected_above is not None:
            expected.append(percent(min(view.expected_above / total, 1.0)))
        rows.append(
            (
                _known(view.known),
                ", ".join(view.told),
                percent(largest),
                bar(largest, 10),
                view.level,
                percent(view.mean),
                *expected,
            )
        )
    return table(heads, rows, right=("up to", *heads[5:]))


def _guesses(exposure: "Exposure", most: int) -> "Table":
    found: list[tuple[str, Combination]] = [("group", one) for one in exposure.columns.values()]
    if len(exposure.views) > 1:
        worst = max(exposure.views[1:], key=lambda view: float(view.largest.max(initial=0.0)))
        found += [(_known(worst.known), one) for one in worst.worst(most)]
    heads = ("known", "in the group", "people", "guess", "how surely", "", "level")
    rows = [
        (
            known,
            listing(one.group) or "everybody",
            one.size,
            listing(one.values),
            *_sure(one, exposure.levels),
        )
        for known, one in found
    ]
    return table(heads, rows, right=("people", "how surely"))


def _comparison(comparison: "BreachComparison", alpha: float | None) -> "Table":
    above = () if alpha is None else (f"above {alpha:g}, before", "after")
    heads = ("known", "worst before", "worst after", "mean before", "mean after")
    heads = (*heads, "people less sure", "people surer", *above)
    rows = [
        (
            _known(change.known),
            percent(float(change.before.worst)),
            percent(float(change.after.worst)),
            percent(change.before.mean),
            percent(change.after.mean),
            change.lowered,
            change.raised,
            *(() if alpha is None else (change.before.above, change.after.above)),
        )
        for change in comparison.changes
    ]
    return table(heads, rows, right=heads[1:])


def breach_view(breach: "Breach", alpha: float | None, most: int) -> list["RenderableType"]:
    """How likely each guess about a person is: column by column, and all together."""
    known = f", known besides: {listing(breach.knows)}" if breach.knows else ""
    head = f"{listing(breach.group) or 'Everybody'}: {breach.size} people{known}"
    parts: list[RenderableType] = [cell(head)]
    for share in breach.told:
        name = share.column.name
        guesses = [breach.combination({name: value}) for value in share.values[:most]]
        parts.append(_told(breach, name, guesses, alpha))
    if len(breach.told) > 1:
        parts.append(_told(breach, "all together", breach.likeliest(most), alpha))
        if breach.possible > most:
            parts.append(cell(f"… and {breach.possible - most} less likely combinations"))
    return parts


def _told(
    breach: "Breach", title: str, guesses: "list[Combination]", alpha: float | None
) -> "Table":
    before = () if breach.matching is None else ("before breaking",)
    more = () if alpha is None else ("more may come",)
    heads = (title, "how surely", "", "level", *before, *more)
    rows = []
    for guess in guesses:
        single = len(guess.values) == 1
        cells: list[object] = [
            show_value(guess.values[0][1]) if single else listing(guess.values),
            *_sure(guess, breach.levels),
        ]
        if before:
            was = breach.before(guess)
            cells.append("" if was is None else percent(float(was)))
        if alpha is not None:
            cells.append(_more(breach.permitted_rows(guess, alpha)))
        rows.append(cells)
    return table(heads, rows, right=("how surely", *before, *more))


def holders_view(found: "list[Holding]", most: int) -> list["RenderableType"]:
    """In which groups somebody may be who has a value."""
    heads = ("group", "people", "with the value", "share", "", "the person is there")
    rows = [
        (
            listing(one.group) or "everybody",
            one.size,
            one.rows,
            percent(float(one.share)),
            bar(float(one.share), 20),
            percent(float(one.belongs)),
        )
        for one in found[:most]
    ]
    named = listing(((found[0].column, found[0].value),)) if found else "nothing"
    parts: list[RenderableType] = [
        cell(f"{named} occurs in {len(found)} groups:"),
        table(heads, rows, right=("people", "with the value", "share", "the person is there")),
    ]
    if len(found) > most:
        parts.append(cell(f"… and {len(found) - most} groups where it is rarer"))
    return parts


def _known(column: str | None) -> str:
    return "group" if column is None else f"group, {column}"


def _sure(guess: "Combination", levels: "RiskLevels") -> tuple[str, str, str]:
    probability = float(guess.probability)
    return percent(probability), bar(probability, 20), levels.of(probability)


def _more(permitted: int | None) -> str:
    """Write how many more people with a combination a group can take.

    >>> _more(4), _more(ABOVE), _more(None)
    ('4', 'none: above it now', 'any number')
    """
    words = {ABOVE: "none: above it now", None: "any number"}
    return words.get(permitted, str(permitted))


# How ledgers look: what became of an increment, how much room is left, what was released.


_LEDGER_VIEWS_MOST = 20


def publication_view(done: "Publication") -> list["RenderableType"]:
    """The numbers, who was refused and why, who waits and why, what comparing shows."""
    parts: list[RenderableType] = [cell(str(done))]
    if done.refused:
        heads = ("refused", "group", "rows", "with a value known", "largest in the group")
        rows = [
            (
                _said(each.row),
                _said(each.labels),
                each.rows,
                percent(float(each.with_a_value)),
                percent(float(each.worst)),
            )
            for each in done.refused[:_LEDGER_VIEWS_MOST]
        ]
        parts.append(table(heads, rows, right=heads[2:]))
    if done.held:
        why: Counter[tuple[str, str, str]] = Counter()
        for held in done.held:
            why[_said(json.loads(held.ask.labels)), held.ask.kind, held.why] += held.rows
        lines = [
            (group, kind, n, reason)
            for (group, kind, reason), n in why.most_common(_LEDGER_VIEWS_MOST)
        ]
        parts.append(table(("waiting in group", "to", "rows", "why"), lines, right=("rows",)))
    if done.above:
        above = [
            (_said(group), percent(float(share)))
            for group, share in done.above[:_LEDGER_VIEWS_MOST]
        ]
        parts.append(table(("group above alpha", "tells now"), above, right=("tells now",)))
    if done.composition is not None and done.composition.differences:
        parts.append(cell(f"Compared with the last release: {done.composition}"))
    return parts


def headroom_view(found: "Headroom") -> list["RenderableType"]:
    """One line per combination, those closest to the limit first."""
    heads = ("group", "rows", "values", "which", "tells", "", "raised by", "more rows")
    rows = [
        (
            _said(room.group),
            room.size,
            _said(room.values),
            room.which,
            percent(float(room.breach)),
            bar(float(room.breach), 15),
            "" if room.ratio is None else f"{room.ratio:+.0%}",
            "any number" if room.permitted is None else room.permitted,
        )
        for room in found.rooms
    ]
    return [
        cell(f"{found.groups} groups, alpha {found.alpha:g}"),
        table(heads, rows, right=("rows", "tells", "raised by", "more rows")),
    ]


def log_view(entries: "Sequence[dict[str, Any]]") -> "Table":
    """One line per release."""
    heads = ("release", "time", "joined", "left", "refused", "waiting", "hash")
    rows = [
        (
            entry["sequence"],
            entry["time"],
            *(entry["rows"].get(name, 0) for name in heads[2:6]),
            entry["hash"][:12],
        )
        for entry in entries
    ]
    return table(heads, rows, right=("release", *heads[2:6]))


def contents_view(found: "Contents") -> list["RenderableType"]:
    """What a ledger was started with, and its largest groups."""
    plain = found.to_dict()
    policy = "with its policy" if found.with_policy else "without a policy"
    groups = sorted(plain["groups"], key=lambda group: -group["rows"])
    names = [column.name for column in found.tables.quasi_identifiers]
    rows = [
        (*_texts(group["group"].values()), group["rows"]) for group in groups[:_LEDGER_VIEWS_MOST]
    ]
    parts: list[RenderableType] = [
        cell(
            f"release {found.release}: {plain['rows']} rows in {len(groups)} groups, "
            f"{found.waiting} wait; alpha {found.alpha:g}, k {found.k}, started "
            f"{found.created} {policy}"
        ),
        table((*names, "rows"), rows, right=("rows",)),
    ]
    if len(groups) > _LEDGER_VIEWS_MOST:
        parts.append(cell(f"… and {len(groups) - _LEDGER_VIEWS_MOST} more groups"))
    return parts


def _texts(values: Any) -> list[str]:  # noqa: ANN401 - the values of a dictionary
    return ["(missing)" if value is None else value for value in values]


def _said(values: "Sequence[str | None]") -> str:
    return ", ".join(_texts(values))
