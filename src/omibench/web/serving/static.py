"""Scripts, styles and fonts of served pages."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from starlette.routing import BaseRoute, Mount
from starlette.staticfiles import StaticFiles


def mount_folders(package: str) -> list[BaseRoute]:
    """Serve the folder `static` of a package under `/static`, with the shared ones below it.

    Missing folders are skipped. The first matching address is used.
    """
    shared = Path(str(files("omibench.web")))
    paths = {
        "/static/katex": shared / "vendored/katex",
        "/static/web": shared / "static",
        "/static": Path(str(files(package))) / "static",
    }
    return [
        Mount(address, StaticFiles(directory=path))
        for address, path in paths.items()
        if path.is_dir()
    ]
