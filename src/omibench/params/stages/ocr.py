"""The block `ocr`: how exam papers are read."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from omibench.params.blocks import Block, EngineName, Name, PromptFiles


class OcrParams(Block):
    """How exam papers are read."""

    sources: str | None = None
    """Manifest that pairs papers with their keys and solutions (`sources.yaml`)."""
    corrections: str | None = None
    """Corrections of the text read; default: `corrections.yaml` next to the manifest."""
    engine: EngineName = "rapidocr"
    """Engine for pages whose text layer is missing or unreliable; `textlayer`: none."""
    pages: Literal["needed", "all"] = "needed"
    """`all` reads every page with the engine, including those with a text layer."""
    reader: Name | None = None
    """The model of the study that reads pages for `engine: vision`."""
    preset: Literal["olmocr", "mineru"] | None = None
    """The document reader that `reader` is, if it has its own protocol: olmOCR, or MinerU2.5.
    Default: any model with image input, with our prompt."""
    formula_reader: Name | None = None
    """Second reader of content that the text layer or a local engine cannot read reliably:
    doubtful formulas, and lines of scans that contain any. A model of the study, or `mathpix`."""
    formula_preset: Literal["mineru", "paddleocr-vl"] | None = None
    """The document reader that `formula_reader` is, if it has its own tasks: MinerU2.5, or
    PaddleOCR-VL. Default: any model with image input, with our prompt."""
    max_pages: Annotated[int, Field(ge=1)] = 300
    timeout_s: Annotated[float, Field(gt=0)] = 120.0
    """CPU seconds in which the pages of one file must be started; the remaining pages are
    reported."""
    page_timeout_s: Annotated[float, Field(gt=0)] = 60.0
    """CPU seconds for one page. A page that a local engine reads adds them to the time of its
    file."""
    memory_mb: Annotated[int, Field(ge=256)] = 2048
    dpi: Annotated[int, Field(ge=72, le=600)] = 300
    """Resolution of figure crops, in dots per inch."""
    page_pictures: bool = True
    """Render the pages of problems for reviewers (about 130 kB per page); datasets and releases
    do not contain them."""
    prompts: PromptFiles = {}
    """Text files that replace our wording, by prompt name (docs/prompts.md)."""

    @property
    def is_remote(self) -> bool:
        """Whether pages are requested before the process that assembles a paper."""
        return self.engine in ("mathpix", "vision")

    @property
    def asks_ahead(self) -> bool:
        """Whether anything is requested outside the process that assembles a paper."""
        return self.is_remote or self.formula_reader is not None

    @property
    def models(self) -> list[str]:
        """The models of the study in use."""
        pages = self.reader if self.engine == "vision" else None
        return list(dict.fromkeys(name for name in (pages, self.formula_model) if name))

    @property
    def formula_model(self) -> str | None:
        """The model of the study that reads formulas; None for Mathpix or no reader."""
        return None if self.formula_reader == "mathpix" else self.formula_reader
