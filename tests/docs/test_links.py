"""Links lead somewhere, and pages speak of nothing that readers do not have."""

import re
from pathlib import Path
from urllib.parse import unquote

import pytest

from tests.docs.pages import ROOT, anchors, blocks, links, made, name_of, pages

every_page = pytest.mark.parametrize("page", pages(), ids=name_of)


@every_page
def test_every_relative_link_leads_to_a_file_and_a_heading(page):
    require_targets(page)


@pytest.mark.usefixtures("patience")
def test_so_do_links_of_pages_that_are_made_from_the_code():
    for page in made():
        require_targets(page)


def require_targets(page):
    for link in links(page):
        if re.match(r"[a-z]+:", link):
            continue
        path, _, anchor = unquote(link).partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.is_relative_to(ROOT), f"{link} leads out of the project"
        assert target in made() or target.exists(), f"{link} leads nowhere"
        if anchor:
            assert target.suffix == ".md", link
            assert anchor in anchors(target), f"{link}: {sorted(anchors(target))}"


@every_page
def test_addresses_outside_are_those_of_papers_and_standards(page):
    for link in links(page):
        if re.match(r"[a-z]+:", link):
            assert link.startswith(("https://doi.org/", "https://keepachangelog.com/")), link


@every_page
def test_no_page_names_a_path_of_somebodys_machine(page):
    text = page.read_text(encoding="utf-8")
    assert not re.search(r"(?<![\w.])/(work|tmp|home|root|Users|mnt|usr)\b", text)
    assert not re.search(r"[A-Z]:\\", text)


@every_page
def test_make_targets_that_a_page_names_exist(page):
    targets = re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    shell = "\n".join(b.text for b in blocks(page) if b.language in ("sh", "console", ""))
    named = re.findall(r"`make ([a-z]+)`", page.read_text(encoding="utf-8"))
    named += re.findall(r"^(?:\$ )?make ([a-z]+)", shell, re.MULTILINE)
    assert set(named) <= set(targets)


@pytest.mark.usefixtures("patience")
def test_every_page_below_docs_can_be_reached_from_its_index():
    start = ROOT / "docs" / "README.md"
    seen: set[Path] = set()
    waiting = [start]
    while waiting:
        page = waiting.pop()
        if page in seen or not page.is_relative_to(ROOT / "docs") or page.suffix != ".md":
            continue
        seen.add(page)
        inside = [link.partition("#")[0] for link in links(page) if ":" not in link]
        waiting += [(page.parent / link).resolve() for link in inside if link]
    below = {name_of(page) for page in pages() if page.is_relative_to(ROOT / "docs")}
    assert below == {name_of(page) for page in seen} - {name_of(page) for page in made()}
