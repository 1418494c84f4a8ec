"""Reports: what is known about a release, in a form that people and machines like to read."""
