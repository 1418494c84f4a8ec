"""Every address that the server answers to, as it says itself: what is new is attacked, too."""

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from starlette.routing import Mount, Route

from sfumato.app.desk import Desk
from sfumato.app.gate import Gate
from sfumato.app.server import make_server


@cache
def routes() -> tuple[tuple[str, str], ...]:
    """Give method and path of all routes, without what all begin with."""
    with TemporaryDirectory() as folder:
        desk = Desk(Path(folder))
        guarded = make_server(desk, Gate({"here"}))
        (mount,) = guarded._inner.routes
        found = [*_inside(mount)]
        desk.end()
    return tuple(found)


def _inside(mount: Mount, before: str = ""):
    for route in mount.routes:
        if isinstance(route, Mount) and route.path == "/static":
            yield "GET", f"{route.path}/app.css"
        elif isinstance(route, Mount):
            yield from _inside(route, route.path)
        elif isinstance(route, Route):
            for method in route.methods:
                yield method, before + route.path


def unsafe() -> list[str]:
    """Give the paths that change something."""
    return sorted({path for method, path in routes() if method not in ("GET", "HEAD")})


def safe() -> list[str]:
    """Give the paths that only show something."""
    return sorted({path for method, path in routes() if method == "GET"})


def filled(path: str, value: str = "open") -> str:
    """Put a value where a path takes one."""
    parts = [
        "undo" if part == "{way:str}" and value == "open" else part for part in path.split("/")
    ]
    return "/".join(value if part.startswith("{") else part for part in parts)
