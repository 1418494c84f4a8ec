"""What pages tell readers to do works, in the order in which they tell it."""

import shlex

import pytest
from typer.main import get_command

from sfumato.cli.app import app
from sfumato.decouplings import DECOUPLINGS
from sfumato.models import MODELS
from sfumato.partition import PARTITIONERS
from sfumato.policy import Policy
from sfumato.policy.document import parse
from sfumato.search import SEARCHES
from tests.docs.pages import Block, blocks, made, name_of, pages
from tests.docs.running import run_page
from tests.tables.databases import LEAVES_SOCKETS_OPEN

RUN = pages()
DATABASES = "docs/how-to/work-in-a-database.md"
SERVERS = ("PostgreSQL", "Spark")
"""Headings of that page for which a server must be running."""


def fragments(some):
    """List the policies, or parts of them, on some pages."""
    return [
        block
        for page in some
        for block in blocks(page)
        if block.language == "yaml" and (not block.file or "policy" in block.file)
    ]


@pytest.fixture(autouse=True)
def _a_reader(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.delenv("FORCE_COLOR", raising=False)


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("page", RUN, ids=name_of)
def test_the_blocks_of_a_page_run_and_show_what_it_says(page):
    run_page(page, but=SERVERS if name_of(page) == DATABASES else ())


def test_the_blocks_about_postgresql_run(postgres, monkeypatch):
    run_with(postgres, "PostgreSQL", monkeypatch)


@LEAVES_SOCKETS_OPEN
def test_the_blocks_about_spark_run(spark, monkeypatch):
    run_with(spark, "Spark", monkeypatch)


def run_with(database, heading, monkeypatch):
    [page] = [page for page in RUN if name_of(page) == DATABASES]
    with database.for_readers(monkeypatch):
        assert run_page(page, heading)
    database.clear()


def test_the_readme_the_tutorial_and_all_guides_hold_something_to_run(tmp_path):
    for page in RUN:
        name = name_of(page)
        if name == "README.md" or (name.startswith(("docs/tutorial/", "docs/how-to/"))):
            runnable = [b for b in blocks(page) if b.language in ("python", "console")]
            assert runnable, f"{name} has nothing to run"


def shown(some):
    """List the commands on some pages that are only shown."""
    return [
        (block.place, line)
        for page in some
        for block in blocks(page)
        if block.language == "sh"
        for line in block.text.splitlines()
        if line.startswith("sfumato ")
    ]


@pytest.mark.parametrize(("place", "line"), shown(pages()))
def test_commands_that_are_only_shown_could_be_given(place, line):
    _, name, *args = shlex.split(line.partition(" | ")[0], comments=True)
    # Parsing refuses unknown options and missing arguments; nothing is run.
    command = get_command(app).commands[name]
    while hasattr(command, "commands"):
        name, *args = args
        command = command.commands[name]
    command.make_context(name, args)


@pytest.mark.parametrize("block", fragments(pages()), ids=lambda block: block.place)
def test_every_policy_on_a_page_is_one(block: Block):
    policy = Policy(**completed(parse(block.text, origin=block.place).root))
    policy.make_search(SEARCHES)
    policy.make_method(PARTITIONERS)
    policy.make_decoupling(DECOUPLINGS)


@pytest.mark.usefixtures("patience")
def test_what_the_reference_shows_could_be_given_too():
    for place, line in shown(made()):
        test_commands_that_are_only_shown_could_be_given(place, line)
    for block in fragments(made()):
        test_every_policy_on_a_page_is_one(block)


def completed(given: dict) -> dict:
    """Add to a part of a policy what it needs to be a whole one."""
    models = given.get("models", [{"model": "k-anonymity", "k": 5}])
    if {"columns", "models"} <= set(given):
        return given
    protected = {
        model["column"]: "weight" if MODELS[model["model"]].of_weights else "sensitive"
        for model in models
        if "column" in model
    }
    columns = {"ward": "quasi-identifier", **protected, **given.get("columns", {})}
    return {**given, "models": models, "columns": columns}
