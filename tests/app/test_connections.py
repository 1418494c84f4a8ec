"""Connections that say nothing, slowly or in great numbers: they end, and nobody is kept out."""

import http.client
import socket
import threading
import time
from contextlib import ExitStack, contextmanager

import pytest
import uvicorn

from sfumato.app.connections import BACKLOG, MOST, Doing, Listener, Patience, timed_protocol
from tests.app.serving import serving

QUICK = Patience(header=0.4, pause=0.4, rate=1000.0)
"""So short that a test can wait for it; how long it took is not looked at."""

_PATIENCE = 120


class App:
    """Answers at once; a body is read to its end first."""

    def __init__(self):
        self.cut_off = threading.Event()
        self.bodies = []

    async def __call__(self, scope, receive, send):
        if scope["type"] != "http":
            return
        if scope["path"] == "/large":
            await send({"type": "http.response.start", "status": 200, "headers": []})
            for _ in range(2000):
                await send({"type": "http.response.body", "body": b"x" * 65536, "more_body": True})
            return
        body = b""
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                self.cut_off.set()
                return
            body += message.get("body", b"")
            if not message.get("more_body"):
                break
        self.bodies.append(body)
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"answer"})


@contextmanager
def running(patience=QUICK, most=MOST):
    """Serve an app in a thread, as `open_app` does."""
    app, listener = App(), Listener(most=most)
    listener.bind(("127.0.0.1", 0))
    listener.listen(BACKLOG)
    config = uvicorn.Config(
        app, http=timed_protocol(listener, patience), loop="asyncio", backlog=BACKLOG,
        log_level="error",
        lifespan="off", ws="none", timeout_graceful_shutdown=1,
    )  # fmt: skip
    server = uvicorn.Server(config)
    # Signals are for the main thread.
    server.capture_signals = ExitStack
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    try:
        yield app, listener, listener.getsockname()[1]
    finally:
        server.should_exit = True
        thread.join(_PATIENCE)
        listener.close()


def connect(port):
    return socket.create_connection(("127.0.0.1", port), timeout=_PATIENCE)


def read_to_the_end(line):
    """Give what the server still says; this returns when it has closed the connection."""
    found = b""
    try:
        while got := line.recv(65536):
            found += got
    except ConnectionError:
        pass
    return found


def send_for_ever(line, data):
    """Send a little again and again, until the other side has enough of it."""
    while True:
        line.sendall(data)
        time.sleep(0.02)


def ask(port):
    line = http.client.HTTPConnection("127.0.0.1", port, timeout=_PATIENCE)
    try:
        line.request("GET", "/")
        return line.getresponse().read()
    finally:
        line.close()


def wait_until(true):
    end = time.monotonic() + _PATIENCE
    while not true():
        assert time.monotonic() < end
        time.sleep(0.01)


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize(
    "begun",
    [b"", b"G", b"GET / HTTP/1.1\r\n", b"GET / HTTP/1.1\r\nHost: x\r\nX-Y: " + b"z" * 999],
)
def test_a_header_that_does_not_end_ends_the_connection(begun):
    with running() as (_, listener, port), connect(port) as line:
        line.sendall(begun)
        assert read_to_the_end(line) == b""
        wait_until(lambda: listener.open_connections == 0)


@pytest.mark.usefixtures("patience")
def test_a_header_that_trickles_in_ends_the_connection():
    with running() as (_, _, port), connect(port) as line:
        line.sendall(b"GET / HTTP/1.1\r\n")
        with pytest.raises(OSError, match=r".*"):
            send_for_ever(line, b"X: y\r\n")


@pytest.mark.usefixtures("patience")
def test_a_second_header_on_a_connection_is_timed_as_the_first_is():
    with running() as (_, _, port), connect(port) as line:
        line.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        assert b"200 OK" in line.recv(65536)
        line.sendall(b"GET / HT")
        read_to_the_end(line)


def test_a_body_that_does_not_come_ends_the_connection():
    with running() as (app, _, port), connect(port) as line:
        line.sendall(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\nbegin")
        assert read_to_the_end(line) == b""
        assert app.cut_off.wait(_PATIENCE)
        assert app.bodies == []


@pytest.mark.usefixtures("patience")
def test_a_body_that_trickles_in_ends_the_connection():
    with running() as (app, _, port), connect(port) as line:
        line.sendall(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n")
        with pytest.raises(OSError, match=r".*"):
            send_for_ever(line, b"x")
        assert app.cut_off.wait(_PATIENCE)


@pytest.mark.usefixtures("patience")
def test_a_body_that_goes_on_is_read_to_its_end():
    with (
        running(Patience(header=0.4, pause=5.0, rate=1.0)) as (app, _, port),
        connect(port) as line,
    ):
        line.sendall(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 40\r\n\r\n")
        for _ in range(40):
            line.sendall(b"x")
            time.sleep(0.03)
        assert b"answer" in line.recv(65536)
        assert app.bodies == [b"x" * 40]


def test_an_answer_that_nobody_fetches_ends_the_connection():
    with running() as (_, listener, port), connect(port) as line:
        line.sendall(b"GET /large HTTP/1.1\r\nHost: x\r\n\r\n")
        wait_until(lambda: listener.open_connections == 0)


def test_there_are_no_more_connections_than_there_may_be():
    with running(Patience(60, 60), most=20) as (_, listener, port), ExitStack() as lines:
        silent = [lines.enter_context(connect(port)) for _ in range(200)]
        assert ask(port) == b"answer"
        assert listener.open_connections <= 20
        # Those that were there first made room.
        assert read_to_the_end(silent[0]) == b""


def test_who_asks_is_served_while_others_say_nothing():
    with running(Patience(60, 60), most=50) as (_, _, port), ExitStack() as lines:
        for _ in range(20):
            for _ in range(20):
                lines.enter_context(connect(port)).sendall(b"GET / HTTP/1.1\r\nHost:")
            assert ask(port) == b"answer"


def test_what_is_served_makes_no_room_for_others():
    """Of those that wait the oldest goes first, then those that send; work goes on."""
    listener = Listener(most=3)
    listener.bind(("127.0.0.1", 0))
    listener.listen(9)
    port = listener.getsockname()[1]
    with ExitStack() as lines:
        lines.enter_context(listener)

        def accept():
            lines.enter_context(connect(port))
            return lines.enter_context(listener.accept()[0])

        served, sending, waiting = (accept() for _ in range(3))
        listener.note(served.number, Doing.SERVED)
        listener.note(sending.number, Doing.SENDING)
        new = accept()
        assert is_over(waiting)
        listener.note(new.number, Doing.SERVED)
        newer = accept()
        assert is_over(sending)
        listener.note(newer.number, Doing.SERVED)
        with pytest.raises(ConnectionAbortedError):
            accept()
        assert not any(is_over(each) for each in (served, new, newer))
        newer.close()
        accept()


def is_over(accepted):
    accepted.setblocking(False)
    try:
        return accepted.recv(1) == b""
    except BlockingIOError:
        return False


@pytest.mark.usefixtures("patience")
def test_four_hundred_connections_that_say_nothing_end(tmp_path):
    """The app itself, with the patience that it has."""
    folder = tmp_path / "work"
    folder.mkdir()
    with serving(folder, tmp_path / "said.txt") as served, ExitStack() as lines:
        silent = []
        for number in range(400):
            line = lines.enter_context(connect(served.port))
            line.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n"[: number % 25])
            silent.append(line)
        assert served.ask("GET", "/data").status == 200
        for line in silent:
            assert read_to_the_end(line) == b""
        assert served.ask("GET", "/data").status == 200
