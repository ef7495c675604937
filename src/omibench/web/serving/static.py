"""Scripts, styles and fonts of served pages."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from starlette.routing import BaseRoute, Mount
from starlette.staticfiles import StaticFiles


def mount_folders(*packages: str) -> list[BaseRoute]:
    """Serve the folders `static` of packages under `/static`, with the shared ones below it.

    Missing folders are skipped. The first matching address is used.
    """
    shared = Path(str(files("omibench.web")))
    mounts: list[BaseRoute] = [
        Mount("/static/katex", StaticFiles(directory=shared / "vendored/katex")),
        Mount("/static/web", StaticFiles(directory=shared / "static")),
    ]
    own: list[str | tuple[str, str]] = [
        (name, "static") for name in packages if (files(name) / "static").is_dir()
    ]
    return [*mounts, Mount("/static", StaticFiles(packages=own))] if own else mounts
