"""In another language no English is left: neither on pages, nor in what the code says."""

import re
from pathlib import Path

import pytest

import sfumato
from sfumato.app.texts import languages
from sfumato.app.texts.telling import Teller, show_drawing, teller
from sfumato.app.wording import limits_of
from sfumato.attacks import ATTACKS
from sfumato.models import MODELS
from sfumato.profiles import PROFILES
from tests.app.browsing import WORK, do_work, go, open_people, settle, watched
from tests.app.sentences import FILLED, errors_in, messages_in
from tests.app.test_publish import POLICY, people

SOURCES = Path(sfumato.__file__).parent
OTHERS = sorted(set(languages()) - {"en"})
every_language = pytest.mark.parametrize("language", OTHERS)


class Knowing(Teller):
    """Says sentences with what is filled in; that itself has no language."""

    def __call__(self, text, deep=4):
        return text if text.strip("'") == FILLED else super().__call__(text, deep)


def modules(*rooms):
    for room in rooms:
        path = SOURCES / room
        yield from sorted(path.rglob("*.py")) if path.is_dir() else [path]


IN_THE_TERMINAL = {"opening.py"}
"""What is said before there is a page."""

OUR_FAULTS = {"only what sfumato.showing made is known to be safe"}


@every_language
@pytest.mark.parametrize(
    "room", ["app", "errors.py", "policy", "hierarchy", "models", "recode/deciding.py"]
)
def test_what_goes_wrong_is_said_whole(language, room):
    """Other rooms say it in English where the catalogue cannot, and the page marks that."""
    tell, left = Knowing(language), []
    for path in modules(room):
        if path.name not in IN_THE_TERMINAL:
            said = {*errors_in(path), *(messages_in(path) if room == "app" else ())}
            left += [f"{path.name}: {each}" for each in said if tell(each) is None]
    assert [each for each in left if each.partition(": ")[2] not in OUR_FAULTS] == []


@every_language
def test_what_members_say_of_themselves_is_said_whole(language):
    told = [limits_of(kind) for kind in MODELS.values()]
    told += [kind.how for kind in ATTACKS.values()]
    told += [kind.title for name, kind in PROFILES.items() if name != "file"]
    assert [each for each in told if each and teller(language)(each) is None] == []


def test_the_sources_are_seen():
    found = [each for path in modules("hierarchy") for each in errors_in(path)]
    assert "'7' has 7 levels, and more than 7 are of no use. Remove one first." in found
    assert Knowing("de")("no sentence of ours, '7' of 7") is None


@pytest.mark.parametrize(
    "text",
    ["no", "<b>people at risk</b> & more", "smoker, and what else is known of them", "7 of 8 of 9"],
)
def test_a_drawing_keeps_what_the_data_says(text):
    from markupsafe import escape

    svg = f"<svg><text>{escape(text)}</text></svg>"
    assert show_drawing(svg, "de") == svg


ENGLISH = re.compile(
    r"\b(the|of|is|are|and|with|that|not|who|which|by|for|from|be|it|rows?|people|person|columns?"
    r"|values?|least|most|than|this|has|have|can|its|how|more|every|holds|were|been)\b"
)
"""Words that German has not, and that hardly a sentence is without."""

LABELS = re.compile(r"\S+\.csv|/\S+|[\w.]+ to [\w.]+|under \S+|\S+ or more|\S+ \(\d+\)")
"""Labels of hierarchies: they are what will be published."""

_TEXTS = r"""() => {
  const found = [], page = document.getElementById("page");
  const code = "code, pre, textarea, .preview tbody, #language, option, .where";
  const walker = document.createTreeWalker(page, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const at = walker.currentNode.parentElement, text = walker.currentNode.textContent.trim();
    const marked = !!at.closest("[lang=en]");
    if (text && !at.closest(code)) found.push([text.replace(/\s+/g, " "), marked]);
  }
  for (const name of ["title", "aria-label"])
    for (const each of page.querySelectorAll(`[${name}]`))
      if (!each.closest(code)) found.push([each.getAttribute(name), !!each.closest("[lang=en]")]);
  return found;
}"""


def english_on(page, where):
    """Give what stands on a page in English, all of it unfolded."""
    settle(page)
    page.evaluate("() => document.querySelectorAll('main details').forEach((e) => e.open = true)")
    settle(page)
    return {
        f"{where}: {text}"
        for text, marked in page.evaluate(_TEXTS)
        if marked or ENGLISH.search(LABELS.sub("", text))
    }


def test_no_page_of_the_app_has_english_on_it_when_its_work_is_done(browser, served):
    with watched(browser, served.origin, locale="de-DE") as page:
        page.goto(served.door)
        found = english_on(page, "start")
        open_people(page, served, people(0, 48), POLICY)
        (served.folder / "new.csv").write_text(people(100, 148))
        found |= english_on(page, "data")
        for step in WORK:
            go(page, step)
            do_work(page, step)
            found |= english_on(page, step)
    assert not found, "\n".join(sorted(found))
