"""A page in a real browser that notes every complaint, and whether all can use it."""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import files
from typing import Any
from urllib.parse import urlsplit

_LOUD = ("error", "warning")
_BAD = ("serious", "critical")


@contextmanager
def watched(browser: Any, origin: str, **options: Any) -> Iterator[Any]:
    """Give a page of its own; at the end there must be no complaint and no request elsewhere.

    Args:
        browser: Of Playwright.
        origin: The only place that the page may ask, as `http://127.0.0.1:8000`.
        options: Of the context: size, language, colours.
    """
    complaints: list[str] = []
    context = browser.new_context(**{"locale": "en-GB", **options})
    context.set_default_timeout(60_000)
    page = context.new_page()
    page.on(
        "console",
        lambda told: complaints.append(f"{told.type}: {told.text}") if told.type in _LOUD else None,
    )
    page.on("pageerror", lambda error: complaints.append(f"error: {error}"))
    page.on("requestfailed", lambda asked: _note_failed(complaints, asked))
    page.on(
        "response",
        lambda got: complaints.append(f"{got.status}: {got.url}") if got.status >= 400 else None,
    )
    page.on("websocket", lambda line: complaints.append(f"WebSocket: {line.url}"))
    context.on("request", lambda asked: _note_foreign(complaints, asked, origin))
    try:
        yield page
    finally:
        context.close()
    assert not complaints, "\n".join(complaints)


def _note_failed(complaints: list[str], asked: Any) -> None:
    # A newer wish, or another page, takes the place of what was asked before.
    if asked.failure != "net::ERR_ABORTED":
        complaints.append(f"{asked.failure}: {asked.url}")


def _note_foreign(complaints: list[str], asked: Any, origin: str) -> None:
    parts = urlsplit(asked.url)
    if parts.scheme not in ("data", "blob") and f"{parts.scheme}://{parts.netloc}" != origin:
        complaints.append(f"asked another host: {asked.url}")


def axe(page: Any) -> list[str]:
    """Give what stops people from using the page as it is shown, each with the place."""
    script = files("axe_core_python").joinpath("axe.min.js").read_text(encoding="utf-8")
    # From outside: the page itself may not evaluate text.
    page.evaluate(script)
    found = page.evaluate("() => axe.run()")
    return [
        f"{each['impact']}: {each['help']} ({each['id']}): {node['target']} {node['html'][:160]}"
        for each in found["violations"]
        if each["impact"] in _BAD
        for node in each["nodes"]
    ]
