"""The adversary's view: a release as it can be attacked, and beliefs about one person."""
