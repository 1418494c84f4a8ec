"""A client of the app without a network: what a browser would send, and what it would get."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from urllib.parse import urlencode, urlsplit

from sfumato.app.gate import COOKIE, Gate
from sfumato.app.server import make_server


@dataclass
class Reply:
    """What was answered."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def text(self):
        return self.body.decode()


class Client:
    """Asks the server of a desk as a page of it does, and follows where it is sent."""

    def __init__(self, desk):
        self.desk = desk
        self.gate = Gate(("testserver",))
        self.server = make_server(desk, self.gate)

    def get(self, path, **query):
        return self._ask("GET", f"{self.gate.base}/{path}", urlencode(query))

    def post(self, path, **fields):
        body = urlencode(fields, doseq=True).encode()
        return self._ask("POST", f"{self.gate.base}/{path}", "", body)

    def _ask(self, method, path, query="", body=b""):
        # In a thread of its own: where a browser is open, this one has a loop that runs already.
        with ThreadPoolExecutor(1) as apart:
            reply = apart.submit(asyncio.run, self._send(method, path, query, body)).result()
        if reply.status == 303:
            there = urlsplit(reply.headers["location"])
            return self._ask("GET", there.path, there.query)
        return reply

    async def _send(self, method, path, query, body):
        headers = [
            (b"host", b"testserver"),
            (b"origin", b"http://testserver"),
            (b"cookie", f"{COOKIE}={self.gate.secret}".encode()),
            (b"content-type", b"application/x-www-form-urlencoded"),
        ]
        scope = {
            "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": method,
            "scheme": "http", "path": path, "raw_path": path.encode(), "root_path": "",
            "query_string": query.encode(), "headers": headers, "server": ("testserver", 80),
            "client": ("127.0.0.1", 1),
        }  # fmt: skip
        sent, found = [{"type": "http.request", "body": body, "more_body": False}], []

        async def receive():
            return sent.pop() if sent else await asyncio.Event().wait()

        async def send(message):
            found.append(message)

        await self.server(scope, receive, send)
        start = found[0]
        told = {name.decode(): value.decode() for name, value in start["headers"]}
        return Reply(start["status"], told, b"".join(m.get("body", b"") for m in found[1:]))
