"""Attacks on the server from outside: other people of the machine, other pages, other networks."""

import socket
import stat
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from sfumato.app.gate import HEADERS
from sfumato.app.opening import open_app
from sfumato.errors import ParameterError
from tests.app.addresses import filled, routes, safe, unsafe
from tests.app.serving import serving

pytestmark = pytest.mark.usefixtures("patience")

SECRET = "Zzyzx-Quaverly"
PEOPLE = (
    "name,age,sex,disease\n"
    + "".join(f"{SECRET}{n},{20 + n % 50},{'mf'[n % 2]},flu{n % 5}\n" for n in range(60))
).encode()
FOREIGN = (
    "http://example.org",
    "https://127.0.0.1",
    "http://127.0.0.1",
    "http://127.0.0.1:1",
    "http://localhost.example.org",
    "null",
    "",
    "file://",
    "chrome-extension://abcdefgh",
)


@pytest.fixture(scope="module")
def open_served(tmp_path_factory):
    """One app with a table, for attacks that change nothing."""
    folder = tmp_path_factory.mktemp("work")
    with serving(folder, tmp_path_factory.mktemp("said") / "said.txt") as found:
        assert found.open_table("people.csv", PEOPLE).status == 201
        assert SECRET in found.ask("GET", "/data/preview").text
        yield found


def assert_nothing(answer, status=(400, 403, 404, 405, 413)):
    """It was refused, and says neither what is on the desk nor how to come in."""
    assert answer.status in status, (answer.status, answer.text[:200])
    for secret in (SECRET, "people.csv", "set-cookie"):
        assert secret not in answer.text
    assert "set-cookie" not in answer.headers
    assert_sealed(answer)


def assert_sealed(answer):
    for name, value in HEADERS.items():
        assert answer.headers.get(name) == value, (name, answer.status)
    assert "access-control-allow-origin" not in answer.headers
    assert "server" not in answer.headers


# Without the token.


def test_without_the_token_there_is_nothing(open_served):
    for method, path in routes():
        for cookie in (None, "", "sfumato=", "sfumato=x", 'sfumato="', "x=" + "y" * 5000):
            headers = {"Cookie": cookie, "Origin": open_served.origin}
            answer = open_served.send(method, open_served.base + filled(path), b"", headers)
            assert_nothing(answer, (403,))


@pytest.mark.parametrize("path", ["/", "//", "/?token=", "/?token=x", "/?token=x&token=y", "/x"])
def test_a_wrong_token_opens_nothing(open_served, path):
    answer = open_served.send("GET", path)
    assert_nothing(answer, (403,))
    assert open_served.base not in answer.text


def test_part_of_the_token_is_no_token(open_served):
    for wrong in (open_served.token[:-1], open_served.token + "x", open_served.token.swapcase()):
        assert_nothing(open_served.send("GET", f"/?token={wrong}"), (403,))
        assert_nothing(open_served.send("POST", f"/?token={wrong}", b"password="), (403,))


def test_the_token_is_no_cookie_and_the_cookie_is_for_its_own_path(open_served):
    assert_nothing(open_served.ask("GET", "/roles", headers={"Cookie": None}), (403,))
    stolen = {"Cookie": f"sfumato={open_served.token}"}
    assert_nothing(open_served.ask("GET", "/roles", headers=stolen), (403,))
    answer = open_served.send("GET", f"/?token={open_served.token}")
    given = answer.headers["set-cookie"].lower()
    assert "httponly" in given
    assert "samesite=strict" in given
    assert f"path={open_served.base}".lower() in given
    assert open_served.token not in answer.headers["location"]


def test_what_the_token_is_exchanged_for_cannot_leave_the_server(open_served):
    for step in ("//example.org", "https://example.org", "../x", "a\r\nX-Y: z", "%0d%0aX: y"):
        answer = open_served.send(
            "GET",
            f"/?token={open_served.token}&step={filled(step)}".replace("\r", "%0d")
            .replace("\n", "%0a")
            .replace(" ", "%20"),
        )
        assert answer.headers["location"].startswith(open_served.base + "/")
        assert "example" not in answer.headers["location"]


# Other pages of the same browser.


@pytest.mark.parametrize(
    "host",
    ["example.org", "example.org:{port}", "127.0.0.1", "127.0.0.1:1", "localhost", "", None,
     "127.0.0.1:{port}.example.org", "127.0.0.1:{port}, example.org", "0.0.0.0:{port}",
     "127.0.0.1:{port}@example.org"],
)  # fmt: skip
def test_a_name_that_was_made_to_point_here_is_not_ours(open_served, host):
    """DNS rebinding: the browser believes that a foreign page and the app are one site."""
    host = host and host.format(port=open_served.port)
    for path in ("/data", "/data/preview", "/policy.yaml", "/static/app.css"):
        answer = open_served.ask("GET", path, headers={"Host": host})
        if host is None:
            assert answer.status == 400  # HTTP itself asks for one
        else:
            assert_nothing(answer, (400,))
    token = open_served.send("GET", f"/?token={open_served.token}", headers={"Host": host})
    assert token.status == 400
    assert "set-cookie" not in token.headers


def test_two_hosts_are_none(open_served):
    lines = (
        f"GET {open_served.base}/data/preview HTTP/1.1\r\nHost: {open_served.host}\r\n"
        f"Host: example.org\r\nCookie: {open_served.cookie}\r\nConnection: close\r\n\r\n"
    )
    assert SECRET.encode() not in exchange(open_served, lines.encode())


def exchange(served, data):
    """Send bytes as they are, and read until the server has nothing more to say."""
    with socket.create_connection(("127.0.0.1", served.port), timeout=240) as line:
        line.sendall(data)
        found = b""
        try:
            while got := line.recv(65536):
                found += got
                line.shutdown(socket.SHUT_WR)
        except OSError:
            pass
    return found


@pytest.mark.parametrize("origin", FOREIGN)
def test_pages_of_others_change_nothing(open_served, origin):
    before = open_served.ask("GET", "/policy.yaml").text
    for path in unsafe():
        for method in ("POST", "PUT", "DELETE", "PATCH", "OPTIONS"):
            answer = open_served.ask(
                method, filled(path), {"step": "data"}, headers={"Origin": origin}
            )
            assert_nothing(answer, (403,))
    assert open_served.ask("GET", "/policy.yaml").text == before
    assert open_served.process.poll() is None, "it can be ended from outside"


def test_who_does_not_say_where_it_comes_from_changes_nothing(open_served):
    for path in unsafe():
        answer = open_served.ask("POST", filled(path), headers={"Origin": None})
        assert_nothing(answer, (403,))
    assert open_served.process.poll() is None


@pytest.mark.parametrize("origin", [each for each in FOREIGN if each])
def test_pages_of_others_read_nothing(open_served, origin):
    for path in safe():
        assert_nothing(open_served.ask("GET", filled(path), headers={"Origin": origin}), (403,))
    for kind in ("cross-site", "same-site"):
        answer = open_served.ask("GET", "/data/preview", headers={"Sec-Fetch-Site": kind})
        assert_nothing(answer, (403,))


@pytest.mark.parametrize("origin", ["http://example.org", "own", None])
@pytest.mark.parametrize("cookie", [True, False])
def test_there_is_no_websocket(open_served, origin, cookie):
    headers = {
        "Upgrade": "websocket",
        "Connection": "Upgrade",
        "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
        "Sec-WebSocket-Version": "13",
        "Origin": open_served.origin if origin == "own" else origin,
    }
    if not cookie:
        headers["Cookie"] = None
    for path in ("/", "/data", "/data/preview", "/status", "/ws"):
        answer = open_served.ask("GET", path, headers=headers)
        assert_nothing(answer, (400, 403, 426))


def test_a_preflight_is_granted_to_none(open_served):
    headers = {"Origin": "http://example.org", "Access-Control-Request-Method": "POST"}
    answer = open_served.ask("OPTIONS", "/policy", headers=headers)
    assert_nothing(answer, (403,))


def test_every_answer_is_sealed(open_served):
    for path in [filled(each) for each in safe()] + ["/no-such-page", "/static/none", "/job/none"]:
        for method in ("GET", "HEAD"):
            assert_sealed(open_served.ask(method, path))
    for path in ("/roles/set", "/history/sideways", "/policy", "/data", "/no/such"):
        assert_sealed(open_served.ask("POST", path, b"\xff\xfe=%ff&step=%00"))
    assert_sealed(open_served.ask("POST", "/static/app.css"))
    policy = HEADERS["content-security-policy"]
    assert "unsafe" not in policy
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy


# Other people of the machine and of the network.


def test_another_user_of_the_machine_gets_nothing(open_served):
    """As another user where the tests may become one: no file, no environment, no address."""
    for path in [open_served.folder / ".sfumato-app", *open_served.folder.rglob("*")]:
        assert not stat.S_IMODE(path.lstat().st_mode) & 0o077 or path.name == "static", path
    command = _commands()
    assert open_served.token not in command
    assert open_served.cookie.partition("=")[2] not in command


def _commands() -> str:
    """Everything that all users may read about all processes."""
    found = []
    for each in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            found.append(each.read_bytes().decode("utf-8", "replace"))
    return "\n".join(found)


def test_it_listens_on_this_machine_only(open_served):
    others = {
        info[4][0]
        for info in socket.getaddrinfo(socket.gethostname(), None, family=socket.AF_INET)
        if not info[4][0].startswith("127.")
    }
    for address in others:
        with (
            pytest.raises(OSError, match=r".*"),
            socket.create_connection((address, open_served.port), timeout=2),
        ):
            pass


@pytest.mark.parametrize(
    "host",
    ["0.0.0.0", "::", "", "192.0.2.1", "example.org", "127.0.0.1.example.org", "::ffff:1.2.3.4"],
)
def test_other_addresses_need_tls_and_a_password(tmp_path, host):
    files = {"certificate": tmp_path / "c.pem", "key": tmp_path / "k.pem"}
    for given in ({}, {"password": "long enough it is"}, files, {**files, "password": ""}):
        with pytest.raises(ParameterError, match="password"):
            open_app(None, folder=tmp_path, host=host, browser=False, **given)
    with pytest.raises(ParameterError, match="12 characters"):
        open_app(None, folder=tmp_path, host=host, browser=False, **files, password="short")
    assert list(tmp_path.iterdir()) == []


def test_the_command_says_why_it_does_not_listen_elsewhere(tmp_path):
    program = "from sfumato.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", program, "app", "--no-browser", "--host", "0.0.0.0"],
        cwd=tmp_path, capture_output=True, text=True, check=False, timeout=240,
    )  # fmt: skip
    assert done.returncode == 2
    assert "--certificate" in done.stderr
    assert "Traceback" not in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_what_went_wrong_is_not_told_to_the_log(open_served):
    """Of everything that the attacks above have sent, nothing of the data is on the terminal."""
    for path in ("/history/sideways", "/job/none/stop"):
        open_served.ask("POST", path, {"step": "data"})
    said = open_served.said()
    assert SECRET not in said
    assert "Traceback" not in said
    assert said.count("\n") < 20, said
