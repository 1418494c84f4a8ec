"""Names, docstrings and messages use the words of the glossary."""

import ast
import re

import pytest

from tests.style import ROOT, faults_of_words, rows_of_glossary

SOURCE = ROOT / "src" / "sfumato"

PARTICIPLES = set(
    """begun broken brought built caught chosen dealt drawn driven felt fitted frozen given gone
    grown held hidden kept known laid led lost made meant met paid said seen sent shown sold
    spent spoken stood swept taken taught thrown told torn understood worn written""".split()  # noqa: SIM905 - a list is read more easily in a line
)
"""Irregular ones; the others end in -ed."""

NOUNS = {"feed", "need", "seed", "speed"}
"""Words that end in -ed and are no participles."""


def is_participle(name):
    word = name.strip("_").lower()
    regular = word.endswith("ed") and len(word) > 4 and word not in NOUNS
    if "_" in word or not (word in PARTICIPLES or regular):
        return False
    return word not in {one for one, _, _ in rows_of_glossary()}


def is_property(function):
    names = [ast.unparse(each).rpartition(".")[2] for each in function.decorator_list]
    return bool({"property", "cached_property", "setter"} & set(names))


def check_name(node):
    if isinstance(node, ast.ClassDef):
        single = re.fullmatch(r"_?[A-Z][a-z]+", node.name)
        return f"class {node.name}" if single and is_participle(node.name) else None
    bare = is_participle(node.name) and not is_property(node)
    return f"function {node.name}" if bare else None


def problems(path):
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if not isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
            continue
        line = getattr(node, "lineno", 1)
        if not isinstance(node, ast.Module) and (bare := check_name(node)):
            yield line, f"{bare} is a bare participle: name what it is or does"


ROOMS = sorted({path.relative_to(SOURCE).parts[0] for path in SOURCE.rglob("*.py")})


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("room", ROOMS)
def test_the_names_of_a_room_say_what_they_are(room):
    place = SOURCE / room
    found = [
        f"{path.relative_to(SOURCE)}:{line}: {what}"
        for path in sorted([place] if place.is_file() else place.rglob("*.py"))
        for line, what in problems(path)
    ]
    assert not found, "\n".join(found)


def test_the_glossary_is_short_and_sorted():
    words = [word for word, _, _ in rows_of_glossary()]
    assert 35 <= len(words) <= 50
    assert words == sorted(words)


def words_of_code():
    """Yield, for each module, the words of its names and docstrings in lower case."""
    for path in sorted(SOURCE.rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        texts = []
        for node in ast.walk(tree):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
                texts.append(ast.get_docstring(node) or "")
            if isinstance(node, ast.ClassDef | ast.FunctionDef):
                texts.append(re.sub(r"(?<=[a-z])(?=[A-Z])", " ", node.name).replace("_", " "))
        yield path, " ".join(" ".join(texts).lower().split())


@pytest.mark.usefixtures("patience")
def test_the_code_uses_the_words_of_the_glossary_and_no_others():
    code = list(words_of_code())
    everything = " ".join(text for _, text in code)
    for word, _, others in rows_of_glossary():
        assert re.search(rf"\b{re.escape(word[:-1])}", everything), f"nothing is called {word}"
        for other in others:
            where = [
                str(path.relative_to(SOURCE))
                for path, text in code
                if re.search(rf"\b{re.escape(other.lower())}s?\b", text)
            ]
            assert not where, f"say {word!r}, not {other!r}, in {', '.join(where)}"


def strings(tree):
    """Yield the texts of a module with their lines, but for docstrings; values are called X."""
    known, nodes = set(), list(ast.walk(tree))
    for node in nodes:
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and (
            ast.get_docstring(node) is not None
        ):
            known.add(id(node.body[0].value))
        elif isinstance(node, ast.JoinedStr):
            known.update(id(part) for part in node.values)
            parts = [each.value if isinstance(each, ast.Constant) else "X" for each in node.values]
            yield node.lineno, "".join(parts)
    for node in nodes:
        is_text = isinstance(node, ast.Constant) and isinstance(node.value, str)
        if is_text and id(node) not in known:
            yield node.lineno, node.value


def problems_of_text(text):
    """Yield each word of a message that the glossary replaces.

    A text without a blank is a name. Numbers glued to their units are what people type: 2GB, 5%.
    """
    if " " in text.strip():
        for _, what in faults_of_words(text):
            if not what.endswith("number and unit"):
                yield what


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("room", ROOMS)
def test_the_messages_of_a_room_use_the_words_of_the_glossary(room):
    place = SOURCE / room
    found = [
        f"{path.relative_to(SOURCE)}:{line}: {what}: {' '.join(text.split())[:100]}"
        for path in sorted([place] if place.is_file() else place.rglob("*.py"))
        for line, text in strings(ast.parse(path.read_text(encoding="utf-8")))
        for what in problems_of_text(text)
    ]
    assert not found, "\n".join(found)


def texts_of_template(text):
    """Return what a template shows, without its tags and code but with the texts it translates."""
    translated = re.findall(r"""\bt\((?:"([^"]+)"|'([^']+)')""", text)
    plain = re.sub(r"(?s)\{[{%#].*?[}%#]\}|<(script|style).*?</\1>|<[^>]*>", " ", text)
    return [one or other for one, other in translated] + [
        " ".join(line.split()) for line in plain.splitlines() if line.strip()
    ]


TEMPLATES = sorted(SOURCE.rglob("*.html"))


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.name)
def test_the_texts_of_a_page_use_the_words_of_the_glossary(path):
    found = [
        f"{what}: {text[:100]}"
        for text in texts_of_template(path.read_text(encoding="utf-8"))
        for what in problems_of_text(text)
    ]
    assert not found, "\n".join(found)
