"""What docstrings say, taken apart."""

import ast
import inspect
import re
import textwrap
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import griffe

from docs.generator.markdown import block, prose

_LEADS = "Promises|Does not promise|Finds|Does not find|Remedy|References|Reference|Returns"
_LEAD = re.compile(rf"^({_LEADS}): ", re.MULTILINE)


@dataclass(frozen=True)
class Doc:
    """A docstring: its first paragraph, the others, its arguments and its example."""

    summary: str
    body: tuple[str, ...]
    arguments: dict[str, str]
    example: str

    def paragraphs(self) -> list[str]:
        """Give what follows the summary as Markdown, with the leads in bold."""
        return [
            re.sub(rf"^({_LEADS}):", r"**\1:**", prose(part))
            for paragraph in self.body
            for part in _led(paragraph)
        ]

    def example_block(self) -> str:
        """Give the example as a session."""
        return block("pycon", self.example) if self.example else ""


def doc_of(thing: Any) -> Doc:  # noqa: ANN401 - whatever has a docstring
    """Return the parts of a docstring."""
    return parse(inspect.cleandoc(thing.__doc__ or ""))


def parse(text: str) -> Doc:
    r"""Return the parts of a docstring, as griffe reads them and any site built on it would.

    >>> doc = parse("Sum.\n\nArgs:\n    a: One\n        number.\n\nExample:\n    >>> 1")
    >>> doc.summary, doc.arguments, doc.example
    ('Sum.', {'a': 'One number.'}, '>>> 1')
    """
    free, arguments, example = [], {}, ""
    for section in griffe.Docstring(text).parse("google", warnings=False):
        if section.kind is griffe.DocstringSectionKind.parameters:
            arguments = {each.name: " ".join(each.description.split()) for each in section.value}
        elif section.kind is griffe.DocstringSectionKind.admonition and section.title == "Example":
            example = section.value.contents
        elif section.kind is griffe.DocstringSectionKind.text:
            free += [part for part in re.split(r"\n{2,}", section.value.strip()) if part]
        elif section.kind is griffe.DocstringSectionKind.returns:
            free.append("Returns: " + " ".join(each.description for each in section.value))
        elif section.kind is griffe.DocstringSectionKind.admonition:
            free.append(f"{section.title}: {section.value.contents}")
    plain = [part for part in free if not part.startswith(">>>")]
    sessions = [part for part in free if part.startswith(">>>")]
    return Doc(
        summary=plain[0] if plain else "",
        body=tuple(plain[1:]),
        arguments=arguments,
        example=example or "\n".join(sessions),
    )


def _led(paragraph: str) -> list[str]:
    """Split a paragraph where it starts to say what is promised or found, or not."""
    starts = [found.start() for found in _LEAD.finditer(paragraph)]
    cuts = sorted({0, *starts, len(paragraph)})
    return [paragraph[a:b] for a, b in pairwise(cuts) if paragraph[a:b].strip()]


def member_docs(kind: type) -> dict[str, str]:
    """Read the text below each name that a class body defines.

    >>> from sfumato.schema import Role
    >>> member_docs(Role)["PLAIN"]
    'Neither: published as it is.'
    """
    tree = ast.parse(textwrap.dedent(inspect.getsource(kind)))
    body = tree.body[0].body  # type: ignore[attr-defined]
    found: dict[str, str] = {}
    for before, after in pairwise(body):
        if (
            isinstance(after, ast.Expr)
            and isinstance(after.value, ast.Constant)
            and isinstance(after.value.value, str)
        ):
            target = before.targets[0] if isinstance(before, ast.Assign) else before
            name = getattr(getattr(target, "target", target), "id", None)
            if name:
                found[name] = inspect.cleandoc(after.value.value)
    return found


def signature(function: Any, name: str, *, types: bool = True) -> str:  # noqa: ANN401
    """Write a function's signature as its source does, or without its types.

    >>> from sfumato import samples
    >>> signature(samples.synthetic, "sf.samples.synthetic")
    'sf.samples.synthetic(rows: int, *, seed: int, after: int = 0) -> pa.Table'
    >>> signature(samples.synthetic, "sf.samples.synthetic", types=False)
    'sf.samples.synthetic(rows, *, seed, after=0)'
    """
    function = getattr(function, "__func__", function)
    node = ast.parse(textwrap.dedent(inspect.getsource(function))).body[0]
    assert isinstance(node, ast.FunctionDef)  # noqa: S101 - what getsource gives
    if node.args.args and node.args.args[0].arg in ("self", "cls"):
        node.args.args.pop(0)
    if not types:
        node.returns = None
        for each in ast.walk(node.args):
            if isinstance(each, ast.arg):
                each.annotation = None
        line = f"{name}({ast.unparse(node.args)})".replace("'", '"')
        return "\n".join(textwrap.wrap(line, 96, subsequent_indent="    "))
    parts = _parameters(node.args)
    returns = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    line = f"{name}({', '.join(parts)}){returns}".replace("'", '"')
    line = re.sub(r'-> "([^"]*)"$', r"-> \1", line)
    if len(line) <= 88:
        return line
    body = "".join(f"    {part},\n" for part in parts)
    return f"{name}(\n{body}){returns}".replace("'", '"')


def _parameters(arguments: ast.arguments) -> list[str]:
    """List the parameters as written, with the star that makes the rest keywords."""
    plain = [*arguments.posonlyargs, *arguments.args]
    defaults = [None] * (len(plain) - len(arguments.defaults)) + [*arguments.defaults]
    parts = [_parameter(each, default) for each, default in zip(plain, defaults, strict=True)]
    if arguments.vararg:
        parts.append(f"*{ast.unparse(arguments.vararg)}")
    elif arguments.kwonlyargs:
        parts.append("*")
    parts += [
        _parameter(each, default)
        for each, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    ]
    if arguments.kwarg:
        parts.append(f"**{ast.unparse(arguments.kwarg)}")
    return parts


def _parameter(argument: ast.arg, default: ast.expr | None) -> str:
    kind = argument.annotation
    if isinstance(kind, ast.Constant):
        # Quoted because it is imported for the type checker only.
        argument.annotation = ast.parse(str(kind.value), mode="eval").body
    return ast.unparse(argument) + (f" = {ast.unparse(default)}" if default is not None else "")
