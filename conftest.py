"""Lanes, names for doctests, and how hard hypothesis tries.

The fast lane, `make test`, needs nothing but Python. The full lane, `make test-all` or
`pytest --lane full`, adds what takes long or needs programs and data that are not part of the
project, and whatever of these is missing there is a failure. A test is in the full lane because of
a fixture it asks for, so nobody can forget to say so: `patience` if it takes more than 0.3 seconds,
so that the fast lane takes minutes. The lane `rest` is what the fast one leaves
out: CI runs both, one after the other. Tests that draw examples draw a tenth of them in the fast
lane, and as many others in `rest`, so that nothing is tried twice; `full` draws all. What only
repeats is left to `full`, which runs every night: tests that ask for `thorough`, and of tests with
several parameters the combinations beyond those that try each value of each parameter. A test
marked `each_combination` is about how parameters work together, and has all of them in `rest` too.
"""

import gc
import os
import re
import zlib
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np
import pytest
from _pytest.doctest import DoctestModule
from hypothesis import HealthCheck, settings

FULL = {
    "spark": "Spark",
    "pyspark": "Spark",
    "synthetic": "OpenDP",
    "postgres": "PostgreSQL",
    "weka": "Weka",
    "rscript": "R",
    "browser": "a browser",
    "built_site": "the site",
    "notebooks": "notebooks",
    "adult": "the Adult table",
    "public_tables": "public tables",
    "papers": "experiments of papers",
    "bench": "benchmarks",
    "peak_memory": "memory",
    "statistics": "statistics",
    "thorough": "more of the same",
    "patience": "time",
}
"""Fixtures and what they stand for: whoever asks for one is in the full lane, and so marked."""

_NOT_HERE = re.compile(
    r"^(?:from|import) (?:pyspark|py4j|playwright|opendp|mbi|jax)\b", re.MULTILINE
)
"""What a module says that cannot be imported in the fast lane."""

_NIGHTLY = "thorough"
"""The fixture of tests that only the full lane has: a cheaper test does the same on less."""

_SERVERS = ("spark", "pyspark", "postgres")
"""Fixtures of tests of which every combination is tried: each engine has its own SQL."""

_SOURCES = Path(__file__).parent / "src"
"""Examples in docstrings ask for nothing: the fast lane has them all."""

_ADDED = pytest.StashKey[Counter]()

_PATIENT = 1.0
"""Seconds that no test of the fast lane takes: thrice its budget, for machines are not alike."""

_SHOWN = 5

_UNTRACED = (
    "tests/attacks/test_class_contract.py",
    "tests/attacks/test_contract.py",
    "tests/fuzz/",
    "tests/ledger/test_worlds.py",
    "tests/networks/test_structure_weka.py",
    "tests/losses/test_local.py",
    "tests/models/test_contract.py",
    "tests/oracle/",
    "tests/partition/test_laws.py",
    "tests/search/test_contract.py",
)
"""Suites that run the same lines over and over, at twice the time if coverage watches them.

Other tests must reach these lines, too, or coverage is too low.
"""

# The lanes say the same of the same code, whoever runs them. What tries new examples each time is
# HYPOTHESIS_PROFILE=new, or long, and make fuzz.
settings.register_profile(
    "default",
    deadline=None,
    max_examples=60,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
settings.register_profile("fast", parent=settings.get_profile("default"))
settings.register_profile(
    "rest", parent=settings.get_profile("default"), derandomize=False, database=None
)
settings.register_profile("new", parent=settings.get_profile("default"), derandomize=False)
settings.register_profile("long", parent=settings.get_profile("new"), max_examples=1500)


def pytest_addoption(parser):
    parser.addoption(
        "--lane",
        choices=["fast", "full", "rest"],
        default="fast",
        help="fast: needs nothing but Python; full: everything, and nothing may be missing; rest: "
        "what the fast one leaves out, and other examples",
    )


def is_full(config) -> bool:
    return config.getoption("--lane") != "fast"


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config):
    if getattr(config, "workerinput", {}).get("workerid") == "gw1":
        # Two processes that begin at different ends compile everything once between them.
        config.args.reverse()
    for name, what in FULL.items():
        config.addinivalue_line("markers", f"{name}: in the full lane only, because of {what}")
    config.addinivalue_line("markers", "each_combination: of its parameters is tried in `rest`")
    config.stash[_ADDED] = Counter()
    lane = config.getoption("--lane")
    profile = os.environ.get("HYPOTHESIS_PROFILE", "default" if lane == "full" else lane)
    settings.load_profile(profile)
    # Examples that do not follow from the names of tests must follow from something.
    if profile == "rest" and not config.getoption("--hypothesis-seed"):
        config.option.hypothesis_seed = "1"
    if not is_full(config):
        # So a test that forgets to ask for the fixture `adult` fails wherever it runs.
        os.environ["SFUMATO_DATA"] = "(only in the full lane, for those who ask for `adult`)"


def pytest_ignore_collect(collection_path, config):
    """Leave modules out whose libraries only the full lane has, and examples that `rest` lacks."""
    if config.getoption("--lane") == "rest" and _SOURCES in collection_path.parents:
        return True
    if is_full(config) or collection_path.suffix != ".py":
        return None
    return bool(_NOT_HERE.search(collection_path.read_text(encoding="utf-8"))) or None


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(file_path):
    """Look for examples where there are some: looking takes as long as collecting tests."""
    found = yield
    if len(found) > 0 and ">>>" not in file_path.read_text(encoding="utf-8"):
        return [each for each in found if not isinstance(each, DoctestModule)]
    return found


@pytest.hookimpl(tryfirst=True)
def pytest_collection():
    """Everything that is collected stays: nobody need look for what does not."""
    gc.disable()


def pytest_itemcollected(item):
    """Mark a test by its fixtures."""
    for name in FULL:
        if name in getattr(item, "fixturenames", ()):
            item.add_marker(name)
    _try_fewer_examples(getattr(item, "function", None), item.config.getoption("--lane"))
    if not is_full(item.config):
        return
    # Watch no line for the thousandth time.
    if item.nodeid.startswith(_UNTRACED) and item.config.pluginmanager.hasplugin("pytest_cov"):
        item.add_marker(pytest.mark.no_cover)


def pytest_collection_modifyitems(config, items):
    """Keep the tests of the lane, and count the others by the first reason there is."""
    # In whatever order a process found them, all have the same.
    items.sort(key=lambda item: item.nodeid.partition("::")[0])
    if config.getoption("--lane") == "rest":
        kept = set(_cover([item for item in items if _does_more(item)]))
        config.hook.pytest_deselected(items=[item for item in items if item not in kept])
        items[:] = [item for item in items if item in kept]
    if is_full(config):
        return
    kept, left = [], []
    for item in items:
        marked = {mark.name for mark in item.iter_markers()}
        reasons = [what for name, what in FULL.items() if name in marked]
        (left if reasons else kept).append(item)
        config.stash[_ADDED].update(reasons[:1])
    items[:] = kept
    config.hook.pytest_deselected(items=left)


def _does_more(item) -> bool:
    """Return whether `rest` has a test: the full lane does more of it than the fast one."""
    marked = {mark.name for mark in item.iter_markers()}
    if _NIGHTLY in marked:
        return False
    tried = getattr(getattr(item, "function", None), "is_hypothesis_test", False)
    named = getattr(item, "fixturenames", ())
    return bool(tried or "some" in named or not marked.isdisjoint(FULL))


def _cover(items):
    """Leave out combinations of parameters whose values others of the same test have, too."""
    tried = defaultdict(set)
    # In an order that has nothing to do with that of the parameters, and is always the same.
    for item in sorted(items, key=lambda each: zlib.crc32(each.nodeid.encode())):
        values = getattr(getattr(item, "callspec", None), "params", {})
        pairs = {(name, id(value)) for name, value in values.items()}
        whole = any(map(item.get_closest_marker, ("each_combination", *_SERVERS)))
        known = tried[item.nodeid.partition("[")[0]]
        if whole or len(pairs) < 2 or not pairs <= known:
            yield item
        known |= pairs


def _try_fewer_examples(function, lane):
    """Let a test draw the part of its examples that belongs to the lane."""
    where = "_hypothesis_internal_use_settings"
    given = getattr(function, where, None)
    # Tests with many parameters have one function.
    if lane == "full" or given is None or hasattr(function, "all_examples"):
        return
    function.all_examples = given.max_examples
    tried = max(1, given.max_examples // 10)
    setattr(function, where, settings(given, max_examples=tried))


def pytest_collection_finish():
    """Spare the collector thousands of tests, each time somebody calls it."""
    gc.enable()
    gc.collect()
    gc.freeze()


def pytest_fixture_setup(fixturedef, request):
    """Find out those who ask for a fixture as they run, where nobody can see it before."""
    if not is_full(request.config) and fixturedef.argname in FULL:
        pytest.fail(f"ask for `{fixturedef.argname}` as an argument: only the full lane has it")


def pytest_sessionfinish(session):
    gc.unfreeze()
    output = getattr(session.config, "workeroutput", None)
    if output is not None:
        output["added"] = dict(session.config.stash[_ADDED])


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node):
    # Each worker collected everything.
    node.config.stash[_ADDED] |= Counter(getattr(node, "workeroutput", {}).get("added", {}))


def pytest_terminal_summary(terminalreporter, config):
    passed = [] if is_full(config) else terminalreporter.getreports("passed")
    slow = sorted(
        ((each.duration, each.nodeid) for each in passed if each.duration > _PATIENT), reverse=True
    )
    for seconds, name in slow[:_SHOWN]:
        terminalreporter.write_line(f"{seconds:.1f} s: ask for `patience` in {name}")
    added = config.stash[_ADDED]
    if added:
        most_first = sorted(added.items(), key=lambda each: (-each[1], each[0]))
        told = ", ".join(f"{what} {number}" for what, number in most_first)
        terminalreporter.write_line(
            f"make test-all adds {added.total()} tests and coverage: {told}"
        )


@pytest.fixture(autouse=True)
def _doctest_names(doctest_namespace):
    from tests.builders import classes_of

    doctest_namespace["np"] = np
    doctest_namespace["classes_of"] = classes_of
