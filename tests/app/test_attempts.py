"""Guesses of the password: slowed down and locked out, and nobody locked out for good."""

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from sfumato.app import attempts as module
from sfumato.app.attempts import FREE, FREE_OVER_ALL, LONGEST, LONGEST_OVER_ALL, WrongPasswords
from sfumato.app.gate import COOKIE, Gate, GuardedServer

PASSWORD = "correct horse battery"


class Clock:
    """Time that goes on when a test says so."""

    def __init__(self):
        self.now = 1000.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def attempts(clock):
    return WrongPasswords(clock)


def at_once(times, act):
    """Do something in many threads that all begin together; give what each got."""
    start = threading.Barrier(times)

    def one(number):
        start.wait()
        return act(number)

    with ThreadPoolExecutor(times) as pool:
        return [*pool.map(one, range(times))]


def test_guesses_at_the_same_time_are_no_more_than_guesses_in_turn(attempts):
    """Sixty threads, as many as tried 360 passwords in eleven seconds."""
    waits = [wait for _ in range(6) for wait in at_once(60, lambda _: attempts.admit("192.0.2.7"))]
    assert waits.count(0.0) == FREE


def test_many_clients_together_are_slowed_down_too(attempts):
    waits = at_once(200, lambda number: attempts.admit(f"192.0.2.{number}"))
    assert waits.count(0.0) == FREE_OVER_ALL


def test_the_delay_doubles_and_has_an_end(attempts, clock):
    delays = []
    for _ in range(FREE + 20):
        wait = attempts.admit("192.0.2.7")
        if wait:
            delays.append(wait)
            clock.now += wait
            assert attempts.admit("192.0.2.7") == 0.0
    assert delays[:4] == [1.0, 2.0, 4.0, 8.0]
    assert delays == sorted(delays)
    assert delays[-1] == LONGEST


def test_a_guess_that_is_refused_does_not_make_the_delay_longer(attempts, clock):
    """Or a stranger who goes on guessing would keep the owner out."""
    for _ in range(FREE):
        attempts.admit("192.0.2.7")
    before = attempts.admit("192.0.2.7")
    for _ in range(1000):
        assert attempts.admit("192.0.2.7") == before
    clock.now += before
    assert attempts.admit("192.0.2.7") == 0.0


@pytest.mark.usefixtures("patience")
def test_a_day_of_guessing_tries_few_passwords(attempts, clock):
    """By one client, and by as many as there are addresses."""
    tried = {1: 0, 100_000: 0}
    for clients in tried:
        end, number = clock.now + 86_400, 0
        while clock.now < end:
            tried[clients] += attempts.admit(f"client {number % clients}") == 0.0
            number += 1
            clock.now += 0.5
    assert tried[1] < 86_400 / LONGEST + 20
    assert tried[100_000] < 86_400 / LONGEST_OVER_ALL + 50


def test_who_came_in_once_is_not_delayed_by_the_guesses_of_others(attempts):
    assert attempts.admit("198.51.100.1") == 0.0
    attempts.note_success("198.51.100.1")
    at_once(200, lambda number: attempts.admit(f"192.0.2.{number}"))
    assert attempts.admit("203.0.113.9") > 0
    assert attempts.admit("198.51.100.1") == 0.0


def test_delays_are_forgotten_after_a_while(attempts, clock):
    for _ in range(9):
        clock.now += attempts.admit("192.0.2.7")
    clock.now += 86_400
    assert [attempts.admit("192.0.2.7") for _ in range(FREE)] == [0.0] * FREE


def test_addresses_of_one_network_are_one_client(attempts):
    waits = [attempts.admit(f"2001:db8::{number:x}") for number in range(FREE + 1)]
    assert waits == [0.0] * FREE + [1.0]
    assert attempts.admit("2001:db8:0:1::1") == 0.0


def test_only_so_many_clients_are_remembered(attempts, monkeypatch):
    monkeypatch.setattr(module, "_MOST", 10)
    for number in range(100):
        attempts.admit(f"192.0.2.{number}")
        attempts.note_success(f"192.0.2.{number}")
    for number in range(100):
        attempts.admit(f"198.51.100.{number}")
    assert len(attempts._clients) <= 10
    assert len(attempts._known) <= 10


# At the door.


class Door:
    """The server behind its gate, without a network."""

    def __init__(self, clock):
        self.gate = Gate(("here",), "https", PASSWORD, attempts=WrongPasswords(clock))

        async def inner(scope, receive, send):
            await send({"type": "http.response.start", "status": 200, "headers": []})
            await send({"type": "http.response.body", "body": b"inside"})

        self.server = GuardedServer(inner, self.gate, wrong=0)

    def ask(self, method, path, body=b"", *, query=b"", cookie="", client="192.0.2.7"):
        headers = [(b"host", b"here"), (b"origin", b"https://here")]
        if cookie:
            headers.append((b"cookie", f"{COOKIE}={cookie}".encode()))
        scope = {
            "type": "http", "method": method, "path": path, "raw_path": path.encode(),
            "query_string": query, "headers": headers, "client": (client, 1),
        }  # fmt: skip
        found = []

        async def receive():
            return {"type": "http.request", "body": body, "more_body": False}

        async def send(message):
            found.append(message)

        asyncio.run(self.server(scope, receive, send))
        return found[0]["status"], dict(found[0]["headers"])

    def say(self, password, **options):
        return self.ask("POST", "/", f"password={password}".encode(), **options)


@pytest.fixture
def door(clock):
    return Door(clock)


def test_after_a_few_wrong_passwords_even_the_right_one_has_to_wait(door, clock):
    statuses = [door.say(f"wrong {n}")[0] for n in range(FREE + 3)]
    assert statuses == [401] * FREE + [429] * 3
    status, headers = door.say(PASSWORD)
    assert status == 429
    clock.now += int(headers[b"retry-after"])
    status, headers = door.say(PASSWORD)
    assert status == 303
    assert b"set-cookie" in headers


@pytest.mark.usefixtures("patience")
def test_sixty_threads_try_no_more_than_one_would(door):
    found = [
        status
        for _ in range(6)
        for status, _ in at_once(60, lambda number: door.say(f"wrong {number}"))
    ]
    assert found.count(401) == FREE
    assert found.count(429) == 360 - FREE


def test_strangers_lock_nobody_out_who_is_in_or_holds_the_token(door):
    for number in range(300):
        door.say("wrong", client=f"192.0.2.{number % 250}")
    assert door.say(PASSWORD, client="203.0.113.9")[0] == 429
    # Who is in stays in.
    assert door.ask("GET", f"{door.gate.base}/data", cookie=door.gate.secret)[0] == 200
    token = f"token={door.gate.token}".encode()
    assert door.ask("GET", "/", query=token, client="192.0.2.7")[0] == 303


def test_to_look_at_the_form_is_no_guess(door):
    for _ in range(100):
        assert door.ask("GET", "/")[0] == 401
        assert door.say("")[0] == 401
    assert door.say(PASSWORD)[0] == 303


@pytest.mark.parametrize(
    "given", ["", "correct", PASSWORD + "x", PASSWORD.upper(), "\udcff", "ü" * 99]
)
def test_what_is_like_the_password_is_not_it(door, given):
    status, headers = door.say(given.encode("utf-8", "replace").decode())
    assert status == 401
    assert b"set-cookie" not in headers
