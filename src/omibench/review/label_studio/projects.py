"""Projects of Label Studio: a file of tasks and a configuration for each kind, and the pictures."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from omibench.files.atomic import write_atomically
from omibench.files.outputs import made_folder
from omibench.review.exporting import TaskSelection, copy_pictures, select_export
from omibench.review.folder import ReviewRecord
from omibench.review.kinds import KINDS
from omibench.review.label_studio.configuration import write_configuration
from omibench.review.label_studio.export import export_tasks

_DECIDED_HERE: Final = ("sample", "calibration")


@dataclass(frozen=True)
class ProjectFiles:
    """What one project of Label Studio is made of.

    Attributes:
        kind: The kind of its tasks.
        configuration: The file that its labelling interface is set up with.
        tasks: The file that it imports.
        number: How many tasks that holds.
    """

    kind: str
    configuration: Path
    tasks: Path
    number: int


def write_projects(
    record: ReviewRecord, selection: TaskSelection, out: Path, pictures: str | None = None
) -> list[ProjectFiles]:
    """Write a project for each kind that has tasks.

    Samples and calibrations are left out: an imported decision is neither a senior's, nor known to
    be made alone.

    Args:
        record: The review.
        selection: Which tasks, and as which role may see them: annotators where none is stated.
        out: The folder to write; it is made.
        pictures: What stands before `pictures/SHA256.SUFFIX` in an address; by default that of a
            local storage whose document root is the folder above `out`.

    Returns:
        The files, in the order of kinds.

    Raises:
        OutputError: They cannot be written.
    """
    role = selection.role or "annotator"
    chosen = select_export(record, replace(selection, role=role))
    tasks = [task for task in chosen.tasks if task.purpose not in _DECIDED_HERE]
    prefix = f"/data/local-files/?d={out.resolve().name}/" if pictures is None else pictures
    made_folder(out)
    projects = []
    for name, kind in KINDS.items():
        documents = export_tasks(kind, tasks, role, prefix)
        if not documents:
            continue
        files = ProjectFiles(name, out / f"{name}.xml", out / f"{name}.json", len(documents))
        text = json.dumps(documents, ensure_ascii=False, indent=1)
        write_atomically(files.tasks, f"{text}\n".encode())
        write_atomically(files.configuration, write_configuration(kind, role).encode())
        projects.append(files)
    copy_pictures(tasks, record.folder, out)
    return projects
