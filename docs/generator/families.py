"""Reference pages of the families: models, hierarchies, losses and searches."""

from collections.abc import Callable, Mapping
from typing import Any

from docs.generator.docstrings import doc_of
from docs.generator.markdown import anchor, block, code, joined, prose, table
from sfumato.hierarchy import BUILDERS, EXAMPLE_FOLDER
from sfumato.losses import AGGREGATES, LOSSES
from sfumato.models import MODELS
from sfumato.policy.family import default, descriptions, parameters, required, written
from sfumato.policy.values import expected
from sfumato.policy.writer import plain, to_text
from sfumato.search import SEARCHES
from sfumato.text import text_of

Kind = Any
"""A member of a family: a class with the members that its family's base promises."""


def models() -> str:
    """Write the page of privacy models."""

    def policy(kind: Kind) -> dict[str, object]:
        population = {"population": "people.csv"} if kind.needs_population else {}
        return {"models": [written(kind.example(), "model")], **population}

    return joined(
        "# Models",
        "What a release promises about the classes of people that look alike. A policy lists them "
        "under `models`, and all of them must hold in every class. Which to take is the subject of "
        "[Choose models](../how-to/choose-models.md); [Models](../concepts/models.md) explains "
        "the kinds.",
        _overview(
            MODELS,
            {
                "sensitive column": lambda kind: "column" in parameters(kind),
                "population": lambda kind: kind.needs_population,
            },
        ),
        *_sections(
            MODELS,
            policy,
            lambda kind: _python("models", kind.example()),
            between=_merging,
        ),
    )


def hierarchies() -> str:
    """Write the page of hierarchy builders."""

    def policy(kind: Kind) -> dict[str, object]:
        hierarchy = written(kind.example(), "kind")
        return {"columns": {"my_column": {"role": "quasi-identifier", "hierarchy": hierarchy}}}

    return joined(
        "# Hierarchies",
        "How values become more general, level by level. A policy names one under `hierarchy` of a "
        "column. A quasi-identifier without one is published as it is or as `*`. "
        "[Build hierarchies](../how-to/build-hierarchies.md) shows how to choose and check them.",
        _overview(BUILDERS, {}),
        *_sections(
            BUILDERS,
            policy,
            lambda kind: joined(
                _python("hierarchy", kind.example()),
                "What the example makes of some values:",
                _ladder(kind),
            ),
        ),
    )


def losses() -> str:
    """Write the page of losses."""
    aggregates = [[code(n), prose(doc_of(kind).summary)] for n, kind in own(AGGREGATES).items()]
    return joined(
        "# Losses",
        "What a release no longer tells. The search looks for the release with the smallest "
        "`loss`; a manifest gives all of them. [Losses](../concepts/losses.md) explains what they "
        "have in common.",
        _overview(LOSSES, {}),
        *_sections(
            LOSSES,
            lambda kind: {"loss": written(kind.example(), "loss")},
            lambda kind: _python("losses", kind.example()),
        ),
        "## Aggregates",
        "How the losses of single columns become one number, for the losses with the setting "
        "`aggregate`. Each column counts with its `weight` in the policy.",
        table(["aggregate", "in a sentence"], aggregates),
    )


def searches() -> str:
    """Write the page of searches."""
    return joined(
        "# Searches",
        "How the best generalisation is looked for. A policy names one under `search`; the default "
        "is best-first without a limit. [Searches](../concepts/searches.md) explains what *proven "
        "optimal* means, and [Large lattices and budgets](../how-to/large-lattices.md) what to do "
        "when a search takes long.",
        _overview(SEARCHES, {"proves it": lambda kind: kind.exact}),
        "*Proves it*: if its budget lets it finish, the result is proven to be the best.",
        *_sections(
            SEARCHES,
            lambda kind: {"search": {"search": kind.name, "seconds": 60}},
            lambda kind: _python("search", kind(seconds=60)),
        ),
    )


def own(family: Mapping[str, type]) -> dict[str, Kind]:
    """Give the members that come with Sfumato; plug-ins document themselves."""
    return {n: kind for n, kind in family.items() if kind.__module__.startswith("sfumato.")}


def _overview(family: Mapping[str, type], facts: Mapping[str, Callable[[Kind], bool]]) -> str:
    """Give one line per member, with a link to the rest."""
    rows = [
        [
            f"[{name}](#{anchor(name)})",
            prose(doc_of(kind).summary),
            *("yes" if fact(kind) else "" for fact in facts.values()),
        ]
        for name, kind in own(family).items()
    ]
    return table(["name", "in a sentence", *facts], rows)


def _sections(
    family: Mapping[str, type],
    policy: Callable[[Kind], dict[str, object]],
    after: Callable[[Kind], str],
    *,
    between: Callable[[Kind], str] | None = None,
) -> list[str]:
    """Write a section per member: what it means, its settings, an example."""
    sections = [
        joined(
            f"## {name}",
            prose(doc_of(kind).summary),
            *doc_of(kind).paragraphs(),
            between(kind) if between else "",
            _settings(kind),
            block("yaml", to_text(policy(kind))),
            after(kind),
        )
        for name, kind in own(family).items()
    ]
    return [_linked(section, family) for section in sections]


def _linked(text: str, family: Mapping[str, type]) -> str:
    """Let a class that is named in a docstring lead to its section."""
    for name, kind in own(family).items():
        text = text.replace(f"`{kind.__name__}`", f"[{name}](#{anchor(name)})")
    return text


def _settings(kind: type) -> str:
    known, means = parameters(kind), descriptions(kind)
    rows = [
        [
            code(name),
            _words(name, hint),
            "required" if required(field) else _shown(default(field)),
            prose(means.get(name, "")),
        ]
        for name, (field, hint) in known.items()
    ]
    return table(["setting", "is", "default", "meaning"], rows) if rows else "No settings."


def _words(name: str, hint: Any) -> str:  # noqa: ANN401 - a type
    if name == "aggregate":
        return "an [aggregate](#aggregates)"
    words = expected(hint).removesuffix(" or nothing").replace("'", "`")
    return words.replace("a whole number or a number", "a number")


def _shown(value: object) -> str:
    simple = plain(value)
    if simple is None or simple == []:
        return "none"
    return code(str(simple).lower() if isinstance(simple, bool) else simple)


def _python(package: str, example: Kind) -> str:
    """Show how the example is made in Python, with what differs from the defaults."""
    given = [
        f"{name}={_literal(getattr(example, name))}"
        for name, (field, _) in parameters(type(example)).items()
        if required(field) or getattr(example, name) != default(field)
    ]
    return "In Python: " + code(f"sf.{package}.{type(example).__name__}({', '.join(given)})")


def _literal(value: object) -> str:
    return repr(plain(value)).replace("'", '"')


def _merging(kind: Kind) -> str:
    closed, absorbing = kind.merging
    link = "[Merging](../decisions/0002-monotone-is-two-properties.md)"
    if absorbing:
        return f"{link}: a class that passes still passes when merged with any other."
    if closed:
        return f"{link}: classes that all pass still pass when merged; one that fails can spoil it."
    return f"{link}: nothing follows for merged classes."


def _ladder(kind: Kind) -> str:
    """Show the labels of the example's values, one column per level."""
    values = kind.example_values()
    ladder = kind.example().relative_to(EXAMPLE_FOLDER).ladder("my_column", values)
    rows = [
        [
            code(text_of(value)),
            *(
                code(ladder.labels[level][ladder.codes[level][i]])
                for level in range(1, ladder.height + 1)
            ),
        ]
        for i, value in enumerate(values)
    ]
    return table(["level 0", *(f"level {i}" for i in range(1, ladder.height + 1))], rows)
