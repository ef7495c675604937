"""The command `omibench ocr-quality`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from omibench.cli.options import OptionalParams, read_study
from omibench.text.terminal import say_lines


def ocr_quality(
    pairs: Annotated[
        Path,
        typer.Argument(
            metavar="PAIRS", help="JSONL file with id, text (as read) and reference (as printed)."
        ),
    ],
    out: Annotated[Path, typer.Option(metavar="FILE.jsonl", help="JSONL file to write.")],
    judge: Annotated[
        list[str] | None,
        typer.Option(help="Judge of key terms and meaning: a key of params `models`; repeatable."),
    ] = None,
    weights: Annotated[
        str | None,
        typer.Option(
            metavar="N,T,S,F,L",
            help="Weights of numbers, terms, semantics, structure, lexical.  [1,1,1,1,1]",
        ),
    ] = None,
    params: OptionalParams = "{}",
) -> None:
    """Measure OCR accuracy against reference texts.

    Uses the five measures of MathReal: numbers, key terms, semantics, structure and Levenshtein
    distance. Key terms, semantics and the mean of all five need a judge.

    \b
    Example:
      omibench ocr-quality pairs.jsonl --out scores.jsonl
      omibench ocr-quality pairs.jsonl --judge gpt-4.1-nano --params params.yaml --out scores.jsonl
    """
    from omibench.errors import ParamsError
    from omibench.explore.ocr_quality import Weights, score_transcripts, summarise_scores
    from omibench.files.outputs import output_file, spare_inputs

    study = read_study(params)
    spare_inputs(output_file(out, study.study.store), pairs)
    chosen_weights = Weights()
    if weights is not None:
        try:
            values = [float(value) for value in weights.split(",")]
            chosen_weights = Weights(**dict(zip(Weights.model_fields, values, strict=True)))
        except ValueError:
            raise ParamsError(
                f"--weights {weights}: is not five numbers of at least 0; write, for "
                "example, 3,2,2,1,2"
            ) from None
    scores = score_transcripts(pairs, out, study, judge or [], chosen_weights)
    say_lines(summarise_scores(scores), err=True)
