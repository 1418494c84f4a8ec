"""A comparison as a page: a drawing to look around in, the figures, and the policies to copy.

The page is one file. It asks nobody for anything: what it may run and how it may look is fixed by
hashes. Without its script it is a drawing whose marks are links, and a table.
"""

from base64 import b64encode
from hashlib import sha256
from typing import TYPE_CHECKING

from sfumato.drawing.svg import escaped

if TYPE_CHECKING:
    from sfumato.tasks.frontier import Comparison
    from sfumato.tasks.point import Point

_STYLE = """
body { margin: 2rem auto; max-width: 60rem; padding: 0 1rem; color: #222; background: #fff;
  font-family: system-ui, sans-serif; line-height: 1.45; }
svg { max-width: 100%; height: auto; }
svg a { cursor: pointer; }
svg a:focus { outline: 3px solid #b35900; outline-offset: 3px; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .25rem .7rem .25rem 0; text-align: right; vertical-align: top; }
thead th { border-bottom: 1px solid #5f6368; }
tbody th { font-weight: inherit; }
.name { text-align: left; }
.scroll { overflow-x: auto; }
details { border-top: 1px solid #d9dde1; padding: .4rem 0; }
details:target { border-left: 4px solid #b35900; padding-left: .6rem; }
summary { cursor: pointer; }
pre { background: #f4f5f6; padding: .8rem; overflow-x: auto; }
.told { position: absolute; z-index: 1; max-width: 24rem; padding: .4rem .6rem; color: #fff;
  background: #222; border-radius: .3rem; font-size: .85rem; pointer-events: none; }
"""

_SCRIPT = """
(function () {
  "use strict";
  var told = document.createElement("div");
  told.className = "told";
  told.setAttribute("role", "status");
  told.hidden = true;
  document.body.appendChild(told);
  function hide() { told.hidden = true; }
  function reveal(mark) {
    var at = mark.getBoundingClientRect();
    told.textContent = mark.getAttribute("aria-label");
    told.style.left = Math.max(8, at.left + window.scrollX) + "px";
    told.style.top = at.bottom + window.scrollY + 8 + "px";
    told.hidden = false;
  }
  function open() {
    var found = location.hash && document.getElementById(location.hash.slice(1));
    if (!found || found.tagName !== "DETAILS") { return; }
    found.open = true;
    found.querySelector("summary").focus();
  }
  document.querySelectorAll("svg a").forEach(function (mark) {
    var title = mark.querySelector("title");
    if (title) { title.remove(); }
    mark.addEventListener("mouseenter", function () { reveal(mark); });
    mark.addEventListener("focus", function () { reveal(mark); });
    mark.addEventListener("mouseleave", hide);
    mark.addEventListener("blur", hide);
    mark.addEventListener("click", function () { hide(); window.setTimeout(open, 0); });
  });
  document.addEventListener("keydown", function (event) {
    if (event.key === "Escape") { hide(); }
  });
  document.querySelectorAll("details pre").forEach(function (policy) {
    var button = document.createElement("button");
    button.type = "button";
    button.textContent = "Copy the policy";
    button.addEventListener("click", function () {
      var range = document.createRange();
      range.selectNodeContents(policy);
      window.getSelection().removeAllRanges();
      window.getSelection().addRange(range);
      function say(done) { button.textContent = done ? "Copied" : "Press Ctrl+C to copy"; }
      if (!navigator.clipboard) { say(document.execCommand("copy")); return; }
      navigator.clipboard.writeText(policy.textContent).then(
        function () { say(true); }, function () { say(false); });
    });
    policy.parentNode.insertBefore(button, policy);
  });
  window.addEventListener("hashchange", open);
  open();
}());
"""


def page_of(comparison: "Comparison") -> str:
    """Write a page that needs nothing but itself."""
    policies = "\n".join(
        _details(number, point, comparison) for number, point in enumerate(comparison, 1)
    )
    allowed = (
        f"default-src 'none'; style-src '{_hash(_STYLE)}'; script-src '{_hash(_SCRIPT)}'; "
        "base-uri 'none'; form-action 'none'"
    )
    title = f"{len(comparison)} polic{'y' if len(comparison) == 1 else 'ies'} compared"
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{allowed}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escaped(title)}</title>
<style>{_STYLE}</style>
</head>
<body>
<h1>{escaped(title)}</h1>
<p>{escaped(comparison.headline)} Somebody is at risk if a belief about them reaches
{comparison.threshold:.0%} and the release at least halved the doubt.</p>
{_notes(comparison)}
<figure>{comparison.drawn(linked=True)}</figure>
<h2>Figures</h2>
<div class="scroll">{_table(comparison, linked=True)}</div>
<h2>Policies</h2>
{policies}
<script>{_SCRIPT}</script>
</body>
</html>
"""


def fragment_of(comparison: "Comparison") -> str:
    """Write the drawing and the figures for a notebook."""
    drawing, table = comparison.svg(), _table(comparison, linked=False)
    return (
        f"<div><p><strong>{escaped(comparison.headline)}</strong></p>{drawing}{table}"
        f"{_notes(comparison)}</div>"
    )


def _hash(text: str) -> str:
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"


def _notes(comparison: "Comparison") -> str:
    return "".join(f"<p>{escaped(note)}</p>" for note in comparison.notes)


def _table(comparison: "Comparison", *, linked: bool) -> str:
    titles, *lines = comparison.cells
    head = "".join(f'<th scope="col">{escaped(title)}</th>' for title in titles[1:])
    rows = []
    for number, (name, *figures) in enumerate(lines, 1):
        shown = escaped(name)
        link = f'<a href="#policy-{number}">{shown}</a>' if linked else shown
        cells = "".join(f"<td>{escaped(each.strip())}</td>" for each in figures)
        rows.append(f'<tr><th scope="row" class="name">{link}</th>{cells}</tr>')
    return (
        f'<table><thead><tr><th scope="col" class="name">policy</th>{head}</tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table>"
    )


def _details(number: int, point: "Point", comparison: "Comparison") -> str:
    front = point.name in {each.name for each in comparison.front}
    heading = f"{number}. {point.name}" + (": on the front" if front else "")
    told = point.told(comparison.loss) if point.possible else f"Not possible: {point.reason}"
    return (
        f'<details id="policy-{number}"><summary>{escaped(heading)}</summary>'
        f"<p>{escaped(told)}</p><pre>{escaped(point.policy.to_yaml())}</pre></details>"
    )
