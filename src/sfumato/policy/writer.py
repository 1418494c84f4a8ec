"""Writes plain values as YAML that `sfumato.policy.document` reads back the same."""

import yaml

from sfumato.policy.document import Plain
from sfumato.policy.values import resolve


class _Dumper(yaml.SafeDumper):
    def ignore_aliases(self, data: object) -> bool:
        return True


def _text(dumper: yaml.SafeDumper, value: str) -> yaml.ScalarNode:
    # PyYAML leaves 1e5 bare because YAML 1.1 takes it for text; we would read a number.
    looks_like_text = resolve(Plain(value)) == value
    return dumper.represent_scalar(
        "tag:yaml.org,2002:str", value, style=None if looks_like_text else "'"
    )


_Dumper.add_representer(str, _text)


def to_text(settings: dict[str, object]) -> str:
    """Write settings in their order.

    >>> print(to_text({"version": 1, "columns": {"zip": "plain"}, "other": "1e5"}), end="")
    version: 1
    columns: {zip: plain}
    other: '1e5'
    """
    text: str = yaml.dump(
        settings, Dumper=_Dumper, sort_keys=False, allow_unicode=True, default_flow_style=None,
        width=100,
    )  # fmt: skip
    return text
