"""Sfumato: publish data about people without betraying them."""

from sfumato._version import __version__

__all__ = ["__version__"]
