"""Blocks of what carries out the tools of other models."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, model_validator

from omibench.params.blocks import Block, PlainPath, Url
from omibench.params.models.base import Limits, ModelBlock
from omibench.params.roles import Runtime


class PythonModel(ModelBlock):
    """The tool `python`: runs code of models in a sandbox, each call in a fresh process.

    The code of the earlier calls runs again in it, so that their variables last.
    """

    is_free: ClassVar[bool] = True

    provider: Literal["python"]
    sandbox: Runtime[Literal["bubblewrap", "podman", "docker"]] = "bubblewrap"
    """The program that confines the code, which never runs without it."""
    image: Runtime[str | None] = None
    """With podman or docker: the image, with Python 3.11 or later, Pillow and NumPy."""
    python: Runtime[PlainPath | None] = None
    """The Python that runs the code, such as that of an environment with matplotlib; default: the
    one that runs omibench, or `python3` of the image."""
    at_once: Runtime[Annotated[int, Field(ge=1, le=64)]] = 2
    """Processes at a time."""
    seconds: Annotated[float, Field(gt=0, le=600)] = 60.0
    """Longest time of a process, with the code that runs again."""
    memory_mb: Annotated[int, Field(ge=256)] = 2048
    folder_mb: Annotated[int, Field(ge=1, le=4096)] = 64
    """Size of the folder in memory that the code can write to."""
    pictures: Annotated[int, Field(ge=0, le=16)] = 4
    """Pictures that a call can show."""
    output: Annotated[int, Field(ge=100, le=20_000)] = 4000
    """Characters of the printed text that the model is shown; the middle of a longer one is cut."""

    @property
    def tools(self) -> frozenset[str]:
        """The tools that it carries out."""
        return frozenset({"python"})

    @model_validator(mode="after")
    def _container_has_image(self) -> Self:
        if (self.sandbox == "bubblewrap") != (self.image is None):
            need = "takes no" if self.image else "needs"
            raise ValueError(f"sandbox: {self.sandbox} {need} `image`")
        return self


ExpertName = Literal["detect", "segment", "depth", "read_text"]


class ExpertWeights(Block):
    """The weights of an expert, loaded with transformers' own classes."""

    id: str
    """Hub id, such as `IDEA-Research/grounding-dino-tiny`, or a folder."""
    revision: str | None = None
    """Commit of the hub model."""


class ExpertsModel(ModelBlock):
    """Vision models that carry out tools, behind the server of `omibench experts serve`."""

    is_free: ClassVar[bool] = True

    provider: Literal["experts"]
    experts: Annotated[dict[ExpertName, ExpertWeights], Field(min_length=1)]
    """Tool -> its weights."""
    base_url: Runtime[Url] = "http://127.0.0.1:8020"
    device: Runtime[str | None] = None
    """Device of the server, such as `cuda`; default: the first GPU, or else the CPU."""
    limits: Runtime[Limits] = Limits(concurrency=4)

    @property
    def tools(self) -> frozenset[str]:
        """The tools that it carries out."""
        return frozenset(self.experts)
