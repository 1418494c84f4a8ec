"""What is opened and typed is hostile: files, names, cells, paths and sizes."""

import base64
import json
import shutil
import socket
import stat
import zipfile
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import urlencode, urljoin

import pytest

from sfumato.app import server
from sfumato.app.desk import Desk, TableSource
from sfumato.errors import OutputError
from tests.app.addresses import filled, routes, safe
from tests.app.serving import Served, path_of, serving
from tests.app.test_gate import PEOPLE, assert_sealed, exchange
from tests.fuzz.guards import CORPUS
from tests.fuzz.mutants import Files, cut

pytestmark = pytest.mark.usefixtures("patience")

CANARY = "Outside-Canary-4711"
NASTY = (
    "<script>alert(1)</script>",
    "</td></textarea></table><img src=x onerror=alert(1)>",
    '"><svg onload=alert(1)>',
    "' onmouseover='alert(1)",
    '" hx-get="http://example.org" hx-trigger="load" x="',
    "--><iframe src=//example.org>",
    "{{ 7 * 7 }}{% raw %}",
    "javascript:alert(1)",
    "\u202etxet desrever\u2066",
    "<style>*{display:none}</style>",
)


PLAIN = "columns: {age: quasi-identifier}\nmodels: [{model: k-anonymity, k: 2}]\n"
DROPPED = PLAIN.replace("k: 2", "k: 3")


class _Page(HTMLParser):
    """The tags, forms and texts of a page, as a browser would read them."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.forms: list[tuple[str, dict[str, str]]] = []
        self.comments: list[str] = []

    def handle_starttag(self, tag, attrs):
        found = dict(attrs)
        self.tags.append((tag, found))
        if tag == "form" and found.get("method") == "post":
            self.forms.append((found["action"] or "", {}))
        if self.forms and found.get("name") and tag in ("input", "select", "textarea", "button"):
            self.forms[-1][1][found["name"]] = found.get("value") or ""

    handle_startendtag = handle_starttag

    def handle_comment(self, data):
        self.comments.append(data)


def read_page(text: str) -> _Page:
    page = _Page()
    page.feed(text)
    page.close()
    return page


def get(served: Served, path: str):
    """Give a page, wherever it sends to."""
    answer = served.ask("GET", path)
    for _ in range(3):
        if answer.status not in (302, 303, 307):
            break
        target = path_of(urljoin(served.origin + served.base + path, answer.headers["location"]))
        assert target.startswith(served.base)
        answer = served.ask("GET", target.removeprefix(served.base))
    return answer


def assert_harmless(text: str, base: str) -> None:
    """Nothing on the page runs, loads or leads elsewhere, whatever the data says."""
    page = read_page(text)
    assert page.comments == []
    for tag, attributes in page.tags:
        assert tag not in ("style", "iframe", "object", "embed", "base", "frame"), tag
        assert "style" not in attributes, (tag, attributes)
        assert not [n for n in attributes if n.startswith(("on", "hx-on"))], (tag, attributes)
        if tag == "script":
            assert (attributes.get("src") or "").startswith(f"{base}/static/"), attributes
        for name in ("href", "src", "action", "formaction", "hx-get", "hx-post", "data-drop"):
            where = attributes.get(name)
            assert where is None or where.startswith((f"{base}/", "#")), (tag, name, where)
        assert "srcdoc" not in attributes
        assert not str(attributes.get("hx-vals") or "").startswith("js:")
        assert (attributes.get("http-equiv") or "").lower() != "refresh"


def everything(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


@pytest.fixture(scope="module")
def around(tmp_path_factory):
    return tmp_path_factory.mktemp("around")


@pytest.fixture(scope="module")
def house(around):
    """A folder to work in, with something beside it that is none of the app's business."""
    return make_house(around)


def make_house(around):
    folder = around / "work"
    folder.mkdir()
    (around / "outside.csv").write_text(f"age,who\n1,{CANARY}\n2,{CANARY}\n", encoding="utf-8")
    (around / "outside.yaml").write_text(f"columns: {{{CANARY}: plain}}\n", encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def one_served(house, tmp_path_factory):
    with serving(house, tmp_path_factory.mktemp("said") / "said.txt") as found:
        yield found


@pytest.fixture
def safe_served(one_served):
    """The app, which must live on, and tell its terminal nothing of what it was given."""
    yield one_served
    said = one_served.said()
    assert "Traceback" not in said, said
    assert CANARY not in said
    assert one_served.process.poll() is None


# Names and values.


def test_script_in_every_name_and_cell_stays_text(tmp_path):
    """In the folder's, the file's, the columns' and the release's name, and in each cell."""
    folder = tmp_path / "<img src=x onerror=alert(1)>"
    folder.mkdir()
    lines = [[f"{text}{column}" for column in range(4)] for text in NASTY for _ in range(6)]
    names = [NASTY[0], NASTY[3], NASTY[4], "age"]
    rows = [names, *([*line[:3], str(20 + n)] for n, line in enumerate(lines))]
    text = "\n".join(
        ",".join('"' + cell.replace('"', '""') + '"' for cell in row) for row in rows
    ).encode()
    name = '"><svg onload=alert(1)>.csv'
    (folder / name).write_bytes(text)
    (folder / "<script>alert(2)<").mkdir()
    with serving(folder, tmp_path / "said.txt") as served:
        assert served.open_table("<img src=x onerror=alert(3)>.csv", text).status == 201
        _look_at_everything(served, names)
        served.ask("POST", "/data/open", {"file": name})
        served.wait()
        _look_at_everything(served, names)
        policy = f"columns:\n  {json.dumps(NASTY[0])}: sensitive\nmodels: {json.dumps(NASTY[1])}\n"
        served.ask("POST", "/policy", {"policy": policy, "step": "roles"})
        _look_at_everything(served, names)
        said = served.said()
        assert "Traceback" not in said
        assert "alert(1)" not in said.replace(str(folder), "")


def _look_at_everything(served, names):
    shown = 0
    for path in safe():
        if path.startswith(("/static", "/policy.yaml")):
            continue
        for column in names if path.count("/") > 1 else names[:1]:
            query = urlencode({"column": column, "name": column, "k": "3", "value": column})
            answer = get(served, f"{filled(path)}?{query}")
            assert_sealed(answer)
            if answer.headers.get("content-type", "").startswith("text/html"):
                assert answer.status == 200, (path, answer.status, answer.text[:300])
                assert_harmless(answer.text, served.base)
                assert "a fault of Sfumato" not in answer.text, path
                shown += "alert(1)" in answer.text
            else:
                # A file, or why there is none: shown as the text that it is.
                assert answer.status in (200, 204, 400, 404), (path, answer.text[:300])
    assert shown, "nothing of it was shown at all"


# Paths.

_TRAVERSALS = (
    "../outside.csv",
    "../outside.yaml",
    "..\\outside.csv",
    "%2e%2e%2foutside.csv",
    "..%2foutside.csv",
    "....//outside.csv",
    "./../outside.csv",
    "link.csv",
    "linked/outside.csv",
    ".sfumato-app/state.json",
    "/etc/passwd",
    "file:///etc/passwd",
    "{outside}",
    "duckdb:///{outside}?table=x",
    "sqlite:///{outside}?table=x",
    "csv://{outside}",
    "\0",
    "x" * 5000,
    "",
    "..",
    ".",
    "/",
)


def test_no_field_and_no_path_leads_out_of_the_folder(safe_served, house, around):
    """Every field of every form of every page, and every part of an address that is a name."""
    (house / "link.csv").symlink_to(around / "outside.csv")
    (house / "linked").symlink_to(around)
    (house / "people.csv").write_bytes(PEOPLE)
    before = everything_beside(house, around)
    assert safe_served.open_table("people.csv", PEOPLE).status == 201
    forms = _forms_of(safe_served)
    assert len(forms) > 5
    for traversal in _TRAVERSALS:
        text = traversal.format(outside=around / "outside.csv")
        for action, fields in forms.items():
            if action.endswith(("/quit", "/settings", "/sample")):
                continue
            for name in fields:
                safe_served.ask("POST", action, {**fields, name: text})
            answer = get(safe_served, "/data?again=1")
            assert answer.status == 200
            assert CANARY not in answer.text
            assert "root:" not in answer.text
        for path in {path for _, path in routes() if "{" in path}:
            quoted = urlencode({"": text})[1:]
            for where in (filled(path, quoted), filled(path, text.replace("\0", "%00"))):
                if " " in where or not where.isascii():
                    continue
                for method in ("GET", "POST"):
                    answer = safe_served.ask(method, where)
                    assert answer.status < 500, (where, answer.text)
                    assert CANARY not in answer.text
        for path in ("/data/preview", "/roles"):
            assert CANARY not in get(safe_served, path).text
    after = everything_beside(house, around)
    assert after == before
    assert (around / "outside.csv").read_text(encoding="utf-8").count(CANARY) == 2


def everything_beside(folder: Path, above: Path) -> set[str]:
    """List once what is not in the folder: files come and go there while it is looked at."""
    name = str(folder.relative_to(above))
    return {each for each in everything(above) if each != name and not each.startswith(f"{name}/")}


def _forms_of(served: Served) -> dict[str, dict[str, str]]:
    """Give every form of every page by where it is sent, with all of its fields."""
    found: dict[str, dict[str, str]] = {}
    for path in [*safe(), "/data?again=1"]:
        if "{" in path or path.startswith("/static"):
            continue
        for action, fields in read_page(get(served, path).text).forms:
            found.setdefault(action.removeprefix(served.base), {}).update(fields)
    # What only some states of a page show.
    for method, path in routes():
        if method == "POST" and "{" not in path:
            given = ("file", "folder", "name", "address", "table", "release", "column", "path")
            found.setdefault(path, dict.fromkeys(given, "x"))
    return found


@pytest.mark.parametrize(
    "path",
    ["/../../../../etc/passwd", "/%2e%2e/%2e%2e/%2e%2e/etc/passwd", "/..%2f..%2fgate.py",
     "/../gate.py", "/%2e%2e/gate.py", "//etc/passwd", "/..\\gate.py", "/app.css/../../gate.py",
     "/\x00", "/%00", "/vendor", "/vendor/", "/"],
)  # fmt: skip
def test_static_files_are_only_these(safe_served, path):
    raw = f"GET {safe_served.base}/static{path} HTTP/1.1\r\nHost: {safe_served.host}\r\n"
    raw += f"Cookie: {safe_served.cookie}\r\nConnection: close\r\n\r\n"
    answer = exchange(safe_served, raw.encode("latin-1"))
    assert b" 200 " not in answer.partition(b"\r\n")[0]
    assert b"root:" not in answer
    assert b"import" not in answer


_NAMES = (
    *("../../up.csv", "/etc/cron.d/up.csv", "..\\..\\up.csv", "a/../../up.csv", ".bashrc", "..",
     ".", "", "up.csv\0.txt", "up\r\nX-Y: z.csv", "x" * 4000 + ".csv", "~/up.csv", "$(id).csv",
     "-rf.csv", "C:\\up.csv", "policy.yaml", "state.json", "../state.json", "../history.json"),
)  # fmt: skip


@pytest.mark.parametrize("name", _NAMES)
def test_an_upload_lies_where_uploads_lie(safe_served, house, around, name):
    before = everything(around)
    answer = safe_served.ask("POST", f"/upload?{urlencode({'name': name})}", PEOPLE)
    assert answer.status == 201
    uploads = house / ".sfumato-app" / "uploads"
    new = {around / each for each in everything(around) - before}
    for path in new:
        assert path.is_relative_to(uploads.parent) or path.suffix == ".yaml", path
        assert not stat.S_IMODE(path.lstat().st_mode) & 0o077, path
    (found,) = [path for path in new if path.parent == uploads]
    assert found.read_bytes() == PEOPLE
    assert "\n" not in found.name
    assert not found.name.startswith((".", "-"))


# Sizes.


def test_what_is_too_large_is_refused_before_it_is_sent(safe_served, house):
    head = (
        f"POST {safe_served.base}/upload?name=big.csv HTTP/1.1\r\nHost: {safe_served.host}\r\n"
        f"Cookie: {safe_served.cookie}\r\nOrigin: {safe_served.origin}\r\n"
        f"Content-Length: {server.LARGEST_UPLOAD + 1}\r\n\r\nage\n"
    )
    assert b" 413 " in exchange(safe_served, head.encode()).partition(b"\r\n")[0]
    assert not [*(house / ".sfumato-app").glob("uploads/*big*")]


def test_a_form_that_is_too_large_is_refused(safe_served):
    for path in ("/policy", "/data/open", "/settings", "/quit"):
        answer = safe_served.ask("POST", path, b"policy=" + b"x" * (server.LARGEST_FORM + 1))
        assert answer.status == 413, path
        assert_sealed(answer)
    many = b"&".join(b"a=%d" % n for n in range(30_000))
    assert safe_served.ask("POST", "/policy", many).status in (303, 400)
    assert get(safe_served, "/data").status == 200


def test_an_upload_that_breaks_off_leaves_nothing(safe_served, house):
    head = (
        f"POST {safe_served.base}/upload?name=big.csv HTTP/1.1\r\nHost: {safe_served.host}\r\n"
        f"Cookie: {safe_served.cookie}\r\nOrigin: {safe_served.origin}\r\n"
        f"Content-Length: 1000000\r\n\r\nage\n1\n"
    )
    with socket.create_connection(("127.0.0.1", safe_served.port), timeout=240) as line:
        line.sendall(head.encode())
    assert get(safe_served, "/data").status == 200
    uploads = house / ".sfumato-app" / "uploads"
    assert not [*uploads.glob(".*.part")]
    assert not [*uploads.glob("*big*")]


# Files.


def _hostile_files(folder: Path):
    yield "empty.csv", b""
    yield "header.csv", b"a,b,c\n"
    yield "one-cell.csv", b"a"
    yield "nul.csv", b"a,b\n\0,\0\n" * 9
    yield "not.csv", bytes(range(256)) * 40
    yield "wide.csv", b",".join(b"c%d" % n for n in range(300)) + b"\n" + b"1," * 299 + b"1\n"
    yield "same.csv", b"a,a,a\n1,2,3\n4,5,6\n"
    yield "quotes.csv", b'a,b\n"1,2\n3,4\n'
    yield "picture.csv", b"\x89PNG\r\n\x1a\n" + b"x" * 99
    yield "document.csv", b"%PDF-1.7\n" + b"x" * 99
    yield "page.csv", b"<!doctype html><script>alert(1)</script>"
    yield "key.csv", b"-----BEGIN OPENSSH PRIVATE KEY-----\n"
    yield "pickle.csv", b"\x80\x04\x95\x05\x00\x00\x00\x00\x00\x00\x00cos\nsystem\n"
    for ending in ("parquet", "feather", "sav", "dta", "sas7bdat", "xlsx", "xls", "ods", "csv.gz"):
        yield f"not-a.{ending}", b"nothing of the kind" * 9
        yield f"empty.{ending}", b""
    bomb = folder / "bomb.xlsx"
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("[Content_Types].xml", "<Types/>")
        archive.writestr("xl/workbook.xml", "<workbook>" + " " * (64 << 20) + "</workbook>")
    yield "bomb.xlsx", bomb.read_bytes()
    for path in sorted((CORPUS / "readers").glob("*.json")):
        case = json.loads(path.read_text(encoding="utf-8"))
        if case["target"] == "csv":
            yield f"{path.stem}.csv", base64.b64decode(case["data"])
    made = Files()
    try:
        for path in sorted((CORPUS / "files").glob("*.json")):
            case = json.loads(path.read_text(encoding="utf-8"))
            whole = (made.home / f"people.{case['form']}").read_bytes()
            yield f"{path.stem}.{case['form']}", cut(whole, case["cuts"])
    finally:
        made.close()


def test_hostile_files_become_a_message(safe_served, tmp_path):
    for name, data in _hostile_files(tmp_path):
        answer = safe_served.open_table(name, data)
        assert answer.status in (201, 400), (name, answer.status, answer.text)
        for path in ("/data", "/data/preview", "/roles"):
            shown = get(safe_served, path)
            assert shown.status in (200, 204), (name, path, shown.text)
            assert "a fault of Sfumato" not in shown.text, (name, path)
            assert_harmless(shown.text, safe_served.base)
    assert safe_served.open_table("people.csv", PEOPLE).status == 201
    assert "disease" in get(safe_served, "/data/preview").text


_POLICIES = (
    "",
    "[]",
    "columns: 5",
    "columns: {age: quasi-identifier",
    "!!python/object/apply:os.system [id]",
    "a: &a [x]\nb: [*a, *a]",
    "\n".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9) if n else 'x'}]" for n in range(12)),
    "{" * 5000,
    "\0",
    "columns: {age: plain}\npopulation: /etc/passwd\n",
    "columns: {age: {role: quasi-identifier, hierarchy: {kind: csv, path: ../outside.csv}}}",
)


def test_a_hostile_policy_changes_nothing(safe_served):
    assert safe_served.open_table("people.csv", PEOPLE).status == 201
    before = safe_served.ask("GET", "/policy.yaml").text
    for policy in _POLICIES[:-2]:
        safe_served.ask("POST", "/policy", {"policy": policy, "step": "roles"})
        shown = get(safe_served, "/roles")
        assert shown.status == 200
        assert "a fault of Sfumato" not in shown.text, policy[:80]
        assert safe_served.ask("GET", "/policy.yaml").text == before, policy[:80]
    for policy in _POLICIES[-2:]:
        safe_served.ask("POST", "/policy", {"policy": policy, "step": "roles"})
        for path in ("/roles", "/hierarchies", "/promises"):
            assert CANARY not in get(safe_served, path).text


# A folder that others have prepared.


@pytest.mark.parametrize("file", ["state.json", "history.json"])
@pytest.mark.parametrize(
    "text", ["", "[]", "{}", "5", "\0", '{"at": 3, "states": [{"number": 1}]}']
)
def test_a_damaged_state_is_no_dead_end(tmp_path, file, text):
    desk = Desk(tmp_path)
    desk.change(PLAIN, "roles", "x")
    (desk.private / file).write_text(text, encoding="utf-8")
    again = Desk(tmp_path)
    assert again.text is None
    again.change(DROPPED, "roles", "x")
    assert Desk(tmp_path).text == DROPPED


def test_a_prepared_state_leads_nowhere_else(tmp_path):
    """An archive of another person may hold such a folder: nothing outside is read or written."""
    house = make_house(tmp_path)
    desk = Desk(house)
    desk.source = TableSource(str(tmp_path / "outside.csv"), "people.csv")
    desk.settings = {"language": "../../x", "theme": '"><script>alert(1)</script>'}
    desk.policy_file = tmp_path / "outside.yaml"
    desk.save()
    (desk.private / "uploads").symlink_to(tmp_path)
    history = {"at": 0, "states": [{"number": "/../../../outside", "step": "x", "what": "<b>"}]}
    (desk.private / "history.json").write_text(json.dumps(history), encoding="utf-8")
    packed, kept = tmp_path / "packed", (tmp_path / "outside.yaml").read_bytes()
    shutil.copytree(house, packed, symlinks=True)
    with serving(packed, tmp_path / "said.txt") as served:
        for path in ("/data", "/roles", "/policy.yaml"):
            answer = get(served, path)
            assert answer.status == 200
            assert CANARY not in answer.text
            assert "alert(1)" not in answer.text
        assert served.open_table("people.csv", PEOPLE).status == 201
        assert not (tmp_path / "people.csv").exists()
    assert (tmp_path / "outside.yaml").read_bytes() == kept


def test_who_crashed_goes_on_where_it_was(tmp_path):
    desk = Desk(tmp_path)
    desk.source = TableSource("people.csv", "people.csv")
    desk.change(PLAIN, "roles", "x")
    again = Desk(tmp_path)
    assert (again.source, again.text) == (desk.source, desk.text)
    again.end()
    assert Desk(tmp_path).source is None


def test_a_private_folder_that_is_a_link_is_refused(tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / ".sfumato-app").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OutputError, match="a link to another place"):
        Desk(tmp_path / "work")
    assert not [*(tmp_path / "elsewhere").iterdir()]


def test_nothing_is_left_but_what_is_the_users(tmp_path):
    house = make_house(tmp_path)
    with serving(house, tmp_path / "said.txt") as served:
        served.open_table("people.csv", PEOPLE)
        assert (house / ".sfumato-app" / "uploads").is_dir()
        mode = stat.S_IMODE((house / "policy.yaml").lstat().st_mode)
        assert not mode & 0o077, oct(mode)
    assert {path.name for path in house.iterdir()} <= {"policy.yaml"}
