"""Reference pages of the Python interface."""

import inspect
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import fields, is_dataclass
from types import ModuleType
from typing import Any

import sfumato
from docs.generator.docstrings import doc_of, member_docs, signature
from docs.generator.markdown import block, code, joined, prose, table
from sfumato.attacks import Finding
from sfumato.drafting.inspection import Inspection
from sfumato.drafting.policy import Draft
from sfumato.evidence import SigningKey
from sfumato.leaks import (
    Breach,
    Exposure,
    Fact,
    Findings,
    Rule,
)
from sfumato.ledger.publishing.increments import Publication
from sfumato.ledger.publishing.ledger import Headroom
from sfumato.policy.parts import Part
from sfumato.recode.lattice import JudgedLattice
from sfumato.releases.release import DecoupledRelease
from sfumato.study.trace import Trace
from sfumato.tasks.protect import ProtectedRelease
from sfumato.verifier import Verdict

_MORE = {
    "DecoupledRelease": DecoupledRelease,
    "evidence.SigningKey": SigningKey,
    "Draft": Draft,
    "Inspection": Inspection,
    "Verdict": Verdict,
    "Finding": Finding,
    "Findings": Findings,
    "Rule": Rule,
    "Fact": Fact,
    "ProtectedRelease": ProtectedRelease,
    "Exposure": Exposure,
    "Breach": Breach,
    "Publication": Publication,
    "Headroom": Headroom,
    "JudgedLattice": JudgedLattice,
    "Trace": Trace,
}
"""Results, which need not be named; what they are made of has docstrings."""

_WITH_METHODS = ("sf.Ledger", "sf.Policy")
"""Classes that people call methods of, with arguments that are explained one by one."""

_SETTINGS_OF_POLICIES = (
    "Its settings are the [keys of a policy file](policy.md#keys), with the same names. "
    "It also has:"
)

_ALIKE = "As for `publish`."
"""What arguments say that another method explains."""

_OF_RESULTS = {"to_dict", "headline", "content"}
"""What every result has."""

_OFTEN = 2
"""An argument that means the same in so many functions is explained once."""

_PAGES = {
    "attacks": "attacks.md",
    "networks": "learners.md",
    "decouplings": "decouplings.md",
    "derivations": "derivations.md",
    "perturbations": "perturbations.md",
    "hierarchy": "hierarchies.md",
    "losses": "losses.md",
    "models": "models.md",
    "populations": "estimators.md",
    "partition": "methods.md",
    "profiles": "profiles.md",
    "search": "searches.md",
}
"""Modules whose members have a page of their own."""


def page() -> str:
    """Write the page of functions and modules."""
    names = [name for name in sfumato.__all__ if name != "__version__"]
    things = {name: getattr(sfumato, name) for name in names}
    functions = {n: each for n, each in things.items() if inspect.isfunction(each)}
    functions |= {f"tools.{n}": getattr(sfumato.tools, n) for n in sfumato.tools.__all__}
    functions["evidence.keygen"] = sfumato.evidence.keygen
    modules = {n: each for n, each in things.items() if inspect.ismodule(each)}
    shared = _shared(functions.values())
    return joined(
        "# Python",
        block("python", "import sfumato as sf"),
        "This page and [Classes and results](results.md) are the public interface; other names "
        "may change without notice. `help(sf.anonymize)` shows an example of each function and "
        "the types of its arguments. `sf.__version__` is the version, and [Errors](errors.md) "
        "lists what can be raised.",
        "## Common arguments",
        "These mean the same in every function where they are not explained again.",
        table(["argument", "meaning"], [[code(n), prose(text)] for n, text in shared]),
        "## Functions",
        *(_function(f"sf.{name}", each, shared) for name, each in functions.items()),
        "## Modules",
        *(_module(name, each) for name, each in modules.items()),
    )


def results() -> str:
    """Write the page of classes: those that are made, and those that functions return."""
    names = [name for name in sfumato.__all__ if name != "__version__"]
    things = {name: getattr(sfumato, name) for name in names}
    classes = {n: each for n, each in things.items() if inspect.isclass(each)}
    return joined(
        "# Classes and results",
        "What the [functions](python.md) take and return. Results are plain values: they do not "
        "change, and print what they found. All have `to_dict()` (plain values for JSON), "
        "`headline` (one line) and `content()` (what a report shows of them), where that makes "
        "sense.",
        *(_class(f"sf.{name}", each) for name, each in classes.items()),
        *(_class(name, each) for name, each in _MORE.items()),
    )


def _shared(functions: Iterable[Callable[..., Any]]) -> list[tuple[str, str]]:
    """List the arguments that several functions have, with the same meaning in each."""
    found = Counter(each for function in functions for each in doc_of(function).arguments.items())
    often: dict[str, str] = {}
    for (name, meaning), times in found.most_common():
        if times >= _OFTEN:
            often.setdefault(name, meaning)
    return sorted(often.items())


def _function(name: str, function: Any, shared: list[tuple[str, str]]) -> str:  # noqa: ANN401
    doc = doc_of(function)
    arguments = [
        [code(each), prose(meaning)]
        for each, meaning in doc.arguments.items()
        if (each, meaning) not in shared
    ]
    return joined(
        f"### {name}",
        block("python", signature(function, name, types=False)),
        prose(doc.summary),
        *doc.paragraphs(),
        table(["argument", "meaning"], arguments) if arguments else "",
    )


def _class(name: str, kind: type) -> str:
    doc = doc_of(kind)
    rows = [row for row in [*_fields(kind), *_members(kind)] if row[1]]
    return joined(
        f"## {name}",
        prose(doc.summary),
        *doc.paragraphs(),
        _SETTINGS_OF_POLICIES if kind is sfumato.Policy else "",
        table(["member", "meaning"], rows) if rows else "",
        *(
            _method(f"{name}.{each.__name__}", each)
            for each in _methods(kind)
            if _has_arguments(each) and name in _WITH_METHODS
        ),
    )


def _method(name: str, method: Callable[..., Any]) -> str:
    arguments = doc_of(method).arguments
    alike = [code(each) for each, text in arguments.items() if text == _ALIKE]
    own = [[code(n), prose(text)] for n, text in arguments.items() if text != _ALIKE]
    return joined(
        f"### {name}",
        block("python", signature(method, name, types=False)),
        table(["argument", "meaning"], own) if own else "",
        f"{_ALIKE[:-1]}: {', '.join(alike)}." if alike else "",
    )


def _has_arguments(method: Callable[..., Any]) -> bool:
    return bool(doc_of(method).arguments)


def _methods(kind: type) -> list[Callable[..., Any]]:
    """List the public methods that a class defines."""
    plain = [getattr(member, "__func__", member) for member in _defined(kind).values()]
    return [
        each
        for each in plain
        if inspect.isfunction(each)
        and not each.__name__.startswith("_")
        and each.__module__ == kind.__module__
    ]


def _lineage(kind: type) -> list[type]:
    """List a class and its bases in the same file: one thing, written in parts."""
    if issubclass(kind, Part):
        return [kind]
    return [each for each in kind.__mro__ if each.__module__ == kind.__module__]


def _defined(kind: type) -> dict[str, Any]:
    """List what a class and its bases in the same file define, each name once."""
    found: dict[str, Any] = {}
    for each in reversed(_lineage(kind)):
        found |= vars(each)
    return found


def _fields(kind: type) -> list[list[str]]:
    if kind is sfumato.Policy:
        return []  # they have a page of their own
    if issubclass(kind, Part):
        return [[code(n), prose(each.means)] for n, each in kind.settings().items()]
    means = {}
    for each in reversed(_lineage(kind)):
        means |= member_docs(each)
    if not is_dataclass(kind):
        return []
    return [[code(each.name), prose(means.get(each.name, ""))] for each in fields(kind)]


def _members(kind: type) -> list[list[str]]:
    """List the properties and methods that a class defines."""
    rows = []
    explained = [each for each in _methods(kind) if _has_arguments(each)]
    for name, member in _defined(kind).items():
        callable_ = isinstance(member, classmethod | staticmethod) or inspect.isfunction(member)
        if name.startswith("_") or not (callable_ or isinstance(member, property)):
            continue
        if getattr(member, "__module__", kind.__module__) != kind.__module__:
            continue  # put there by a library
        plain = getattr(member, "__func__", member)
        summary = doc_of(plain).summary if plain.__doc__ else ""
        shown = name if isinstance(member, property) else signature(plain, name, types=False)
        if plain in explained and kind in (sfumato.Ledger, sfumato.Policy):
            shown = f"{name}(…)"
        if name in _OF_RESULTS and kind is not sfumato.Policy:
            continue
        rows.append([code(" ".join(shown.split())), prose(summary)])
    return rows


def _module(name: str, module: ModuleType) -> str:
    doc = doc_of(module)
    target = _PAGES.get(name)
    if target:
        return joined(
            f"### sf.{name}",
            f"{prose(doc.summary)} Members: [{target}]({target}).",
        )
    names = [
        code(f"sf.{name}.{each}") for each in module.__all__ if _is_ours(getattr(module, each))
    ]
    return joined(
        f"### sf.{name}",
        prose(doc.summary),
        *doc.paragraphs(),
        ", ".join(names) if name != "tools" else "",
    )


def _is_ours(member: Any) -> bool:  # noqa: ANN401 - anything a module exports
    return inspect.isclass(member) or inspect.isfunction(member)
