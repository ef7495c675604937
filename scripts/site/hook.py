"""Hook of MkDocs: generated pages, pages of the repository, and links between them."""

from __future__ import annotations

import posixpath
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parents[2]
PAGES = {
    "README.md": "index.md",
    **{name: name for name in ("CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "THIRD_PARTY.md")},
}
"""The site pages of repository pages. Those of FOLDERS keep their path."""
FOLDERS = ("benchmarks", "examples")
_LINK = re.compile(r"(?P<head>\]\()(?P<target>[^)\s#]+)(?P<rest>(?:#[^)\s]*)?\))")
_FENCE = re.compile(r"^(?:```|~~~).*?^(?:```|~~~)\s*$", re.MULTILINE | re.DOTALL)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages outside of docs/, and the files that pages link to."""
    from mkdocs.structure.files import File

    # MkDocs restores its path after loading a hook.
    sys.path.insert(0, str(ROOT))
    from scripts.site.commands import write_commands
    from scripts.site.ocr_codes import write_ocr_codes
    from scripts.site.packages import write_packages
    from scripts.site.parameters import write_parameters
    from scripts.site.python_api import write_python_api
    from scripts.site.results import write_results

    made = {
        "reference/cli.md": write_commands(),
        "reference/params.md": write_parameters(ROOT / "schemas/params.schema.json"),
        "reference/api.md": write_python_api(),
        "reference/results.md": write_results(),
        "reference/ocr_codes.md": write_ocr_codes(),
        "reference/packages.md": write_packages(ROOT / "src"),
    }
    for path, text in made.items():
        files.append(File.generated(config, path, content=text))
    sources = [ROOT / name for name in PAGES]
    sources += [path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.md"))]
    for path in sources:
        name = path.relative_to(ROOT).as_posix()
        files.append(File.generated(config, PAGES.get(name, name), content=path.read_text("utf-8")))
    theme = ROOT / "src/omibench/web/static/theme.css"
    files.append(File.generated(config, "assets/theme.css", abs_src_path=str(theme)))
    for name in sorted(_list_linked_files()):
        files.append(File.generated(config, name, abs_src_path=str(ROOT / name)))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Rewrite each link to its target's place in the site."""
    source = _find_source(page.file.src_uri)
    return _map_prose(markdown, lambda text: _LINK.sub(lambda m: _relink(m, source, page), text))


def on_post_page(output: str, page: Page, config: MkDocsConfig) -> str:
    """Give names to the parts of the theme that lack one for screen readers."""
    named = output.replace('role="dialog"', 'role="dialog" aria-label="Search"', 1)
    named = re.sub(r'aria-labelledby="(__nav_\w+)_label"', r'aria-labelledby="\1_title"', named)
    return re.sub(r'(<label class="md-nav__title" for="(__nav_\w+)")', r'\1 id="\2_title"', named)


def _relink(match: re.Match[str], source: str, page: Page) -> str:
    target = match["target"]
    if "://" in target or target.startswith("mailto:"):
        return match[0]
    path = posixpath.normpath(posixpath.join(posixpath.dirname(source), target))
    place = _find_place(path)
    start = posixpath.dirname(page.file.src_uri)
    return f"{match['head']}{posixpath.relpath(place, start or '.')}{match['rest']}"


def _find_source(uri: str) -> str:
    """Return the path of a site page in the repository."""
    pages = {place: name for name, place in PAGES.items()}
    if uri in pages:
        return pages[uri]
    return uri if uri.split("/", maxsplit=1)[0] in FOLDERS else f"docs/{uri}"


def _find_place(path: str) -> str:
    """Return the path of a repository file in the site."""
    if path in PAGES:
        return PAGES[path]
    return path.removeprefix("docs/")


def _list_linked_files() -> set[str]:
    """Return the files of the repository, other than pages, that a page links to."""
    pages = [*(ROOT / "docs").rglob("*.md"), *(ROOT / name for name in PAGES)]
    pages += [path for folder in FOLDERS for path in (ROOT / folder).rglob("*.md")]
    linked = set()
    for page in pages:
        for match in _LINK.finditer(_FENCE.sub("", page.read_text("utf-8"))):
            path = (page.parent / match["target"]).resolve()
            if path.is_file() and path.suffix != ".md" and path.is_relative_to(ROOT):
                name = path.relative_to(ROOT).as_posix()
                linked |= set() if name.startswith("docs/") else {name}
    return linked


def _map_prose(text: str, change) -> str:  # type: ignore[no-untyped-def]
    """Change a text outside of fenced code."""
    pieces, start = [], 0
    for fence in _FENCE.finditer(text):
        pieces += [change(text[start : fence.start()]), fence[0]]
        start = fence.end()
    return "".join([*pieces, change(text[start:])])
