"""Reports: what is known about a release, in forms that people and programs like to read."""
