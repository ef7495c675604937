"""Files of jobs in a storage that is the study's folder, as under the profile for Kubernetes.

Snakemake knows such a file by its address in the storage, and reads and compares local copies.
"""

from __future__ import annotations

import filecmp
import shutil
from pathlib import Path
from typing import Any


def name_file(file: Any) -> str:
    """Return the path of a job's file from the study's folder, in which this process runs."""
    is_stored = getattr(file, "is_storage", False)
    return file.storage_object.query.removeprefix(f"{Path.cwd()}/") if is_stored else str(file)


def refresh_copies(workflow: Any) -> None:
    """Renew local copies that differ from their file in the default storage, if it is a folder.

    Snakemake takes a file as unchanged if its copy is, and the copy can be older than an edit.
    """
    settings = workflow.storage_settings
    if settings.default_storage_provider != "fs":
        return
    folder = workflow.storage_registry.default_storage_provider.local_prefix
    copies = Path(folder, settings.default_storage_prefix.strip("/"))
    for copy in copies.rglob("*"):
        original = Path(settings.default_storage_prefix, copy.relative_to(copies))
        if not copy.is_file() or (original.is_file() and filecmp.cmp(copy, original)):
            continue
        copy.unlink()
        if original.is_file():
            shutil.copy2(original, copy)
