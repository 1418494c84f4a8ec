"""Every text of the app has a translation in every catalogue, and no catalogue has more."""

import re
from importlib import import_module
from pathlib import Path
from string import Formatter

import pytest

import sfumato.app
from sfumato.app.steps import ALL
from sfumato.app.texts import catalogue, languages
from sfumato.app.tour import STOPS
from sfumato.typing import STAGES

HOME = Path(sfumato.app.__file__).parent
CALL = re.compile(r"""\bt\(\s*(?:"((?:[^"\\]|\\.)+)"|'((?:[^'\\]|\\.)+)')""")


def texts_in(path: Path) -> set[str]:
    found = CALL.findall(path.read_text(encoding="utf-8"))
    return {one or other for one, other in found}


def all_texts() -> set[str]:
    """Give what is written in templates and code, and what modules list as their `TEXTS`."""
    templates = [*HOME.glob("templates/*.html"), *HOME.glob("*.py"), *HOME.glob("steps/*.py")]
    found = set().union(*map(texts_in, templates))
    found |= {step.title for step in ALL.values()} | set(STAGES.values())
    found |= {text for stop in STOPS.values() for text in stop}
    for name in ALL:
        found |= set(getattr(import_module(f"sfumato.app.steps.{name}"), "TEXTS", ()))
    return found


def names_in(text: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(text) if name}


@pytest.mark.parametrize("language", sorted(set(languages()) - {"en"}))
def test_a_catalogue_has_every_text(language):
    assert sorted(all_texts() - catalogue(language).keys()) == []


@pytest.mark.parametrize("language", sorted(set(languages()) - {"en"}))
def test_a_translation_fills_in_the_same_names(language):
    wrong = [text for text, told in catalogue(language).items() if names_in(text) != names_in(told)]
    assert wrong == []


@pytest.mark.parametrize("language", sorted(set(languages()) - {"en"}))
def test_catalogues_do_not_translate_a_text_twice_differently(language):
    import yaml

    seen: dict[str, str] = {}
    for path in sorted((HOME / "texts" / language).glob("*.yaml")):
        for text, told in (yaml.safe_load(path.read_text(encoding="utf-8")) or {}).items():
            assert isinstance(text, str), f"{path.name}: quote {text!r}"
            assert seen.setdefault(text, told) == told, f"{path.name}: {text!r}"


def test_every_step_has_words_for_the_tour():
    assert set(STOPS) == set(ALL)
