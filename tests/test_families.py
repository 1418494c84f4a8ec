"""Nothing outside a family asks for a member by name: what is true of a member stands on its class.

Whoever adds a member writes its own file, and no other part of the program learns its name. So the
names of members and their classes are looked for in all other rooms. Those that may be there are
listed below, each with its reason.
"""

import ast
from collections import defaultdict
from functools import cache
from pathlib import Path

import pytest

from sfumato.attacks import ATTACKS
from sfumato.decouplings import DECOUPLINGS
from sfumato.hierarchy import BUILDERS
from sfumato.losses import LOSSES
from sfumato.models import MODELS
from sfumato.networks import LEARNERS
from sfumato.partition import PARTITIONERS
from sfumato.perturbations import PERTURBATIONS
from sfumato.search import SEARCHES
from sfumato.tables.formats import FORMATS
from tests.docs.pages import ROOT

SOURCES = ROOT / "src" / "sfumato"
FAMILIES = {
    "attacks": ATTACKS,
    "decouplings": DECOUPLINGS,
    "hierarchy": BUILDERS,
    "losses": LOSSES,
    "models": MODELS,
    "networks": LEARNERS,
    "partition": PARTITIONERS,
    "perturbations": PERTURBATIONS,
    "search": SEARCHES,
    "tables": FORMATS,
}
"""The families, each by the room it lives in."""

APART = ("verifier", "evidence")
"""Rooms that must not know the families, so that they share no mistake with them: they have words
of their own for what manifests say."""

PLAIN_WORDS = {
    "auto", "composition", "csv", "dates", "entropy", "height", "household", "ic", "intervals",
    "known", "membership", "noise", "ordered", "precision", "rounding", "star",
}  # fmt: skip
"""Names that are also words for other things: they count where they are compared with a name."""

ASKS = {"name", "kind", "attack", "method", "model", "loss", "search", "learner"}
"""What somebody compares who asks which member it is."""

DEFAULTS = "what is taken where nobody chose, which somebody has to say by name"
PROMISED = "a promise that this code makes itself, by the model that it keeps"
EDITOR = "a page with an editor for this one kind; others are edited as text"

NAMES = {
    "cli/anonymize.py": (DEFAULTS, {"break-merge"}),
    "cli/demo.py": (DEFAULTS, {"bottom-up"}),
    "decouplings/anatomy.py": (PROMISED, {"distinct-l-diversity", "probabilistic-l-diversity"}),
    "decouplings/bucketization.py": (DEFAULTS, {"mondrian"}),
    "drafting/policy.py": (DEFAULTS, {"best-first", "mondrian"}),
    "ledger/publishing/outputs.py": (PROMISED, {"break-merge", "k-anonymity"}),
    "policy/parts.py": (DEFAULTS, {"best-first", "break-merge", "top-down"}),
    "policy/policy.py": (DEFAULTS, {"best-first"}),
    "policy/remedies.py": (DEFAULTS, {"break-merge"}),
    "recode/lattice.py": ("a column of a table about this search", {"incognito"}),
    "releases/decoupling.py": (PROMISED, {"k-anonymity"}),
    "releases/people_file.py": ("a private file, whose forms are two", {"parquet"}),
    "tasks/draft.py": ("asks for a delimiter where text has one column", {"csv"}),
    "tasks/priced_verdict.py": (DEFAULTS, {"break-merge"}),
    "tasks/protect.py": (DEFAULTS, {"break-merge"}),
}
CLASSES = {
    "app/steps/hierarchies.py": (
        EDITOR,
        {"Automatic", "Dates", "KnownTree", "Masking", "OrderedCategories"},
    ),
    "comparison/compare.py": ("the one loss by which policies are compared", {"NormalizedLoss"}),
    "drafting/in_short.py": (
        "a hierarchy on a line of a screen, which has room for no more",
        {"Dates", "Frequent", "Intervals", "KnownTree", "Masking", "OrderedCategories", "Suppress"},
    ),
    "drafting/policy.py": (
        "drafts choose these themselves, and say in a line why",
        {
            "AlphaKAnonymity", "CategoryShare", "Dates", "DistinctLDiversity", "Frequent",
            "Intervals", "KAnonymity", "KmAnonymity", "KnownTree", "RangeShare", "Suppress",
            "TCloseness",
        },
    ),
    "policy/remedies.py": ("joins two promises that remedies of attacks make", {"AlphaKAnonymity"}),
    "recode/deciding.py": ("what refining adds, and nothing else", {"AlphaKAnonymity"}),
    "releases/levels.py": ("what its stars may stand for", {"Masking"}),
    "synthesis/domain.py": ("cells of numbers are ranges with public ends", {"Intervals"}),
    "tasks/anonymize.py": ("says which tree it chose", {"Automatic"}),
    "tasks/check_policy.py": (
        "which values have no name of their own in a hierarchy",
        {"Frequent", "KnownTree", "Suppress"},
    ),
    "tasks/decouple.py": ("buckets are made by recoding, which lies above", {"Bucketization"}),
    "tasks/trace.py": ("the one method that is traced", {"TopDown"}),
    "tasks/trying.py": ("what is made larger", {"KAnonymity"}),
}  # fmt: skip
"""Who may ask for which name or class, and why."""


def own(path: Path, room: str) -> bool:
    first = path.relative_to(SOURCES).parts[0]
    return first in (room, *APART)


def strings(tree: ast.Module):
    """Give the texts of a module but docstrings, and whether each is asked for as a name."""
    documents, asked = set(), set()
    for node in ast.walk(tree):
        for statement in (
            getattr(node, "body", ()) if isinstance(node.__dict__.get("body"), list) else ()
        ):
            if isinstance(statement, ast.Expr):
                documents.add(id(statement.value))
        if isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            names = {getattr(side, "attr", getattr(side, "id", "")) for side in sides}
            if names & ASKS:
                asked.update(id(part) for side in sides for part in ast.walk(side))
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and id(node) not in documents
        ):
            yield node.value, id(node) in asked


def classes_asked_for(tree: ast.Module):
    """Give the names of classes that `isinstance` or `issubclass` is called with."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") in (
            "isinstance",
            "issubclass",
        ):
            yield from (part.id for part in ast.walk(node.args[1]) if isinstance(part, ast.Name))


@cache
def found_in_sources():
    names, classes = defaultdict(set), defaultdict(set)
    for path in sorted(SOURCES.rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        where = path.relative_to(SOURCES).as_posix()
        others = {room: family for room, family in FAMILIES.items() if not own(path, room)}
        ours = {name for room, family in FAMILIES.items() if room not in others for name in family}
        members = {name for family in others.values() for name in family} - ours
        kinds = {kind.__name__ for family in others.values() for kind in family.values()}
        for text, asked in strings(tree):
            if text in members and (asked or text not in PLAIN_WORDS):
                names[where].add(text)
        for name in classes_asked_for(tree):
            if name in kinds:
                classes[where].add(name)
    return names, classes


def beyond(found, listed):
    """Give what was found in a file that is not listed for it."""
    more = {where: names - listed.get(where, ("", set()))[1] for where, names in found.items()}
    return {where: names for where, names in more.items() if names}


@pytest.mark.usefixtures("patience")
def test_nobody_asks_for_a_member_of_another_family_by_name():
    names, _ = found_in_sources()
    assert beyond(names, NAMES) == {}


@pytest.mark.usefixtures("patience")
def test_nobody_asks_whether_something_is_a_certain_member():
    _, classes = found_in_sources()
    assert beyond(classes, CLASSES) == {}


def test_every_exception_has_a_reason():
    assert all(reason for reason, _ in (*NAMES.values(), *CLASSES.values()))


def test_the_scan_sees_who_asks(tmp_path):
    code = (
        'def f(one):\n    """known"""\n    return one.kind == "known" or isinstance(one, Dates)\n'
    )
    tree = ast.parse(code + 'x = "k-anonymity"\n')
    assert set(strings(tree)) == {("known", True), ("k-anonymity", False)}
    assert list(classes_asked_for(tree)) == ["Dates"]
