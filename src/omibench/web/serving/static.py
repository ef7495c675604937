"""Scripts, styles and fonts of served pages."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path

from starlette.routing import BaseRoute, Mount
from starlette.staticfiles import StaticFiles


def mount_folders(folders: Mapping[str, tuple[str, str]]) -> list[BaseRoute]:
    """Serve folders of packages.

    Args:
        folders: Package and folder by address. The first matching address is used; missing
            folders are skipped.
    """
    paths = {
        address: Path(str(files(package))) / folder
        for address, (package, folder) in folders.items()
    }
    return [
        Mount(address, StaticFiles(directory=path))
        for address, path in paths.items()
        if path.is_dir()
    ]
