"""The drawings of the page about lattices are what the tools draw today."""

import pytest

import sfumato as sf
from tests.docs.pages import ROOT

FOLDER = ROOT / "docs" / "how-to"


def top_down() -> str:
    text = (FOLDER / "look-at-a-lattice.md").read_text(encoding="utf-8")
    policy = text.partition("```yaml top-down.yaml\n")[2].partition("```")[0]
    table = sf.samples.table("top-down")
    return sf.tools.trace(table, sf.Policy.from_yaml(policy), seed=1).svg()


def incognito(tool, **options):
    policy = sf.samples.policy_path("incognito")
    return tool(sf.samples.table("incognito"), policy, **options)


def lattice() -> str:
    return incognito(sf.tools.lattice).svg()


def subset() -> str:
    return incognito(sf.tools.lattice, subsets=True).subsets[3].svg()


def tree() -> str:
    return incognito(sf.tools.hierarchies)["marital_status"].svg()


DRAWINGS = {
    "look-at-a-lattice.svg": lattice,
    "look-at-a-lattice-subset.svg": subset,
    "look-at-a-lattice-tree.svg": tree,
    "look-at-a-lattice-steps.svg": top_down,
}


@pytest.mark.parametrize("name", DRAWINGS)
def test_a_drawing_is_what_is_drawn_today(name):
    drawn = DRAWINGS[name]()
    assert (FOLDER / name).read_text(encoding="utf-8") == drawn, f"write it again: {name}"
