"""The steps of the way, in order: one file each, with its page, its parts and its actions.

A step is a module with a `step = Step(name, title)` and four kinds of functions, all of which get
the desk and what was asked:

    @step.page                       # GET  /roles: the context of templates/roles.html
    def show(desk: Desk, asked: Fields) -> Context: ...

    @step.part("histogram")          # GET  /roles/histogram: of templates/roles_histogram.html
    def histogram(desk: Desk, asked: Fields) -> Context: ...

    @step.action("set")              # POST /roles/set: change the policy, or start some work
    def set_role(desk: Desk, asked: Fields) -> Answer: ...

    @step.file("download")           # GET  /publish/download: a file, as it is
    def download(desk: Desk, asked: Fields) -> Response: ...

An action returns None to show its own page again, the name of another step to go there, or a
finished `Response` (a download). What it raises as a `SfumatoError` is shown on the page, and
nothing has changed. To add a step: a module here, a template, a line in `ALL`, and its texts.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, TypeAlias

from starlette.responses import Response

from sfumato.app.desk import Desk
from sfumato.app.fields import Fields

Context: TypeAlias = Mapping[str, Any]
Answer: TypeAlias = str | Response | None
View: TypeAlias = Callable[[Desk, Fields], Context]
Action: TypeAlias = Callable[[Desk, Fields], Answer]
File: TypeAlias = Callable[[Desk, Fields], Response]


@dataclass(eq=False)
class Step:
    """One page of the way."""

    name: str
    """What its address, module and template are called."""

    title: str
    """What people read; translated where it is shown."""

    needs: str = "policy"
    """What must be there: nothing, `source`, or `policy`, a table with its policy."""

    view: View | None = None
    parts: dict[str, View] = field(default_factory=dict)
    actions: dict[str, Action] = field(default_factory=dict)
    files: dict[str, File] = field(default_factory=dict)

    def page(self, view: View) -> View:
        """Make a function the page of the step."""
        self.view = view
        return view

    def part(self, name: str) -> Callable[[View], View]:
        """Make a function a part of the page, which is fetched by itself."""

        def keep(view: View) -> View:
            self.parts[name] = view
            return view

        return keep

    def action(self, name: str) -> Callable[[Action], Action]:
        """Make a function something that can be done on the page."""

        def keep(action: Action) -> Action:
            self.actions[name] = action
            return action

        return keep

    def file(self, name: str) -> Callable[[File], File]:
        """Make a function something that is given out as it is: no page, and no part of one."""

        def keep(give: File) -> File:
            self.files[name] = give
            return give

        return keep


ALL = (
    "data", "roles", "hierarchies", "promises", "explore", "look", "verdict", "decouple", "publish",
)  # fmt: skip
"""The names of all steps, in the order of the way."""


def all_steps() -> dict[str, Step]:
    """Return every step by its name, in the order of the way."""
    return {name: import_module(f"sfumato.app.steps.{name}").step for name in ALL}
