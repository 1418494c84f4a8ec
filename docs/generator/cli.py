"""Reference pages of the command line: an index, and one page per command.

Written from the commands' own settings: the help texts of different versions of
the library that parses them look a little different, and these pages should not.
"""

import textwrap
from collections import Counter
from collections.abc import Callable
from typing import Any

from typer.main import get_command

from docs.generator.markdown import block, code, joined, prose, table
from sfumato.cli.app import app

_SHARED = 3
"""An option that means the same in so many commands is explained once, on the index."""


_PURPOSES = {
    "Look around": "demo, app",
    "Prepare": "init, inspect, hierarchies, widen, check-policy, schema",
    "Choose a policy": "compare, lattice, trace, hiding",
    "Make a release": "protect, anonymize, decouple, synthesize, account",
    "Ask whether you may publish it": "verify, report, detect, explain, breach, membership, diff",
    "Publish again and again": "ledger start, ledger add, ledger stream, ledger remove, "
    "ledger correct, ledger generalise, ledger compact, ledger headroom, ledger show, "
    "ledger verify, ledger as-printed",
    "Prove who published it": "keygen, sign, check-evidence",
    "Work with a release": "estimate, utility, correlations, merge",
}
"""What people want to do, and the commands for it, the most frequent one first."""


def pages() -> dict[str, Callable[[], str]]:
    """Return what makes the text of each page, by its name."""
    return {"cli/README.md": page} | {
        page_of(name): lambda name=name: command_page(name)  # type: ignore[misc]
        for name in all_commands(get_command(app))
    }


def page_of(name: str) -> str:
    """Return the page of a command.

    >>> page_of("ledger add")
    'cli/ledger-add.md'
    """
    return f"cli/{name.replace(' ', '-')}.md"


def page() -> str:
    """Write the index of commands."""
    group: Any = get_command(app)
    commands = all_commands(group)
    lists = [
        joined(
            f"### {purpose}",
            table(
                ["command", "what it does"],
                [
                    [f"[{name}]({page_of(name)[4:]})", prose(commands[name].help.split("\n")[0])]
                    for name in names.split(", ")
                ],
            ),
        )
        for purpose, names in _PURPOSES.items()
    ]
    return joined(
        "# Command line",
        prose(group.help) + " Results go to stdout, messages and progress to stderr, and "
        "[exit codes](../errors.md#exit-codes) tell the two kinds of bad news apart. `--help` "
        "after any command shows what stands on its page.",
        "## Commands by purpose",
        *lists,
        "## Options of Sfumato",
        _options(_rows(group)),
        "## Common options",
        _options(shared()),
        "## Environment",
        "`NO_COLOR` turns colours off, `COLUMNS` sets the width of tables, and `SFUMATO_DEBUG=1` "
        "shows the details of a fault of Sfumato, which may hold data.",
    )


def shared() -> list[tuple[str, str, str]]:
    """Return the options that several commands have, with the same meaning in each.

    Of options with the same name but another meaning, the most frequent one is among them.
    """
    commands = all_commands(get_command(app)).values()
    found = Counter(row for command in commands for row in _rows(command))
    often = {}
    for row, times in found.most_common():
        if times >= _SHARED and row[1] != "required":
            often.setdefault(row[0].partition(" ")[0], row)
    return sorted(often.values())


def all_commands(group: Any, within: str = "") -> dict[str, Any]:  # noqa: ANN401 - typer's own type
    """Return all commands by what is typed, those of a group one by one."""
    found: dict[str, Any] = {}
    for name, command in group.commands.items():
        whole = f"{within} {name}".strip()
        inner = getattr(command, "commands", None)
        found |= {whole: command} if inner is None else all_commands(command, whole)
    return found


def command_page(name: str) -> str:
    """Write the page of one command."""
    command = all_commands(get_command(app))[name]
    first, *others = command.help.split("\n\n")
    examples, python = command.epilog.replace("\b\n", "").split("\n\n")
    everywhere = shared()
    own = [row for row in _rows(command) if row not in everywhere]
    also = [row[0] for row in _rows(command) if row in everywhere]
    return joined(
        f"# sfumato {name}",
        prose(first),
        *(prose(paragraph) for paragraph in others),
        block("text", _usage(name, command)),
        _options(own) if own else "",
        f"Also {', '.join(also)}: see [common options](README.md#common-options)." if also else "",
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


def _rows(command: Any) -> list[tuple[str, str, str]]:  # noqa: ANN401
    """List the arguments and options of a command: how each is given, its default, its meaning."""
    rows = []
    for parameter in command.params:
        if _is_option(parameter):
            named = ", ".join(sorted(parameter.opts, key=len, reverse=True))
            both = "/".join([named, *parameter.secondary_opts])
            shown = code(f"{both} {parameter.metavar}" if parameter.metavar else both)
            given = "required" if parameter.required else _default(parameter)
        else:
            shown, given = code(parameter.metavar), "required" if parameter.required else ""
        rows.append((shown, given, prose(parameter.help)))
    return rows


def _options(rows: list[tuple[str, str, str]]) -> str:
    return table(["option", "default", "meaning"], rows)


def _default(parameter: Any) -> str:  # noqa: ANN401
    if parameter.default is None or parameter.default is False:
        return ""
    # Of two opposites the first is the one that is on.
    return code(parameter.opts[0] if parameter.default is True else parameter.default)
