"""Reference page of the command line.

Written from the commands' own settings: the help texts of different versions of
the library that parses them look a little different, and this page should not.
"""

import textwrap
from typing import Any

from typer.main import get_command

from docs.generator.markdown import anchor, block, code, joined, prose, table
from sfumato.cli.app import app


def page() -> str:
    """Write the page."""
    group: Any = get_command(app)
    commands = all_commands(group)
    rows = [
        [f"[{name}](#{anchor(f'sfumato {name}')})", prose(command.help.partition("\n")[0])]
        for name, command in commands.items()
    ]
    return joined(
        "# Command line",
        prose(group.help) + " Results go to stdout, messages and progress to stderr, and "
        "[exit codes](errors.md#exit-codes) tell the two kinds of bad news apart. `--help` after "
        "any command shows what stands here.",
        table(["command", "what it does"], rows),
        _options(group),
        *(_section(name, command) for name, command in commands.items()),
        "## Environment",
        "`NO_COLOR` turns colours off, `COLUMNS` sets the width of tables, and `SFUMATO_DEBUG=1` "
        "shows the details of a fault of Sfumato, which may hold data.",
    )


def all_commands(group: Any, within: str = "") -> dict[str, Any]:  # noqa: ANN401 - typer's own type
    """Return all commands by what is typed, those of a group one by one."""
    found: dict[str, Any] = {}
    for name, command in group.commands.items():
        whole = f"{within} {name}".strip()
        inner = getattr(command, "commands", None)
        found |= {whole: command} if inner is None else all_commands(command, whole)
    return found


def _section(name: str, command: Any) -> str:  # noqa: ANN401 - typer's own type
    first, *others = command.help.split("\n\n")
    examples, python = command.epilog.replace("\b\n", "").split("\n\n")
    return joined(
        f"## sfumato {name}",
        prose(first),
        *(prose(paragraph) for paragraph in others),
        block("text", _usage(name, command)),
        _options(command),
        block("sh", _below(examples)),
        "In Python:",
        block("python", _below(python).replace("sf\n", "sf\n\n", 1)),
    )


def _below(text: str) -> str:
    """Give the lines below a heading."""
    return textwrap.dedent("\n".join(text.splitlines()[1:]))


def _usage(name: str, command: Any) -> str:  # noqa: ANN401
    arguments = [p.metavar for p in command.params if p.param_type_name == "argument"]
    needed = [f"{p.opts[0]} {p.metavar}" for p in command.params if _is_option(p) and p.required]
    return " ".join(["sfumato", name, *arguments, *needed, "[OPTIONS]"])


def _is_option(parameter: Any) -> bool:  # noqa: ANN401
    return bool(parameter.param_type_name == "option")


def _options(command: Any) -> str:  # noqa: ANN401
    rows = []
    for parameter in command.params:
        if _is_option(parameter):
            named = ", ".join(sorted(parameter.opts, key=len, reverse=True))
            both = "/".join([named, *parameter.secondary_opts])
            shown = code(f"{both} {parameter.metavar}" if parameter.metavar else both)
            given = "required" if parameter.required else _default(parameter)
        else:
            shown, given = code(parameter.metavar), "required" if parameter.required else ""
        rows.append([shown, given, prose(parameter.help)])
    return table(["option", "default", "meaning"], rows)


def _default(parameter: Any) -> str:  # noqa: ANN401
    if parameter.default is None or parameter.default is False:
        return ""
    # Of two opposites the first is the one that is on.
    return code(parameter.opts[0] if parameter.default is True else parameter.default)
