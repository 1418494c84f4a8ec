"""Reports: what is known about a release, in forms that people and programs like to read."""

from sfumato.reports.build import report
from sfumato.reports.result import Report

__all__ = ["Report", "report"]
