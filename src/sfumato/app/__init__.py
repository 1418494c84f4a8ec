"""The workbench: everything in a browser, on this machine, for people without a terminal.

A thin room above the tasks, as the command line is: a step parses what was clicked, calls one task
and shows what came of it. The policy is the state: whatever is done here can be done with the file
`policy.yaml` and a command, and every page says how.

- `gate.py` lets in who holds the token, and turns everything else away; `attempts.py` slows down
  who guesses, and `connections.py` ends what does not go on.
- `confining.py` holds the files that a policy names to the folder.
- `server.py` turns steps into pages; `fields.py` is what a browser asks for.
- `desk.py` is what is being worked on: the folder, the table, the policy and its history.
- `jobs.py` does what takes long, beside the pages, and stops it when it is asked to.
- `steps/` has one file per step, `templates/` its page, `texts/` the catalogues.
"""

from sfumato.app.opening import open_app

__all__ = ["open_app"]
