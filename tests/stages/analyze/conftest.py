"""A small frozen dataset with responses and verdicts of every kind, written as files."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from hashlib import sha256
from io import BytesIO
from math import exp
from pathlib import Path
from typing import NamedTuple

import polars as pl
import pytest
from PIL import Image, ImageDraw
from tests.conftest import Build

from omibench.params.setting import Cell
from omibench.params.study import Study, parse_study
from omibench.results.load import Results, load_results
from omibench.schemas.problem import IMAGE_MARK, Answer, Choice, Figure, Question
from omibench.schemas.tables import (
    FrozenManifest,
    ResponseRow,
    VerdictRow,
    read_jsonl,
    read_typed_json,
    write_json,
    write_jsonl,
    write_parquet,
)
from omibench.schemas.verdict import FAILURES
from omibench.stages.analyze import analyze_study
from omibench.stages.analyze.analysis import Analysis
from omibench.stages.analyze.sentences import Headline

PROMPT = "5" * 64
"""Hash of the prompt under which all judgements were made."""
SUBJECTS = ("biology", "chemistry", "mathematics", "physics")
HOSTILE = (
    '<script>alert("pwned")</script> <img src=x onerror=alert(1)> [go](javascript:alert(2)) {{7*7}}'
)
STATEMENTS = {
    "biology": "In the pedigree [IMAGE0] and the gel [IMAGE1], how many are carriers (♀ or ♂)?",
    "chemistry": r"From [IMAGE0] and the cell [IMAGE1], find $K_\mathrm{sp}$ of Ag₂CrO₄.",
    "mathematics": r"Net [IMAGE0], grid [IMAGE1]: find $\frac{a}{b}+\sqrt{2}$, $a<b$ & $b\neq0$.",
    "physics": r"Ein «Klotz» gleitet [IMAGE0]; read $\mu$ off [IMAGE1]. Find $v$ in m/s.",
}


class Folders(NamedTuple):
    """Where a made study stands."""

    freeze: Path
    infer: Path
    score: Path
    out: Path
    study: Study

    def load(self, study: Study | None = None) -> Results:
        """The results, or those of other params."""
        study = study or self.study
        folders = {self.freeze.parent, *self[:3]}
        files = {file for folder in folders for file in folder.rglob("*") if file.is_file()}
        states = frozenset((file, (s := file.stat()).st_ino, s.st_mtime_ns) for file in files)
        key = (self[:3], study.model_dump_json(), states)
        if key not in _LOADED:
            if len(_LOADED) == _KEPT:
                _LOADED.clear()
            _LOADED[key] = load_results(*self[:3], study)
        # The values computed from results stay with the copy.
        return replace(_LOADED[key])

    def open(self, study: Study | None = None, **analyze: object) -> Analysis:
        """The analysis of the study, of another, or with other parameters of the stage."""
        return analysis_of(self.load(make_params(**analyze) if analyze else study))

    def analyze(
        self, out: Path | None = None, study: Study | None = None, **analyze: object
    ) -> Headline:
        """Run the stage over them, into another folder or by other params where these are given."""
        study = make_params(**analyze) if analyze else study or self.study
        return analyze_study(self.freeze.parent, out or self.out, study)


_KEPT = 16
_LOADED: dict[tuple[object, ...], Results] = {}
"""Results of files that have not changed, which many tests read."""


def study_values(**analyze: object) -> dict[str, object]:
    """The parameters of the made study."""
    simulated = {"provider": "simulated", "oracle": "oracle.jsonl"}
    return {
        "study": {"name": "sample", "title": "Twenty-eight problems, rehearsed", "seed": 7},
        "models": {
            "sim-strong": {**simulated, "label": "Strong", "group": "High ability", "ability": 1.4},
            "sim-middle": {**simulated, "label": "Middle", "group": "Middling ability"},
            "sim-weak": {**simulated, "label": "Weak", "group": "Low ability", "ability": -1.2},
            "judge": {**simulated, "label": "Judge"},
        },
        "settings": {
            "cot": {"prompt": "cot", "label": "Chain of thought"},
            "direct": {"prompt": "direct", "label": "Direct"},
            "first-image": {"prompt": "cot", "images": "first", "label": "First image only"},
        },
        "infer": {
            "models": ["sim-strong", "sim-middle", "sim-weak"],
            "settings": ["cot", "direct", "first-image"],
        },
        "score": {"scorers": ["robust", "omibench", "emma"], "judge": "judge"},
        "analyze": analyze,
    }


def make_params(values: dict[str, object] | None = None, **analyze: object) -> Study:
    """The parameters of the made study, with other blocks or other ones of the stage."""
    return parse_study(study_values(**analyze) | (values or {}), "test")


def place_study(folder: Path, **analyze: object) -> Folders:
    """Where a study of that folder stands."""
    names = ("freeze", "infer", "score", "analyze")
    return Folders(*(folder / name for name in names), make_params(**analyze))


def make_study(
    folder: Path, *, per_subject: int = 7, simulated: bool = True, **analyze: object
) -> Folders:
    """Write a whole study: Unicode, LaTeX, picture choices, shared stems, every failure."""
    folders = place_study(folder, **analyze)
    study = folders.study
    problems = _freeze(folders.freeze, per_subject)
    for cell in study.cells:
        draw = random.Random(f"{cell.model}/{cell.setting}")
        responses, verdicts = [], []
        for number, (question, answer) in enumerate(problems):
            row, own = _respond(draw, number, question, answer, cell, simulated)
            responses.append(row)
            verdicts += own
        name = f"{cell.model}/{cell.setting}.parquet"
        write_parquet(folders.infer / name, responses, ResponseRow)
        write_parquet(folders.score / name, verdicts, VerdictRow)
    return folders


def _freeze(folder: Path, per_subject: int) -> list[tuple[Question, Answer]]:
    draw, problems = random.Random(3), []
    for subject in SUBJECTS:
        for number in range(per_subject):
            images = [
                _figure(folder, draw, f"{subject}-{number}-{i}", page=1 + number // 2)
                for i in range(2 + min(draw.randrange(7), 5))
            ]
            marks = "".join(f" [IMAGE{i}]" for i in range(2, len(images)))
            choices = None
            if number % 3 == 0:
                choices = [Choice(label=c, text=f"x ≤ {draw.randrange(9)}") for c in "ABCD"]
                choices.append(Choice(label="E", text="unbroken_" * 40))
            if number % 3 == 1 and len(images) > 3:
                marks = "".join(f" [IMAGE{i}]" for i in range(2, len(images) - 2))
                choices = [Choice(label=c, image=len(images) - 2 + i) for i, c in enumerate("AB")]
            statement = STATEMENTS[subject] + marks
            asked = {
                "id": f"{subject}_{number:02d}",
                "choices": choices,
                "subject": subject,
                "group": f"{subject}-stem"
                if number < 2
                else f"{subject}-{number}"
                if number == 3
                else "",
            }
            question = Question(
                **asked,
                question=statement + (HOSTILE if number == 2 else ""),
                images=images,
                language="de" if subject == "physics" else "en",
                source=f"papers/{subject}.pdf",
                pages=[1 + number // 2],
            )
            answer = Answer(
                **asked,
                answer=["B"]
                if choices
                else [str(draw.randrange(2, 40)), r"\frac{3}{4}"][: 1 + number % 2],
                answer_type=question.answer_type,
                solution="Read both figures; then combine them: $x = 3 < 4$.",
                n_images=len(images),
            )
            problems.append((question, answer))
    write_jsonl(folder / "questions.jsonl", [q for q, _ in problems])
    write_jsonl(folder / "answers.jsonl", [a for _, a in problems])
    manifest = FrozenManifest(
        name="sample", version="1.0.0", problems=len(problems),
        images=sum(len(q.images) for q, _ in problems),
        questions_sha256=sha256((folder / "questions.jsonl").read_bytes()).hexdigest(),
        answers_sha256=sha256((folder / "answers.jsonl").read_bytes()).hexdigest(),
        subjects=dict.fromkeys(SUBJECTS, per_subject), licence="CC-BY-4.0",
    )  # fmt: skip
    write_json(folder / "manifest.json", manifest)
    return problems


@cache
def _draw_picture(points: tuple[tuple[int, int], ...], seed: str) -> bytes:
    """A graph with its name; many studies of a process have the same ones."""
    picture = Image.new("RGB", (160, 100), "white")
    pen = ImageDraw.Draw(picture)
    pen.line(points, fill=(0, 90, 160), width=3)
    pen.rectangle((2, 2, 157, 97), outline="black")
    pen.text((8, 6), seed, fill="black")
    buffer = BytesIO()
    picture.save(buffer, "PNG")
    return buffer.getvalue()


def _figure(folder: Path, draw: random.Random, seed: str, page: int) -> Figure:
    points = tuple((x, 20 + draw.randrange(60)) for x in range(10, 151, 14))
    picture = _draw_picture(points, seed)
    digest = sha256(picture).hexdigest()
    (folder / "images").mkdir(parents=True, exist_ok=True)
    (folder / "images" / f"{digest}.png").write_bytes(picture)
    x, y = 60 + draw.randrange(100), 90 + draw.randrange(400)
    return Figure(
        file=f"images/{digest}.png", sha256=digest, page=page, bbox=(x, y, x + 160.5, y + 100),
        caption="A graph; schematic." if draw.random() < 0.3 else None,
    )  # fmt: skip


ABILITY = {"sim-strong": 1.6, "sim-middle": 0.4, "sim-weak": -1.3}
EFFECT = {"cot": 0.4, "direct": 0.0, "first-image": -1.4}


def _respond(
    draw: random.Random,
    number: int,
    question: Question,
    answer: Answer,
    cell: Cell,
    simulated: bool,
) -> tuple[ResponseRow, list[VerdictRow]]:
    level = ABILITY[cell.model] + EFFECT[cell.setting] - 0.35 * (answer.n_images - 2)
    right = draw.random() < 1 / (1 + exp(-level))
    failure = FAILURES[number % len(FAILURES)] if draw.random() < 0.12 else None
    gold = "; ".join(answer.answer)
    said = gold if right else "41"
    text = rf"Both figures matter: Δx ≈ 3 µm, so $x<4$. \boxed{{{said}}}"
    if number % 7 == 2:
        text = HOSTILE + text
    outcome = "answered"
    if failure in ("refused", "truncated", "empty", "provider_error", "budget_stop"):
        outcome, text = failure, "" if failure != "truncated" else "First I read the graph and"
    key = sha256(f"{cell}{question.id}".encode()).hexdigest()
    row = ResponseRow(
        id=question.id, index=0, key=key, outcome=outcome, text=text, simulated=simulated,
        finish_reason="length" if outcome == "truncated" else "stop", output_tokens=len(text),
    )  # fmt: skip
    verdicts = []
    for rules in ("robust", "omibench", "emma", "gptscore"):
        judge = rules == "gptscore"
        own = failure
        if failure in ("judge_failed", "unjudged") and not judge:
            own = None
        if failure in ("unparsed", "loop") and judge:
            own = None
        slipped = rules == "omibench" and draw.random() < 0.12
        won = right and own is None and not slipped
        if judge and own is None and draw.random() < 0.08:
            won = not won
        verdicts.append(
            VerdictRow(
                id=question.id,
                index=0,
                key=key,
                rules=rules,
                version=1,
                extracted=None if own else said,
                method="judge" if judge else "boxed",
                verdict=float(won),
                outcome=own or "scored",
                simulated=judge and simulated,
                judge="judge" if judge else None,
                judge_key=sha256(key.encode()).hexdigest() if judge else None,
                prompt_sha256=PROMPT if judge else None,
            )
        )
    return row, verdicts


def rewrite_cells(
    folders: Folders, change: Callable[[pl.DataFrame], pl.DataFrame], *cells: Cell
) -> None:
    """Change the files of responses and verdicts of some cells, or of all."""
    for cell in cells or folders.study.cells:
        for stage in (folders.infer, folders.score):
            file = stage / cell.model / f"{cell.setting}.parquet"
            change(pl.read_parquet(file)).write_parquet(file)


def rewrite_verdicts(
    folders: Folders, change: Callable[[pl.DataFrame], pl.DataFrame], *cells: Cell
) -> None:
    """Change the files of verdicts alone."""
    rewrite_cells(folders, lambda f: change(f) if "rules" in f.columns else f, *cells)


def repeat_samples(frame: pl.DataFrame, count: int) -> pl.DataFrame:
    """Each response or verdict so many times, as the samples of its problem."""
    copies = [frame.with_columns(index=pl.lit(i, pl.Int64)) for i in range(count)]
    return pl.concat(copies).with_columns(key=pl.col("key") + "-" + pl.col("index").cast(pl.String))


def drop_pictures(folders: Folders) -> None:
    """Leave the pictures out of the frozen dataset, as some benchmarks' files do."""
    questions = read_jsonl(folders.freeze / "questions.jsonl", Question)
    bare = [
        q.model_copy(update={"images": [], "question": IMAGE_MARK.sub("", q.question),
                             "choices": None, "source": None, "pages": []})
        for q in questions
    ]  # fmt: skip
    write_jsonl(folders.freeze / "questions.jsonl", bare)
    manifest = read_typed_json(folders.freeze / "manifest.json", FrozenManifest)
    write_json(folders.freeze / "manifest.json", manifest.model_copy(update={"images": 0}))


def make_published_study(folder: Path, *, robust: bool, **analyze: object) -> Folders:
    """The made study as recorded responses with published verdicts, and `robust` beside them."""
    folders = make_study(folder, simulated=False, **analyze)
    rules = ["published", *(["robust"] if robust else [])]
    # What omibench said is taken as published, which records no failure.
    published = pl.col("rules") == "omibench"

    def publish(frame: pl.DataFrame) -> pl.DataFrame:
        kept = frame.filter(pl.col("rules").is_in(["omibench", *rules]))
        return kept.with_columns(
            outcome=pl.when(published).then(pl.lit("scored")).otherwise("outcome"),
            extracted=pl.when(published).then(None).otherwise("extracted"),
            rules=pl.col("rules").replace("omibench", "published"),
        )

    rewrite_verdicts(folders, publish)
    return folders._replace(study=make_params({"score": {"scorers": rules}}, **analyze))


def analysis_of(results: Results, **frames: pl.DataFrame) -> Analysis:
    """The analysis of results; `frames` replace what it would compute: `scores`, or a result."""
    folder = results.freeze.parent
    analysis = Analysis(results.study, results, folder, folder / "report.html")
    for name, frame in frames.items():
        if name == "scores":
            vars(analysis)[name] = frame
        else:
            analysis._tables[name.replace("_", "-")] = frame
    return analysis


def table_of(analysis: Analysis, name: str) -> pl.DataFrame:
    """A table that the study must have."""
    table = analysis.table(name)
    assert table is not None, name
    return table


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Folders:
    """The made study, read-only."""
    return make_study(tmp_path_factory.mktemp("made"))


@pytest.fixture(scope="session")
def reported(build_once: Build) -> Folders:
    """The made study with its report and explorer, figures drawn; read-only."""
    folder = build_once("reported", lambda folder: make_study(folder / "results").analyze())
    return place_study(folder / "results")


def forget_origins(results: Path) -> None:
    """Make the cells of a study what an older version wrote, so that they may be edited."""
    for path in results.glob("*/*/*.parquet"):
        pl.read_parquet(path).write_parquet(path)
