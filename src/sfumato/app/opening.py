"""Opening the app: what was named on the command line, an address with a token, a server."""

import errno
import os
import socket
import tempfile
import threading
import webbrowser
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from ipaddress import ip_address
from pathlib import Path

from sfumato.app.desk import GIVEN, Desk, TableSource
from sfumato.errors import (
    InputError,
    MissingExtraError,
    OutputError,
    ParameterError,
    hide_passwords,
)
from sfumato.files import is_address, read_small, write_file
from sfumato.files.private import is_release
from sfumato.policy import Policy

_FIRST_PAGE = 2.0
"""Seconds in which the first page has come: no other work takes its time."""

_LARGEST_POLICY = 16 << 20


def open_app(  # noqa: PLR0913 - options of a command
    given: str | None = None,
    *,
    folder: Path | None = None,
    host: str = "127.0.0.1",
    port: int = 0,
    certificate: Path | None = None,
    key: Path | None = None,
    password: str | None = None,
    databases: bool | None = None,
    browser: bool = True,
    say: Callable[[str], None] = print,
) -> None:
    """Serve the app until it is ended: by its own button, or by an interrupt.

    Promises: nothing is written outside of the folder, and nothing outside of it is read but what
    is given here, whatever is typed on a page or stands in a policy. Nothing is asked of the
    network but of a database that was named, where that is allowed. At a regular end the folder
    holds nothing more than policies, releases and reports; what a killed app left is removed by
    the next one. Who does not hold the token that is in the address gets nothing. Does not promise
    that others who may read the folder cannot: that is for the rights of the folder.

    Args:
        given: A table, a policy or a release to begin with; None to choose on the page. A table
            may lie outside of the folder.
        folder: Where to work; None is the present folder.
        host: The address to listen on. Any but this machine's own needs TLS and a password.
        port: The port; 0 takes a free one.
        certificate: The TLS certificate, for other hosts.
        key: Its private key.
        password: What people must say who come from other machines.
        databases: Whether pages may open tables of database servers, in your name; None allows it
            if only this machine can reach the app.
        browser: Whether to open the browser.
        say: Told the address, and the end.
    """
    try:
        import uvicorn

        from sfumato.app.connections import BACKLOG, Listener, timed_protocol
        from sfumato.app.gate import Gate
        from sfumato.app.server import make_server
    except ImportError as error:
        raise MissingExtraError("the app", "app") from error

    _require_safe(host, certificate, key, password)
    where = Path.cwd() if folder is None else folder
    if not where.is_dir():
        raise ParameterError("folder", str(where), "a folder that is there")
    listener = Listener(socket.AF_INET6 if ":" in host else socket.AF_INET)
    _listen(listener, host, port, BACKLOG)
    port = listener.getsockname()[1]
    scheme = "http" if certificate is None else "https"
    gate = Gate(_names(host, port), scheme, password)
    servers = _is_loopback(host) if databases is None else databases
    with closing(listener), _alone_in(where) as alone:
        desk = Desk(where, servers=servers)
        begin_with(desk, given)
        if alone:
            desk.sweep()
        config = uvicorn.Config(
            make_server(desk, gate, on_quit=lambda: _end(server)),
            # Those of `connections.py`, whatever else is installed.
            http=timed_protocol(listener),
            loop="asyncio",
            backlog=BACKLOG,
            log_level="error",
            access_log=False,
            server_header=False,
            date_header=False,
            timeout_graceful_shutdown=1,
            ws="none",
            proxy_headers=False,
            ssl_certfile=None if certificate is None else str(certificate),
            ssl_keyfile=None if key is None else str(key),
        )
        server = uvicorn.Server(config)
        shown = "127.0.0.1" if host == "localhost" else host
        shown = f"[{shown}]" if ":" in shown else shown
        address = f"{scheme}://{shown}:{port}/?token={gate.token}"
        say(f"Sfumato is open at\n  {address}\nPress Ctrl-C here, or Quit there, to end it.")
        if browser:
            threading.Timer(0.3, webbrowser.open, [_page_to(address, desk)]).start()
        _start_loading()
        try:
            with desk.limits.of_process(), _temporary_files_in(desk.private / "tmp"):
                server.run(sockets=[listener])
        finally:
            desk.end()
            say("Sfumato has ended. What is left is in " + str(desk.folder))


@contextmanager
def _temporary_files_in(folder: Path) -> Iterator[None]:
    """Keep temporary files of this process and of those it starts in a private folder.

    Libraries write rows there, and in the folder of the system they would outlive a killed app.
    """
    folder.mkdir(mode=0o700, exist_ok=True)
    before, chosen = os.environ.get("TMPDIR"), tempfile.tempdir
    os.environ["TMPDIR"] = tempfile.tempdir = str(folder)
    try:
        yield
    finally:
        tempfile.tempdir = chosen
        if before is None:
            os.environ.pop("TMPDIR", None)
        else:
            os.environ["TMPDIR"] = before


def _start_loading() -> None:
    """Load the steps when the first page is out, so that none of them has to be waited for."""
    from sfumato.app.steps import load_all

    later = threading.Timer(_FIRST_PAGE, load_all)
    later.daemon = True
    later.start()


def _page_to(address: str, desk: Desk) -> str:
    """Return the address of a private page that leads to the app.

    All users of the machine may read what programs are started with, so the browser is not started
    with the token.
    """
    page = desk.private / "open.html"
    text = (
        '<!doctype html><html lang="en"><meta charset="utf-8"><title>Sfumato</title>'
        f'<meta http-equiv="refresh" content="0; url={address}">'
        f'<p><a href="{address}">Open Sfumato</a></p></html>\n'
    )
    write_file(page, text, private="the way to the app")
    return page.as_uri()


def _end(server: object) -> None:
    # The answer to the last click goes out first, and the style of its page, which is asked for
    # when the page is there.
    threading.Timer(2, setattr, [server, "should_exit", True]).start()


def _require_safe(
    host: str, certificate: Path | None, key: Path | None, password: str | None
) -> None:
    """Raise if others could reach the app, and read what is sent or come in."""
    if (certificate is None) != (key is None):
        raise ParameterError("certificate", str(certificate), "given together with its key")
    if _is_loopback(host):
        return
    if certificate is None or not password:
        raise ParameterError(
            "host",
            host,
            "this machine (127.0.0.1) unless there are TLS and a password",
            why="others on the network could read the data. Give --certificate, --key and "
            "--password-file, or leave --host out",
        )
    if len(password) < 12:
        raise ParameterError("password", "…", "at least 12 characters long")


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def _names(host: str, port: int) -> frozenset[str]:
    """Return what a browser may call us by."""
    names = {"127.0.0.1", "localhost", "[::1]"} if _is_loopback(host) else set()
    names.add(f"[{host}]" if ":" in host else host)
    if not _is_loopback(host):
        names |= {socket.gethostname(), socket.getfqdn()}
    return frozenset(f"{name.lower()}:{port}" for name in names)


def _listen(listener: socket.socket, host: str, port: int, backlog: int) -> None:
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except OSError as error:
        listener.close()
        taken = error.errno == errno.EADDRINUSE
        why = "another program has it" if taken else (error.strerror or "it cannot be had")
        raise ParameterError("port", port, "free, or left out", why=why) from None
    listener.listen(backlog)


@contextmanager
def _alone_in(folder: Path) -> Iterator[bool]:
    """Keep a second app out of the folder: two would overwrite each other's policy.

    Yields whether no other can be there: the lock ends with its process, however that ends.
    """
    try:
        import fcntl
    except ImportError:
        # Where there are no such locks, it is left to the user.
        yield False
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise OutputError(
                f"another app works in {str(folder)!r} already. End it, or choose another folder "
                "with --folder."
            ) from None
        yield True
    finally:
        os.close(handle)


def begin_with(desk: Desk, given: str | None) -> None:
    """Open what was named: a table, a policy or a release."""
    if given is None:
        return
    path = Path(given)
    if is_address(given):
        # Who starts the app may name a table anywhere.
        desk.limits.allow(given)
        source = TableSource(given, hide_passwords(given), "database")
    elif path.is_dir():
        if not is_release(path):
            raise InputError(f"{given!r} is a folder, and no release: it has no manifest.json")
        desk.release = path.resolve()
        desk.save()
        return
    elif path.suffix.lower() in (".yaml", ".yml"):
        _take_policy(desk, path)
        return
    elif not path.is_file():
        raise InputError(f"there is no file {given!r}")
    else:
        desk.limits.allow(str(path.resolve()))
        source = TableSource(str(path.resolve()), path.name)
    if desk.source != source:
        desk.open_source(source)
        desk.start_anew()


def _take_policy(desk: Desk, path: Path) -> None:
    text = read_small(path, "a policy", _LARGEST_POLICY).decode("utf-8")
    Policy.from_yaml(text, origin=str(path))
    if path.resolve().parent != desk.folder:
        raise InputError(
            f"{str(path)!r} lies outside of the folder {str(desk.folder)!r} that the app works in. "
            "Start it there, or with --folder."
        )
    if desk.policy_file != path.resolve() or desk.text is None:
        desk.start_anew()
        desk.policy_file = path.resolve()
    # A table that is opened later has it, too, if it fits.
    desk.settings[GIVEN] = path.name
    desk.change(text, "file", "opened")
