"""The app stays in its folder, whatever spelling, encoding, scheme or policy it is given.

Each attack goes over the real interface, against files that lie beside the folder and must stay
unread and unwritten.
"""

import inspect
import json
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import pytest
import yaml

from sfumato.app.steps import ALL, load
from sfumato.decouplings import DECOUPLINGS
from sfumato.derivations import DERIVATIONS
from sfumato.errors import InputError, PolicyError
from sfumato.files import read_small, write_file
from sfumato.files.confinement import Confinement, current, require_inside, without_limits
from sfumato.hierarchy import BUILDERS, HierarchyBuilder
from sfumato.losses import LOSSES
from sfumato.models import MODELS
from sfumato.networks import LEARNERS
from sfumato.partition import PARTITIONERS
from sfumato.perturbations import PERTURBATIONS
from sfumato.policy import Policy
from sfumato.policy.named_files import named_files
from sfumato.policy.parts import ColumnRule, Part, member_settings, parameters
from sfumato.search import SEARCHES
from sfumato.tables import open_table
from tests.app.outside import CANARY, Outside
from tests.app.serving import Served, serving
from tests.app.test_gate import PEOPLE

pytestmark = pytest.mark.usefixtures("patience")

EXAMPLE = Path(__file__).parents[2] / "examples" / "engine-sqlite"

_PLUGINS = '''
import csv
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

import sfumato_sqlite
from sfumato.hierarchy import Hierarchy, HierarchyBuilder


class AnyFile(sfumato_sqlite.SQLite):
    """Takes the path from where nobody looks."""
    kind = "anyfile"
    title = "AnyFile"
    in_file = False
    example = "anyfile://server/path?table=people"

    @classmethod
    def open(cls, source):
        return super().open(replace(source, host=None))


@dataclass(frozen=True)
class Sly(HierarchyBuilder):
    """Places its file by itself, and does not say that it has one."""
    name: ClassVar[str] = "sly"
    where: str = "x"

    def relative_to(self, folder):
        return replace(self, where=str(Path(folder) / self.where))

    def build(self, column, values, counts=None):
        lines = list(csv.reader(Path(self.where).open(), delimiter=";"))
        return Hierarchy.from_paths([l[0] for l in lines], [l[1:] for l in lines], origin="sly")

    @classmethod
    def example(cls):
        return cls()

    @classmethod
    def example_values(cls):
        return ["f", "m"]


@dataclass(frozen=True)
class Told(Sly):
    """Says which of its settings is a file, and reads it by itself."""
    name: ClassVar[str] = "told"
    names_files: ClassVar[tuple[str, ...]] = ("where",)
'''


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """A folder of packages with engines and hierarchies of others, found by their entry points."""
    folder = tmp_path_factory.mktemp("site")
    (folder / "sfumato_sqlite.py").write_bytes((EXAMPLE / "sfumato_sqlite.py").read_bytes())
    (folder / "others.py").write_text(_PLUGINS, encoding="utf-8")
    info = folder / "others-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: others\nVersion: 1\n")
    (info / "entry_points.txt").write_text(
        "[sfumato.databases]\nsqlite = sfumato_sqlite:SQLite\nanyfile = others:AnyFile\n"
        "[sfumato.hierarchies]\nsly = others:Sly\ntold = others:Told\n"
    )
    return folder


@pytest.fixture(scope="module")
def outside(tmp_path_factory):
    return Outside(tmp_path_factory.mktemp("around"))


@pytest.fixture(scope="module")
def attacked(outside, site, tmp_path_factory):
    """The app with a table in it, which all attacks are tried on."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", os.pathsep.join([str(site), *sys.path]))
        patch.setenv("HOME", str(outside.around))
        said = tmp_path_factory.mktemp("said") / "said.txt"
        with serving(outside.work, said) as found:
            assert found.open_table("people.csv", PEOPLE).status == 201
            yield found
            assert CANARY not in found.said()
            assert "Traceback" not in found.said()


def assert_nothing_came_of(attacked: Served, outside: Outside, what: object) -> None:
    """No page shows anything of what lies outside, and nothing there was touched."""
    attacked.wait()
    shown = attacked.ask("GET", "/data?again=1")
    assert shown.status == 200
    assert CANARY not in shown.text, what
    outside.assert_untouched(what)
    if "Not done" not in shown.text:
        assert_nothing_is_shown(attacked, what)
        outside.assert_untouched(what)


def assert_nothing_is_shown(attacked: Served, what: object) -> None:
    for path in ("/data?again=1", "/data", "/data/preview", "/roles", "/policy.yaml", "/publish"):
        answer = attacked.ask("GET", path)
        assert answer.status in (200, 204, 303), (what, path, answer.status)
        assert CANARY not in answer.text, (what, path)
        assert "a fault of Sfumato" not in answer.text, (what, path)


# Addresses of tables.


def _spellings(name: str, around: Path) -> list[str]:
    """Give the ways to write the path of a file beside the folder."""
    whole = str(around / name)
    dotted = f"../{name}"
    return [
        whole,
        dotted,
        f"./../{name}",
        f"x:/../../{name}",
        f"x://../../{name}",
        f"linked/{name}",
        f"linked/work/../{name}",
        f"linked/../{around.name}/{name}",
        f"work/../../{name}",
        f"~/{name}",
        f"/proc/self/cwd/../{name}",
        f"{around}/work/../{name}",
        f"{around}//work//..//{name}",
        f"file://{whole}",
        f"FILE:{whole}",
        f"\\\\localhost{whole}",
        f"..\\{name}",
        f"．．/{name}",
        f"{dotted}\0.csv",
        f"{dotted}?",
        f"{around}/*{name[1:]}",
        f"{around}/out[s]ide{name[7:]}",
        quote(dotted, safe="").replace(".", "%2e"),
        quote(quote(dotted, safe="").replace(".", "%2e"), safe=""),
    ]


_SCHEMES = (
    "duckdb",
    "DUCKDB",
    "DuckDB",
    "sqlite",
    "SQLite",
    "anyfile",
    "file",
    "csv",
    "jdbc:duckdb",
)


def _addresses(around: Path) -> Iterator[str]:
    for scheme in _SCHEMES:
        name = "outside.sqlite" if "lite" in scheme.lower() else "outside.db"
        for path in _spellings(name, around):
            yield f"{scheme}:///{path}?table=t"
    for scheme in ("duckdb", "sqlite", "anyfile"):
        for path in ("../outside.db", f"{around}/outside.sqlite"):
            encoded = quote(path, safe="").replace(".", "%2E")
            yield f"{scheme}:///{encoded}?table=t"
            yield f"{scheme}://localhost/{path}?table=t"
            yield f"{scheme}://%2e%2e/{path}?table=t"
            yield f"{scheme}:///inside.db?table=t&path={path}"
            yield f" {scheme}:///{path}?table=t"
            yield f"{scheme}:/{path}?table=t"
    csv = f"{around}/outside.csv"
    for table in (
        csv,
        f'"{csv}"',
        f"read_csv('{csv}')",
        f"main.read_csv('{csv}')",
        f"t; ATTACH '{around}/outside.db' AS o",
        f"t UNION ALL SELECT who, age FROM read_csv('{csv}')",
        f"{around}/*.csv",
        "../outside.csv",
        "reads",
        "globs",
        "by_macro",
    ):
        yield f"duckdb:///inside.db?{urlencode({'table': table})}"
    for table in (
        *(f"{form}.{csv}" for form in ("text", "csv", "parquet", "json", "orc", "binaryFile")),
        f"text.`{csv}`",
        f"TEXT.{csv}",
        f"text.file://{csv}",
        f'text."{csv}"',
        f"text.{around}/*.csv",
        "text.../outside.csv",
    ):
        yield f"spark:///?{urlencode({'table': table})}"
        yield f"SPARK:///?table={table}"
    for option in ("passfile", "sslcert", "sslkey", "sslrootcert", "service", "servicefile"):
        yield f"postgres://127.0.0.1:1/clinic?table=t&{option}={csv}"
        yield f"PostgreSQL://127.0.0.1:1/clinic?table=t&{option}={csv}"


def _simple(around: Path) -> list[str]:
    """Give an address of each kind that once led out of the folder."""
    return [
        f"DUCKDB:///{around}/outside.db?table=t",
        "duckdb:///%2e%2e/outside.db?table=t",
        f"sqlite:///{around}/outside.sqlite?table=t",
        f"anyfile://x/{around}/outside.sqlite?table=t",
        f"spark:///?table=text.{around}/outside.csv",
        f"postgres://127.0.0.1:1/clinic?table=t&passfile={around}/outside.csv",
    ]


def test_no_address_leads_out_of_the_folder(attacked, outside, some):
    every = [*_addresses(outside.around)]
    assert len(every) > 200
    for address in [*_simple(outside.around), *every[:: some(12, of=1)]]:
        attacked.ask("POST", "/data/database", {"address": address})
        assert_nothing_came_of(attacked, outside, address)
    # A table of the folder is opened, however its address is spelt.
    for address in ("duckdb:///inside.db?table=t", "DUCKDB:///%69nside.db?table=t"):
        attacked.ask("POST", "/data/database", {"address": address})
        attacked.wait()
        assert "inside1" in attacked.ask("GET", "/data/preview").text


def test_a_table_of_a_database_in_the_folder_is_named_and_no_file(attacked, outside):
    csv = outside.around / "outside.csv"
    for table in (str(csv), f"t&x={csv}", f"read_csv('{csv}')", "reads", "t?table=reads", "%2e"):
        attacked.ask("POST", "/data/database", {"file": "inside.db", "table": table})
        assert_nothing_came_of(attacked, outside, table)
    for file in ("../outside.db", "link-outside.db", "linked/outside.db"):
        attacked.ask("POST", "/data/database", {"file": file, "table": "t"})
        assert_nothing_came_of(attacked, outside, file)


# Names of files and folders in all forms.


def test_no_name_in_any_form_leads_out_of_the_folder(attacked, outside, some):
    """Every address that reads a name, with every field that may be one."""
    assert attacked.open_table("people.csv", PEOPLE).status == 201
    fields = (
        "file", "folder", "name", "release", "ledger", "data", "key", "path", "origin", "table",
        "output", "report", "template", "policy_file",
    )  # fmt: skip
    asked = re.compile("|".join(f'"{name}"' for name in fields))
    posts, gets = [], []
    for step in map(load, ALL.values()):
        for name, act in step.actions.items():
            posts += [f"/{step.name}/{name}"] if asked.search(inspect.getsource(act)) else []
        for name, give in {**step.parts, **step.files}.items():
            gets += [f"/{step.name}/{name}"] if asked.search(inspect.getsource(give)) else []
    assert {"/data/open", "/data/release", "/publish/key", "/hierarchies/import"} <= {*posts}
    assert {"/publish/file", "/publish/report", "/publish/ledger"} <= {*gets}
    spellings = _spellings("outside.csv", outside.around)
    names = [
        *spellings[:: some(6, of=1)],
        *(f"../{name}" for name in ("release", "sign.key", "clinic.ledger", "policy.yaml")),
        *(f"linked/{name}" for name in ("release", "sign.key", "clinic.ledger")),
        *("hollow", "linked-release", "link-sign.key", "clinic.ledger", "link-hierarchy.csv"),
        *("../new", f"{outside.around}/new", "linked/new", "new/../../new", ".sfumato-app/x"),
    ]
    for name in names[:: some(2, of=1)]:
        form = dict.fromkeys(fields, name)
        for path in posts:
            own = {"column": "sex", "do": "publish", "alpha": "0.5", "public": "1", "format": ""}
            attacked.ask("POST", path, {**form, **own})
        for path in gets:
            answer = attacked.ask("GET", f"{path}?{urlencode(form)}")
            assert CANARY not in answer.text, (path, name)
        assert_nothing_came_of(attacked, outside, name)


def test_what_is_a_link_to_elsewhere_is_not_even_offered(attacked):
    for path in ("/data?again=1", "/publish", "/hierarchies?column=age", "/verdict"):
        # What was saved under such a name is a file of the folder, with an ending of its own.
        text = re.sub(r"[\w.-]+\.sfumato", "", attacked.ask("GET", path).text)
        for name in ("link-outside", "linked-release", "link-sign", "clinic.ledger"):
            assert name not in text, (path, name)


# Policies.

_BASE: dict[str, Any] = {
    "columns": {
        "name": "identifier",
        "age": {"role": "quasi-identifier", "hierarchy": {"kind": "auto"}},
        "sex": {"role": "quasi-identifier", "hierarchy": {"kind": "star"}},
        "disease": "sensitive",
    },
    "models": [{"model": "k-anonymity", "k": 2}],
}


def _with(**changes: object) -> dict[str, Any]:
    return {**_BASE, **changes}


def _with_hierarchy(rule: object) -> dict[str, Any]:
    sex = {"role": "quasi-identifier", "hierarchy": rule}
    return _with(columns={**_BASE["columns"], "sex": sex})


def _places(name: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Give a policy for each place where one can name a file."""
    yield "csv", _with_hierarchy({"kind": "csv", "file": name})
    yield "taxonomy", _with_hierarchy({"kind": "taxonomy", "file": name})
    yield "sly", _with_hierarchy({"kind": "sly", "where": name})
    yield "told", _with_hierarchy({"kind": "told", "where": name})
    yield "network", _with(detect={"network": name})
    shift = {"kind": "shift", "columns": ["age"], "days": 3, "person": "name", "key": name}
    yield "key", _with(derive=[shift])
    journalist = [{"model": "k-map", "k": 2}]
    yield "population", _with(models=journalist, population=name)


_FILES = {
    "csv": "hierarchy.csv",
    "sly": "hierarchy.csv",
    "told": "hierarchy.csv",
    "taxonomy": "taxonomy.yaml",
    "network": "network.bif",
    "key": "shift.key",
    "population": "outside.csv",
}


def test_no_file_that_a_policy_names_lies_outside(attacked, outside, some):
    assert attacked.open_table("people.csv", PEOPLE).status == 201
    attacked.wait()
    for place, _ in _places(""):
        names = _spellings(_FILES[place], outside.around)
        # One that is not there would be made.
        names += [str(outside.around / "made"), "../made", "linked/made", "~/made"]
        for name in names:
            policy = dict(_places(name))[place]
            attack(attacked, outside, policy, (place, name))
    every = [*_addresses(outside.around)]
    for address in [*_simple(outside.around), *every[:: some(20, of=1)]]:
        policy = _with(models=[{"model": "k-map", "k": 2}], population=address)
        attack(attacked, outside, policy, ("population", address))


def attack(attacked: Served, outside: Outside, policy: object, what: object) -> None:
    """Send a policy; if it is taken, ask for everything that uses one."""
    text = yaml.safe_dump(policy)
    attacked.ask("POST", "/policy", {"policy": text, "step": "roles"})
    if attacked.ask("GET", "/policy.yaml").text == text:
        use(attacked)
    outside.assert_untouched(what)


def use(attacked: Served) -> None:
    """Let the app do with a policy what it does with one."""
    for path in ("/status", "/roles/column?column=sex", "/hierarchies?column=sex", "/promises"):
        assert CANARY not in attacked.ask("GET", path).text
    attacked.ask("POST", "/look/make")
    attacked.wait("release")
    assert CANARY not in attacked.ask("GET", "/look").text


def _every_text() -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Give a policy for each setting of each part and member that may be a text, whatever it is.

    What is added later is found here, too: nothing says which of them are names of files.
    """
    mark = "MARK"
    for part, put in _parts():
        for name in part.settings():
            yield f"{part.__name__}.{name}", mark, put({name: mark})
    families: list[tuple[str, Any, Any]] = [
        ("kind", BUILDERS, _with_hierarchy),
        ("kind", DERIVATIONS, lambda rule: _with(derive=[rule])),
        ("model", MODELS, lambda rule: _with(models=[rule])),
        ("loss", LOSSES, lambda rule: _with(loss=rule)),
        ("method", PARTITIONERS, lambda rule: _with(method=rule)),
        ("search", SEARCHES, lambda rule: _with(search=rule)),
        ("method", DECOUPLINGS, lambda rule: _with(decouple=rule)),
        ("learner", LEARNERS, lambda rule: _with(detect={"learner": rule})),
        ("kind", PERTURBATIONS, _with_perturbation),
    ]
    for tag, family, put in families:
        for member, kind in family.items():
            example = kind.example() if hasattr(kind, "example") else kind()
            settings = member_settings(example, tag)
            for name, (_, hint) in parameters(kind).items():
                if "str" in str(hint) or "Path" in str(hint) or "Any" in str(hint):
                    yield f"{member}.{name}", mark, put({**settings, name: mark})


def _with_perturbation(rule: object) -> dict[str, Any]:
    disease = {"role": "sensitive", "perturb": [rule]}
    return _with(columns={**_BASE["columns"], "disease": disease})


def _parts() -> Iterator[tuple[type[Part], Any]]:
    """Give every part of a policy, and what puts settings of it into one."""
    yield Policy, lambda rule: _with(**rule)
    yield (
        ColumnRule,
        lambda rule: _with(
            columns={**_BASE["columns"], "sex": {"role": "quasi-identifier", **rule}}
        ),
    )
    hints = {name: each for name, (each, _) in parameters(Policy).items()}
    for kind in Part.__subclasses__():
        for name in hints:
            if _read_by(name) is kind:
                yield kind, lambda rule, name=name: _with(**{name: rule})


def _read_by(name: str) -> type[Part] | None:
    """Give the part that a setting of a policy is read as."""
    import typing

    hint = typing.get_type_hints(Policy)[name]
    for each in (hint, *typing.get_args(hint)):
        if isinstance(each, type) and issubclass(each, Part):
            return each
    return None


def test_every_setting_of_a_policy_is_attacked(attacked, outside, some):
    """Whatever takes a text is given the path of a file: none of them opens it."""
    assert attacked.open_table("people.csv", PEOPLE).status == 201
    attacked.wait()
    tried = {}
    for where, mark, policy in _every_text():
        for file in ("outside.csv", "hierarchy.csv", "made")[: some(1, of=3)]:
            name = str(outside.around / file)
            sent = json.loads(json.dumps(policy, default=str).replace(mark, name))
            tried[where] = sent
            attack(attacked, outside, sent, (where, file))
    assert {"csv.file", "taxonomy.file", "shift.key", "Policy.population"} <= {*tried}
    assert "DetectionRule.network" in tried
    assert len(tried) > 60


def test_files_of_the_folder_are_used_as_before(attacked, outside):
    work = outside.work
    (work / "sex.csv").write_text("f;any;*\nm;any;*\n", encoding="utf-8")
    assert attacked.open_table("people.csv", PEOPLE).status == 201
    attacked.wait()
    for kind in ("csv", "told"):
        for name in ("sex.csv", "./sex.csv", "x:/../sex.csv", str(work / "sex.csv")):
            text = yaml.safe_dump(dict(_places(name))[kind])
            attacked.ask("POST", "/policy", {"policy": text, "step": "roles"})
            assert attacked.ask("GET", "/policy.yaml").text == text, (kind, name)
    # A class that does not say which files it opens is refused, wherever they lie.
    sly = yaml.safe_dump(dict(_places("sex.csv"))["sly"])
    attacked.ask("POST", "/policy", {"policy": sly, "step": "roles"})
    assert "names_files" in attacked.ask("GET", "/roles").text
    outside.assert_untouched("files of the folder")


def test_a_policy_edited_by_hand_is_held_to_the_folder_too(attacked, outside):
    assert attacked.open_table("people.csv", PEOPLE).status == 201
    attacked.wait()
    shown = attacked.ask("GET", "/roles").text
    [file] = {path for path in outside.work.glob("policy*.yaml") if path.name in shown}
    name = str(outside.around / "hierarchy.csv")
    file.write_text(yaml.safe_dump(_with_hierarchy({"kind": "csv", "file": name})))
    assert "lies outside of the folder" in attacked.ask("GET", "/roles").text
    assert name not in attacked.ask("GET", "/policy.yaml").text
    outside.assert_untouched("edited by hand")


# Who may name what lies elsewhere.


def test_who_starts_the_app_may_name_a_table_elsewhere_and_no_more(tmp_path):
    (tmp_path / "around").mkdir()
    # Not the one of the attacks, which must stay unread: tests run in any order.
    outside = Outside(tmp_path / "around")
    given = outside.around / "outside.csv"
    folder = tmp_path / "work"
    folder.mkdir()
    with serving(folder, tmp_path / "said.txt", str(given)) as served:
        served.ask("GET", "/data")
        served.wait()
        assert CANARY in served.ask("GET", "/data/preview").text
        address = f"duckdb:///{outside.around}/outside.db?table=t"
        served.ask("POST", "/data/database", {"address": address})
        assert "Not done" in served.ask("GET", "/data?again=1").text
        name = str(outside.around / "hierarchy.csv")
        text = yaml.safe_dump(_with_hierarchy({"kind": "csv", "file": name}))
        served.ask("POST", "/policy", {"policy": text, "step": "roles"})
        assert "lies outside of the folder" in served.ask("GET", "/roles").text


def test_servers_of_databases_are_asked_only_where_that_is_allowed(tmp_path):
    _is_asked_only_where_that_is_allowed(tmp_path, "postgres://127.0.0.1:1/x?table=t")


def test_spark_is_asked_only_where_that_is_allowed(tmp_path, pyspark):
    _is_asked_only_where_that_is_allowed(tmp_path, "spark://h:7?table=t")


def _is_asked_only_where_that_is_allowed(tmp_path, address):
    folder = tmp_path / "work"
    folder.mkdir()
    with serving(folder, tmp_path / "said.txt", "--no-databases") as served:
        served.ask("POST", "/data/database", {"address": address})
        assert "--databases" in served.ask("GET", "/data?again=1").text
    assert [*folder.iterdir()] == []


# The one function that decides, by itself.


def test_one_function_decides_for_readers_and_writers(tmp_path):
    folder, beside = tmp_path / "work", tmp_path / "beside.txt"
    folder.mkdir()
    beside.write_text("x")
    limits = Confinement(folder, private=folder / ".private")
    with limits.active():
        for name in (
            str(beside),
            "../beside.txt",
            "a\0b",
            "",
            ".private/x",
            ".PRIVATE/../../x",
        ):
            with pytest.raises(InputError):
                limits.path(name)
        for act in (
            lambda: read_small(beside, "a file", 9),
            lambda: write_file(tmp_path / "new", "x"),
            lambda: open_table(str(beside)),
            lambda: open_table(f"duckdb:///{beside}?table=t"),
            lambda: require_inside(beside),
        ):
            with pytest.raises((InputError, OSError), match=r"lies outside|no name"):
                act()
        write_file(folder / "own", "x")
        with without_limits():
            assert read_small(beside, "a file", 9) == b"x"
    assert current() is None
    assert read_small(beside, "a file", 9) == b"x"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["beside.txt", "work"]


def test_a_process_that_is_confined_is_so_in_all_its_threads(tmp_path):
    import threading

    found = []
    limits = Confinement(tmp_path)
    with limits.of_process():
        thread = threading.Thread(target=lambda: found.append(current()))
        thread.start()
        thread.join()
    assert found == [limits]
    assert current() is None


def test_a_hierarchy_that_places_files_by_itself_must_say_which():
    class Own(BUILDERS["star"]):  # type: ignore[misc]
        def relative_to(self, folder):
            return self

    assert issubclass(Own, HierarchyBuilder)
    policy = Policy(
        columns={"age": {"role": "quasi-identifier", "hierarchy": Own()}},
        models=[{"model": "k-anonymity", "k": 2}],
    )
    with pytest.raises(PolicyError, match="names_files"):
        named_files(policy)
