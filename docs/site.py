"""Builds the site from the pages of the project.

python -m docs.site                  # site/index.html, to be opened from disk or put on a server
python -m docs.site --output folder  # the same, elsewhere
python -m docs.site --among folder   # a folder for this version among those of others, with a list

Pages are copied first, as they lie in the repository, so that every link between them leads to the
same page on the site. In the copies, a block's file name becomes its title, and links to files that
are no pages become text. Scripts in `examples` become pages, and so do the notebooks of the worked
cases, with what they show. The navigation is in `docs/site.toml`.
"""

import argparse
import fnmatch
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from docs import cases, generate
from sfumato import __version__

ROOT = Path(__file__).resolve().parents[1]
SETTINGS = ROOT / "docs" / "site.toml"
STYLE = ROOT / "docs" / "site.css"

_PICTURES = ("*.svg", "*.png")
_FENCE = re.compile(r"^( *)(`{3,})(\S*) *(\S*)$")
_LINK = re.compile(r"(?<!!)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^()\s]+)\)")
_SHIM = "https://unpkg.com/iframe-worker/shim"
"""What the site generator would fetch, so that its search works from disk."""

_SIGN = re.compile(r'(<a href=")[./]+("[^>]* class="[^"]*md-logo")')

_FROM_DISK = """\
// Browsers start no worker from a file on disk. There the search runs from this text.
if (location.protocol === "file:") {
  const text = %s;
  window.Worker = class extends Worker {
    constructor() {
      super(URL.createObjectURL(new Blob([text], { type: "text/javascript" })));
    }
  };
}
"""


def pages() -> list[str]:
    """Return the Markdown files that are pages of the site, as paths in the repository."""
    folders = ("docs", "examples", "benchmarks")
    found = [
        *ROOT.glob("*.md"),
        *(page for name in folders for page in (ROOT / name).rglob("*.md")),
    ]
    names = {page.relative_to(ROOT).as_posix() for page in found}
    written = {name for name in names if not name.startswith("docs/reference/")}
    return sorted(written | {f"docs/reference/{name}" for name in generate.PAGES})


def text_of(name: str) -> str:
    """Return the text of a page, made anew if it is made from the code."""
    if name.startswith("docs/reference/"):
        return generate.text_of(name.removeprefix("docs/reference/"))
    return (ROOT / name).read_text(encoding="utf-8")


def notebook_pages() -> dict[str, Path]:
    """Return the notebooks that become pages, by the name of the page."""
    return {f"{path.relative_to(ROOT).as_posix()}.md": path for path in cases.notebooks()}


def navigation() -> list[str]:
    """Return the pages in the order of the navigation."""

    def walk(part: object) -> Iterator[str]:
        if isinstance(part, str):
            yield part
        for each in part.values() if isinstance(part, dict) else ():
            yield from walk(each)
        for each in part if isinstance(part, list) else ():
            yield from walk(each)

    return list(walk(tomllib.loads(settings())["project"]["nav"]))


def settings() -> str:
    """Return the settings of the site generator, with all pages that patterns stand for."""

    def named(found: re.Match[str]) -> str:
        return ", ".join(f'"{page}"' for page in fnmatch.filter(pages(), found[1]))

    text = SETTINGS.read_text(encoding="utf-8").replace("{version}", __version__)
    return re.sub(r'"([^"\n]*\*[^"\n]*)"', named, text)


def build(output: Path) -> None:
    """Write the site into a folder, which it replaces.

    Raises:
        SystemExit: If the generator complains about a page.
    """
    with TemporaryDirectory() as name:
        folder = Path(name)
        _copy_pages(folder / "pages")
        (folder / "zensical.toml").write_text(settings(), encoding="utf-8")
        command = [sys.executable, "-m", "zensical", "build", "--strict"]
        done = subprocess.run(  # noqa: S603 - our own interpreter, and nothing of a user
            command, cwd=folder, check=False, capture_output=True, text=True
        )
        if done.returncode:
            raise SystemExit(f"{done.stdout}{done.stderr}")
        _serve_from_disk(folder / "site")
        shutil.rmtree(output, ignore_errors=True)
        shutil.copytree(folder / "site", output)


def list_versions(folder: Path) -> str:
    """Return a page that leads to the site of each version in a folder, the newest first."""
    names = [page.parent.name for page in folder.glob("[0-9]*/index.html")]
    names.sort(key=lambda name: [int(part) for part in re.findall(r"\d+", name)], reverse=True)
    items = "".join(f'<li><a href="{name}/index.html">Sfumato {name}</a></li>' for name in names)
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8"><title>Sfumato: versions</title>'
        f"<h1>Documentation of Sfumato</h1><ul>{items}</ul></html>\n"
    )


def _copy_pages(folder: Path) -> None:
    texts = {name: text_of(name) for name in pages()}
    for script in (ROOT / "examples").glob("*.py"):
        shown = f"# {script.name}\n\n```python\n{script.read_text(encoding='utf-8')}```\n"
        texts[f"examples/{script.name}.md"] = shown
    here = {*texts, *notebook_pages()}
    for name, text in texts.items():
        to = folder / name
        to.parent.mkdir(parents=True, exist_ok=True)
        to.write_text(adapt(text, Path(name).parent, here), encoding="utf-8")
    for name, path in notebook_pages().items():
        _write_notebook(folder / name, path, here)
    for pattern in _PICTURES:
        for picture in (ROOT / "docs").rglob(pattern):
            to = folder / picture.relative_to(ROOT)
            to.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(picture, to)
    shutil.copyfile(STYLE, folder / STYLE.name)


def _write_notebook(to: Path, path: Path, here: set[str]) -> None:
    """Write a notebook as a page, with its drawings and the files to download beside it."""
    text, drawings = notebook_page(cases.read(path), path.stem)
    text = adapt(text, path.relative_to(ROOT).parent, here)
    to.parent.mkdir(parents=True, exist_ok=True)
    for name, drawing in drawings.items():
        (to.parent / name).write_text(drawing, encoding="utf-8")
    files = [path, *path.parent.glob(f"{path.stem}_*.py")]
    for file in files:
        shutil.copyfile(file, to.parent / file.name)
    links = " and ".join(f'<a href="{file.name}" download>{file.name}</a>' for file in files)
    title, _, rest = text.partition("\n")
    note = f"This page is a notebook, with what it shows. To run it, download {links}."
    to.write_text(f"{title}\n\n{note}\n{rest}", encoding="utf-8")


def notebook_page(notebook: Mapping[str, Any], stem: str) -> tuple[str, dict[str, str]]:
    """Return a notebook as Markdown, and its drawings by the name of their file.

    A cell that draws begins with a comment that says what is to be seen: it is the text of the
    picture, for those who do not see it.
    """
    parts: list[str] = []
    drawings: dict[str, str] = {}
    for cell in notebook["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            parts.append(source)
            continue
        parts.append(f"```python\n{source}\n```")
        for output in cell["outputs"]:
            data = output.get("data", {})
            if "image/svg+xml" in data:
                name = f"{stem}-{len(drawings) + 1}.svg"
                drawings[name] = "".join(data["image/svg+xml"])
                seen = source.partition("\n")[0].removeprefix("#").strip()
                parts.append(f"![{seen}]({name})")
            elif "text/html" in data:
                html = re.sub(r"\s*\n\s*", " ", "".join(data["text/html"]))
                parts.append(f'<div class="shown">{html}</div>')
            else:
                text = "".join(output.get("text") or data["text/plain"]).rstrip("\n")
                parts.append(f"```text\n{text}\n```")
    return "\n\n".join(parts) + "\n", drawings


def adapt(text: str, folder: Path, here: set[str]) -> str:
    """Return a page as the generator reads it.

    Args:
        text: The page, as forges show it.
        folder: Its folder in the repository.
        here: All pages of the site.
    """

    def link(found: re.Match[str]) -> str:
        path = found[2].partition("#")[0]
        name = Path(os.path.normpath(folder / path)).as_posix()
        if not path or re.match(r"[a-z]+:", path) or name in here:
            return found[0]
        return f"[{found[1]}]({path}.md)" if f"{name}.md" in here else found[1]

    fence, language, lines = "", "", []
    for line in text.splitlines():
        found = _FENCE.match(line)
        if found and not fence:
            code = language
            space, fence, language, file = found.groups()
            title = f' title="{file}"' if file else ""
            # Text right below code is what the code shows.
            kind = "{.text .shown}" if (code, language) == ("python", "text") else language
            lines.append(f"{space}{fence}{kind or 'text'}{title}")
        elif found and found[2] == fence and not found[3]:
            fence = ""
            lines.append(line)
        else:
            # Drawings and tables may be between.
            beside = not line.strip() or line.startswith(("![", '<div class="shown">'))
            language = language if fence or beside else ""
            lines.append(line if fence else _LINK.sub(link, line))
    return "\n".join(lines) + "\n"


def _serve_from_disk(site: Path) -> None:
    """Put the search's worker into a script of our own, in place of one from another host."""
    scripts = site / "assets" / "javascripts"
    [worker] = scripts.glob("workers/search.*.js")
    text = json.dumps(worker.read_text(encoding="utf-8")).replace("</", "<\\/")
    (scripts / "from-disk.js").write_text(_FROM_DISK % text, encoding="utf-8")
    # It has absolute addresses, which lead nowhere from disk.
    (site / "404.html").unlink()
    for page in site.rglob("*.html"):
        up = Path(os.path.relpath(site, page.parent)).as_posix()
        html = page.read_text(encoding="utf-8")
        html = html.replace(_SHIM, f"{up}/assets/javascripts/from-disk.js")
        # The sign leads to a folder, whose files a browser would list.
        html = _SIGN.sub(rf"\1{up}/index.html\2", html)
        page.write_text(html, encoding="utf-8")


def main(arguments: Sequence[str] | None = None) -> int:
    """Build the site."""
    parser = argparse.ArgumentParser(prog="python -m docs.site", description=__doc__)
    parser.add_argument("--output", type=Path, default=ROOT / "site", help="default: site/")
    parser.add_argument("--among", type=Path, help="a folder that has one folder per version")
    given = parser.parse_args(arguments)
    output = given.among / __version__ if given.among else given.output
    build(output)
    if given.among:
        text = list_versions(given.among)
        (given.among / "index.html").write_text(text, encoding="utf-8")
    sys.stdout.write(f"Open {output / 'index.html'}\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
