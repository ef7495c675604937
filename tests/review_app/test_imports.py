"""The application never loads PyMuPDF, which is under the AGPL: pages are pictures."""

from __future__ import annotations

from omibench.graph.code_hash import Tree

TREE = Tree()


def test_nothing_that_is_served_imports_pymupdf() -> None:
    modules = TREE.closure("omibench.review.app", "omibench.cli.review.serve")
    assert "omibench.review.app.demo" in modules
    assert "omibench.review.state" in modules
    packages = TREE.packages(sorted(modules))
    assert {"starlette", "argon2", "uvicorn"} <= packages
    assert not {"pymupdf", "fitz"} & packages
    assert not {name for name in TREE.closure("omibench.review.app") if "stages" in name}
