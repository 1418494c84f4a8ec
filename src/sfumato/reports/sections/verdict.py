"""The first page: may it be published, why, for whom, what to do, and what it is about.

It is for readers who know nothing of the method and may read nothing else. Everything on it is
short, so that it fits one printed page; the sections behind it have the rest.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from sfumato.attacks import ATTACKS, Outcome
from sfumato.attacks.at_risk import AdversaryLine
from sfumato.counts import FrequencySet
from sfumato.decouplings import kind_of
from sfumato.errors import SfumatoError
from sfumato.harm import Level
from sfumato.partition import PARTITIONERS
from sfumato.policy.parts import every_method
from sfumato.releases.manifest import ColumnRecord, Manifest, Promise
from sfumato.releases.opening import PublishedTable, PublishedTables
from sfumato.reports.dossier import Dossier
from sfumato.reports.sections.base import Chapter
from sfumato.reports.sections.checks import CHECKS
from sfumato.showing.content import Badge, Cell, ContentTable, Listing, Names, Part, Sentence
from sfumato.tasks.assessment import Reason
from sfumato.text import brief, format_integer, join_words, percent, text_of

if TYPE_CHECKING:
    import pyarrow as pa

_MOST_REASONS = 3
_MOST_STEPS = 2
_LONGEST = 420
"""Characters of a reason or an advice on the first page."""

_MOST_PROMISES = 3
_SAMPLE_ROWS = 3
_SAMPLE_ROWS_EACH = 2
"""Rows of each table, if there are several."""

_SAMPLE_COLUMNS = 8
_SAMPLE_CELL = 24

_SURE: Mapping[Level, str] = {
    Level.VERY_HIGH: "as good as known",
    Level.HIGH: "likely, and much likelier than before",
    Level.MODERATE: "far likelier than before",
    Level.LOW: "a little likelier than before",
}


def _parts(dossier: Dossier) -> Sequence[Part]:
    return [
        Sentence(_headline(dossier), loud=True),
        *_at_risk(dossier),
        *dossier.assessment.believed_at_most,
        _why(dossier),
        *_for_whom(dossier),
        Listing.of(_next_steps(dossier), most=_MOST_STEPS + 2, caption="What to do next"),
        *_columns(dossier),
        _facts(dossier),
        *_samples(dossier),
    ]


# The answer, and which reason applies.


def _headline(dossier: Dossier) -> str:
    found = dossier.assessment
    if found.answer == "yes" and dossier.drawn is not None:
        return (
            "Every promise holds, and differential privacy against everyone: no attack is left to "
            "try, and nothing about any person becomes likely that was not."
        )
    if found.answer == "yes":
        return (
            "Every promise holds, every attack that applies was tried, and nothing about any "
            "person becomes likely that was not."
        )
    if found.answer == "with care":
        n = len(found.reasons)
        asks = "there is a reason" if n == 1 else f"there are {n} reasons"
        return (
            "Every promise that could be recounted holds, and no one is at risk; "
            f"but {asks} to decide on before it is published."
        )
    broken = [r.check.name for r in found.reasons if r.check is not None and r.refuses]
    kinds = {each.kind for each in found.named}
    at_risk = found.at_risk if found.succeeded else 0
    why = [
        *([f"a promise is broken, or could not be checked ({_list(broken)})"] * bool(broken)),
        *(["a published column names people"] * ("identifier" in kinds)),
        *(["nothing says which rows belong to one person"] * ("rows" in kinds)),
        *([f"something about {_count(at_risk)} becomes as good as known"] * bool(at_risk)),
    ]
    because = join_words(why) or "nothing was looked at"
    return f"Do not publish it as it is: {because}."


def _at_risk(dossier: Dossier) -> list[Part]:
    """Return how many people each adversary learns too much of, in one line."""
    lines = dossier.assessment.adversaries
    if not lines:
        return []
    first, *others = lines
    known = first.who.removeprefix("who knows ")
    told = [f"{format_integer(first.people)} if others know {known}{_partly(first)}"]
    told += [
        f"{format_integer(each.people)} with {each.knows.besides}{_partly(each)}" for each in others
    ]
    of = format_integer(dossier.assessment.people)
    return [Sentence(f"People at risk, of {of}: {', '.join(told)}.")]


def _partly(line: AdversaryLine) -> str:
    return " (as far as that was tried)" if line.in_part else ""


def _count(people: int) -> str:
    return "one person" if people == 1 else f"{format_integer(people)} people"


def _list(names: Iterable[str]) -> str:
    return join_words(list(dict.fromkeys(names)), most=4)


def _why(dossier: Dossier) -> Listing:
    """Return the weightiest reasons in words: what is believed of whom."""
    found = dossier.assessment.reasons
    texts = [dossier.without_path(_in_words(reason)) for reason in found[:_MOST_REASONS]]
    shown = tuple(brief(_sentence(text), most=_LONGEST) for text in texts)
    of = f" ({len(shown)} of {len(found)} reasons; all are under {CHECKS.title})"
    return Listing(shown, caption="Why" + of * (len(shown) < len(found)))


def _sentence(text: str) -> str:
    # A name is not written otherwise because a sentence begins with it.
    text = text.rstrip() if text[:1] == "'" else f"{text[:1].upper()}{text[1:]}".rstrip()
    return text if text.endswith((".", "…")) else f"{text}."


def _in_words(reason: Reason) -> str:
    """Return a reason without what to do about it, which has a place of its own."""
    found = reason.outcome
    if found is not None and found.level and found.worst:
        if found.accepted:
            return f"accepted by the publisher: {_belief(found)} {found.accepted}"
        return _belief(found)
    if reason.finding is not None and reason.finding.advice:
        return reason.text.removesuffix(reason.finding.advice.rstrip(". ")).rstrip(". ")
    return reason.text


def _belief(found: Outcome) -> str:
    """Return what is believed of whom: how many people it concerns, and the worst of them."""
    worst = found.worst[0]
    columns = [repr(name) for name in found.columns]
    what = f"{join_words(columns)} become{'s' * (len(columns) == 1)}"
    what = what if columns else "which row is theirs becomes"
    whose = f"{format_integer(found.concerned)} of {_count(found.of)}"
    shown = [f"{name} {_value(value)}" for name, value in worst.who.items()]
    who = f"who knows {join_words(shown)} of a person" if shown else "any reader"
    chance = " Groups this small show that by chance." if found.by_size else ""
    return (
        f"{what} {_SURE[found.level]} for {whose}. For example, {who} believes with "
        f"{percent(worst.posterior)}: {brief(worst.believed, most=80)}; without the release, with "
        f"{percent(worst.prior)}.{chance}"
    )


def _value(value: object) -> str:
    return brief(value, most=_SAMPLE_CELL)


# For whom the answer is.


_WHOM_DRAWN = "It protects everyone in the original: none of the {} rows is a person's."
_OF_DRAWN = (
    "Against whom: anyone, whatever they know, whether or not it is told here.",
    "Not looked at: other releases of the same people, and whether the roles below are right.",
)


def _for_whom(dossier: Dossier) -> list[Part]:
    manifest = dossier.manifest
    if manifest is None:
        return []
    rows = manifest.rows
    if dossier.drawn is not None:
        n = format_integer(rows.published)
        return [Listing((_WHOM_DRAWN.format(n), *_OF_DRAWN), caption="For whom")]
    people = f"{format_integer(rows.published)} people"
    if "counted" in (manifest.person or {}):
        people = f"people in its {format_integer(rows.published)} rows"
    elif manifest.person is not None:
        people = f"{format_integer(rows.published)} rows, which are counted in place of people"
    left = f"; {format_integer(rows.suppressed)} more rows were left out" if rows.suppressed else ""
    names = manifest.with_role("quasi-identifier")
    known = _names(names, 8, 160) if names else "what is published"
    protects = "is to protect" if dossier.assessment.answer == "no" else "protects"
    told = (
        f"It {protects} the {people}{left}.",
        f"Against whom: anyone who knows {known} of a person, and that the person is in the data.",
        f"Not looked at: {join_words(_not_covered(dossier))}.",
    )
    return [Listing(told, caption="For whom")]


def _not_covered(dossier: Dossier) -> list[str]:
    tried = {each.attack for each in dossier.assessment.attacks if each.tried}
    return [
        *(
            kind.leaves_open
            for kind in ATTACKS.values()
            if kind.leaves_open and kind.name not in tried
        ),
        *(["lists of people that others have"] * (not dossier.has_list)),
        "whether the roles below are right",
    ]


# What to do next.


def _next_steps(dossier: Dossier) -> list[str]:
    found = dossier.assessment
    advice = list(dict.fromkeys(_advice(found.reasons)))[:_MOST_STEPS]
    steps = [brief(_sentence(dossier.without_path(each)), most=_LONGEST) for each in advice]
    if found.answer == "no":
        return [*steps, "Then make the release and this report again."]
    roles = "Look at the roles below: is there a column that others know, or that names people?"
    if found.answer == "with care":
        accept = "Decide on each reason: change the policy, or accept it there (accept: …)."
        return [*steps, accept, roles]
    keep = "Publish it, keep the policy and this report, and set a date to look at it again."
    return [roles, keep]


_SETTINGS = re.compile(r"(?::| \() ?models: \[\{.*?\}\]\)?")
"""How a policy writes what is advised: that stands with the reasons, and not on the first page."""


def _advice(reasons: Sequence[Reason]) -> Iterator[str]:
    for reason in reasons:
        if reason.check is not None:
            yield "Get the files again from their publisher, or make the release again."
        elif reason.outcome is not None and reason.outcome.advice and not reason.outcome.accepted:
            advice = _SETTINGS.sub("", reason.outcome.advice)
            names = join_words([repr(name) for name in reason.outcome.columns])
            # Advice speaks of what was learned without its name.
            yield f"{names}: {advice[:1].lower()}{advice[1:]}" if names else advice
        elif reason.finding is not None and reason.finding.advice:
            yield reason.finding.advice


# The roles of all columns, and what nothing protects.


class _Line(NamedTuple):
    """Columns of one role that are protected alike."""

    role: str
    badge: str
    how: str


def _columns(dossier: Dossier) -> list[Part]:
    manifest = dossier.manifest
    if manifest is None:
        return []
    lines: dict[_Line, list[str]] = {}
    for column in manifest.columns:
        lines.setdefault(_judge(dossier, manifest, column), []).append(column.of or column.name)
    order = list(_ROLES.values())
    many = len(manifest.columns) > _MANY_COLUMNS
    rows: list[list[Cell]] = []
    for line, names in sorted(lines.items(), key=lambda each: _place(each[0].role, order)):
        told = line.role == _KNOWN or line.badge != "protected"
        each = list(dict.fromkeys(names))
        shown = _names(each, 60, 150) if told or not many else f"{len(each)} columns"
        rows.append([line.role, Names(shown), Badge(line.badge), line.how])
    headings = ["role", "columns", "protected?", "how"]
    return [ContentTable.of("The columns, and what protects them", headings, rows, most=None)]


def _judge(dossier: Dossier, manifest: Manifest, column: ColumnRecord) -> _Line:
    """Return how a column is protected, and whether that was enough: the answer decides."""
    found = dossier.assessment
    line = _line(manifest, column)
    if dossier.drawn is not None:
        line = _Line(line.role, "protected", "drawn under differential privacy, with all others")
    learned = [name for outcome in found.succeeded for name in outcome.columns]
    naming = [name for finding in found.named for name in finding.columns]
    if column.name in (*learned, *naming):
        return line._replace(badge="at risk")
    if line.badge != "protected":
        return line
    if any(reason.check is not None and reason.refuses for reason in found.reasons):
        return line._replace(badge="unchecked", how="what is promised does not hold")
    if any(column.name in each.columns for each in found.concerns):
        return line._replace(badge="with care", how=f"{line.how}, not in full")
    return line


def _place(role: str, order: Sequence[str]) -> int:
    return order.index(role) if role in order else len(order)


_KNOWN = "others may know it (quasi-identifier)"
_ROLES = {
    "quasi-identifier": _KNOWN,
    "sensitive": "no one should learn it (sensitive)",
    "set": "several items per row (set)",
    "plain": "neither of the two (plain)",
    "weight": "how many people a row stands for (weight)",
}
_MANY_COLUMNS = 20
"""Of more columns only the quasi-identifiers and the unprotected ones are named."""


def _line(manifest: Manifest, column: ColumnRecord) -> _Line:
    role = _ROLES.get(column.role, column.role)
    changed = " and ".join(each["kind"] for each in column.perturbed or () if "kind" in each)
    if column.role == "quasi-identifier":
        k = manifest.k
        how = "people look alike" if k is None else f"{k} or more people look alike"
        return _Line(role, "protected", f"{how}; values changed ({changed})" if changed else how)
    if column.role in ("set", "weight"):
        how = "items are hidden among others" if column.role == "set" else "the mean of a class"
        return _Line(role, "protected", how)
    own = {promise.column for promise in manifest.models}
    own |= {each.column for each in manifest.hiding or ()}
    if column.role == "sensitive" and column.name in own:
        return _Line(role, "protected", "by a promise below")
    if changed:
        return _Line(role, "protected", f"values changed ({changed})")
    if column.role == "sensitive":
        return _Line(role, "not protected", "no promise of its own")
    because = f", because: {brief(column.because, most=80)}" if column.because else ""
    return _Line(role, "not protected", f"published as it was{because}")


def _names(names: Sequence[str], most: int, characters: int) -> str:
    """List names until they are too many or too long, and how many more there are.

    >>> _names(["age", "sex", "postcode"], 2, 50), _names(["age", "sex"], 9, 5)
    ('age, sex and 1 more', 'age and 1 more')
    """
    shown: list[str] = []
    for name in names[:most]:
        short = brief(name, most=40)
        if shown and len(", ".join([*shown, short])) > characters:
            break
        shown.append(short)
    if len(shown) == len(names):
        return join_words(list(names), most=most)
    return f"{', '.join(shown)} and {len(names) - len(shown)} more"


# What it is about: how it was made, what it promises, when, by whom and what for.


_ABOUT = "About this release; a group is people who look alike in what others may know"


def _facts(dossier: Dossier) -> ContentTable:
    rows = [*_method_and_promises(dossier.manifest), *_statements(dossier)]
    about = _ABOUT if dossier.drawn is None else "About this release"
    return ContentTable.of(about, ["", "in one line"], rows, most=None)


def _method_and_promises(manifest: Manifest | None) -> Iterator[list[Cell]]:
    if manifest is None:
        return
    yield ["method", _method(manifest)]
    for promise in manifest.models[:_MOST_PROMISES]:
        yield ["promise", _promise(promise, people="counted" in (manifest.person or {}))]
    if manifest.drawn is not None:
        yield ["promise", brief(str(manifest.drawn), most=160)]
    for hidden in (manifest.hiding or ())[:_MOST_PROMISES]:
        yield ["promise", brief(str(hidden), most=160)]
    more = len(manifest.models) - _MOST_PROMISES
    if more > 0:
        yield ["promise", f"and {more} more: see What was promised, and in which files"]


def _method(manifest: Manifest) -> str:
    kind = kind_of(manifest.kind)
    if manifest.kind is not None:
        noise = "" if manifest.drawn is None else ", all of it counted with noise"
        return f"{_first_line(kind)} ({kind.name}){noise}"
    if manifest.drawn is not None:
        return f"rows drawn from a model of noisy counts ({manifest.drawn.mechanism})"
    name = manifest.method_name
    known = every_method(PARTITIONERS).get(name)
    told = name if known is None else f"{_first_line(known)} ({name})"
    changed = [c.name for c in manifest.columns if c.perturbed]
    return f"{told}; values of {_names(changed, 6, 80)} were changed" if changed else told


def _first_line(kind: type) -> str:
    """Return what a member of a family says of itself, up to its first pause."""
    return (kind.__doc__ or "").strip().splitlines()[0].partition(";")[0].rstrip(".")


def _promise(promise: Promise, *, people: bool) -> str:
    """Return what a model says of itself, with its figures in place of their names.

    >>> _promise(Promise("k-anonymity", {"k": 5}), people=False)
    'Every group has at least 5 rows (k-anonymity).'
    """
    model = promise.readable()
    if model is None:
        return str(promise)
    said = _first_line(type(model))
    for name, value in promise.settings.items():
        shown = f"{value:g}" if isinstance(value, float) else text_of(value)
        said = said.replace(f"`{name}`", brief(shown, most=40))
    if people:
        said = re.sub(r"\brow\b", "person", re.sub(r"\brows\b", "people", said))
    said = re.sub(r"\bclass\b", "group", said)
    of = "" if promise.column is None else f" of {brief(promise.column, most=40)}"
    return f"{said} ({promise.model}{of})."


def _statements(dossier: Dossier) -> Iterator[list[Cell]]:
    said = {"owner": dossier.owner, "purpose": dossier.purpose}
    for name, text in said.items():
        if text is not None:
            yield [name, brief(text, most=200)]
    lacking = " and ".join(name for name, text in said.items() if text is None)
    if lacking:
        yield [lacking, "not stated in the policy"]
    if dossier.date is None:
        yield ["date", "none: a public report is the same whenever it is made"]
    else:
        yield ["date", f"{dossier.date.isoformat()}, of this report"]


# A few rows, as they are published.


def _samples(dossier: Dossier) -> list[Part]:
    """Return the first rows that are published; of several tables, those of the first two."""
    try:
        return [_sample(dossier, *each) for each in _tables(dossier)]
    except (SfumatoError, OSError):
        # What is wrong with the files is said above.
        return []


def _tables(dossier: Dossier) -> Iterator[tuple[str, "pa.Table"]]:
    release = dossier.release
    if isinstance(release, PublishedTable) and not isinstance(release.data, FrequencySet):
        yield "A few rows, as they are published", release.table.head(_SAMPLE_ROWS)
    elif isinstance(release, PublishedTables):
        tables = list(release.tables.items())
        for name, table in tables[:2]:
            caption = f"A few rows of {brief(name, most=40)}, one of {len(tables)} tables"
            yield caption, table.head(_SAMPLE_ROWS_EACH)


def _sample(dossier: Dossier, caption: str, rows: "pa.Table") -> ContentTable:
    names = list(rows.column_names)
    # A column that names people makes the answer no; a report need not spread the names.
    naming = {name for each in dossier.assessment.named for name in each.columns}
    first = [*dossier.with_role("quasi-identifier"), *dossier.with_role("sensitive")]
    ordered = sorted(names, key=lambda name: _place(name, first))
    shown = [name for name in ordered if name not in naming][:_SAMPLE_COLUMNS]
    if len(names) > len(shown):
        caption += f" ({len(shown)} of {len(names)} columns)"
    values = [rows.column(names.index(name)).to_pylist() for name in shown]
    cells = [[_value(value) for value in row] for row in zip(*values, strict=True)]
    return ContentTable.of(caption, [brief(name, most=40) for name in shown], cells)


VERDICT = Chapter(
    "verdict",
    "In short",
    "This page alone says whether it may be published; everything behind it is the detail.",
    _parts,
)
