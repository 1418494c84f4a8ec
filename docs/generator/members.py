"""The members of a family on a page: one line each, then a section each."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from docs.generator.docstrings import doc_of
from docs.generator.markdown import anchor, block, code, joined, prose, table
from sfumato.policy.document import describe_type, plain, to_text
from sfumato.policy.parts import default_of, descriptions, is_required, parameters

_SHARED, _LONG = 3, 12
"""In so many members, an explanation of so many words stands once, before all of them."""

Kind = Any
"""A member of a family: a class with the members that its family's base promises."""


def own(family: Mapping[str, type]) -> dict[str, Kind]:
    """Give the members that come with Sfumato; plug-ins document themselves."""
    return {n: kind for n, kind in family.items() if kind.__module__.startswith("sfumato.")}


def overview(family: Mapping[str, type], facts: Mapping[str, Callable[[Kind], bool]]) -> str:
    """Name all members, and those of which each fact is true."""
    lines = [_names(own(family))]
    for fact, holds in facts.items():
        lines.append(f"- **{fact}:** {_names(n for n, kind in own(family).items() if holds(kind))}")
    return joined(lines[0], "\n".join(lines[1:]))


def _names(members: Iterable[str]) -> str:
    return ", ".join(f"[{name}](#{anchor(name)})" for name in members)


def sections(
    family: Mapping[str, type],
    policy: Callable[[Kind], dict[str, object]] | None,
    after: Callable[[Kind], str],
    *,
    stories: bool = True,
) -> list[str]:
    """Write a section per member: what it means, its settings, an example in a policy, if any.

    A section before them has the settings that several members explain in the same words. Without
    stories, only the paragraphs that begin with *Promises*, *Finds* and so on are shown.
    """
    shared = _shared(own(family).values())
    written = [
        joined("## Common settings", table(["setting", "meaning"], map(list, sorted(shared))))
        if shared
        else "",
        *(
            joined(
                f"## {name}",
                prose(doc_of(kind).summary),
                *(each for each in doc_of(kind).paragraphs() if stories or each.startswith("**")),
                _settings(kind, shared),
                block("yaml", to_text(policy(kind))) if policy else "",
                after(kind),
            )
            for name, kind in own(family).items()
        ),
    ]
    return [_linked(section, family) for section in written]


def python(package: str, example: Kind) -> str:
    """Show how the example is made in Python, with what differs from the defaults."""
    given = [
        f"{name}={_literal(getattr(example, name))}"
        for name, (field, _) in parameters(type(example)).items()
        if is_required(field) or getattr(example, name) != default_of(field)
    ]
    return "In Python: " + code(f"sf.{package}.{type(example).__name__}({', '.join(given)})")


def _linked(text: str, family: Mapping[str, type]) -> str:
    """Let a class that is named in a docstring lead to its section."""
    for name, kind in own(family).items():
        text = text.replace(f"`{kind.__name__}`", f"[{name}](#{anchor(name)})")
    return text


def _shared(kinds: Iterable[Kind]) -> set[tuple[str, str]]:
    """Return the settings that several members have, with the same long explanation in each."""
    found = Counter(each for kind in kinds for each in _explained(kind))
    return {
        each for each, times in found.items() if times >= _SHARED and len(each[1].split()) >= _LONG
    }


def _explained(kind: Kind) -> list[tuple[str, str]]:
    means = descriptions(kind)
    return [(code(name), prose(means.get(name, ""))) for name in parameters(kind)]


def _settings(kind: type, shared: set[tuple[str, str]]) -> str:
    known = parameters(kind)
    means = dict(_explained(kind))
    rows = [
        [
            code(name),
            _words(name, hint),
            "required" if is_required(field) else _shown(default_of(field)),
            "see [common settings](#common-settings)"
            if (code(name), means[code(name)]) in shared
            else means[code(name)],
        ]
        for name, (field, hint) in known.items()
    ]
    return table(["setting", "is", "default", "meaning"], rows) if rows else "No settings."


def _words(name: str, hint: Any) -> str:  # noqa: ANN401 - a type
    if name == "aggregate":
        return "an [aggregate](#aggregates)"
    words = describe_type(hint).removesuffix(" or nothing").replace("'", "`")
    return words.replace("a whole number or a number", "a number")


def _shown(value: object) -> str:
    simple = plain(value)
    if simple is None or simple in ([], {}):
        return "none"
    return code(str(simple).lower() if isinstance(simple, bool) else simple)


def _literal(value: object) -> str:
    return repr(plain(value)).replace("'", '"')
