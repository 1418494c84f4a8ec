"""Files about the project say the same as the project."""

import re
import tomllib
from collections import defaultdict

import pytest
import yaml

import sfumato
from tests.docs.pages import ROOT
from tests.extras import FIRST
from tests.oldest import OF_DEVELOPERS, pins, requirements

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PYTHONS = [
    line.rpartition(" ")[2]
    for line in PROJECT["project"]["classifiers"]
    if re.search(r"Python :: 3\.\d+$", line)
]
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
TARGETS = set(re.findall(r"^([a-z-]+):(?!=)", MAKEFILE, re.MULTILINE))
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
FORMS = sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml"))


def text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


RECIPE = yaml.safe_load(text("conda/recipe.yaml"))


def test_a_citation_names_this_version():
    citation = yaml.safe_load(text("CITATION.cff"))
    assert citation["cff-version"] == "1.2.0"
    assert citation["version"] == sfumato.__version__
    assert citation["license"] == PROJECT["project"]["license"]
    assert {"message", "title", "authors"} <= set(citation)


def test_the_version_is_the_same_everywhere():
    version = sfumato.__version__
    assert re.search(r"^## (\S+)", text("CHANGELOG.md"), re.MULTILINE)[1] == version
    assert f"version {version}" in text("README.md")
    assert RECIPE["context"]["version"] == version
    assert f"## To {version}" in text("docs/how-to/upgrade.md")


def test_a_conda_package_needs_what_the_package_needs():
    needs = RECIPE["requirements"]
    wanted = [
        re.sub(r"(?=[><=])", " ", each, count=1) for each in PROJECT["project"]["dependencies"]
    ]
    assert needs["run"] == [f"python {PROJECT['project']['requires-python']}", *wanted]
    built = [
        re.sub(r"(?=[><=])", " ", each, count=1) for each in PROJECT["build-system"]["requires"]
    ]
    assert {*built} <= {*needs["host"]}
    [command] = PROJECT["project"]["scripts"].items()
    assert RECIPE["build"]["python"]["entry_points"] == [" = ".join(command)]


def test_security_mends_are_for_this_version():
    minor = sfumato.__version__.rpartition(".")[0]
    assert f"| {minor} | yes |" in text("SECURITY.md")


def test_every_make_target_is_in_the_help_and_is_no_file():
    phony = re.search(r"^\.PHONY: ((?:.*\\\n)*.*)", MAKEFILE, re.MULTILINE)
    assert phony
    assert set(phony[1].replace("\\", " ").split()) == TARGETS
    assert set(re.findall(r"^([a-z-]+):.*## \S", MAKEFILE, re.MULTILINE)) == TARGETS


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_workflows_run_make_targets_that_exist(path):
    jobs = yaml.safe_load(path.read_text(encoding="utf-8"))["jobs"]
    runs = [step["run"] for job in jobs.values() for step in job["steps"] if "run" in step]
    made = [word for run in runs for word in re.findall(r"^make ([a-z-]+)", run, re.MULTILINE)]
    assert made
    assert set(made) <= TARGETS


def test_ci_runs_what_a_change_must_pass():
    script, workflow = text(".ci/run"), text(".github/workflows/ci.yml")
    for target in ("demo", "test", "lint", "types", "imports", "test-rest", "package"):
        assert re.search(rf"make .*\b{target}\b", script), target
        assert f"- run: make {target}\n" in workflow, target


@pytest.mark.parametrize("form", FORMS, ids=lambda path: path.stem)
def test_forms_for_issues_ask_for_no_data(form):
    parts = yaml.safe_load(form.read_text(encoding="utf-8"))
    if form.stem == "config":
        assert parts == {"blank_issues_enabled": False}
    else:
        assert {"name", "description", "body"} <= set(parts)
        assert "attach" in form.read_text(encoding="utf-8").lower()


def test_the_supported_pythons_are_the_same_everywhere():
    first, last = PYTHONS[0], PYTHONS[-1]
    assert PROJECT["project"]["requires-python"] == f">={first}"
    assert f"PYTHONS ?= {' '.join(f'python{one}' for one in PYTHONS)}\n" in MAKEFILE
    matrix = yaml.safe_load(text(".github/workflows/ci.yml"))["jobs"]["pythons"]["strategy"]
    assert matrix["matrix"]["python"] == PYTHONS
    assert f"Python {first} to {last}" in text("docs/get-started/install.md")
    assert f"Python from {first} to {last}" in text("Containerfile")
    assert set(re.findall(r"python:(3\.\d+)-slim", text("Containerfile"))) <= set(PYTHONS)


def test_every_requirement_of_users_has_a_lower_bound():
    assert len(pins()) == len({re.split(r"[\[><=]", one)[0] for one in requirements()})
    assert "numpy==1.26" in pins()


def test_the_source_is_made_of_files_that_are_named_and_exist():
    held = PROJECT["tool"]["hatch"]["build"]["targets"]["sdist"]["include"]
    assert all(one.startswith("/") and (ROOT / one[1:]).exists() for one in held)
    assert "/shared" not in held


def test_the_container_runs_without_rights():
    lines = text("Containerfile").splitlines()
    assert [line for line in lines if line.startswith("USER ")] == ["USER sfumato"]
    assert 'ENTRYPOINT ["sfumato"]' in lines


def test_every_extra_for_users_has_a_first_example():
    assert set(FIRST) == set(PROJECT["project"]["optional-dependencies"]) - OF_DEVELOPERS


# What others make is named by its content: a tag can be moved to other code.


@pytest.mark.parametrize("name", [path.relative_to(ROOT).as_posix() for path in WORKFLOWS])
def test_every_action_is_pinned_by_its_commit(name):
    used = re.findall(r"uses:\s*(.*)", text(name))
    assert used
    for each in used:
        assert re.fullmatch(r"[\w.-]+/[\w./-]+@[0-9a-f]{40} # v\d+(\.\d+)+", each), each


def test_the_action_itself_uses_no_other_that_is_not_pinned():
    used = re.findall(r"uses:\s*(.*)", text("action.yml"))
    assert all(re.search(r"@[0-9a-f]{40}\b", each) for each in used)


def test_an_action_has_the_same_commit_everywhere():
    used = {each for path in WORKFLOWS for each in re.findall(r"uses:\s*(.*)", path.read_text())}
    names = [each.partition("@")[0] for each in used]
    assert len(names) == len({*names})


def test_the_base_image_is_pinned_by_its_digest():
    images = re.findall(r"^FROM (\S+)", text("Containerfile"), re.MULTILINE)
    assert len({*images}) == 1
    assert re.fullmatch(r"python:3\.\d+-slim@sha256:[0-9a-f]{64}", images[0])


@pytest.mark.parametrize(
    ("name", "least"),
    [
        ("jinja2", (3, 1, 6)),
        ("starlette", (0, 49, 1)),
        ("h11", (0, 16, 0)),
        ("cryptography", (44, 0, 1)),
    ],
)
def test_no_lower_bound_has_a_known_vulnerability(name, least):
    (found,) = [pin for pin in pins() if pin.startswith(f"{name}==")]
    assert tuple(map(int, found.partition("==")[2].split("."))) >= least


def test_no_two_classes_have_one_name():
    found = defaultdict(list)
    for path in sorted((ROOT / "src").rglob("*.py")):
        for name in re.findall(r"^class (\w+)", path.read_text(encoding="utf-8"), re.MULTILINE):
            found[name].append(path.relative_to(ROOT).as_posix())
    assert {name: paths for name, paths in found.items() if len(paths) > 1} == {}


@pytest.mark.usefixtures("patience")
def test_no_circle_of_imports_has_more_than_three_files():
    import grimp

    graph = grimp.build_graph("sfumato", exclude_type_checking_imports=False)
    reached = {name: graph.find_upstream_modules(name) for name in graph.modules}
    circles = {
        frozenset(
            other for other in (*reached[name], name) if other == name or name in reached[other]
        )
        for name in graph.modules
    }
    assert [sorted(circle) for circle in circles if len(circle) > 3] == []
