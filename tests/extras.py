"""Tests of an optional extra, skipped where it is absent."""

from __future__ import annotations

from importlib.util import find_spec

import pytest


def require_extra(extra: str, package: str) -> None:
    """Skip a module of tests where a package of an extra is absent.

    The package is only looked for: many of these tests start programs, and importing Prefect or
    Snakemake in each worker would take memory for nothing.
    """
    if find_spec(package) is None:
        pytest.skip(f"the extra `{extra}` is not installed", allow_module_level=True)
