"""The gate: who holds the token comes in, and what other pages and people ask for does not.

It stands before everything else the server does. What it holds against whom:

- Other people of the machine, and other programs: without the token, or the cookie that it is
  exchanged for, there is nothing but a page that says so. The cookie belongs to a path that cannot
  be guessed, because cookies of one host are sent to all its ports.
- Pages of other sites in the same browser: `Host` must be ours (a name that was made to point
  here is not), `Origin` must be ours wherever it is told, and it must be told wherever something
  is changed; no page may frame ours or read from it, and there is no WebSocket.
- Guesses of the password: after a few wrong ones each further one has to wait, twice as long
  every time (`attempts.py`). Who is in stays in, and the token is not guessed.
- Data that is shown: nothing but our own scripts and styles runs, whatever a cell says.
"""

import hmac
import secrets
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import field
from hashlib import sha256
from http.cookies import CookieError, SimpleCookie
from math import ceil
from urllib.parse import parse_qs

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sfumato.app.attempts import WrongPasswords
from sfumato.dataclasses import dataclass

COOKIE = "sfumato"

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "font-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
"""Nothing is loaded but what the server itself has; no script or style stands in a page."""

HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    # Not `no-referrer`: forms would be sent with no origin, and be refused.
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=(), usb=()",
    "cache-control": "no-store",
}

_SAFE = frozenset(("GET", "HEAD"))
_STRANGE = frozenset(("cross-site", "same-site"))


@dataclass(frozen=True)
class Gate:
    """What must be known and said to come in."""

    hosts: Collection[str]
    """The names, with the port, that a browser may call us by."""

    scheme: str = "http"
    password: str | None = field(default=None, repr=False)
    """Asked for where others can reach the server; None on the machine itself."""

    token: str = field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)
    prefix: str = field(default_factory=lambda: secrets.token_urlsafe(12), repr=False)
    """The part of every address by which the cookie is not sent to other servers of the machine."""

    secret: str = field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)
    attempts: WrongPasswords = field(default_factory=WrongPasswords, repr=False)
    """Who guessed the password, and how long that client has to wait."""

    @property
    def base(self) -> str:
        """The beginning of all addresses of the app."""
        return f"/{self.prefix}"

    def refusal(self, scope: Scope) -> Response | None:
        """Return why a request is turned away; None if it may come in."""
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        if host.lower() not in self.hosts or len(headers.getlist("host")) != 1:
            return _refuse(400, "This server is not called by that name.")
        if scope["path"] == "/favicon.ico":
            # Browsers ask for it by themselves, without the cookie, and complain if it is refused.
            return Response(status_code=204)
        if "upgrade" in headers:
            return _refuse(400, "There is no WebSocket here.")
        if self._is_foreign(scope, headers):
            return _refuse(403, "This did not come from a page of Sfumato.")
        if scope["path"] == "/" or self._holds_cookie(headers):
            return None
        return _refuse(403, _CLOSED)

    def _is_foreign(self, scope: Scope, headers: Headers) -> bool:
        """Return whether another page asks, or one that does not say so where it must."""
        origin = headers.get("origin")
        if origin is not None or scope["method"] not in _SAFE:
            own = f"{self.scheme}://{headers['host']}"
            return origin is None or origin.lower() != own.lower()
        return headers.get("sec-fetch-site") in _STRANGE and scope["path"] != "/"

    def _holds_cookie(self, headers: Mapping[str, str]) -> bool:
        try:
            cookie = SimpleCookie(headers.get("cookie", "")).get(COOKIE)
        except CookieError:
            return False
        return cookie is not None and _same(cookie.value, self.secret)

    def enter(self, scope: Scope, body: bytes = b"") -> Response:
        """Return the way in for who knows the token or the password, else the way to get it."""
        client = str((scope.get("client") or ("",))[0])
        asked = parse_qs(scope["query_string"].decode("latin-1"))
        # A token cannot be guessed, so its holder does not wait because of what others guess.
        if _same(asked.get("token", [""])[0], self.token):
            strange = Headers(scope=scope).get("sec-fetch-site") in _STRANGE
            return self._let_in(asked.get("step", [""])[0], strange=strange)
        if self.password is None:
            return _refuse(403, _CLOSED)
        given = parse_qs(body.decode("utf-8", "replace")).get("password", [""])[0]
        if not given:
            return HTMLResponse(_ASK.format(""), 401)
        wait = ceil(self.attempts.admit(client))
        if wait:
            told = (
                f"Too many wrong passwords. Try again in {wait} s, or open the address with the "
                "token that sfumato app has printed."
            )
            return HTMLResponse(_ASK.format(told), 429, {"retry-after": str(wait)})
        if _same(given, self.password):
            self.attempts.note_success(client)
            return self._let_in()
        return HTMLResponse(_ASK.format("The password is not right."), 401)

    def _let_in(self, step: str = "", *, strange: bool = False) -> Response:
        """Return the way to the pages, and the cookie for them.

        Who comes by a link of another page is led on by a page of ours: a browser withholds the
        cookie from wherever another page has led it, however often it is sent on.
        """
        where = f"{self.base}/{step if step.isascii() and step.isalpha() else ''}"
        answer: Response = RedirectResponse(where, 303)
        if strange:
            answer = HTMLResponse(_ON.format(where))
        answer.set_cookie(
            COOKIE,
            self.secret,
            path=self.base,
            httponly=True,
            samesite="strict",
            secure=self.scheme == "https",
        )
        return answer


_CLOSED = "Open the address that sfumato app has printed: it has the token that is needed here."

_ON = """<!doctype html><html lang="en"><meta charset="utf-8"><title>Sfumato</title>
<meta http-equiv="refresh" content="0; url={0}"><p><a href="{0}">Open Sfumato</a></p></html>
"""

_ASK = """<!doctype html><html lang="en"><meta charset="utf-8"><title>Sfumato</title>
<h1>Sfumato</h1><p role="alert">{}</p>
<form method="post" action="/"><p><label>Password
<input type="password" name="password" autocomplete="current-password" autofocus required></label>
<button>Enter</button></p></form></html>
"""


def _same(given: str, kept: str) -> bool:
    """Compare without telling by the time it takes how much of it is right, or how long it is."""
    one, other = (sha256(text.encode("utf-8", "replace")).digest() for text in (given, kept))
    return hmac.compare_digest(one, other)


def _refuse(status: int, text: str) -> Response:
    return PlainTextResponse(text + "\n", status)


class GuardedServer:
    """A server behind its gate."""

    def __init__(self, inner: ASGIApp, gate: Gate, *, wrong: float = 1.0) -> None:
        self._inner = inner
        self._gate = gate
        self._wrong = wrong

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or let it in."""
        if scope["type"] == "lifespan":
            await self._inner(scope, receive, send)
            return
        if scope["type"] != "http":
            # There is no WebSocket here, whatever the origin.
            await send({"type": "websocket.close", "code": 1008})
            return

        async def sealed(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
                if "server" in headers:
                    del headers["server"]
            await send(message)

        answer = self._gate.refusal(scope)
        if answer is None and scope["path"] == "/":
            answer = await self._answer_at_the_door(scope, receive)
        if answer is not None:
            await answer(scope, receive, sealed)
            return
        # It is answered and logged already; what is raised again would be printed, values and all.
        with suppress(Exception):
            await self._inner(scope, receive, sealed)

    async def _answer_at_the_door(self, scope: Scope, receive: Receive) -> Response:
        body = b""
        if scope["method"] == "POST":
            while True:
                message = await receive()
                body += message.get("body", b"")
                if len(body) > 4096:
                    return _refuse(413, "That is too long for a password.")
                if not message.get("more_body"):
                    break
        answer = self._gate.enter(scope, body)
        if answer.status_code == 401 and body:
            # Also the first guesses take their time.
            import anyio

            await anyio.sleep(self._wrong)
        return answer
