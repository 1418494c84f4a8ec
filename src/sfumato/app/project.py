"""Projects: what was chosen of a table, in one file to keep, to send and to open elsewhere.

A project holds no rows: the policy with the changes that led to it, why the draft gave each column
its role, and which table all of it is about. Who opens it needs that table, too.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import Any

from sfumato.app.desk import GIVEN, Desk, TableSource
from sfumato.dataclasses import dataclass
from sfumato.errors import InputError, SfumatoError
from sfumato.files import read_small, write_file

ENDING = ".sfumato"
"""How the files of projects end."""

_KIND, _VERSION = "sfumato project", 1
_LARGEST = 16 << 20
_MOST_STATES = 100
_WHAT = "a project, which may hold values of the data,"


@dataclass(frozen=True)
class Project:
    """What was chosen of a table.

    >>> text = Project("people.csv", (("roles", "age: plain", "columns: {}"),), 0).to_text()
    >>> Project.read(text).table, len(Project.read(text).states)
    ('people.csv', 1)
    """

    table: str
    """The name of the file with the table."""

    states: Sequence[tuple[str, str, str]]
    """Every state of the policy: the step that made it, what was changed, and the text."""

    at: int
    """Which of them holds."""

    reasons: Mapping[str, str] = field(default_factory=dict)
    uncertain: Sequence[str] = ()

    @classmethod
    def of(cls, desk: Desk) -> "Project":
        """Return the project that is being worked on."""
        table = desk.require_source().name
        history = desk.history
        present = history.present
        if present is None:
            raise InputError("there is no policy yet, so there is nothing to save")
        states = [state for state in history.states if state.number <= present.number]
        kept = states[-_MOST_STATES:]
        return cls(
            table,
            tuple((state.step, state.what, history.text_of(state)) for state in kept),
            len(kept) - 1,
            dict(desk.reasons),
            desk.uncertain,
        )

    def to_text(self) -> str:
        """Return the file of the project: JSON."""
        told = {
            "kind": _KIND,
            "version": _VERSION,
            "table": self.table,
            "at": self.at,
            "reasons": dict(self.reasons),
            "uncertain": list(self.uncertain),
            "states": [{"step": s, "what": w, "policy": text} for s, w, text in self.states],
        }
        return json.dumps(told, ensure_ascii=False, indent=1) + "\n"

    @classmethod
    def read(cls, text: str) -> "Project":
        """Return the project of a file; an error if it is none."""
        try:
            found: Any = json.loads(text)
            if found["kind"] != _KIND or found["version"] != _VERSION:
                raise ValueError
            states = tuple((str(s["step"]), str(s["what"]), str(s["policy"]))
                           for s in found["states"])  # fmt: skip
            reasons = {str(name): str(why) for name, why in found["reasons"].items()}
            uncertain = tuple(map(str, found["uncertain"]))
            project = cls(str(found["table"]), states, int(found["at"]), reasons, uncertain)
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
            raise InputError(
                "this is no project of Sfumato, or one of another version. Open a file that "
                f"Save the project has made; its name ends with {ENDING}"
            ) from None
        if not 0 <= project.at < len(states) <= _MOST_STATES:
            raise InputError("this project has no policy. Save it again where it comes from")
        return project


def saved_projects(desk: Desk) -> list[Path]:
    """Return the projects that lie in the folder, by name."""
    found = [p for p in desk.folder.iterdir() if p.name.endswith(ENDING) and p.is_file()]
    return sorted(p for p in found if not p.name.startswith(".") and desk.leads_inside(p))


def save_project(desk: Desk, name: str) -> Path:
    """Write the project into the folder; one of the same name is replaced."""
    path = desk.new_path(name, ENDING)
    write_file(path, Project.of(desk).to_text(), private=_WHAT)
    return path


def open_project(desk: Desk, path: Path) -> None:
    """Open a project with its table, if that lies in the folder; else wait for the table.

    A project may come from elsewhere: every policy in it is held to the folder, as one is that was
    typed.
    """
    project = Project.read(read_small(path, "a project", _LARGEST).decode("utf-8", "replace"))
    states: list[tuple[str, str, str]] = []
    for step, what, text in project.states:
        try:
            desk.parse(text)
        except SfumatoError as error:
            if len(states) == project.at or (step, what, text) == project.states[project.at]:
                raise InputError(f"the policy of {path.name} cannot be used: {error}") from None
            continue
        states.append((step, what, text))
    tables = {each.name: each for each in desk.data_files()}
    table = tables.get(project.table)
    with desk.lock:
        if table is not None:
            desk.open_source(TableSource(str(table), table.name))
        desk.start_anew()
        for step, what, text in states:
            desk.change(text, step, what)
        present = project.states[project.at]
        while desk.history.can_undo and desk.text != present[2]:
            desk.undo()
        desk.reasons, desk.uncertain = dict(project.reasons), tuple(project.uncertain)
        if table is None:
            desk.settings[GIVEN] = desk.policy_file.name
            desk.say(
                "note",
                f"{path.name} is about {project.table}, which is not in the folder. Open that "
                "table: the policy of the project is used for it.",
            )
        else:
            desk.say("done", f"{path.name} is open, with {len(states)} changes that can be undone.")
        desk.save()
