"""The page on local models names a way, or a reason, for each open model of the papers."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from omibench.params.models.providers import LocalModel
from omibench.params.study import parse_study_file

STUDIES = ("omibench", "emma", "emma_mini", "usnco_v", "mathreal")
WAYS = re.compile(
    r"supported|own code|transformers-(chat|reward)|server:|plug-in|as Qwen2\.5-VL|tuning"
)


def fold(text: str) -> str:
    return re.sub(r"[^a-z0-9]", "", text.casefold())


@pytest.fixture(scope="module")
def rows(root: Path) -> dict[str, str]:
    """Each name in the first column of the table, folded, with the rest of its row."""
    page = (root / "docs/reference/local_models.md").read_text("utf-8")
    table = page.partition("## Open-weight models of the papers")[2].partition("\n## ")[0]
    found = {}
    for line in table.splitlines():
        if line.startswith("|") and not line.startswith("|---"):
            cells = [cell.strip() for cell in line.strip("|").split("|")]
            for name in re.split(r"[,;:(]", cells[0]):
                found[fold(name)] = " ".join(cells[1:])
    return {name: rest for name, rest in found.items() if len(name) > 2}


@pytest.mark.parametrize("study", STUDIES)
def test_every_local_model_has_a_row_with_a_way(
    root: Path, rows: dict[str, str], study: str
) -> None:
    models = parse_study_file(root / f"studies/{study}.yaml").models
    local = {name: block for name, block in models.items() if isinstance(block, LocalModel)}
    assert local
    for name, block in local.items():
        matching = [row for row in rows if row in fold(block.id)]
        assert matching, f"{name}: {block.id} is in no row"
        assert any(WAYS.search(rows[row]) for row in matching), name
