"""The steps of the way, in order: one file each, with its page, its parts and its actions.

A step is a line in `ALL`, and a module that takes it with `step = ALL["roles"]` and gives it four
kinds of functions, all of which get the desk and what was asked:

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
nothing has changed. To add a step: a line in `ALL`, a module here, a template, and its texts.

A module is loaded when its page is opened first, so that the app starts at once.
"""

from collections.abc import Callable, Mapping
from dataclasses import field
from importlib import import_module
from typing import Any, TypeAlias

from starlette.responses import Response

from sfumato.app.desk import Desk
from sfumato.app.fields import Fields
from sfumato.dataclasses import dataclass

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


ALL = {
    step.name: step
    for step in (
        Step("data", "Data", needs=""),
        Step("roles", "Roles"),
        Step("hierarchies", "Hierarchies"),
        Step("promises", "Promises"),
        Step("explore", "Explore"),
        Step("look", "Look"),
        Step("verdict", "Verdict", needs=""),
        Step("decouple", "Decouple"),
        Step("publish", "Publish"),
    )
}
"""Every step by its name, in the order of the way."""


def load(step: Step) -> Step:
    """Return a step with its functions: its module is imported."""
    import_module(f"sfumato.app.steps.{step.name}")
    return step


def load_all() -> None:
    """Load every step."""
    for step in ALL.values():
        load(step)
