"""`--because`: why a release is signed although the answer is no."""

import pytest
from typer.testing import CliRunner

from sfumato.cli.app import app


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--because", "agreed"], "left out without --even-so"),
        (["--even-so", "--because", " "], "a reason in words"),
    ],
)
def test_a_reason_belongs_to_insisting_and_has_words(tmp_path, options, said):
    (tmp_path / "a.csv").write_text("age,ill\n1,flu\n2,gout\n", encoding="utf-8")
    (tmp_path / "p.yaml").write_text("columns: {age: quasi-identifier}\nk: 2\n", encoding="utf-8")
    command = ["anonymize", str(tmp_path / "a.csv"), "-p", str(tmp_path / "p.yaml")]
    ran = CliRunner().invoke(app, [*command, "-o", str(tmp_path / "r"), *options])
    assert ran.exit_code == 2
    assert said in ran.stderr
    assert not (tmp_path / "r").exists()
