"""Releases as a reader finds them."""

import json
import shutil
from collections import defaultdict

ANSWERS = ("no", "with care", "yes")
"""From the worst to the best."""


def grouped_of(release):
    """Return the group of each person, and per sensitive column the values of each group."""
    link, number = release.manifest.group, release.manifest.count
    groups, values = [], {}
    for table in release.tables.values():
        columns = table.to_pydict()
        if number not in columns:
            groups = columns[link]
            continue
        [name] = {*columns} - {link, number}
        of_group = defaultdict(dict)
        for group, value, rows in zip(columns[link], columns[name], columns[number], strict=True):
            of_group[group][value] = of_group[group].get(value, 0) + rows
        values[name] = dict(of_group)
    return groups, values


def edit(folder, to, change, *, keep_evidence=False):
    """Copy a release, change its manifest, and leave its evidence out unless it is to be kept."""
    shutil.copytree(folder, to)
    place = to / "manifest.json"
    manifest = json.loads(place.read_text(encoding="utf-8"))
    change(manifest)
    place.chmod(0o644)
    place.write_text(json.dumps(manifest, indent=2), encoding="utf-8")
    if not keep_evidence:
        (to / "evidence.json").unlink(missing_ok=True)
    return to


def column_of(manifest, name):
    [found] = [column for column in manifest["columns"] if column["name"] == name]
    return found
