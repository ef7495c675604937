"""Scripts and styles of the explorer's pages, each joined into one file that browsers keep."""

from __future__ import annotations

import hashlib
from functools import cache
from importlib.resources import files
from typing import Final, NamedTuple

from omibench.web.formulas import join_modules

PACKAGE: Final = "omibench.explore"
_SCRIPTS: Final = ("grid", "item")
_STYLES: Final = ("theme", "base", "content", "item", "explore")


class Bundle(NamedTuple):
    """A file, its media type, and an address that changes with its content."""

    content: str
    media_type: str
    address: str


@cache
def read_bundles() -> dict[str, Bundle]:
    """Return the bundles by name: `grid.js`, `item.js` and `explore.css`."""
    own = files(PACKAGE) / "static", files("omibench.stages.analyze.explorer") / "static"
    places = (*own, files("omibench.web") / "static")
    styles = [
        next(path for place in places if (path := place / f"{name}.css").is_file())
        for name in _STYLES
    ]
    contents = {f"{name}.js": join_modules(name, *own) for name in _SCRIPTS}
    contents["explore.css"] = "".join(style.read_text("utf-8") for style in styles)
    return {name: _make(name, content) for name, content in contents.items()}


def _make(name: str, content: str) -> Bundle:
    kind = "text/javascript" if name.endswith(".js") else "text/css"
    version = hashlib.sha256(content.encode()).hexdigest()[:16]
    return Bundle(content, f"{kind}; charset=utf-8", f"/bundles/{name}?{version}")
