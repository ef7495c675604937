"""The card on printed tables that contradict themselves."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.stages.analyze.conftest import make_study

from omibench.stages.analyze.sections.printed import describe_audit

pytestmark = pytest.mark.usefixtures("undrawn")


@pytest.mark.parametrize(
    ("contradictions", "words"),
    [(0, "all agree"), (1, "1 does not agree with other"), (1200, "1,200 do not agree with")],
)
def test_contradictions_are_counted(contradictions: int, words: str) -> None:
    sentence = describe_audit(2, 3000, contradictions)
    assert sentence.startswith("3,000 checks of 2 printed tables, ")
    assert words in sentence


def test_a_printed_total_that_its_parts_do_not_give_is_in_the_report(
    tmp_path: Path, root: Path
) -> None:
    folders = make_study(
        tmp_path, explorer=False, published=[str(root / "published/emma_main.csv")]
    )
    folders.analyze()
    page = (folders.out / "report.html").read_text("utf-8")
    assert 'id="audit"' in page
    assert "checks of 1 printed table, of values against counts" in page
    rows = (folders.out / "audit.csv").read_text("utf-8").splitlines()
    assert rows[0] == "file,model,cell,kind,printed,recomputed,n,note"
    assert len(rows) > 50


def test_without_printed_tables_there_is_no_card(tmp_path: Path) -> None:
    folders = make_study(tmp_path, explorer=False)
    folders.analyze()
    assert 'id="audit"' not in (folders.out / "report.html").read_text("utf-8")
