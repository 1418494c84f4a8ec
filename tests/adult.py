"""The Adult census extract, which is not part of the project."""

import os
from pathlib import Path

import pytest

LEVELS = {
    "sex": 2,
    "age": 5,
    "race": 2,
    "marital-status": 3,
    "education": 4,
    "native-country": 3,
    "workclass": 3,
    "occupation": 3,
    "salary-class": 2,
}
"""Each column of `adult.csv`, in its order, and how many levels its hierarchy file has."""


def adult_folder() -> Path:
    """Give the folder with `adult.csv` and its hierarchies, or fail the test that asks.

    The folder is named by the environment variable `SFUMATO_DATA`, else it is looked
    for beside the project. Whoever calls this asks for the fixture `adult`, too.
    """
    root = Path(__file__).resolve().parents[1]
    named = os.environ.get("SFUMATO_DATA")
    folder = Path(named) if named else root.parent / "shared" / "data" / "adult"
    if (folder / "adult.csv").is_file():
        return folder
    pytest.fail(f"no Adult data in {folder}: set SFUMATO_DATA to the folder with adult.csv")
