"""Runs the blocks of a page one after the other, as a reader would.

- `python` blocks share one namespace. A `text` block right after one is what it prints.
- `console` blocks hold commands after `$ ` and below each what it shows. `sfumato` runs in
  this process, other harmless commands as they are. A command that does not end with 0 is
  followed by `$ echo $?`, for readers and for us.
- A block with a file name after its language is saved under that name.
- `...` stands for anything, and spaces are not counted.
"""

import contextlib
import doctest
import io
import shlex
import subprocess
from collections.abc import Sequence
from pathlib import Path

from typer.testing import CliRunner

from sfumato.cli.app import app
from tests.docs.pages import Block, blocks

HARMLESS = {"cat", "head", "ls", "wc", "cut", "sort", "mkdir", "cp"}
LANGUAGES = {"python", "console", "text", "yaml", "csv", "json", "sh", ""}
_OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def run_page(page: Path, heading: str | None = None, *, but: Sequence[str] = ()) -> int:
    """Run a page in the current folder; give how many things were run.

    Args:
        page: The page.
        heading: If given, only what stands below this heading is run. All files are saved.
        but: Headings below which nothing is run.
    """
    names: dict[str, object] = {"__name__": "page"}
    done = 0
    before: tuple[Block, str] | None = None
    for block in blocks(page):
        if not block.file and (block.heading in but or heading not in (None, block.heading)):
            continue
        assert block.language in LANGUAGES, f"{block.place}: no language {block.language!r}"
        if block.language == "text" and before is not None:
            require_same(block.text, before[1], block.place)
        before = None
        if block.file:
            Path(block.file).parent.mkdir(exist_ok=True)
            Path(block.file).write_text(block.text, encoding="utf-8")
        elif block.language == "python":
            before = block, _python(block, names)
            done += 1
        elif block.language == "console":
            done += _console(block)
    return done


def _python(block: Block, names: dict[str, object]) -> str:
    # Empty lines in front make the line numbers of a traceback those of the page.
    code = compile("\n" * block.line + block.text, block.place, "exec")
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(code, names)
    return printed.getvalue()


def _console(block: Block) -> int:
    code, last = 0, ""
    commands = commands_in(block)
    assert commands, f"{block.place}: a console block without a command"
    for line, command, shown in commands:
        place = f"{block.place}, line {line}: $ {command}"
        if command == "echo $?":
            output, new = f"{code}\n", 0
        else:
            assert code == 0, f"{last} ended with {code}\n{output}"
            output, new = _run(command, place)
        if shown:
            require_same(shown, output, place)
        code, last = new, place
    assert code == 0, f"{last} ended with {code}\n{output}"
    return len(commands)


def commands_in(block: Block) -> list[tuple[int, str, str]]:
    """Give the commands of a console block, with their lines and what they show."""
    found: list[tuple[int, str, str]] = []
    for number, line in enumerate(block.text.splitlines(), block.line + 1):
        if line.startswith("$ "):
            found.append((number, line[2:].strip(), ""))
        else:
            assert found, f"{block.place}: a console block starts with a command after '$ '"
            at, command, shown = found.pop()
            found.append((at, command, f"{shown}{line}\n"))
    return found


def _run(command: str, place: str) -> tuple[str, int]:
    first, *rest = shlex.split(command)
    if first == "sfumato":
        result = CliRunner().invoke(app, rest)
        return result.output, result.exit_code
    assert first in HARMLESS, f"{place}: only sfumato and {sorted(HARMLESS)} are run here"
    done = subprocess.run([first, *rest], capture_output=True, text=True, check=False)
    return done.stdout + done.stderr, done.returncode


def require_same(expected: str, found: str, place: str) -> None:
    """Compare what is shown with what came out."""
    # A line of dots alone would be read as the start of a doctest's source.
    if not doctest.OutputChecker().check_output(expected.strip(), found.strip(), _OPTIONS):
        raise AssertionError(f"{place} shows\n{found}\nand the page says\n{expected}")
