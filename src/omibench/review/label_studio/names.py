"""Names shared by the configuration, the tasks and the results."""

from __future__ import annotations

from typing import Final

from omibench.review.kinds.declaration import Field

TASK: Final = "task"
"""The object of all controls, and the key of its text."""
OMIBENCH: Final = "omibench"
"""Our key in the data of a task and in the meta of a result."""
TRUE, FALSE = "true", "false"
"""The values of a flag."""


def name_part(part: str) -> str:
    """Return the name of a part's object, which is also its key in the data."""
    return f"part_{part}"


def name_options(field: str) -> str:
    """Return the data key of a field's options in one task."""
    return f"options_{field}"


def name_start(field: str) -> str:
    """Return the data key of a text field's initial value."""
    return f"start_{field}"


def has_stars(field: Field) -> bool:
    """Return whether a rating can be given with stars, which count from one."""
    return field.type == "rating" and field.scale[0] == 1
