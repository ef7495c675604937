"""A list of jobs says of which it may spare some."""

from __future__ import annotations

import pytest

from omibench.study.status.hooks import describe_checkpoint


@pytest.mark.parametrize(
    ("rules", "said"),
    [
        (["freeze", *["infer"] * 16, "score"], "of the 16 infer jobs in this list, only those"),
        (["freeze", "fill", "infer", "infer"], "of the 1 fill and 2 infer jobs"),
        (["infer"] * 16, None),
        (["freeze", "score", "analyze"], None),
        ([], None),
    ],
)
def test_jobs_that_freeze_may_spare_are_told(rules: list[str], said: str | None) -> None:
    remark = describe_checkpoint(rules)
    assert (remark is None) == (said is None)
    assert said is None or (remark and said in remark and "\n" not in remark)
