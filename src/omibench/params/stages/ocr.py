"""The block `ocr`: how exam papers are read."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from omibench.params.blocks import Block, Name
from omibench.params.names import EngineName, PromptFiles


class OcrParams(Block):
    """How exam papers are read."""

    sources: str | None = None
    """Manifest that pairs papers with their keys and solutions (`sources.yaml`)."""
    corrections: str | None = None
    """Corrections of what was read; `corrections.yaml` beside the manifest where none is named."""
    engine: EngineName = "rapidocr"
    """What reads the pages whose text layer does not say what they show; `textlayer`: nothing."""
    pages: Literal["needed", "all"] = "needed"
    """`all` has the engine read every page, also those with a text layer."""
    reader: Name | None = None
    """The model of the study that reads pages for `engine: vision`."""
    preset: Literal["olmocr", "mineru"] | None = None
    """What `reader` is, where it is a document reader with a protocol of its own: olmOCR, or
    MinerU2.5. Left out: any model that sees, asked in our words."""
    formula_reader: Name | None = None
    """Who reads once more what the text layer or an engine of this machine cannot give for certain:
    doubtful formulas, and lines of scans that hold any. A model of the study, or `mathpix`."""
    formula_preset: Literal["mineru", "paddleocr-vl"] | None = None
    """What `formula_reader` is, where it is a document reader with tasks of its own: MinerU2.5, or
    PaddleOCR-VL. Left out: any model that sees, asked in our words."""
    max_pages: Annotated[int, Field(ge=1)] = 300
    timeout_s: Annotated[float, Field(gt=0)] = 120.0
    """CPU seconds in which the pages of one file are begun; those that are left are named."""
    page_timeout_s: Annotated[float, Field(gt=0)] = 60.0
    """CPU seconds more for each page that an engine of this machine reads."""
    memory_mb: Annotated[int, Field(ge=256)] = 2048
    dpi: Annotated[int, Field(ge=72, le=600)] = 300
    """Resolution of figure crops, in dots per inch."""
    page_pictures: bool = True
    """Draw the pages on which problems stand, for people who look at items (about 130 kB a page);
    datasets and releases hold none of them."""
    prompts: PromptFiles = {}
    """Text files that take the place of our words, by the names of prompts (docs/prompts.md)."""

    @property
    def is_remote(self) -> bool:
        """Whether pages are asked ahead of the process that puts a paper together."""
        return self.engine in ("mathpix", "vision")

    @property
    def asks_ahead(self) -> bool:
        """Whether anything is asked for outside of the process that puts a paper together."""
        return self.is_remote or self.formula_reader is not None

    @property
    def models(self) -> list[str]:
        """The models of the study that are asked."""
        pages = self.reader if self.engine == "vision" else None
        return list(dict.fromkeys(name for name in (pages, self.formula_model) if name))

    @property
    def formula_model(self) -> str | None:
        """The model of the study that reads formulas; None where Mathpix or nobody does."""
        return None if self.formula_reader == "mathpix" else self.formula_reader
