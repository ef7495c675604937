"""Small results folders, written without any model: some problems, answered and scored."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from omibench.answers.scorers.registry import score_item
from omibench.schemas.problem import Answer, Choice, Question
from omibench.schemas.tables import (
    AggregateRow,
    FrozenManifest,
    ResponseRow,
    VerdictRow,
    write_json,
    write_jsonl,
    write_parquet,
)
from omibench.schemas.verdict import ScoredItem

CHOICES = [Choice(label=label, text=f"option {label}") for label in "ABCD"]
NAMES = [f"p{number}" for number in range(8)]
Texts = Mapping[str, Sequence[str]]
"""Problem -> the texts of its samples."""


@dataclass(frozen=True)
class MadeJudge:
    """A judge whose verdicts are a function of response and gold."""

    name: str = "judge"
    revision: str = "1"
    judge: Callable[[str, str], float] = lambda text, gold: float(gold in text)
    rules: str = "gptscore"
    extractor: str | None = None
    """The model that extracts answers, where one does."""


@dataclass(frozen=True)
class MadeRun:
    """One run. A gold of one letter is that of a choice, any other that of an open problem."""

    golds: Mapping[str, str]
    cells: Mapping[str, Texts]
    rules: Sequence[str] = ("robust",)
    statements: Mapping[str, str] = field(default_factory=dict)
    judge: MadeJudge | None = None
    revision: str = "1"
    served_model: str | None = None
    name: str = "made"
    old_verdicts: Mapping[str, float] | None = None
    """Verdicts of a version of the scorers that is not installed: by problem."""
    picks: Mapping[str, int] = field(default_factory=dict)
    """The sample that a vote has chosen."""

    def change(self, **changes: Any) -> MadeRun:
        """The same run with other parts."""
        return replace(self, **changes)

    def change_texts(self, **texts: str) -> MadeRun:
        """The same run with other responses to some problems, in every cell."""
        changed = {name: [text] for name, text in texts.items()}
        return self.change(cells={cell: {**rows, **changed} for cell, rows in self.cells.items()})

    def write(self, folder: Path) -> Path:
        """Write it as a results folder."""
        answers = [self._make_answer(name, gold) for name, gold in self.golds.items()]
        questions = [
            Question(
                id=answer.id, question=self.statements.get(answer.id, f"Which one, {answer.id}?"),
                choices=answer.choices, subject="physics",
            )
            for answer in answers
        ]  # fmt: skip
        write_jsonl(folder / "freeze/answers.jsonl", answers)
        write_jsonl(folder / "freeze/questions.jsonl", questions)
        manifest = FrozenManifest(
            name=self.name, version="1", problems=len(answers), images=0, questions_sha256="0",
            answers_sha256="0", subjects={"physics": len(answers)},
        )  # fmt: skip
        write_json(folder / "freeze/manifest.json", manifest)
        for cell, texts_by_name in self.cells.items():
            responses = [
                ResponseRow(
                    id=name, index=index, key=self._make_key(cell, name, index), text=text,
                    outcome="answered", finish_reason="stop", served_model=self.served_model,
                )
                for name, texts in texts_by_name.items()
                for index, text in enumerate(texts)
            ]  # fmt: skip
            write_parquet(folder / f"infer/{cell}.parquet", responses, ResponseRow)
            verdicts = [row for rules in self.rules for row in self._score(responses, rules)]
            if self.judge is not None:
                verdicts += self._judge(responses, self.judge)
            write_parquet(folder / f"score/{cell}.parquet", verdicts, VerdictRow)
            if self.picks:
                aggregates = [
                    AggregateRow(
                        id=name,
                        rules="robust",
                        metric="majority",
                        k=2,
                        value=0,
                        index=i,
                        counts=True,
                    )
                    for name, i in self.picks.items()
                ]
                write_parquet(folder / f"aggregate/{cell}.parquet", aggregates, AggregateRow)
        return folder

    def _make_answer(self, name: str, gold: str) -> Answer:
        is_choice = len(gold) == 1
        return Answer(
            id=name, answer=[gold], answer_type="mcq" if is_choice else "open",
            choices=CHOICES if is_choice else None, subject="physics",
            group=f"stem-{int(name[1:]) // 2}",
        )  # fmt: skip

    def _make_key(self, cell: str, name: str, index: int) -> str:
        parts = [cell, self.statements.get(name, name), str(index), self.revision]
        return hashlib.sha256("|".join(parts).encode()).hexdigest()

    def _score(self, responses: Sequence[ResponseRow], rules: str) -> list[VerdictRow]:
        rows = []
        for row in responses:
            answer = self._make_answer(row.id, self.golds[row.id])
            item = ScoredItem(
                id=row.id, prediction=row.text, gold=answer.answer, choices=answer.choices,
                answer_type=answer.answer_type, finish_reason=row.finish_reason,
            )  # fmt: skip
            verdict = score_item(item, rules)
            if self.old_verdicts is not None:
                value = self.old_verdicts.get(row.id, verdict.verdict)
                verdict = verdict.model_copy(
                    update={"version": verdict.version - 1, "verdict": value}
                )
            rows.append(VerdictRow(id=row.id, index=row.index, key=row.key, **verdict.model_dump()))
        return rows

    def _judge(self, responses: Sequence[ResponseRow], judge: MadeJudge) -> list[VerdictRow]:
        return [
            VerdictRow(
                id=row.id, index=row.index, key=row.key, rules=judge.rules, version=3,
                method=f"extracted by {judge.extractor} (5555) > graded"
                if judge.extractor
                else "judge",
                extracted=judge.extractor and f"{judge.extractor} of {row.text}",
                verdict=judge.judge(row.text, self.golds[row.id]),
                outcome="scored", judge=judge.name, prompt_sha256="5" * 64,
                judge_key=f"{judge.name} {judge.revision} {row.text} {self.golds[row.id]}",
            )
            for row in responses
        ]  # fmt: skip


def make_run(letters: str = "ABCDABCD", golds: str = "ABCDABCD", cell: str = "m/cot") -> MadeRun:
    """A run of one cell whose responses give these letters in a box."""
    return MadeRun(dict(zip(NAMES, golds, strict=False)), {cell: make_texts(letters)})


def make_texts(letters: str) -> Texts:
    """One response to each problem, with its letter in a box."""
    return {
        name: [rf"So \boxed{{{letter}}}."] for name, letter in zip(NAMES, letters, strict=False)
    }
