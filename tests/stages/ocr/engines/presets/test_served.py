"""Document readers behind an OpenAI-compatible server, from the command to the problems."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.stages.ocr.engines.pages import save_scan
from typer.testing import CliRunner, Result

from command_line import app
from model_server.handle import KEY, KEY_ENV, ServerHandle
from omibench.schemas.pages import PageText
from omibench.schemas.problem import Problem
from omibench.schemas.tables import read_jsonl
from omibench.stages.ocr.engines.olmocr import PROMPT

OLMOCR = r"""---
primary_language: en
is_rotation_valid: True
rotation_correction: 0
is_table: False
is_diagram: False
---
1. A ball is thrown as in Figure 1. How long does it fly if \(v_0 = \frac{g}{2}\)?

![A ball](page_100_400_500_200.png)

Figure 1: A ball.

2. And how high does it rise over the whole of the field?
"""
LAYOUT = """\
<|box_start|>100 100 900 125<|box_end|><|ref_start|>text<|ref_end|><|rotate_up|>
<|box_start|>300 150 700 180<|box_end|><|ref_start|>equation<|ref_end|><|rotate_up|>
<|box_start|>300 300 700 500<|box_end|><|ref_start|>image<|ref_end|><|rotate_up|>
"""


def run(server: ServerHandle, folder: Path, preset: str, **block: Any) -> Result:
    model = {
        "provider": "openai",
        "id": "reader",
        "base_url": server.openai_url,
        "key_env": KEY_ENV,
        **block,
    }
    params = {
        "study": {"store": str(folder / "store")},
        "ocr": {"engine": "vision", "reader": "reader", "preset": preset},
        "models": {"reader": model},
    }
    verb = [
        "ocr",
        str(save_scan(folder)),
        "--out",
        str(folder / "out"),
        "--params",
        json.dumps(params),
    ]
    return CliRunner().invoke(app, verb)


def read_problems(folder: Path) -> list[Problem]:
    return list(read_jsonl(folder / "out/problems.jsonl", Problem))


@pytest.mark.slow
def test_olmocr_reads_a_scan_and_is_asked_once(server: ServerHandle, tmp_path: Path) -> None:
    server.configure(replies={PROMPT.text[:40]: OLMOCR})
    done = run(server, tmp_path, "olmocr")
    assert done.exit_code == 0, done.output
    first, second = read_problems(tmp_path)
    assert first.question.endswith(
        r"How long does it fly if $v_0 = \frac{g}{2}$?" + ("\n\n[IMAGE0]\nFigure 1: A ball.")
    )
    assert (len(first.images), second.images) == (1, [])
    (page,) = read_jsonl(tmp_path / "out/pages.jsonl", PageText)
    assert page.engine == "olmocr"
    assert not [line for line in page.lines if line.math_suspect]
    assert run(server, tmp_path, "olmocr").exit_code == 0
    assert server.stats()["requests"] == 1


@pytest.mark.slow
def test_mineru_reads_a_scan_in_two_steps(server: ServerHandle, tmp_path: Path) -> None:
    text = (
        "1. Find the speed of the ball that falls from the tower.\n"
        "2. How long does it fall until it reaches the ground, where"
    )
    server.configure(
        replies={
            "Layout Detection:": LAYOUT,
            "Text Recognition:": text,
            "Formula Recognition:": r"\[ h = \sqrt { 2 } \]",
        }
    )
    done = run(server, tmp_path, "mineru", extra_body={"skip_special_tokens": False})
    assert done.exit_code == 0, done.output
    first, second = read_problems(tmp_path)
    assert first.question == "Find the speed of the ball that falls from the tower."
    assert r"where $h = \sqrt { 2 }$" in " ".join(second.question.split())
    assert len(second.images) == 1
    assert server.stats()["requests"] == 3


def test_a_server_that_drops_tokens_fails_the_paper_with_the_remedy(
    server: ServerHandle, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    server.configure(replies={"Layout Detection:": "100 100 900 125text"})
    run(server, tmp_path, "mineru")
    report = json.loads((tmp_path / "out/report.json").read_text("utf-8"))
    assert report["files"][0]["codes"] == ["engine_failed"]
    assert "skip_special_tokens: false" in caplog.text


@pytest.mark.parametrize(
    "kind",
    [
        "html_page",
        *(
            pytest.param(kind, marks=pytest.mark.slow)
            for kind in ("truncated_json", "content_filter", "broken_off")
        ),
    ],
)
def test_a_server_that_misbehaves_leaves_a_page_unread_or_a_paper_failed(
    server: ServerHandle, tmp_path: Path, kind: str
) -> None:
    server.configure(script=[{"match": "", "steps": [kind] * 20}])
    run(server, tmp_path, "olmocr", limits={"attempts": 1})
    report = json.loads((tmp_path / "out/report.json").read_text("utf-8"))
    assert set(report["files"][0]["codes"]) & {"engine_failed", "page_unread"}
    assert KEY not in (tmp_path / "out/report.json").read_text("utf-8")
