"""A page in a real browser that notes every complaint, and whether all can use it.

Nothing of Playwright is imported here: tests of the fast lane read this, too.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import files
from typing import Any, NamedTuple
from urllib.parse import urlsplit

UNFOLD = "e => { if (e.closest('details')) e.closest('details').open = true; }"

WORK = {
    "roles": [("#role-5-5", "#role-5-5:checked"), ("#undo", "#redo:not([disabled])")],
    "hierarchies": [("#take-suggestion", "#undo:not([disabled])")],
    "promises": [("#add-recursive-cl-diversity", "#promise-1"), ("#undo", "#redo:not([disabled])")],
    "explore": [("#try", "#plane"), ("#policy-1", "#pair"), ("#judge", ".map svg")],
    "look": [("#page-on", "#page-back"), ("#only-2", "#only-2:checked")],
    "verdict": [
        ("#judge", ".answer"),
        ("#find-leaks", ".network svg"),
        ("#anybody", "#person-told svg"),
    ],
    "decouple": [("input[value='break-merge']", "[data-board='ill']"), ("#look", ".guesses")],
    "publish": [
        ("#make-key", "#release-key option[value='publisher.key']"),
        ("#publish", "#evidence .badge.holds"),
        ("#ledger-above", "#ledger-above:checked"),
        ("#start", "#ledger svg"),
        ("#try-increment", "#ledger-result"),
        ("#draft-domains", "#domains tr[data-state='not confirmed']"),
        ("#open-account", "#account-spent b"),
    ],
}
"""Of each step, what is pressed and what comes of it."""


def do_work(page: Any, step: str) -> None:
    """Press what a step has, one after the other, and wait for what comes of it."""
    for press, shown in WORK[step]:
        page.locator(press).evaluate(UNFOLD)
        page.click(press)
        page.wait_for_selector(shown, state="attached")
        settle(page)


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
    # Work that takes a second where nothing else runs takes long on a busy machine.
    context.set_default_timeout(300_000)
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


def open_people(page: Any, served: Any, table: str, policy: str) -> None:
    """Put a table and a policy for it into the folder of the app, and open the table."""
    (served.folder / "people.csv").write_text(table, encoding="utf-8")
    (served.folder / "policy.yaml").write_text(policy, encoding="utf-8")
    page.goto(served.door)
    page.click("button:has-text('people.csv')")
    page.wait_for_selector("#next")


def go(page: Any, step: str) -> None:
    """Open a step by its link, and wait until it has nothing more to fetch."""
    page.click(f"nav.steps a[href$='/{step}']")
    page.wait_for_selector(f"#page[data-step='{step}']")
    settle(page)


def settle(page: Any) -> None:
    """Wait until work is done, parts are fetched, and the figures are those of the policy."""
    page.wait_for_selector(".job, .htmx-request, [aria-busy=true]", state="detached")


_FOCUS = """() => {
  const at = document.activeElement, places = [at, at.closest("label, .chip, .method"),
    at.previousElementSibling, at.querySelector(".grip"), at.querySelector("h1")];
  const marked = places.some((place) => {
    if (!place) return false;
    const style = getComputedStyle(place), box = place.getBoundingClientRect();
    const drawn = style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2;
    const thick = place.matches(".grip") && parseFloat(style.strokeWidth) >= 3;
    const inside = box.bottom > 0 && box.top < innerHeight && box.right > 0;
    return (drawn || thick) && box.width > 4 && box.height > 4 && inside;
  });
  return [at.tagName.toLowerCase(), at.id, at.innerText || at.value || "", marked];
}"""


class Focus(NamedTuple):
    """What has the focus."""

    tag: str
    id: str
    text: str
    seen: bool
    """Whether it is marked so that one sees it, within the window."""


def focus_of(page: Any) -> Focus:
    """Give what has the focus; it must be seen where that is, and it is never nowhere."""
    found = Focus(*page.evaluate(_FOCUS))
    assert found.tag != "body", "the focus is lost"
    assert found.seen, f"it is not seen that this has the focus: {found}"
    return found


def tab_to(page: Any, wanted: str) -> None:
    """Press Tab until what has this id, or begins so, has the focus: all on the way is seen."""
    passed = []
    for _ in range(120):
        page.keyboard.press("Tab")
        if page.evaluate("() => document.activeElement === document.body"):
            # The end of the page: a browser goes on to its own bar, and then to the beginning.
            continue
        found = focus_of(page)
        passed.append(found.id or found.text[:20])
        if found.id == wanted or (not found.id and found.text.startswith(wanted)):
            return
    raise AssertionError(f"{wanted!r} is not reached by Tab: {passed}")


def axe(page: Any) -> list[str]:
    """Give what stops people from using the page as it is shown, each with the place."""
    if not page.evaluate("() => 'axe' in window"):
        # From outside: the page itself may not evaluate text.
        page.evaluate(files("axe_core_python").joinpath("axe.min.js").read_text(encoding="utf-8"))
    found = page.evaluate("() => axe.run({ resultTypes: ['violations'] })")
    return [
        f"{each['impact']}: {each['help']} ({each['id']}): {node['target']} {node['html'][:160]}"
        for each in found["violations"]
        if each["impact"] in _BAD
        for node in each["nodes"]
    ]
