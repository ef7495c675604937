"""The explorer never loads PyMuPDF, which is under the AGPL: pages are pictures."""

from __future__ import annotations

from omibench.graph.code_hash import Tree

TREE = Tree()


def test_nothing_that_is_served_imports_pymupdf() -> None:
    modules = TREE.closure("omibench.explore.app", "omibench.cli.explore")
    assert "omibench.explore.app.notes" in modules
    packages = TREE.packages(sorted(modules))
    assert {"starlette", "uvicorn", "polars"} <= packages
    assert not {"pymupdf", "fitz", "argon2"} & packages
    assert not {name for name in modules if name.startswith("omibench.stages.ocr")}
    assert not {name for name in modules if name.startswith("omibench.review.app.")}
