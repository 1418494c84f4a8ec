"""The reference is complete, and what it says is what the code says."""

import doctest
import inspect
import json
import re

import pyarrow as pa
import pytest
from typer.main import get_command

import sfumato as sf
from docs import generate
from docs.generator import docstrings, markdown
from docs.generator.cli import all_commands, page_of
from docs.generator.manifest import FIELDS
from sfumato import errors
from sfumato.attacks import ATTACKS
from sfumato.cli.app import app
from sfumato.decouplings import DECOUPLINGS
from sfumato.hierarchy import BUILDERS
from sfumato.losses import AGGREGATES, LOSSES
from sfumato.models import MODELS
from sfumato.networks import LEARNERS
from sfumato.partition import PARTITIONERS
from sfumato.search import SEARCHES
from tests.docs.pages import ROOT
from tests.tables.databases import imported

text_of = generate.text_of


def section(page: str, heading: str) -> str:
    found = re.search(rf"^##+ {re.escape(heading)}\n(.*?)(?=^##+ |\Z)", text_of(page), re.M | re.S)
    assert found, f"{page} has no section {heading!r}"
    return found[1]


@pytest.mark.parametrize("module", [docstrings, markdown], ids=lambda module: module.__name__)
def test_the_generators_own_examples_hold(module):
    result = doctest.testmod(module)
    assert result.attempted
    assert not result.failed


def test_pages_are_written_where_it_is_said(tmp_path, monkeypatch):
    two = {name: generate.PAGES[name] for name in ("losses.md", "cli/init.md")}
    monkeypatch.setattr(generate, "PAGES", two)
    assert generate.main(["--output", str(tmp_path)]) == 0
    written = {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*.md")}
    assert written == set(two)
    assert (tmp_path / "cli" / "init.md").read_text("utf-8").count("# sfumato init") == 1


def test_none_of_them_is_in_the_repository():
    assert "/docs/reference/" in (ROOT / ".gitignore").read_text("utf-8").split()


FAMILIES = {
    "models.md": MODELS,
    "hierarchies.md": BUILDERS,
    "losses.md": LOSSES,
    "searches.md": SEARCHES,
    "methods.md": PARTITIONERS,
    "attacks.md": ATTACKS,
    "learners.md": LEARNERS,
    "decouplings.md": DECOUPLINGS,
}
IN_NO_POLICY = {"attacks.md", "learners.md", "decouplings.md"}
MEMBERS = [
    (page, name)
    for page, family in FAMILIES.items()
    for name in family
    if family[name].__module__.startswith("sfumato.")
]


@pytest.mark.parametrize(("page", "name"), MEMBERS)
def test_every_member_of_a_family_has_a_section_with_its_settings(page, name):
    text = section(page, name)
    kind = FAMILIES[page][name]
    for setting in inspect.signature(kind).parameters:
        row = re.search(rf"^\| `{setting}` \|.*\| (.*) \|$", text, re.MULTILINE)
        assert row, f"{name} does not list {setting}"
        assert row[1].strip(), f"{name} does not say what {setting} means"
    assert f"{kind.__name__}(" in text
    assert ("```yaml" in text) == (page not in IN_NO_POLICY)


def test_every_model_says_what_it_promises_and_what_it_does_not():
    for name in MODELS:
        text = section("models.md", name)
        assert "**Promises:**" in text, name
        assert "**Does not promise:**" in text, name


def test_what_merging_keeps_is_listed_for_every_model():
    lists = re.findall(r"^- \*\*Classes that (.*):\*\* (.*)$", text_of("models.md"), re.MULTILINE)
    (_, absorbing), (_, closed) = lists
    for name, kind in MODELS.items():
        if kind.__module__.startswith("sfumato."):
            assert (f"[{name}]" in absorbing) == kind.merging[1], name
            assert (f"[{name}]" in closed) == (kind.merging[0] and not kind.merging[1]), name


def test_a_long_explanation_that_members_share_stands_once():
    for page in ("decouplings.md", "searches.md"):
        for name, meaning in re.findall(
            r"^\| (`\w+`) \| (.*) \|$", section(page, "Common settings"), re.M
        ):
            assert text_of(page).count(meaning) == 1
            assert text_of(page).count(f"| {name} | ") > 2


def test_every_method_says_what_it_promises_and_every_attack_what_it_does_not_find():
    assert all("**Promises:**" in section("methods.md", name) for name in PARTITIONERS)
    for name in ATTACKS:
        text = section("attacks.md", name)
        assert "**Finds:**" in text, name
        assert "**Does not find:**" in text, name


def test_every_decoupling_says_what_it_promises_and_what_it_does_not():
    for name in DECOUPLINGS:
        text = section("decouplings.md", name)
        assert "**Promises:**" in text, name
        assert "**Does not promise:**" in text, name


def test_every_aggregate_is_listed():
    assert all(f"| `{name}` |" in section("losses.md", "Aggregates") for name in AGGREGATES)


def test_every_key_of_the_policy_schema_is_listed():
    schema = sf.Policy.json_schema(searches=SEARCHES, methods=PARTITIONERS, decouplings=DECOUPLINGS)
    column = schema["properties"]["columns"]["additionalProperties"]["anyOf"][1]
    suppression = schema["properties"]["suppression"]["anyOf"][1]
    parts = {
        "Keys": schema,
        "columns": column,
        "suppression": suppression,
        "risk_levels": schema["properties"]["risk_levels"],
        "verdict": schema["properties"]["verdict"],
    }
    for heading, part in parts.items():
        listed = re.findall(r"^\| `(\w+)` \|", section("policy.md", heading), re.MULTILINE)
        assert listed == list(part["properties"])
    for choice in column["properties"]["role"]["enum"]:
        assert f"| `{choice}` |" in section("policy.md", "Roles")
    for choice in schema["properties"]["missing"]["enum"]:
        assert f"| `{choice}` |" in section("policy.md", "missing")


def test_every_command_and_option_is_listed():
    common = section("cli/README.md", "Common options").replace("\\|", "/")
    for name, command in all_commands(get_command(app)).items():
        assert f"# sfumato {name}\n" in text_of(page_of(name))
        own, _, also = text_of(page_of(name)).partition("\nAlso ")
        also = also.partition(": see [common options]")[0].replace("|", "/")
        rows = [row for row in common.splitlines() if row[2:].partition(" |")[0] in also]
        text = "\n".join([own, *rows])
        for parameter in command.params:
            shown = parameter.opts if parameter.param_type_name == "option" else [parameter.metavar]
            shown = [*shown, *parameter.secondary_opts]
            assert all(re.search(rf"^\| `[^|]*{re.escape(o)}(?!\w)", text, re.M) for o in shown)


def test_every_command_has_one_purpose_on_the_front_page():
    purposes, _, _ = text_of("cli/README.md").partition("## Options of Sfumato")
    listed = re.findall(r"^\| \[([^\]]+)\]\(", purposes, re.MULTILINE)
    assert sorted(listed) == sorted(all_commands(get_command(app)))


def test_no_help_text_has_a_name_of_the_code():
    for name, command in all_commands(get_command(app)).items():
        texts = [command.help, *(parameter.help for parameter in command.params)]
        found = re.findall(r"(?<![\w.`])[a-z]+_[a-z_]+", " ".join(texts))
        assert not found, f"sfumato {name}: {found}"


def test_every_error_is_listed():
    for name, kind in inspect.getmembers(errors, inspect.isclass):
        if issubclass(kind, errors.SfumatoError):
            assert section("errors.md", name).strip()


def test_every_public_name_is_listed():
    for name in sf.__all__:
        if name != "__version__":
            page = "results.md" if inspect.isclass(getattr(sf, name)) else "python.md"
            assert section(page, f"sf.{name}").strip()


def keys_of(value: object, path: str = "") -> set[str]:
    """Write every key of a manifest as its page does."""
    if isinstance(value, list):
        return set().union(*(keys_of(item, f"{path}[]") for item in value))
    if isinstance(value, dict):
        found: set[str] = set()
        for key, item in value.items():
            full = f"{path}.{key}" if path else key
            found |= {full} | keys_of(item, full)
        return found
    return set()


# Named after what somebody asked for, so no list can hold them.
NAMED_BY_OTHERS = re.compile(
    r"losses\..+|accepted\[\].*|hierarchies\..+|models\[\]\.(?!model$|measured$).+|models\[\]\.measured\..+"
    r"|method\.(?!name$|refined(\[\]|$)).+|columns\[\]\.(cut|ranges)\..+|synthetic\.domain\..+"
)


REALS = {"role": "quasi-identifier", "hierarchy": {"kind": "intervals", "widths": [2]}}


@pytest.fixture
def manifests(tmp_path):
    names = ["age", "sex", "admitted", "diagnosis", "outcome"]
    people = sf.samples.synthetic(400, seed=1).select(names)
    policy = sf.Policy(
        columns={
            "age": {"role": "quasi-identifier", "hierarchy": "auto"},
            "sex": "quasi-identifier",
            "admitted": "quasi-identifier",
            "diagnosis": {"role": "sensitive", "hierarchy": "auto"},
            "outcome": "plain",
        },
        models=[
            {"model": "k-anonymity", "k": 3},
            {"model": "t-closeness", "column": "diagnosis", "t": 0.6, "distance": "hierarchical"},
        ],
        suppression=0.1,
        accept=[{"column": "diagnosis", "because": "for the test", "by": "nobody"}],
    )
    ordered = people["outcome"].combine_chunks().dictionary_encode()
    kind = pa.dictionary(ordered.indices.type, ordered.dictionary.type, ordered=True)
    people = people.set_column(4, "outcome", ordered.cast(kind))
    made = []
    for form, method in (("csv", "full-domain"), ("parquet", "mondrian")):
        sf.anonymize(people, policy, method=method, output=tmp_path / form, format=form)
        made.append(manifest_in(tmp_path / form))
    for how in ("bounds", "midpoint"):
        said = {
            "columns": {"age": {**REALS, "as": how}},
            "models": [{"model": "k-anonymity", "k": 2}],
        }
        ages = pa.table({"age": [1.5, 1.2, 3.4, 3.1]})
        made.append(sf.anonymize(ages, said).manifest.to_dict())
    # A cell that a local method hides is no missing one, where rows with missing cells go.
    hidden = {**said, "method": "top-down", "missing": "suppress"}
    ages = pa.table({"age": [1.5, 1.2, 93.4, 193.1, 57.5]})
    made.append(sf.anonymize(ages, hidden).manifest.to_dict())
    return [
        *made,
        refined(),
        cut(),
        with_items(tmp_path),
        *decoupled(tmp_path),
        *drawn(),
        *stored(people, policy),
    ]


def manifest_in(folder):
    return json.loads((folder / "manifest.json").read_text(encoding="utf-8"))


def stored(people, policy) -> list[dict]:
    """Make releases in a database, and read their manifests there."""
    with imported("duckdb", "duckdb").connect() as connection:
        connection.register("people", people)
        connection.execute("CREATE TABLE source AS FROM people")
        release = sf.anonymize((connection, "source"), policy, output="table:one")
        sf.decouple(release, output="table:several")
        texts = [
            connection.execute(f"SELECT manifest FROM {name}_manifest").fetchall()[0][0]
            for name in ("one", "several")
        ]
    return [json.loads(text) for text in texts]


def refined() -> dict:
    """Make a release in which quasi-identifiers revealed something, and no longer do."""
    told = {"age": [31] * 4 + [33] * 4, "ill": ["flu"] * 4 + ["gout"] * 4}
    policy = sf.Policy(
        columns={
            "age": "quasi-identifier",
            "ill": {"role": "sensitive", "spelling": "exact"},
        },
        models=[{"model": "k-anonymity", "k": 2}],
    )
    found = sf.detect(sf.anonymize(pa.table(told), policy), support=2)
    return sf.anonymize(pa.table(told), policy, refine=found).manifest.to_dict()


def cut() -> dict:
    """Make a release whose postcodes are cut at two levels."""
    codes = pa.table({"zip": ["101"] * 4 + ["102"] * 4 + ["201", "202", "203"]})
    policy = sf.Policy(
        columns={"zip": {"role": "quasi-identifier", "hierarchy": "masking"}},
        models=[{"model": "k-anonymity", "k": 3}],
        method="regional",
        owner="The post",
        purpose="A map",
    )
    return sf.anonymize(codes, policy).manifest.to_dict()


def with_items(folder) -> dict:
    """Make a release whose rows have several items each."""
    policy = sf.Policy(
        columns={"ill": {"role": "set", "separator": ";"}},
        models=[{"model": "km-anonymity", "k": 2, "m": 2}],
    )
    table = pa.table({"ill": ["flu;gout", "flu;gout"]})
    sf.anonymize(table, policy, output=folder / "items", format="csv")
    return manifest_in(folder / "items")


def decoupled(folder) -> list[dict]:
    """Make a decoupled release, and another one on top of it."""
    sf.decouple(folder / "csv", output=folder / "broken")
    table = pa.table({"age": ["30s"] * 4, "ill": ["flu", "flu", "gout", "hiv"]})
    first = sf.decouple(table, quasi_identifiers=["age"], sensitive=["ill"])
    sf.Ledger.start(first, folder / "clinic.ledger", alpha=0.5, k=2)
    gone = table.slice(0, 1)
    sf.Ledger(folder / "clinic.ledger").publish(
        table, delete=gone, output=folder / "increment", say_left=True
    )
    return [manifest_in(folder / "broken"), manifest_in(folder / "increment")]


def drawn() -> list[dict]:
    """Make a synthetic release without a mechanism."""
    from unittest.mock import patch

    from sfumato.synthesis.budget import PrivacyBudget
    from tests.synthesis.stubs import fit_nothing

    columns = {
        "born": {
            "role": "quasi-identifier",
            "domain": {"from": "1950-01-01", "to": "1999-12-31", "width": "3650d"},
        },
        "age": "quasi-identifier",
    }
    age = {"kind": "age", "of": "born", "at": "2026-06-01", "into": "age"}
    policy = sf.Policy(columns=columns, derive=[age], models=[{"model": "k-anonymity", "k": 2}])
    table = pa.table({"born": ["1960-05-17"] * 9})
    task = "sfumato.tasks.synthesize"
    with (
        patch(f"{task}.require_extra"),
        patch(f"{task}.fit", fit_nothing),
        patch(f"{task}.PrivacyBudget.of", lambda *_: PrivacyBudget(0.31, 1e-9, 0.001)),
    ):
        return [sf.synthesize(table, policy, epsilon=0.31).manifest.to_dict()]


def test_a_real_manifest_has_exactly_the_keys_that_are_listed(manifests):
    found = set().union(*map(keys_of, manifests))
    assert {key for key in found if not NAMED_BY_OTHERS.fullmatch(key)} == set(FIELDS)


def test_every_key_of_a_manifest_is_on_its_page():
    listed = re.findall(r"^\| `([^`]+)` \|", text_of("manifest.md"), re.MULTILINE)
    assert listed == list(FIELDS)


def test_what_a_policy_can_say_is_explained_on_one_page():
    text = section("results.md", "sf.Policy")
    assert "(policy.md#keys)" in text
    for name in sf.Policy.settings():
        assert re.search(rf"^\| `{name}` \|", section("policy.md", "Keys"), re.MULTILINE)
        assert not re.search(rf"^\| `{name}` \|", text, re.MULTILINE)


def test_there_are_about_twenty_public_names_beside_the_families():
    names = [name for name in sf.__all__ if not inspect.ismodule(getattr(sf, name))]
    assert len(names) == 1 + 24  # the version, and what is done most
    assert sorted(names) == sorted(set(names))


def test_type_checkers_are_told_of_every_public_name():
    for name in set(sf.__all__) - {"__version__"}:
        assert f" {name} as {name}\n" in (ROOT / "src/sfumato/__init__.py").read_text("utf-8"), name


def test_there_is_no_other_name_and_it_is_said_so():
    with pytest.raises(AttributeError, match="module 'sfumato' has no attribute 'publish'"):
        sf.publish  # noqa: B018 - asking is what is tested
