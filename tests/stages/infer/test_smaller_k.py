"""Test-time scaling buys each sample once: those of a smaller k are those of the larger."""

from __future__ import annotations

from pathlib import Path

from tests.stages.infer.conftest import Make

from omibench.params.setting import Cell
from omibench.schemas.tables import ResponseRow, read_parquet
from omibench.stages.infer import infer_cell

SIZES = (1, 3, 4, 8, 16)
"""OMIBench, equation 12."""


def test_one_setting_with_a_larger_k_asks_for_the_rest_alone(
    tmp_path: Path, questions: Path, study: Make
) -> None:
    def texts(k: int) -> dict[tuple[str, int], tuple[str, str]]:
        many = {"prompt": "cot", "decoding": {"samples": k, "temperature": 0.6}}
        settings = {"cot": {}, "many": many}
        made = study(settings=settings, infer={"models": ["sim"], "settings": ["many"]})
        infer_cell(questions, tmp_path / "cell.parquet", made, Cell("sim", "many"))
        rows = read_parquet(tmp_path / "cell.parquet", ResponseRow)
        return {(i, n): (key, text) for i, n, key, text in
                rows.select("id", "index", "key", "text").iter_rows()}  # fmt: skip

    def held() -> int:
        segments = (tmp_path / "store").glob("*/*.jsonl")
        return sum(len(file.read_bytes().splitlines()) for file in segments)

    smaller: dict[tuple[str, int], tuple[str, str]] = {}
    for k in SIZES:
        found = texts(k)
        assert smaller.items() <= found.items()
        assert held() == 3 * k
        smaller = found
