"""Pipes, devices and files that are none: refused before they are opened, and never quoted."""

import os
import socket

import pytest

POLICY = "columns: {age: quasi-identifier, ill: sensitive}\nmodels: [{model: k-anonymity, k: 2}]\n"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text("age,ill\n" + "30,flu\n30,gout\n" * 3)
    (tmp_path / "p.yaml").write_text(POLICY)
    os.mkfifo(tmp_path / "pipe")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("socket")
        yield tmp_path


COMMANDS = [
    ("inspect", "{}"),
    ("init", "{}"),
    ("anonymize", "{}", "-p", "p.yaml", "-o", "out"),
    ("anonymize", "t.csv", "-p", "{}", "-o", "out"),
    ("anonymize", "t.csv", "-p", "named.yaml", "-o", "out"),
    ("anonymize", "t.csv", "-p", "people.yaml", "-o", "out"),
    ("verify", "{}", "--qi", "age"),
    ("verify", "t.csv", "-p", "{}"),
    ("verify", "t.csv", "--qi", "age", "--sensitive", "ill", "--outside", "{}"),
    ("verify", "duckdb:///{}?table=t", "--qi", "age"),
    ("detect", "{}", "--qi", "age"),
    ("decouple", "{}", "--qi", "age", "--sensitive", "ill", "-o", "out"),
    ("ledger", "add", "{}", "t.csv"),
    ("ledger", "verify", "{}"),
    ("ledger", "headroom", "{}"),
    ("sign", "out", "--key", "{}"),
]


@pytest.mark.parametrize("command", COMMANDS, ids=lambda each: " ".join(each[:4]))
@pytest.mark.parametrize("path", ["pipe", "socket", "/dev/zero"])
def test_what_is_no_file_is_refused_before_it_is_opened(folder, run, command, path):
    named = (
        f"columns: {{age: {{role: quasi-identifier, hierarchy: {{kind: csv, file: {path}}}}}}}\n"
    )
    models = "models: [{model: k-anonymity, k: 2}]\nother: dropped\n"
    (folder / "named.yaml").write_text(named + models)
    people = "columns: {age: quasi-identifier}\nmodels: [{model: k-map, k: 2}]\nother: dropped\n"
    (folder / "people.yaml").write_text(f"{people}population: {path}\n")
    result = run(*(part.format(path) for part in command))
    assert result.exit_code == 2, result.stderr
    assert f"{path}' is a" in result.stderr
    assert "not a file" in result.stderr
    assert not (folder / "out").exists()


SECRETS = [
    "password: hunter2\nuser: hunter3\n",
    "hunter2\nhunter3\n",
    "- hunter2\n",
    "hunter2: {columns: 3}\n",
    "hunter2,hunter3\n1,2\n",
]


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("content", SECRETS)
def test_a_file_that_is_no_policy_is_not_quoted(folder, run, content):
    (folder / "secret").write_text(content)
    people = "columns: {age: quasi-identifier}\nmodels: [{model: k-map, k: 2}]\nother: dropped\n"
    (folder / "people.yaml").write_text(f"{people}population: secret\n")
    (folder / "p.yaml").unlink()
    (folder / "p.yaml").symlink_to("secret")
    for policy in ("p.yaml", "people.yaml"):
        result = run("anonymize", "t.csv", "-p", policy, "-o", "out")
        assert result.exit_code == 2
        assert "hunter" not in result.stdout + result.stderr
