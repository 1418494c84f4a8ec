"""Messages for the command line: options where tasks, which serve Python too, name arguments."""

import re

OPTIONS = {
    "quasi_identifiers": "--qi",
    "policy": "-p",
    "roles": "--role",
    "from_policy": "--from",
    "people_file": "--people-file",
    "exact_spelling": "--exact-spelling",
}
"""Arguments whose option is not called as they are."""

_LIST = re.compile(r"\b([a-z_]+)=\[((?:'[^']*'(?:, )?)+)\]")
_OPEN = re.compile(r"\b([a-z_]+)=(?:\.\.\.|…|True|(?=\)))")
_INPUT = re.compile(r"(input: \{(\w+): ([^{}\[\]…,]+)\} in the policy)")
_CALLS = (
    (re.compile(r"sf\.widen\(data, person=(?:'([^']*)'|…)\)"), "sfumato widen DATA --person {}"),
    (re.compile(r'knows=\{"is": \.\.\.\}()'), "--known COLUMN=VALUE"),
)


def option_of(argument: str) -> str:
    """Return the option that an argument of Python has on the command line.

    >>> option_of("quasi_identifiers"), option_of("people_file"), option_of("alpha")
    ('--qi', '--people-file', '--alpha')
    """
    return OPTIONS.get(argument, f"--{argument.replace('_', '-')}")


def with_options(text: str) -> str:
    """Return a message with the options that a reader can type.

    >>> with_options("Name them: quasi_identifiers=['age', 'zip'], sensitive=['illness']")
    'Name them: --qi age,zip, --sensitive illness'
    >>> with_options("Give the table (--data, original=...), or --force (force=True).")
    'Give the table (--data), or --force.'
    >>> with_options("Take them one by one: --every file (every='file').")
    'Take them one by one: --every file.'
    >>> with_options("one row per person: sf.widen(data, person='id').")
    'one row per person: sfumato widen DATA --person id.'
    """
    for call, command in _CALLS:
        found = call.search(text)
        if found:
            text = call.sub(command.format(found[1] or "…"), text)
    text = re.sub(r"\((--?[\w-]+), \w+=(?:\.\.\.|…)\)", r"(\1)", text)
    text = re.sub(r"(--[\w-]+(?: \w+)?) \(\w+=(?:True|\.\.\.|…|'\w+')\)", r"\1", text)
    text = re.sub(r"\b\w+=(?:\[[^]]*\])? or (?=--[a-z])", "", text)
    text = re.sub(r"\b\w+=True \((--[\w-]+)\)", r"\1", text)
    # A word is an argument if it has an underscore or an equals sign, or is the option's own.
    text = re.sub(r"\b(?:\w+=|\w+_\w+|(\w+)(?= \(--\1\b)) \((--[\w-]+)\)", r"\2", text)
    text = re.sub(r"\b(?:\w+=|\w+_\w+), (?=--[a-z])", "", text)
    text = _LIST.sub(lambda found: f"{option_of(found[1])} {_between_commas(found[2])}", text)
    return _OPEN.sub(lambda found: option_of(found[1]), text)


def with_input(text: str) -> str:
    """Return a message of a command that takes `--input`, which says how a file is read.

    >>> with_input("Say it: input: {encoding: windows-1252} in the policy.")
    'Say it: --input encoding=windows-1252, or input: {encoding: windows-1252} in the policy.'
    """
    return _INPUT.sub(r"--input \2=\3, or \1", text)


def _between_commas(listed: str) -> str:
    return ",".join(re.findall(r"'([^']*)'", listed))
