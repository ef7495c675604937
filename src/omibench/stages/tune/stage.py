"""Stage `tune`: read a training set, check it against the frozen problems, train, and record."""

from __future__ import annotations

import hashlib
import json
import logging
import os
import shutil
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from omibench.errors import MissingInputError, ModelError, OmibenchError
from omibench.files.outputs import write_atomically
from omibench.files.reading import hash_file, read_json
from omibench.params.models.providers import hash_weights
from omibench.params.stages.tune import RECORD, TuneParams
from omibench.schemas.problem import Question
from omibench.schemas.tables import read_jsonl, write_json, write_jsonl
from omibench.schemas.tuning import Leak, TrainingConversation, TrainingReport, TunedWeights
from omibench.stages.tune.conversations import LeakCheck, read_conversations

if TYPE_CHECKING:
    from omibench.models.local.tuning import Encoder
    from omibench.params.study import Study

log = logging.getLogger("omibench.stages.tune")
_LISTED: Final = 10
_LEAKS: Final = 1000
_PACKAGES: Final = ("torch", "transformers", "peft", "accelerate")


def tune_model(questions: Path, out: Path, study: Study, name: str, job: str) -> TunedWeights:
    """Fine-tune one model of a study, and write its folder.

    A stopped run of the same job goes on from its last checkpoint.

    Args:
        questions: The frozen questions.
        out: The record to write, in the folder of the tuned model.
        study: The study.
        name: The key under `tune`.
        job: The hash of the job's parameters.

    Returns:
        The record.

    Raises:
        MissingInputError: A file is missing, or no conversation is left.
        FileFormatError: The training set is not readable.
        MissingExtraError: A package of the extra `tune` is not installed.
        ModelError: The base cannot be loaded or trained.
    """
    from omibench.models.local.tuning import Encoder, count_per_step, open_base, train

    params, folder = study.tune[name], out.parent
    kept, report = select_conversations(questions, study, params)
    base = study.models[params.base]
    engine = open_base(params.base, base, params)  # type: ignore[arg-type]
    checkpoints = folder / "checkpoints"
    digest = hash_conversations(kept)
    _open_checkpoints(checkpoints, f"{job} {digest}")
    reasons = _check_lengths(Encoder(engine), kept, params.max_tokens, checkpoints)
    fitting = [item for place, item in enumerate(kept) if place not in reasons]
    report = _note_reasons(report, kept, reasons)
    if not fitting:
        raise MissingInputError(
            f"tune.{name}.data: no conversation of {report.file} is left: {_name_reasons(report)}"
        )
    is_main = os.environ.get("RANK", "0") == "0"  # of several processes, one per GPU
    if is_main:
        write_json(folder / "data.json", report)
        shutil.rmtree(folder / "weights", ignore_errors=True)
    log.info("omibench: %s: training on %d conversations", name, len(fitting))
    trained = train(engine, fitting, params, folder / "weights", checkpoints)
    record = TunedWeights(
        base=base.id,  # type: ignore[attr-defined]
        revision=base.revision,  # type: ignore[attr-defined]
        method=params.method, conversations=len(fitting), data_sha256=digest,
        steps=trained.steps, per_step=count_per_step(params), seed=params.seed,
        weights_sha256=hash_weights(folder / "weights") if is_main else "",
        versions=_list_versions(),
    )  # fmt: skip
    if is_main:
        write_jsonl(folder / "loss.jsonl", trained.losses)
        write_json(folder / RECORD, record)
        shutil.rmtree(checkpoints, ignore_errors=True)
    return record


def select_conversations(
    questions: Path, study: Study, params: TuneParams
) -> tuple[list[TrainingConversation], TrainingReport]:
    """Return the conversations to train on before their tokens are counted, and the report.

    Args:
        questions: The frozen questions, next to their pictures.
        study: The study, with the thresholds of `filter`.
        params: The block of the tuned model.

    Raises:
        MissingInputError: The file of conversations is missing.
        FileFormatError: It is not readable.
    """
    file = Path(params.locate_data(study.data))
    pictures = Path(params.pictures) if params.pictures else file.parent
    check = LeakCheck(
        read_jsonl(questions, Question), questions.parent, study.filter.near_duplicate,
        study.filter.near_duplicate_images,
    )  # fmt: skip
    left_out: dict[str, list[str]] = defaultdict(list)
    kept: list[TrainingConversation] = []
    leaks: list[Leak] = []
    read = regions = leaking = 0
    for item in read_conversations(file, pictures):
        read += 1
        regions += item.regions
        if item.conversation is None:
            left_out[item.reason].append(item.id)
            continue
        try:
            found = list(check.find(item.conversation))
        except OmibenchError:
            left_out["a picture is not readable"].append(item.id)
            continue
        leaks += found
        leaking += bool(found)
        if found and params.drop_leaks:
            left_out["shares a text or picture with the frozen problems"].append(item.id)
        else:
            kept.append(item.conversation)
    if params.limit is not None and len(kept) > params.limit:
        draw = np.random.default_rng(params.seed).permutation(len(kept))
        chosen = {*draw[: params.limit].tolist()}
        left_out["not drawn (limit)"] += [c.id for n, c in enumerate(kept) if n not in chosen]
        kept = [conversation for n, conversation in enumerate(kept) if n in chosen]
    report = TrainingReport(
        file=str(file), sha256=hash_file(file), read=read, kept=len(kept), regions=regions,
        left_out={reason: len(ids) for reason, ids in left_out.items()},
        examples={reason: ids[:_LISTED] for reason, ids in left_out.items()},
        leaks=leaks[:_LEAKS], leaking=leaking,
    )  # fmt: skip
    return kept, report


def hash_conversations(conversations: Sequence[TrainingConversation]) -> str:
    """Return the SHA-256 of conversations in order with the bytes of their pictures, as hex."""
    digest = hashlib.sha256()
    for conversation in conversations:
        pictures = [hash_file(path) for path in conversation.pictures]
        digest.update(
            conversation.model_copy(update={"pictures": pictures}).model_dump_json().encode()
        )
    return digest.hexdigest()


def _check_lengths(
    encoder: Encoder, kept: Sequence[TrainingConversation], most: int, checkpoints: Path
) -> dict[int, str]:
    """Return the reason for each conversation that the model cannot learn from, by its place.

    All are encoded once, which takes long; a run that goes on reads the reasons of the first.
    """
    path = checkpoints / "reasons.json"
    if path.is_file():
        return {int(place): reason for place, reason in read_json(path).items()}
    reasons = {}
    for place, conversation in enumerate(kept):
        try:
            if encoder.count_tokens(conversation) > most:
                reasons[place] = "more than max_tokens tokens"
        except ModelError as error:
            reasons[place] = str(error)
    if os.environ.get("RANK", "0") == "0":
        write_atomically(path, json.dumps(reasons).encode())
    return reasons


def _note_reasons(
    report: TrainingReport, kept: Sequence[TrainingConversation], reasons: Mapping[int, str]
) -> TrainingReport:
    by_reason: dict[str, list[str]] = defaultdict(list)
    for place, reason in reasons.items():
        by_reason[reason].append(kept[place].id)
    counts = {reason: len(names) for reason, names in by_reason.items()}
    examples = {reason: names[:_LISTED] for reason, names in by_reason.items()}
    return report.model_copy(
        update={
            "kept": len(kept) - len(reasons),
            "left_out": {**report.left_out, **counts},
            "examples": {**report.examples, **examples},
        }
    )


def _name_reasons(report: TrainingReport) -> str:
    reasons = [f"{reason} ({count:,})" for reason, count in report.left_out.items()]
    return "; ".join(reasons) or "the file is empty"


def _open_checkpoints(folder: Path, job: str) -> None:
    """Make the folder of checkpoints, and empty it if they are of another job.

    With a process per GPU, the first does it and the others wait for it.
    """
    mark = folder / "job.txt"
    if os.environ.get("RANK", "0") != "0":
        while not mark.is_file() or mark.read_text("utf-8") != job:
            time.sleep(1)
        return
    if not mark.is_file() or mark.read_text("utf-8") != job:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        write_atomically(mark, job.encode())


def _list_versions() -> dict[str, str]:
    versions = {}
    for package in _PACKAGES:
        try:
            versions[package] = version(package)
        except PackageNotFoundError:
            continue
    return versions
