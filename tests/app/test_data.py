"""Data: whatever form a table has, it is opened, previewed and drafted for."""

from urllib.parse import urlencode

import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet
import pytest

import sfumato as sf

PEOPLE = sf.samples.synthetic(80, seed=3)


def read(client):
    job = client.desk.start_reading()
    assert job.wait(120)
    assert job.error is None
    return client.get("data/preview").text


def write_csv(path):
    pyarrow.csv.write_csv(PEOPLE, path)


def write_sav(path):
    import pyreadstat

    pyreadstat.write_sav(PEOPLE.to_pandas(), str(path))


def write_xlsx(path):
    import xlsxwriter

    with xlsxwriter.Workbook(path) as book:
        sheet = book.add_worksheet()
        sheet.write_row(0, 0, PEOPLE.column_names)
        for at, row in enumerate(PEOPLE.to_pylist(), 1):
            sheet.write_row(at, 0, [str(cell) for cell in row.values()])


FORMS = {
    "people.csv": write_csv,
    "people.parquet": lambda path: pyarrow.parquet.write_table(PEOPLE, path),
    "people.feather": lambda path: pyarrow.feather.write_feather(PEOPLE, path),
    "people.sav": write_sav,
    "people.xlsx": write_xlsx,
}


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("name", FORMS)
def test_a_file_of_the_folder_is_offered_opened_and_shown(client, name):
    FORMS[name](client.desk.folder / name)
    assert name in client.get("data").text
    client.post("data/open", file=name)
    shown = read(client)
    assert str(PEOPLE["name"][0]) in shown
    assert "<b>80 rows</b>" in shown
    assert client.desk.policy is not None
    assert "diagnosis" in client.get("roles").text


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("name", ["people.csv", "people.sav"])
def test_a_file_that_is_dropped_is_streamed_and_opened(client, tmp_path_factory, name):
    path = tmp_path_factory.mktemp("elsewhere") / name
    FORMS[name](path)
    address = f"{client.gate.base}/upload"
    reply = client._ask("POST", address, urlencode({"name": name}), path.read_bytes())
    assert reply.status == 201
    assert str(PEOPLE["name"][0]) in read(client)
    assert client.desk.received.read_bytes() == path.read_bytes()
    assert client.desk.received.stat().st_mode & 0o777 == 0o600


@pytest.mark.usefixtures("patience")
def test_a_table_of_a_duckdb_file_is_offered_by_name_and_by_address(client):
    import duckdb

    path = client.desk.folder / "clinic.duckdb"
    with duckdb.connect(str(path)) as database:
        database.register("given", PEOPLE)
        database.execute('CREATE TABLE "the people" AS SELECT * FROM given')
    assert "the people" in client.get("data").text
    client.post("data/database", file="clinic.duckdb", table="the people")
    assert str(PEOPLE["name"][0]) in read(client)
    client.post("data/database", address="duckdb:///clinic.duckdb?table=the people")
    assert str(PEOPLE["name"][0]) in read(client)


@pytest.mark.parametrize(
    "address", ["duckdb:////etc/passwd?table=x", "duckdb:///../x.db?table=y", "nothing"]
)
def test_an_address_that_leads_elsewhere_is_refused_on_the_page(client, address):
    assert "Not done." in client.post("data/database", address=address).text
    assert client.desk.source is None


@pytest.mark.usefixtures("patience")
def test_a_table_that_cannot_be_read_says_why_and_another_can_be_opened(client):
    (client.desk.folder / "broken.parquet").write_bytes(b"PAR1 no")
    client.post("data/open", file="broken.parquet")
    assert client.desk.start_reading().wait(60)
    shown = client.get("data").text
    assert "It cannot be read." in shown
    assert "Open another table" in shown


# Two encodings of central Europe read all of it as letters: only a person knows which is right.
AMBIGUOUS = "name,age,ill\n" + "".join(f"Dvořák,{20 + i % 50},{'fg'[i % 2]}\n" for i in range(60))


@pytest.mark.usefixtures("patience")
def test_a_file_whose_letters_are_not_certain_is_read_as_somebody_chooses(client):
    (client.desk.folder / "clinic.csv").write_bytes(AMBIGUOUS.encode("cp1250"))
    client.post("data/open", file="clinic.csv")
    assert client.desk.start_reading().wait(60)
    shown = client.get("data").text
    assert "How are its letters written?" in shown
    assert "Dvořák" in shown
    assert "input: {" not in shown
    assert str(client.desk.folder) not in client.get("data/preview").text
    client.post("data/encoding", encoding="windows-1250")
    assert "Dvořák" in read(client)
    assert client.desk.require_policy().input.encoding == "windows-1250"
    # Another draft does not ask again.
    client.post("data/redraft")
    assert client.desk.require_policy().input.encoding == "windows-1250"


@pytest.mark.usefixtures("patience")
def test_a_policy_that_was_given_is_used_for_a_file_whose_letters_somebody_chose(client):
    desk = client.desk
    (desk.folder / "clinic.csv").write_bytes(AMBIGUOUS.encode("cp1250"))
    text = "columns:\n  name: identifier\n  age: quasi-identifier\n  ill: sensitive # mine\n"
    (desk.folder / "own.yaml").write_text(text + "models:\n- {model: k-anonymity, k: 3}\n")
    client.post("data/policy", file="own.yaml")
    client.post("data/open", file="clinic.csv")
    assert desk.start_reading().wait(60)
    assert "How are its letters written?" in client.get("data").text
    client.post("data/encoding", encoding="windows-1250")
    assert "Dvořák" in read(client)
    assert "# mine" in desk.text
    assert desk.require_policy().input.encoding == "windows-1250"


@pytest.mark.usefixtures("patience")
def test_an_encoding_that_is_none_or_does_not_fit_can_be_chosen_anew(client):
    (client.desk.folder / "clinic.csv").write_bytes(AMBIGUOUS.encode("cp1250"))
    client.post("data/open", file="clinic.csv")
    assert client.desk.start_reading().wait(60)
    assert "Not done." in client.post("data/encoding", encoding="../etc").text
    client.post("data/encoding", encoding="ascii")
    assert client.desk.start_reading().wait(60)
    assert 'id="encoding-1"' in client.get("data").text


@pytest.mark.usefixtures("patience")
def test_an_empty_table_is_told(client):
    (client.desk.folder / "empty.csv").write_text("a,b\n")
    client.post("data/open", file="empty.csv")
    assert client.desk.start_reading().wait(60)
    assert client.get("data").status == 200
    assert client.get("roles").status == 200


@pytest.mark.usefixtures("patience")
def test_the_tour_begins_with_the_patients_and_can_be_ended(client):
    shown = client.post("data/sample").text
    assert "Tour." in shown
    assert "Tour." not in client.post("settings", tour="off", step="data").text


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (["1", "2.5"], "number"),
        (["2020-01-31", None], "date"),
        (["x", "1"], "text"),
        (["00701", "11034"], "text"),
        ([], "text"),
    ],
)
def test_numbers_and_dates_written_as_text_are_called_so(values, kind):
    from sfumato.app.steps.data import _kind

    assert _kind(pa.chunked_array([pa.array(values, pa.string())])) == kind
