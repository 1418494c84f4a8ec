"""Nobody can forget to say that a test belongs to the full lane."""

import os
import re
import subprocess
import sys

import pytest

from tests.docs.pages import ROOT

ASKING = """
import pytest

@pytest.fixture
def spark():
    pass

@pytest.fixture(params=["duck", pytest.param("postgres", marks=pytest.mark.postgres)])
def database(request):
    pass

def test_one(spark): pass
def test_two(database): pass
def test_three(request): request.getfixturevalue("spark")
def test_four(): raise AssertionError(__import__("os").environ["SFUMATO_DATA"])
"""


def run_tests(folder, text, *more):
    """Run tests as the project's own are run, and return what is said of them."""
    (folder / "test_asking.py").write_text(text, encoding="utf-8")
    command = ["-m", "pytest", "-c", "pyproject.toml", "-p", "no:cacheprovider", *more]
    done = subprocess.run(
        [sys.executable, *command, "--rootdir", ROOT, "-p", "conftest", folder],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}"},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("more", [[], ["-n", "1"]], ids=["here", "in workers"])
def test_a_fixture_decides_and_the_rest_is_told(tmp_path, more):
    said = run_tests(tmp_path, ASKING, *more)
    assert "make test-all adds 2 tests and coverage: PostgreSQL 1, Spark 1" in said
    assert "ask for `spark` as an argument: only the full lane has it" in said
    assert "AssertionError: (only in the full lane" in said
    assert "2 failed, 1 passed" in said


RUNNING = """
import pytest
from hypothesis import given, strategies as st

@pytest.fixture
def some(): pass

@pytest.fixture
def thorough(): pass

def test_one(): raise AssertionError
def test_two(some): pass
def test_three(thorough): pass
@given(st.integers())
def test_four(n): pass
"""


@pytest.mark.usefixtures("patience")
def test_the_rest_is_what_the_fast_lane_leaves_out_or_does_less_of(tmp_path):
    said = run_tests(tmp_path, RUNNING, "--lane", "rest")
    assert "2 passed, 2 deselected" in said


COMBINING = """
import pytest

pytestmark = pytest.mark.usefixtures("patience")

@pytest.fixture
def patience(): pass

@pytest.mark.parametrize("one", "abcd")
@pytest.mark.parametrize("other", range(3))
def test_five(one, other): print(f"tried {one} {other} once")

@pytest.mark.each_combination
@pytest.mark.parametrize("one", "ab")
@pytest.mark.parametrize("other", range(3))
def test_six(one, other): print(f"all of {one} {other}")
"""


@pytest.mark.usefixtures("patience")
def test_the_rest_tries_each_value_and_the_full_lane_each_combination(tmp_path):
    said = run_tests(tmp_path, COMBINING, "--lane", "rest", "-rP")
    assert len(re.findall(r"^all of ", said, re.MULTILINE)) == 6
    tried = re.findall(r"^tried (.) (.) once", said, re.MULTILINE)
    assert {one for one, _ in tried} == set("abcd")
    assert {other for _, other in tried} == set("012")
    assert len(tried) < 12
    assert "18 passed" in run_tests(tmp_path, COMBINING, "--lane", "full")


@pytest.fixture
def bench():
    """Nothing; it is called as the real one."""


def test_whoever_asks_while_running_is_found_out(request, monkeypatch):
    monkeypatch.setattr(request.config.option, "lane", "fast")
    with pytest.raises(pytest.fail.Exception, match="ask for `bench` as an argument"):
        request.getfixturevalue("bench")
