"""Drawings as SVG: networks, tables of probabilities, and bars. Pure functions that give text."""

from sfumato.drawing.charts import bars_svg
from sfumato.drawing.heatmap import heatmap_svg
from sfumato.drawing.network import network_svg

__all__ = ["bars_svg", "heatmap_svg", "network_svg"]
