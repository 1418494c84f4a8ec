"""Compiled templates are kept beside compiled modules, and found again only where they fit."""

import importlib.util
import sys
from pathlib import Path

import pytest
from jinja2 import DictLoader, Environment

from sfumato.showing import compiled
from sfumato.showing.compiled import CompiledTemplates


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "pycache_prefix", str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    return Path(importlib.util.cache_from_source(compiled.__file__)).parent


def environment(text, maker=__file__):
    return Environment(loader=DictLoader({"one": text}), bytecode_cache=CompiledTemplates(maker))


def compilations(monkeypatch):
    found = []
    compile_ = Environment.compile

    def counted(self, source, *args, **named):
        found.append(source)
        return compile_(self, source, *args, **named)

    monkeypatch.setattr(Environment, "compile", counted)
    return found


def test_a_template_is_compiled_once(folder, monkeypatch):
    found = compilations(monkeypatch)
    for _ in range(3):
        assert environment("Hello {{ name }}").get_template("one").render(name="Ann") == "Hello Ann"
    assert len(found) == 1
    assert len(list(folder.iterdir())) == 1


def test_another_text_or_environment_is_compiled_anew(folder, monkeypatch, tmp_path):
    found = compilations(monkeypatch)
    other = tmp_path / "other.py"
    other.write_text("trim_blocks = True\n")
    for text, maker in (("a", __file__), ("b", __file__), ("b", str(other))):
        assert environment(text, maker).get_template("one").render() == text
    assert found == ["a", "b", "b"]


@pytest.mark.parametrize("damage", [b"", b"nonsense", None])
def test_what_is_damaged_or_cannot_be_kept_is_compiled_anew(folder, damage):
    environment("a").get_template("one")
    [kept] = folder.iterdir()
    kept.write_bytes(kept.read_bytes()[:-7] if damage is None else damage)
    assert environment("a").get_template("one").render() == "a"


def test_nothing_is_written_where_python_writes_no_bytecode(folder, monkeypatch):
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    assert environment("a").get_template("one").render() == "a"
    assert not folder.exists()


def test_a_folder_that_cannot_be_made_is_no_fault(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setattr(sys, "pycache_prefix", str(tmp_path / "file"))
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    assert environment("a").get_template("one").render() == "a"
