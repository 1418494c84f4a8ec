"""What the code says: sentences with what differs in them, as they stand in the sources."""

import ast
from collections.abc import Iterator
from pathlib import Path

FILLED = "7"
"""What stands for what differs: it may be a name, a number or a sentence."""


def text_of(node: ast.AST | None) -> str | None:
    """Give a text with what differs filled in; None if it is made in another place."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else None
    if isinstance(node, ast.JoinedStr):
        return "".join(map(_part_of, node.values))
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        sides = [text_of(node.left), text_of(node.right)]
        return None if None in sides else "".join(side or "" for side in sides)
    return None


def _part_of(node: ast.AST) -> str:
    if isinstance(node, ast.FormattedValue):
        return repr(FILLED) if node.conversion == ord("r") else FILLED
    return text_of(node) or ""


def errors_in(path: Path) -> Iterator[str]:
    """Give what the errors of a module say."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if not isinstance(node, ast.Call):
            continue
        name = ast.unparse(node.func).rpartition(".")[2]
        texts = [text_of(each) for each in node.args]
        if name == "ParameterError" and len(texts) > 2 and texts[2]:
            yield f"{texts[0] or FILLED} must be {texts[2]}, got '{FILLED}'"
        elif name == "UnknownNameError" and texts and texts[0]:
            yield f"no {texts[0]} '{FILLED}'. There are none."
        elif name.endswith("Error") and texts and texts[0] and " " in texts[0]:
            yield texts[0]


def messages_in(path: Path) -> Iterator[str]:
    """Give what a module of the app says on a page, and what the history calls a change."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            continue
        if node.func.attr in ("say", "change"):
            text = text_of(node.args[-1])
            if text and " " in text:
                yield text
