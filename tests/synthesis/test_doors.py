"""What is asked about people is refused of rows that are nobody's, at every door alike."""

import pyarrow as pa
import pytest
from typer.testing import CliRunner

import sfumato as sf
from sfumato.cli.app import app
from sfumato.errors import InputError
from tests.synthesis.stubs import POLICY, people

ROLES = {"quasi_identifiers": ["sex", "age"], "sensitive": ["ill"]}


@pytest.fixture
def drawn(without_noise, tmp_path):
    return sf.synthesize(people(), POLICY, epsilon=0.4, output=tmp_path / "drawn")


DOORS = {
    "detect": sf.detect,
    "hiding": lambda release: sf.tools.hiding(release, confidences=[0.5]),
    "breach": sf.breach,
    "explain": lambda release: sf.explain(release, {"sex": "f"}),
    "decouple": sf.decouple,
    "append": lambda release: sf.tools.append(release, people(), alpha=0.9),
    "ledger": lambda release: sf.Ledger.start(release, "x.ledger", alpha=0.9),
    "merge": sf.tools.merge,
    "membership": lambda release: sf.tools.membership(people(), release),
}


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("kind", ["made", "folder"])
def test_what_is_about_people_is_refused_with_what_to_do_instead(drawn, door, kind):
    with pytest.raises(InputError, match=r"nobody's: a mechanism drew them .*epsilon 0\.4") as told:
        DOORS[door](drawn if kind == "made" else drawn.folder)
    for way in ("sfumato verify", "sf.tools.strangers", "data file itself"):
        assert way in str(told.value)


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("command", ["detect", "breach", "decouple"])
def test_commands_say_the_same_and_write_nothing(drawn, command, tmp_path):
    apart = ["-o", str(tmp_path / "apart")] if command == "decouple" else []
    ran = CliRunner().invoke(app, [command, str(drawn.folder), *apart])
    assert ran.exit_code == 2, ran.output
    assert "nobody's" in " ".join(ran.output.split())
    assert not (tmp_path / "apart").exists()


@pytest.mark.usefixtures("patience")
def test_the_data_file_alone_is_looked_at_as_if_it_were_peoples(drawn):
    assert (
        sf.detect(drawn.folder / "data.parquet", **ROLES).counts.total
        == drawn.manifest.rows.published
    )


@pytest.mark.usefixtures("patience")
def test_a_promise_that_excludes_nothing_makes_nobody_of_no_one(without_noise):
    loose = sf.synthesize(people(), POLICY, epsilon=50)
    assert sf.detect(loose).counts.total == loose.table.num_rows


@pytest.mark.usefixtures("patience")
def test_what_asks_about_rows_still_answers(drawn):
    assert sf.estimate(drawn, {"sex": "f"}).estimate > 0
    assert sf.utility(people(), drawn).published == drawn.manifest.rows.published
    assert isinstance(sf.read_release(drawn.folder, as_="arrow"), pa.Table)
    assert sf.verify(drawn).answer == "yes"
