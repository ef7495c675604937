"""Label Studio projects: tasks and a configuration for each kind, and the pictures."""

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
    """The files of one Label Studio project.

    Attributes:
        kind: The kind of its tasks.
        configuration: The file with its labelling interface.
        tasks: The file to import.
        number: The number of tasks in it.
    """

    kind: str
    configuration: Path
    tasks: Path
    number: int


def write_projects(
    record: ReviewRecord, selection: TaskSelection, out: Path, pictures: str | None = None
) -> list[ProjectFiles]:
    """Write a project for each kind that has tasks.

    Samples and calibrations are excluded: an imported decision does not count as a senior's, nor as
    independent.

    Args:
        record: The review.
        selection: The tasks, and the role that sees them; annotators by default.
        out: The folder to create.
        pictures: The address prefix of `pictures/SHA256.SUFFIX`; by default that of a local storage
            with the parent folder of `out` as document root.

    Returns:
        The projects, in the order of kinds.

    Raises:
        OutputError: The files cannot be written.
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
