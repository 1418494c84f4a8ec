"""Reports: what is known about a release, in forms that people and programs like to read."""

from sfumato.reports.report import Report, report

__all__ = ["Report", "report"]
