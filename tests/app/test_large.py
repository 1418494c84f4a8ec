"""Tables as people have them: many columns, many rows, umlauts and semicolons of a hospital."""

from threading import Event
from time import monotonic

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

from tests.app.browsing import axe, go, settle

ILLS = ["Grippe", "Gicht", "Asthma", "Herzschwäche", "Depression"]


def hospital(rows=400, seed=1):
    """Return admissions as German hospitals export them."""
    rng = np.random.default_rng(seed)
    lines = ["Fallnr;Geburtsdatum;Geschlecht;PLZ;Aufnahmedatum;Hauptdiagnose;Kosten (€)"]
    for i in range(rows):
        born, came = rng.integers(0, 25_000), rng.integers(0, 700)
        lines.append(
            f"{100_000 + i};{_day('1935-01-01', born)};{'mw'[i % 2]};"
            f"{10_115 + int(rng.integers(0, 40)) * 25};{_day('2023-01-01', came)};"
            f"{ILLS[int(rng.integers(0, 5))]};{rng.integers(300, 9000)},{rng.integers(10, 99)}"
        )
    return "\n".join(lines) + "\n"


def _day(first, days):
    return ".".join(reversed(str(np.datetime64(first) + int(days)).split("-")))


def wide(columns, rows=120):
    """Return a survey with many questions."""
    rng = np.random.default_rng(3)
    found = {
        "age": 18 + rng.integers(0, 60, rows),
        "sex": np.array(["f", "m"])[rng.integers(0, 2, rows)],
        "income": rng.integers(900, 9000, rows),
    }
    for at in range(columns - len(found)):
        found[f"q{at + 1}"] = rng.integers(1, 6, rows)
    return pa.table(found)


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("columns", [67, 171])
def test_a_wide_table_is_searched_filtered_and_changed_in_one_page(client, columns):
    pyarrow.csv.write_csv(wide(columns), client.desk.folder / "survey.csv")
    client.post("data/open", file="survey.csv")
    job = client.desk.start_reading()
    assert job.wait(300)
    assert job.error is None, job.error
    page = client.get("roles").text
    assert f"all columns ({columns})" in page
    found = client.post("roles/view", search="q1").text
    assert 'aria-labelledby="name-' in found
    assert found.count('class="column"') < columns
    client.post("roles/view", search="")
    client.post("roles/set", column=["q1", "q2", "q3"], role="dropped")
    assert {client.desk.policy.role_of(f"q{i}").value for i in (1, 2, 3)} == {"dropped"}
    assert client.desk.undo()


@pytest.mark.usefixtures("patience")
def test_the_first_rows_come_while_the_table_is_still_measured(client, monkeypatch):
    go_on = Event()
    own = client.desk._read_table

    def slow(report):
        go_on.wait(60)
        return own(report)

    monkeypatch.setattr(client.desk, "_read_table", slow)
    (client.desk.folder / "clinic.csv").write_text(hospital(), encoding="utf-8")
    try:
        page = client.post("data/open", file="clinic.csv").text
        assert "being measured" in page
        assert 'id="stop-open"' in page
        shown = client.get("data/preview").text
        assert "Herzschwäche" in shown or "Grippe" in shown
        assert client.desk.live is None
    finally:
        go_on.set()
    assert client.desk.start_reading().wait(120)
    assert client.desk.live.rows == 400


@pytest.mark.usefixtures("patience")
def test_the_first_rows_of_a_million_come_at_once(client):
    rng = np.random.default_rng(2)
    rows = 1_000_000
    table = pa.table(
        {
            "age": rng.integers(0, 99, rows),
            "sex": pa.array(np.array(["f", "m"])[rng.integers(0, 2, rows)]),
            "ill": pa.array(np.array(ILLS)[rng.integers(0, 5, rows)]),
        }
    )
    pyarrow.parquet.write_table(table, client.desk.folder / "many.parquet")
    client.post("data/open", file="many.parquet")
    began = monotonic()
    assert "<table>" in client.get("data/preview").text
    # A second where nothing else runs; measuring the table goes on beside it.
    assert monotonic() - began < 30
    assert client.desk.start_reading().wait(300)
    assert client.desk.live.rows == rows


def test_a_wide_table_by_mouse_and_keys_in_a_browser(page, served):
    pyarrow.csv.write_csv(wide(67), served.folder / "survey.csv")
    page.goto(served.door)
    page.click("button:has-text('survey.csv')")
    page.wait_for_selector("#preview table")
    page.wait_for_selector("#next")
    go(page, "roles")
    page.fill("#find-column", "income")
    page.wait_for_selector(".column:first-child:last-child")
    settle(page)
    # By keys alone: the letter of a role in the line of its column.
    page.focus(".column input[type=radio]:checked")
    page.keyboard.press("d")
    page.wait_for_selector("#undo .what:has-text('income')")
    page.keyboard.press("Control+z")
    page.wait_for_selector("#redo:not([disabled])")
    settle(page)
    assert axe(page) == []
