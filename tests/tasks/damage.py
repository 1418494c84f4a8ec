"""Manifests with one part that is not what it should be."""

import copy
import json

STRANGE = [
    *(None, True, -1, 0, 1.5, 10**30, 1e308, "", "x", "plain", "star", [], {}, [None], [[]]),
    *({"a": 1}, [{}], {"name": "x"}, "a" * 300, "\x1b[2J"),
]


def places_in(value, at=()):
    yield at
    parts = enumerate(value) if isinstance(value, list) else ()
    for key, part in value.items() if isinstance(value, dict) else parts:
        yield from places_in(part, (*at, key))


def damaged(manifest, strange=STRANGE):
    """Every manifest with one part removed, doubled, or of another type."""
    for place in places_in(manifest):
        if not place:
            continue
        for value in ("removed", "doubled", *strange):
            new = copy.deepcopy(manifest)
            part = new
            for key in place[:-1]:
                part = part[key]
            key = place[-1]
            if value == "removed":
                del part[key]
            elif value == "doubled":
                if not isinstance(part, list):
                    continue
                part.append(copy.deepcopy(part[key]))
            else:
                part[key] = value
            yield place, value, new


def manifest_of(folder):
    return json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
