"""Names that the configuration, the tasks and the results share."""

from __future__ import annotations

from typing import Final

from omibench.review.kinds.declaration import Field

TASK: Final = "task"
"""The object to which all controls belong, and the key of its text."""
OMIBENCH: Final = "omibench"
"""The key of ours in the data of a task and in the meta of a result."""
TRUE, FALSE = "true", "false"
"""The values of a flag."""


def name_part(part: str) -> str:
    """The object, and the key of the data, of a part."""
    return f"part_{part}"


def name_options(field: str) -> str:
    """The key of the data that lists the options of a field in one task."""
    return f"options_{field}"


def name_start(field: str) -> str:
    """The key of the data with which a text field starts."""
    return f"start_{field}"


def has_stars(field: Field) -> bool:
    """Whether a rating can be given by stars, which count from one."""
    return field.type == "rating" and field.scale[0] == 1
