"""Frozen releases: questions, answers and pictures, verified by their content."""

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
from omibench.files.intake import read_bytes, resolve_within
from omibench.params.benchmark import BenchmarkParams
from omibench.schemas.problem import Answer, Figure, Question
from omibench.schemas.tables import FrozenManifest


@dataclass(frozen=True)
class Release:
    """A frozen dataset, as `freeze` wrote it or as it was published.

    Attributes:
        folder: Where its pictures lie; those of a built release are in a temporary folder, which is
            removed with this object.
        manifest: Its name, version, counts and hashes.
        questions: What a model may see of each problem, by id, in the order of the release.
        answers: The gold and reference solution of each, by id.
    """

    folder: Path
    manifest: FrozenManifest
    questions: Mapping[str, Question]
    answers: Mapping[str, Answer]

    def read_picture(self, figure: Figure) -> bytes:
        """Read the bytes of a picture.

        Args:
            figure: An entry of `images` of a question of this release.

        Returns:
            Bytes of a PNG, JPEG, ... file, as they were frozen.

        Raises:
            ArgumentError: `figure` is no Figure.
            MissingInputError: The release holds no such picture.
            FileFormatError: Its bytes are not those that were frozen, or it lies elsewhere.
        """
        check_kind("figure", figure, Figure, "give an entry of `images` of a question")
        if not figure.sha256:
            raise MissingInputError(f"{figure.file}: this picture was absent when it was frozen")
        path = resolve_within(self.folder, figure.file)
        if not path.is_file():
            raise MissingInputError(f"{path}: the file does not exist: get the whole release")
        content = read_bytes(path)
        if hashlib.sha256(content).hexdigest() != figure.sha256:
            raise FileFormatError(
                f"{path}: its bytes are not those that were frozen: get the file again"
            )
        return content


def load_release(folder: str | Path, *, check_pictures: bool = True) -> Release:
    """Load a frozen release, and check that it is what its manifest says.

    Example:
        >>> release = omibench.load_release("results/freeze")
        >>> release.manifest.problems == len(release.questions)
        True

    Args:
        folder: What `freeze` wrote (manifest.json, questions.jsonl, answers.jsonl, images), or what
            `omibench release build` made of it.
        check_pictures: Whether every picture is read and compared with its hash, too.

    Returns:
        Its questions and answers by id; pictures are read when they are asked for.

    Raises:
        ArgumentError: `folder` is no path.
        MissingInputError: A file or picture is not there.
        FileFormatError: Questions, answers or a picture are not those that were frozen.
    """
    path = check_path("folder", folder)
    if path.is_file():
        raise MissingInputError(f"{path}: is a file; give the folder of a frozen release")
    if not path.is_dir():
        raise MissingInputError(f"{path}: the folder does not exist; give that of a frozen release")
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
