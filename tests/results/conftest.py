"""The made study of the tests of `analyze`, which reads the same results."""

from tests.stages.analyze.conftest import made

__all__ = ["made"]
