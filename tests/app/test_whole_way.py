"""The whole way in a real browser: from a file of each kind to a signed release, and a crash."""

import pyarrow.csv
import pytest
from playwright.sync_api import expect

import sfumato as sf
from tests.app.browsing import axe, go, settle, watched
from tests.app.serving import serving

PEOPLE = sf.samples.synthetic(300, seed=5).select(["name", "age", "sex", "postcode", "diagnosis"])

# Many tests run at once, and some of this is real work.
expect.set_options(timeout=300_000)


def write_csv(path):
    pyarrow.csv.write_csv(PEOPLE, path)
    return "button:has-text('people.csv')"


def write_sav(path):
    import pyreadstat

    pyreadstat.write_sav(PEOPLE.to_pandas(), str(path))
    return "button:has-text('people.sav')"


def write_duckdb(path):
    import duckdb

    with duckdb.connect(str(path)) as database:
        database.register("given", PEOPLE)
        database.execute("CREATE TABLE people AS SELECT * FROM given")
    return "button:has-text('people'):not(:has-text('.'))"


@pytest.mark.parametrize(
    ("name", "write"),
    [("people.csv", write_csv), ("people.sav", write_sav), ("people.duckdb", write_duckdb)],
)
def test_from_a_table_to_a_signed_release(browser, tmp_path, name, write):
    folder = tmp_path / "work"
    folder.mkdir()
    button = write(folder / name)
    with (
        serving(folder, tmp_path / "said.txt") as served,
        watched(browser, served.origin) as page,
    ):
        page.goto(served.door)
        page.click(button)
        expect(page.locator("#preview table")).to_be_visible()
        expect(page.locator("#next")).to_be_visible()
        for step in ("roles", "hierarchies", "promises", "explore", "look"):
            go(page, step)
            expect(page.locator("#status.ready")).to_be_visible()
        go(page, "verdict")
        page.click("#judge")
        expect(page.locator(".answer")).to_be_visible()
        go(page, "decouple")
        go(page, "publish")
        page.click("#new-key summary")
        page.click("#make-key")
        expect(page.locator("#release-key option[value='publisher.key']")).to_have_count(1)
        page.click("#publish")
        expect(page.locator("#published b").first).to_contain_text("Published")
        expect(page.locator("#evidence .badge.holds").first).to_be_visible()
    assert (folder / "release" / "manifest.json").is_file()
    assert sf.check_evidence(folder / "release", folder / "publisher.pub").holds
    assert not (folder / ".sfumato-app").exists()


def test_a_ledger_of_the_sample_from_its_start_to_the_second_increment(page, served):
    page.click("#sample")
    expect(page.locator("#next")).to_be_visible()
    go(page, "publish")
    page.select_option("#prepare-person", "patient_id")
    alpha = page.input_value("#prepare-alpha")
    page.click("#prepare-ledger")
    expect(page.locator("#ledger-prepared")).to_be_visible()
    settle(page)
    page.click("#publish")
    expect(page.locator("#published b").first).to_contain_text("Published")
    settle(page)
    # What is offered is the limit that the release keeps: nothing has to be waived.
    assert page.input_value("#ledger-alpha") == alpha
    page.click("#start")
    expect(page.locator("#ledger svg")).to_be_visible()
    later = sf.samples.synthetic(400, seed=1, after=1000)
    pyarrow.csv.write_csv(later, served.folder / "next.csv")
    go(page, "publish")
    page.select_option("#increment-data", "next.csv")
    page.click("#publish-increment")
    expect(page.get_by_text("Written: increment.")).to_be_visible()
    assert axe(page) == []
    [ledger] = served.folder.glob("*.ledger")
    assert len(sf.Ledger.open(ledger).overview().releases) == 2
    assert (served.folder / "increment" / "manifest.json").is_file()


def test_a_crash_in_the_middle_and_a_reload_lose_nothing(browser, tmp_path):
    folder = tmp_path / "work"
    folder.mkdir()
    button = write_csv(folder / "people.csv")
    with serving(folder, tmp_path / "said.txt") as served:
        context = browser.new_context(locale="en-GB")
        page = context.new_page()
        page.set_default_timeout(300_000)
        page.goto(served.door)
        page.click(button)
        expect(page.locator("#preview table")).to_be_visible()
        expect(page.locator("#next")).to_be_visible()
        go(page, "roles")
        sex = page.locator(".column", has=page.get_by_role("heading", name="sex"))
        sex.get_by_text("dropped", exact=True).click()
        expect(sex.locator("input[value=dropped]")).to_be_checked()
        expect(page.locator("#undo")).to_be_enabled()
        page.reload()
        expect(sex.locator("input[value=dropped]")).to_be_checked()
        text = (folder / "policy.yaml").read_text()
        served.process.kill()
        served.process.wait()
        context.close()
    with (
        serving(folder, tmp_path / "again.txt") as served,
        watched(browser, served.origin) as page,
    ):
        page.set_default_timeout(300_000)
        page.goto(served.door)
        go(page, "roles")
        sex = page.locator(".column", has=page.get_by_role("heading", name="sex"))
        expect(sex.locator("input[value=dropped]")).to_be_checked()
        assert (folder / "policy.yaml").read_text() == text
        page.locator("#undo").click()
        expect(sex.locator("input[value=quasi-identifier]")).to_be_checked()
