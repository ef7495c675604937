"""What every block of params.yaml is made of."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

Rate = Annotated[float, Field(ge=0, le=1)]
Name = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$", max_length=80)]


class Block(BaseModel):
    """A block of params.yaml: frozen, and an unknown key is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid")
