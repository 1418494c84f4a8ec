"""The server: steps become pages, and whatever goes wrong becomes a message on one."""

from collections.abc import Awaitable, Callable
from functools import cached_property, partial
from pathlib import Path
from urllib.parse import quote

from jinja2 import Environment, FileSystemLoader, StrictUndefined, pass_context
from jinja2.runtime import Context as JinjaContext
from markupsafe import Markup
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Mount, Route, Router
from starlette.staticfiles import StaticFiles
from starlette.types import Receive, Scope, Send

from sfumato._version import __version__
from sfumato.app.desk import Desk, Message
from sfumato.app.equivalent import Equivalent, equivalents
from sfumato.app.fields import Fields
from sfumato.app.gate import Gate, GuardedServer
from sfumato.app.jobs import describe_fault
from sfumato.app.project import ENDING, open_project
from sfumato.app.showing import difference, show_content, show_number, tell_cell
from sfumato.app.status import Status, status_of
from sfumato.app.steps import ALL, Context, Step, load
from sfumato.app.texts import choose_language, languages, translator
from sfumato.app.texts.telling import say_told, show_drawing, show_told
from sfumato.app.tour import STOPS
from sfumato.errors import OutputError, SfumatoError, reason_of
from sfumato.files.confinement import Confinement
from sfumato.showing.content import Markup as OwnMarkup
from sfumato.showing.content import format_cell
from sfumato.text import percent, visible

_HERE = Path(__file__).parent

LARGEST_FORM = 8 << 20
"""Bytes of a form; the longest is a policy that was edited by hand."""

LARGEST_UPLOAD = 20 << 30


_TRIES = 3
"""How often a page is made again because some work ended while it was made."""


_LABEL = 50
"""Letters of a label that stand beside the name of a column; its own page has all of it."""


class TooLarge(HTTPException):
    """More was sent than is taken."""

    def __init__(self, most: int) -> None:
        super().__init__(413, f"That is too much: at most {most >> 20} MB are taken here.")


class Pages:
    """Renders what steps return."""

    def __init__(self, desk: Desk, gate: Gate) -> None:
        self.desk = desk
        self.gate = gate
        # All of them in every page: a link to another step loads no new head.
        self.own_files = sorted(path.name for path in (_HERE / "static" / "steps").iterdir())
        self.templates = Environment(
            loader=FileSystemLoader(_HERE / "templates"),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
            # Whatever a cell holds is shown in a form that commands no browser and no reader.
            finalize=lambda value: visible(value, keep="\n") if type(value) is str else value,
        )
        self.templates.filters |= {
            "percent": percent,
            "number": show_number,
            "cell": format_cell,
            "col": self._name_column,
            "content": show_content,
            "drawing": _show_drawing,
        }

    def language(self, request: Request) -> str:
        """Return the language that was chosen, or that the browser asks for."""
        accepted = request.headers.get("accept-language", "")
        return choose_language(self.desk.settings.get("language", ""), accepted)

    def render(self, template: str, language: str, context: Context) -> HTMLResponse:
        """Return a page or a part of one."""
        t = translator(language)
        text = self.templates.get_template(template).render(
            t=t,
            tell=partial(show_told, language=language),
            say=partial(say_told, language=language),
            tell_cell=partial(tell_cell, language=language),
            col=self._name_column,
            base=self.gate.base,
            desk=self.desk,
            language=language,
            url=self.url,
            **context,
        )
        return HTMLResponse(text)

    def _name_column(self, name: str) -> str:
        """Return what a column is called, with its label if the file has one, as SPSS files do."""
        live = self.desk.live
        label = "" if live is None else live.labels.get(name, "")
        if not label or label == name:
            return name
        return f"{name} ({label if len(label) <= _LABEL else label[: _LABEL - 1] + '…'})"

    def url(self, *parts: str, **query: str) -> str:
        """Return an address of the app."""
        path = "/".join([self.gate.base, *(quote(part, safe="") for part in parts)])
        told = "&".join(f"{name}={quote(value, safe='')}" for name, value in query.items())
        return f"{path}?{told}" if told else path

    def page(self, step: Step, asked: Fields) -> Response:
        """Return the page of a step, or the first page that something is missing on."""
        self.desk.read_back()
        missing = _what_is_missing(step, self.desk)
        if missing is not None:
            return RedirectResponse(self.url(missing), 303)
        told: list[Message] = []
        for _ in range(_TRIES):
            ended = self.desk.jobs.ended
            answer = self._show(step, asked, told)
            # Work that ended meanwhile was running for one half of the page, over for the other.
            if ended == self.desk.jobs.ended:
                break
        return answer

    def _show(self, step: Step, asked: Fields, told: list[Message]) -> Response:
        """Return the page of a step; what the desk has to say is added to what was told before."""
        desk, faults = self.desk, []
        try:
            view = load(step).view
            inner = {} if view is None else dict(view(desk, asked))
            template = f"{step.name}.html"
        except SfumatoError as error:
            faults.append(Message("error", visible(str(error))))
            inner, template = {}, "failed.html"
        except Exception as error:  # noqa: BLE001 - the last net
            faults.append(Message("error", describe_fault(error)))
            inner, template = {}, "failed.html"
        told += desk.take_messages()
        frame: dict[str, object] = {
            "step": step,
            "steps": list(ALL.values()),
            "messages": [*told, *faults],
            "languages": languages(),
            "theme": desk.settings.get("theme", "auto"),
            "version": __version__,
            "own_files": self.own_files,
            "tour": STOPS[step.name] if desk.settings.get("tour") == "on" else None,
            "status": Status("empty"),
            "equivalents": Equivalent("", ""),
            "diff": [],
        }
        try:
            frame |= {
                "status": status_of(desk),
                "equivalents": equivalents(desk, step.name),
                "diff": difference(desk.history.before, desk.text),
            }
            return self.render(template, asked.language, {**frame, **inner})
        except Exception as error:  # noqa: BLE001 - the last net: the other steps stay in reach
            fault = Message("error", describe_fault(error))
            return self.render("failed.html", asked.language, {**frame, "messages": [*told, fault]})


def _what_is_missing(step: Step, desk: Desk) -> str | None:
    """Return the step to go to first; None if everything is there that a step needs."""
    if step.needs == "":
        return None
    if desk.source is None:
        return "data"
    return "data" if step.needs == "policy" and desk.text is None else None


@pass_context
def _show_drawing(context: JinjaContext, svg: object) -> Markup:
    if not isinstance(svg, OwnMarkup):
        raise TypeError("only what sfumato.showing made is known to be safe")
    return Markup(show_drawing(visible(svg), context["language"]))  # noqa: S704 - see above


async def _read_form(request: Request, most: int = LARGEST_FORM) -> str:
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > most:
            raise TooLarge(most)
    return body.decode("utf-8", "replace")


Handler = Callable[[Request], Awaitable[Response]]


class _Later:
    """Routes that are made when the first of them is asked for."""

    def __init__(self, make: Callable[[], list[Route]]) -> None:
        self._make = make

    @cached_property
    def routes(self) -> list[Route]:
        return self._make()

    @cached_property
    def _router(self) -> Router:
        return Router(self.routes)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        # Modules are imported there: other pages go on meanwhile.
        router = await run_in_threadpool(lambda: self._router)
        await router(scope, receive, send)


class Routes:
    """What the server answers: pages, their parts, actions, and what belongs to no step."""

    def __init__(self, pages: Pages, on_quit: Callable[[], None] | None) -> None:
        self._pages = pages
        self._desk = pages.desk
        self._on_quit = on_quit

    def all(self) -> list[Route | Mount]:
        """Return every route."""
        routes: list[Route | Mount] = [
            Route("/", self.start),
            Route("/status", self.status),
            Route("/job/{name:str}", self.job),
            Route("/job/{name:str}/stop", self.stop, methods=["POST"]),
            Route("/history/{way:str}", self.go, methods=["POST"]),
            Route("/settings", self.settings, methods=["POST"]),
            Route("/policy", self.edit, methods=["POST"]),
            Route("/policy.yaml", self.export),
            Route("/upload", self.upload, methods=["POST"]),
            Route("/quit", self.leave, methods=["POST"]),
            Mount("/static", StaticFiles(directory=_HERE / "static")),
        ]
        for name, step in ALL.items():
            routes.append(Route(f"/{name}", self.show(step)))
            routes.append(Mount(f"/{name}", _Later(partial(self.within, step))))
        return routes

    def within(self, step: Step) -> list[Route]:
        """Return the routes of one step: its parts, files and actions."""
        load(step)
        parts = [Route(f"/{part}", self.show_part(step, part)) for part in step.parts]
        files = [Route(f"/{file}", self.give(step, file)) for file in step.files]
        actions = [
            Route(f"/{action}", self.act(step, action), methods=["POST"]) for action in step.actions
        ]
        return [*parts, *files, *actions]

    def _fields(self, request: Request) -> Fields:
        return Fields.of(request.url.query, self._pages.language(request))

    async def _sent(self, request: Request) -> Fields:
        return Fields.of(await _read_form(request), self._pages.language(request))

    def _back(self, asked: Fields) -> Response:
        """Return to the page that something was asked from."""
        step = asked.text("step", "data")
        return RedirectResponse(self._pages.url(step if step in ALL else "data"), 303)

    # Steps.

    def show(self, step: Step) -> Handler:
        """Return what answers with the page of a step."""

        async def handler(request: Request) -> Response:
            return await run_in_threadpool(self._pages.page, step, self._fields(request))

        return handler

    def show_part(self, step: Step, name: str) -> Handler:
        """Return what answers with a part of a page."""
        view, template = step.parts[name], f"{step.name}_{name}.html"

        def render(asked: Fields) -> Response:
            if _what_is_missing(step, self._desk) is not None:
                return PlainTextResponse("", 204)
            try:
                return self._pages.render(template, asked.language, view(self._desk, asked))
            except SfumatoError as error:
                text = str(error)
            except Exception as error:  # noqa: BLE001 - the last net
                text = describe_fault(error)
            return self._pages.render("problem.html", asked.language, {"text": text})

        async def handler(request: Request) -> Response:
            return await run_in_threadpool(render, self._fields(request))

        return handler

    def give(self, step: Step, name: str) -> Handler:
        """Return what answers with a file."""

        async def handler(request: Request) -> Response:
            return await run_in_threadpool(step.files[name], self._desk, self._fields(request))

        return handler

    def act(self, step: Step, name: str) -> Handler:
        """Return what does something that a page offers."""
        action = step.actions[name]

        def run(asked: Fields) -> Response:
            answer: str | Response | None = None
            try:
                answer = action(self._desk, asked)
            except SfumatoError as error:
                self._desk.say("error", str(error))
            except Exception as error:  # noqa: BLE001 - the last net
                self._desk.say("error", describe_fault(error))
            if isinstance(answer, Response):
                return answer
            return RedirectResponse(self._pages.url(answer or step.name), 303)

        async def handler(request: Request) -> Response:
            return await run_in_threadpool(run, await self._sent(request))

        return handler

    # What belongs to all of them.

    async def start(self, _: Request) -> Response:
        """Return the way to the step that comes next."""
        desk, first = self._desk, "roles"
        if desk.source is None or desk.text is None:
            first = "data" if desk.release is None else "verdict"
        return RedirectResponse(self._pages.url(first), 303)

    async def status(self, request: Request) -> Response:
        """Answer with the state of the whole, when it is known."""
        asked = self._fields(request)

        def render() -> Response:
            found = status_of(self._desk, wait=True)
            return self._pages.render("status.html", asked.language, {"status": found})

        return await run_in_threadpool(render)

    async def job(self, request: Request) -> Response:
        """Answer with how far some work is; when it is over, the page shows what came of it."""
        found = self._desk.jobs.get(request.path_params["name"])
        if found is None or not found.running:
            # Until the page shows it: where newer work has begun, it goes on asking.
            return PlainTextResponse("", 200, {"HX-Trigger": "workOver", "HX-Reswap": "none"})
        asked = self._fields(request)
        step = ALL.get(asked.text("step", ""), ALL["data"])
        return self._pages.render("job.html", asked.language, {"job": found, "step": step})

    async def stop(self, request: Request) -> Response:
        """Stop some work."""
        asked = await self._sent(request)
        found = self._desk.jobs.get(request.path_params["name"])
        if found is not None:
            found.stop()
            await run_in_threadpool(found.wait, 2.0)
        return self._back(asked)

    async def go(self, request: Request) -> Response:
        """Undo or redo."""
        ways = {"undo": self._desk.undo, "redo": self._desk.redo}
        asked, way = await self._sent(request), ways.get(request.path_params["way"])
        if way is not None:
            await run_in_threadpool(way)
        return self._back(asked)

    async def settings(self, request: Request) -> Response:
        """Set another language or other colours."""
        asked = await self._sent(request)
        chosen = {
            "language": languages(),
            "theme": ("auto", "light", "dark"),
            "tour": ("on", "off"),
        }
        for name, allowed in chosen.items():
            if asked.text(name, "") in allowed:
                self._desk.settings[name] = asked.text(name)
        await run_in_threadpool(self._desk.save)
        return self._back(asked)

    async def edit(self, request: Request) -> Response:
        """Read a policy that was edited by hand."""
        asked = await self._sent(request)

        def take() -> None:
            try:
                text = asked.text("policy").replace("\r\n", "\n")
                self._desk.change(text, "file", "edited by hand")
            except SfumatoError as error:
                self._desk.say("error", str(error))
            except Exception as error:  # noqa: BLE001 - the last net: a class of a plug-in may fail
                self._desk.say("error", describe_fault(error))

        await run_in_threadpool(take)
        return self._back(asked)

    async def export(self, _: Request) -> Response:
        """Return the policy as a file."""
        name = quote(self._desk.policy_file.name)
        headers = {"content-disposition": f"attachment; filename*=UTF-8''{name}"}
        return PlainTextResponse(self._desk.text or "", headers=headers)

    async def upload(self, request: Request) -> Response:
        """Stream a file into the folder and open it; it is there whole or not at all."""
        name, size = self._fields(request).text("name", "table.csv"), 0
        announced = request.headers.get("content-length", "0")
        # What would be refused in the end need not be sent.
        if not announced.isdecimal() or int(announced) > LARGEST_UPLOAD:
            raise TooLarge(LARGEST_UPLOAD)
        try:
            with self._desk.receiving(name) as path, path.open("wb") as file:
                async for chunk in request.stream():
                    size += len(chunk)
                    if size > LARGEST_UPLOAD:
                        raise TooLarge(LARGEST_UPLOAD)
                    await run_in_threadpool(file.write, chunk)
        except ClientDisconnect:
            return PlainTextResponse("", 400)
        except OSError as error:
            raise OutputError(
                f"the file cannot be stored: {reason_of(error)}. Nothing of it was left behind. "
                "Make room, or put the file into the folder of the app and open it there."
            ) from None
        await run_in_threadpool(self._take_upload, path)
        return PlainTextResponse(self._pages.url("data"), 201)

    def _take_upload(self, part: Path) -> None:
        """Open what was sent: a table, or a project."""
        if not self._desk.received.name.endswith(ENDING):
            self._desk.take_received(part, "upload")
            return
        path = self._desk.name_received(part)
        try:
            open_project(self._desk, path)
        except SfumatoError as error:
            self._desk.say("error", str(error))
        finally:
            path.unlink(missing_ok=True)

    async def leave(self, request: Request) -> Response:
        """End the app."""
        await _read_form(request)
        if self._on_quit is not None:
            self._on_quit()
        theme = self._desk.settings.get("theme", "auto")
        return self._pages.render("ended.html", self._pages.language(request), {"theme": theme})


class _ConfinedServer:
    """A server that is held to a folder, in whatever threads a request is answered."""

    def __init__(self, inner: Starlette, limits: Confinement) -> None:
        self._inner = inner
        self._limits = limits

    @property
    def routes(self) -> list[BaseRoute]:
        return self._inner.routes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        with self._limits.active():
            await self._inner(scope, receive, send)


def make_server(
    desk: Desk, gate: Gate, *, on_quit: Callable[[], None] | None = None
) -> GuardedServer:
    """Return the server of a desk, behind its gate."""

    async def refuse(_: Request, error: Exception) -> Response:
        if isinstance(error, HTTPException):
            return PlainTextResponse(f"{error.detail}\n", error.status_code)
        text = str(error) if isinstance(error, SfumatoError) else describe_fault(error)
        code = 400 if isinstance(error, SfumatoError) else 500
        return PlainTextResponse(f"{text}\n", code)

    answers = Starlette(
        routes=[Mount(gate.base, routes=Routes(Pages(desk, gate), on_quit).all())],
        exception_handlers={HTTPException: refuse, SfumatoError: refuse, Exception: refuse},
    )
    return GuardedServer(_ConfinedServer(answers, desk.limits), gate)
