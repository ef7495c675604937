"""Certification without a study: verdicts from a file of `omibench score`, and labels."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from omibench.datasets.formats.named import format_columns
from omibench.datasets.formats.read import raw_rows
from omibench.datasets.formats.record import extract_texts, plain
from omibench.errors import FileFormatError, MissingInputError
from omibench.files.reading import hash_file
from omibench.params.stages.analyze import certificate_identity
from omibench.results.judgements import RESPONSE, with_quadrants
from omibench.results.load import JUDGE_RULES
from omibench.schemas.certificate import CERTIFICATE_FILE, DISAGREEMENTS_FILE, Certificate
from omibench.schemas.tables import write_json, write_jsonl
from omibench.schemas.validation import suggest_name
from omibench.stages.certify.labels import make_certificate, match_labels, read_labels
from omibench.stages.certify.sampling import draw_apart, make_disagreement

if TYPE_CHECKING:
    from omibench.params.study import Study


Row = dict[str, Any]

SCHEMA: Final[dict[str, Any]] = {
    **dict.fromkeys(("model", "setting", "id"), pl.String), "index": pl.Int64,
    **dict.fromkeys(("text", "cluster", "answer_type", "rules", "version"), pl.String),
    "by_rules": pl.Float64, "by_judge": pl.Float64,
    **dict.fromkeys(("judge_outcome", "judge", "judge_key", "prompt_sha256"), pl.String),
    **dict.fromkeys(("extracted", "method", "question"), pl.String), "gold": pl.List(pl.String),
}  # fmt: skip
_NEEDED = ("id", "verdict")
_NO_MODEL, _NO_SETTING = "file", "-"


def read_verdicts(path: Path, rules: str | None) -> list[Row]:
    """Return the verdicts of one scorer of a file, the first or the given one, row by row.

    Responses to one problem without an `index` are numbered in order.

    Raises:
        MissingInputError: The file does not exist or lacks the scorer.
        FileFormatError: The file has no verdicts.
    """
    rows: list[Row] = []
    last_index: dict[tuple[str, ...], int] = {}
    scorers: dict[str, None] = {}
    for number, raw in enumerate(raw_rows(path), 1):
        location = f"{path}, row {number}"
        lost = [name for name in _NEEDED if name not in raw]
        if lost:
            raise FileFormatError(
                f"{location}: lacks the column {lost[0]!r}; it has {format_columns(raw)}; pass a "
                "file written by omibench score"
            )
        scorer = str(raw.get("rules") or "rules")
        scorers[scorer] = None
        if scorer != (rules or next(iter(scorers))):
            continue
        place = (str(raw.get("model") or _NO_MODEL), str(raw.get("setting") or _NO_SETTING),
                 plain(raw["id"]))  # fmt: skip
        index = raw.get("index")
        last_index[place] = last_index.get(place, -1) + 1
        rows.append(
            _make_row(
                raw, scorer, place, last_index[place] if index is None else int(index), location
            )
        )
    if not rows:
        hint = suggest_name(rules, scorers) if rules and scorers else ""
        raise MissingInputError(f"{path}: no verdict{f' of {rules!r}{hint}' if rules else ''}")
    return rows


def _make_row(raw: Row, scorer: str, place: tuple[str, str, str], index: int, location: str) -> Row:
    model, setting, id = place
    judged = raw.get("gptscore") is not None and raw.get("judge_outcome") is not None
    return {
        "model": model, "setting": setting, "id": id, "index": index,
        "text": str(raw.get("prediction") or raw.get("text") or ""),
        "cluster": str(raw.get("group") or id),
        "answer_type": str(raw.get("answer_type") or "open"),
        "rules": scorer, "version": str(raw.get("version") or ""),
        "by_rules": _parse_share(raw["verdict"], location, "verdict"),
        "by_judge": _parse_share(raw["gptscore"], location, "gptscore") if judged else None,
        "judge_outcome": str(raw["judge_outcome"]) if judged else "scored",
        "judge": (str(raw.get("judge") or JUDGE_RULES)) if judged else None,
        "judge_key": raw.get("judge_key"), "prompt_sha256": raw.get("judge_prompt_sha256"),
        "extracted": raw.get("extracted"), "method": str(raw.get("method") or ""),
        "question": str(raw.get("question") or ""), "gold": extract_texts(raw.get("gold")),
    }  # fmt: skip


def _parse_share(value: Any, location: str, column: str) -> float:
    try:
        share = float(value)
    except (TypeError, ValueError):
        share = -1.0
    if not 0 <= share <= 1:
        excerpt = repr(value)[:60]
        raise FileFormatError(
            f"{location}, column {column!r}: not a number in 0..1 (got {excerpt})"
        )
    return share


# Certification without a study: verdicts of `omibench score` and labels.

LABELS = "labels"
"""Name in place of the scorer in the four-way table if the file has no judge."""


def certify_scored(
    labels: Path, scored: Path, out: Path, study: Study, rules: str | None = None
) -> Certificate:
    """Compare the verdicts of a file with labels; write into the folder `out`.

    The judge of the file (`gptscore`) is certified, and compared with its scorer. Without a judge,
    the scorer is certified, and its disagreements with people are drawn. `rules` selects the scorer
    of a file with several.

    Raises:
        MissingInputError: The file does not exist or lacks the scorer.
        FileFormatError: The file has no verdicts, or no label matches.
    """
    rows = read_verdicts(scored, rules)
    judged = any(row["judge"] for row in rows)
    frame = pl.DataFrame(rows, schema=SCHEMA, orient="row")
    label_rows = read_labels(labels)
    matched = match_labels(label_rows, frame, labels)
    values = matched.column("label")
    if not values:
        raise FileFormatError(f"{labels}: no label is of a response in {scored}")
    places = pl.DataFrame(
        [(*place, float(label)) for place, label in values.items()],
        schema={**{name: SCHEMA[name] for name in RESPONSE}, "label": pl.Float64},
        orient="row",
    )
    joined = frame.join(places, on=RESPONSE, how="left", maintain_order="left")
    if not judged:  # the scorer is certified, with people in its place
        joined = joined.with_columns(by_judge=pl.col("by_rules"), by_rules=pl.col("label"))
    compared = with_quadrants(joined.filter(pl.col("judge_outcome") == "scored"))
    compared = compared if judged else compared.filter(pl.col("label").is_not_null())
    rules = _get_only_value(joined, "rules")
    judge = _get_only_value(joined, "judge") or rules or JUDGE_RULES
    scorer = {"rules": rules, "version": _get_only_value(joined, "version")}
    certificate = make_certificate(
        matched,
        compared,
        (compared if judged else joined).with_columns(verdict=pl.col("by_judge")),
        joined.filter(pl.col("label").is_not_null())["judge_outcome"],
        study,
        unit="cluster",
        judge=judge,
        identity=_list_identities(study, judge) if judged else [scorer],
        prompt_sha256=_get_only_value(joined, "prompt_sha256") or "",
        labels_sha256=hash_file(labels),
        rules=(rules or "rules") if judged else LABELS,
        simulated=any(label.row.simulated for label in matched.labels),
    )
    write_json(out / CERTIFICATE_FILE, certificate)
    drawn = (
        make_disagreement(
            row, question=row["question"], gold=row["gold"], text=row["text"], label=row["label"]
        )
        for row in draw_apart(compared, study.study.seed, study.certify.disagreements)
    )
    write_jsonl(out / DISAGREEMENTS_FILE, drawn)
    return certificate


def _get_only_value(joined: pl.DataFrame, column: str) -> str | None:
    values = joined[column].drop_nulls().unique().to_list()
    if len(values) > 1:
        raise FileFormatError(
            f"the file of verdicts has {len(values)} values of {column!r}; certify one at a time"
        )
    return str(values[0]) if values else None


def _list_identities(study: Study, judge: str) -> list[Row]:
    """Return the judge models with their configuration, if the params define them."""
    names = judge.split("+")
    if all(name in study.models for name in names):
        return [certificate_identity(study.models[name]) for name in names]
    return [{"name": name} for name in names]
