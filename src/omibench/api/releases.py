"""Frozen releases: questions, answers and pictures, verified by hash."""

from __future__ import annotations

import hashlib
import shutil
import tempfile
import weakref
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from omibench.api.arguments import check_kind, check_path
from omibench.datasets.frozen import load, read_manifest
from omibench.errors import FileFormatError, MissingInputError
from omibench.files.reading import read_bytes, resolve_within
from omibench.params.benchmark import BenchmarkParams
from omibench.schemas.problem import Answer, Figure, Question
from omibench.schemas.tables import FrozenManifest


@dataclass(frozen=True)
class Release:
    """A frozen dataset, written by `freeze` or published.

    Attributes:
        folder: Folder with the pictures; for a built release, a temporary folder that is removed
            with this object.
        manifest: Name, version, counts and hashes.
        questions: The model-visible part of each problem by id, in the order of the release.
        answers: Gold answer and reference solution of each problem by id.
    """

    folder: Path
    manifest: FrozenManifest
    questions: Mapping[str, Question]
    answers: Mapping[str, Answer]

    def read_picture(self, figure: Figure) -> bytes:
        """Read the bytes of a picture.

        Args:
            figure: Entry of `images` in a question of this release.

        Returns:
            The frozen bytes of a PNG, JPEG, ... file.

        Raises:
            ArgumentError: If `figure` is not a Figure.
            MissingInputError: If the release does not contain the picture.
            FileFormatError: If its bytes differ from the frozen ones, or its path is outside the
                release.
        """
        check_kind("figure", figure, Figure, "give an entry of `images` of a question")
        if not figure.sha256:
            raise MissingInputError(
                f"{figure.file}: this picture was missing when the dataset was frozen"
            )
        path = resolve_within(self.folder, figure.file)
        if not path.is_file():
            raise MissingInputError(f"{path}: the file does not exist; get the whole release")
        content = read_bytes(path)
        if hashlib.sha256(content).hexdigest() != figure.sha256:
            raise FileFormatError(
                f"{path}: its bytes differ from the frozen ones; get the file again"
            )
        return content


def load_release(folder: str | Path, *, check_pictures: bool = True) -> Release:
    """Load a frozen release and check it against its manifest.

    Examples:
        >>> release = omibench.load_release("results/freeze")
        >>> release.manifest.problems == len(release.questions)
        True

    Args:
        folder: Output of `freeze` (manifest.json, questions.jsonl, answers.jsonl, images) or of
            `omibench release build`.
        check_pictures: Whether to also compare the hash of every picture.

    Returns:
        Questions and answers by id; pictures are read on access.

    Raises:
        ArgumentError: If `folder` is not a path.
        MissingInputError: If a file or picture is missing.
        FileFormatError: If questions, answers or a picture differ from the frozen ones.
    """
    path = check_path("folder", folder)
    if not path.is_dir():
        raise MissingInputError(
            f"{path}: the folder does not exist; give the folder of a frozen release"
        )
    scratch = Path(tempfile.mkdtemp(prefix="omibench-release-"))
    try:
        dataset = load(path, scratch, BenchmarkParams(name="frozen"))
        release = Release(
            folder=dataset.folder,
            manifest=read_manifest(dataset.folder),
            questions={question.id: question for question in dataset.questions},
            answers={answer.id: answer for answer in dataset.answers},
        )
    except BaseException:
        shutil.rmtree(scratch, ignore_errors=True)
        raise
    weakref.finalize(release, shutil.rmtree, scratch, ignore_errors=True)
    if check_pictures:
        for question in dataset.questions:
            for figure in question.images:
                if figure.sha256:
                    release.read_picture(figure)
    return release
