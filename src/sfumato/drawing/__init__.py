"""Drawings as SVG: networks, tables of probabilities, and bars. Pure functions that give text."""

from sfumato.drawing.network import network_svg

__all__ = ["network_svg"]
