"""Shards of requests: which models call an API, and the share of its limits per shard."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain, zip_longest
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, NamedTuple, TypeVar
from urllib.parse import urlsplit

from omibench.models.client.ask import strictly
from omibench.params.models.base import ApiModel, ModelBlock
from omibench.params.setting import Cell
from omibench.schemas.tables import ResponseRow, read_parquet
from omibench.stages.judge.material import CellFiles
from omibench.stages.judge.stage import judge_cell
from omibench.stages.score.stage import ScoreFiles, score_cell

if TYPE_CHECKING:
    from omibench.params.study import Study


T = TypeVar("T")
ENDLESS = 1_000_000_000


class Shard(NamedTuple):
    """Requests `start` to `stop` (exclusive) to a model for the cell `name`."""

    model: str
    name: str
    start: int
    stop: int

    @property
    def slice(self) -> slice:
        """As a slice."""
        return slice(self.start, self.stop)


def select_api_models(study: Study, models: Iterable[str]) -> list[str]:
    """Return the models that are called over a network; all others run on this machine."""
    return [n for n in models if isinstance(study.models[n], ApiModel)]


def make_shards(model: str, name: str, total: int, size: int) -> list[Shard]:
    """Split `total` requests into shards of the given size."""
    return [Shard(model, name, i, min(i + size, total)) for i in range(0, total, size)]


def choose_shard_size(study: Study, models: Iterable[str], size: int) -> int:
    """Return the shard size for these models: everything at once if one of them uses batches.

    The duration of a batch does not depend on its size.
    """
    return ENDLESS if any(study.models[name].is_batch for name in models) else size


def interleave(groups: Iterable[Sequence[T]]) -> list[T]:
    """Interleave groups: the first of each, then the second of each, so that no endpoint idles."""
    missing = object()
    rounds = zip_longest(*groups, fillvalue=missing)
    return [item for item in chain.from_iterable(rounds) if item is not missing]  # type: ignore[misc]


def list_api_judges(study: Study) -> list[str]:
    """Return the models behind an API that judge scores and reasoning."""
    return select_api_models(study, dict.fromkeys([*study.judges("score"), *study.judges("judge")]))


def name_endpoint(model: ModelBlock) -> str:
    """Return a name of a model's endpoint: its provider's host and served id, equal in all studies.

    Requests to an endpoint share its limits. The name has only letters, digits, dots, dashes,
    colons and spaces.
    """
    host = urlsplit(getattr(model, "base_url", None) or "").netloc.rpartition("@")[2]
    words = ("omibench", model.provider, host, str(getattr(model, "id", "")).replace("/", ":"))
    characters = (c if c.isalnum() or c in ".-_: " else "-" for c in " ".join(filter(None, words)))
    return "".join(characters)


def divide_limits(study: Study, name: str, shards: int) -> Study:
    """Return the study with a model's limits divided by `shards`, the number of parallel shards.

    Together they keep the endpoint's limits on concurrent requests and requests per minute.
    """
    model = study.models[name]
    if shards == 1 or not isinstance(model, ApiModel):
        return study
    limits = model.limits
    share = limits.model_copy(
        update={
            "concurrency": max(1, limits.concurrency // shards),
            "requests_per_minute": _divide(limits.requests_per_minute, shards),
            "tokens_per_minute": _divide(limits.tokens_per_minute, shards),
        }
    )
    models = study.models | {name: model.model_copy(update={"limits": share})}
    return study.model_copy(update={"models": models})


def limit_budget(study: Study, budget_usd: float | None) -> Study:
    """Return the study with a smaller budget, if one is given; a larger one changes nothing."""
    own_usd = study.study.budget_usd
    if budget_usd is None or (own_usd is not None and own_usd <= budget_usd):
        return study
    params = study.study.model_copy(update={"budget_usd": budget_usd})
    return study.model_copy(update={"study": params})


def _divide(limit: float | None, shards: int) -> float | None:
    return limit / shards if limit else None


# Judgements requested ahead of the jobs that write scores and judgements.


def count_responses(responses: Path) -> int:
    """Return the number of responses in a cell's file."""
    return read_parquet(responses, ResponseRow).height


def fill_judgements(results: Path, study: Study, cell: Cell, shard: slice) -> int:
    """Score and judge one shard of a cell's responses; only the judges' replies are stored.

    Returns the number of responses. Raises as `score_cell` and `judge_cell` do, and PassingError
    if requests failed transiently; replies so far are kept.
    """
    frozen = results / "freeze"
    answers, questions = frozen / "answers.jsonl", frozen / "questions.jsonl"
    rows = read_parquet(results / "infer" / cell.model / f"{cell.setting}.parquet", ResponseRow)
    with TemporaryDirectory(prefix="omibench-") as folder, strictly():
        part, verdicts = Path(folder) / "responses.parquet", Path(folder) / "verdicts.parquet"
        rows[shard].write_parquet(part)
        score_cell(ScoreFiles(part, answers, questions), verdicts, study)
        judged = _leave_draw(study) if rows[shard].height < rows.height else study
        if cell in judged.judged_cells:
            files = CellFiles(part, verdicts, answers, questions)
            judge_cell(files, Path(folder) / "judgements.parquet", judged)
    return rows[shard].height


def _leave_draw(study: Study) -> Study:
    """Return the study without its sample of failures, which depends on the whole cell."""
    if study.judge.errors is None or study.judge.errors.draw is None:
        return study
    return study.model_copy(update={"judge": study.judge.model_copy(update={"errors": None})})
