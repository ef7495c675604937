"""Attributes for slices: columns of items, of models and of settings.

An item's attribute is a column of texts, or of lists of texts if some item has several labels.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import polars as pl

from omibench.schemas.problem import Answer, Question, Value, list_labels

if TYPE_CHECKING:
    from omibench.params.models.base import ModelBlock
    from omibench.params.setting import Setting

MOST_IMAGES = 6
"""Images of a problem from which on all share the last bin (OMIBench, appendix E.2)."""
IMAGE_COUNT = "n_images"
_QUESTION = ("source", "subset")
_MODEL_WORDS = ("label", "group", "provider", "family", "variant", "base", "weights")
_SIZES = ("parameters_b", "active_parameters_b")
MODEL_ATTRIBUTES = (*_MODEL_WORDS, *_SIZES)
_SETTING_WORDS = ("prompt", "images", "without", "perception", "tools", "aggregate")
_SETTING_COUNTS = ("shots", "samples", "budget")
SETTING_ATTRIBUTES = (*_SETTING_WORDS, *_SETTING_COUNTS, "temperature")


class AttributeTables(NamedTuple):
    """One row per item (`id`), model (`model`) or setting (`setting`), a column per attribute."""

    items: pl.DataFrame
    models: pl.DataFrame
    settings: pl.DataFrame

    @property
    def names(self) -> list[str]:
        """The attributes that some item, model or setting has."""
        return [*self.of_items, *self.of_models, *self.of_settings]

    @property
    def of_items(self) -> list[str]:
        """The attributes of items."""
        return list_attributes(self.items)

    @property
    def of_models(self) -> list[str]:
        """The attributes of models; one of items with the same name hides one."""
        return [n for n in _list_filled(self.models, ("model",)) if n not in self.of_items]

    @property
    def of_settings(self) -> list[str]:
        """The attributes of settings; one of items or models with the same name hides one."""
        hidden = {*self.of_items, *self.of_models}
        return [n for n in _list_filled(self.settings, ("setting",)) if n not in hidden]


def describe_items(answers: Iterable[Answer], questions: Mapping[str, Question]) -> pl.DataFrame:
    """Return the columns of items for slices and joins.

    Args:
        answers: The answers of a frozen dataset.
        questions: Its questions by id.

    Returns:
        One row per item: `id`, `subject`, `cluster` (its group, or itself if it shares no stem),
        `n_images`, `answer_type`, `language`, and `source`, `subset` and `topic` if some item has
        one; then a column for each attribute, null if an item lacks it, with lists of texts if some
        item has several labels.
    """
    rows = list(answers)
    asked = [questions.get(answer.id) for answer in rows]
    columns: dict[str, list[Any]] = {
        "id": [a.id for a in rows],
        "subject": [a.subject for a in rows],
        "cluster": [a.group or a.id for a in rows],
        IMAGE_COUNT: [a.n_images for a in rows],
        "answer_type": [a.answer_type for a in rows],
        "language": [q.language if q else None for q in asked],
    }
    stated: dict[str, list[Value | None]] = {
        **{name: [getattr(q, name) if q else None for q in asked] for name in _QUESTION},
        "topic": [a.topic for a in rows],
    }
    names = dict.fromkeys(sorted(name for a in rows for name in a.attributes))
    stated |= {name: [a.attributes.get(name) for a in rows] for name in names}
    series = [
        pl.Series(name, values, pl.Int64 if name == IMAGE_COUNT else pl.String)
        for name, values in columns.items()
    ]
    series += [
        _make_series(name, values)
        for name, values in stated.items()
        if name not in columns and any(values)
    ]
    return pl.DataFrame(series)


def list_attributes(items: pl.DataFrame) -> list[str]:
    """Return the attributes that some item in a table has."""
    return _list_filled(items, ("id", "cluster"))


def describe_models(models: Mapping[str, ModelBlock]) -> pl.DataFrame:
    """Return the columns of models from their blocks.

    Args:
        models: The blocks by name.

    Returns:
        One row per model: `model`, `label`, `group`, `provider`, `family`, `variant`, `base`,
        `weights` (`open` or `closed`; `open` for local models), `parameters_b` and
        `active_parameters_b` (10^9).
    """
    rows = [
        {"model": name} | {field: getattr(block, field) for field in MODEL_ATTRIBUTES}
        for name, block in models.items()
    ]
    texts = dict.fromkeys(("model", *_MODEL_WORDS), pl.String())
    return pl.DataFrame(rows, schema={**texts, **dict.fromkeys(_SIZES, pl.Float64())})


def describe_settings(settings: Mapping[str, Setting]) -> pl.DataFrame:
    """Return the columns of settings from their blocks.

    Args:
        settings: The blocks by name.

    Returns:
        One row per setting: `setting`, `prompt`, `images` (the condition), `without`, `perception`,
        `tools`, `aggregate`, `shots` (examples shown), `samples`, `budget` (`max_tokens`) and
        `temperature`.
    """
    rows = [
        {
            "setting": name,
            "prompt": block.prompt,
            "images": _name_condition(block),
            "without": ", ".join(block.without) or None,
            "perception": _name_perception(block),
            "tools": block.tools.manner if block.tools else None,
            "aggregate": block.aggregate.how if block.decoding.samples > 1 else None,
            "shots": block.examples.k if block.examples else 0,
            "samples": block.decoding.samples,
            "budget": block.decoding.max_tokens,
            "temperature": block.decoding.temperature,
        }
        for name, block in settings.items()
    ]
    return pl.DataFrame(
        rows,
        schema={
            **dict.fromkeys(("setting", *_SETTING_WORDS), pl.String()),
            **dict.fromkeys(_SETTING_COUNTS, pl.Int64()),
            "temperature": pl.Float64(),
        },
    )


def _name_perception(block: Setting) -> str | None:
    if block.perceiver:
        return f"{block.perceiver.put} {block.perceiver.model}"
    return block.perception.given if block.perception else None


def list_values(frame: pl.DataFrame, key: str, name: str) -> pl.DataFrame:
    """Return the values of one attribute in long form.

    Args:
        frame: One of `AttributeTables`.
        key: Its key: `id`, `model` or `setting`.
        name: The attribute.

    Returns:
        Rows of `key` and the attribute as text: one per label, `NOT_STATED` without one, numbers of
        images from `MOST_IMAGES` on as one bin.
    """
    column = frame.select(key, name)
    dtype = column.schema[name]
    if isinstance(dtype, pl.List):
        column = column.explode(name).unique(maintain_order=True)
    elif name == IMAGE_COUNT:
        column = column.select(key, name_image_bins(pl.col(name)).alias(name))
    elif dtype.is_float():
        whole = pl.col(name) == pl.col(name).round()
        column = column.select(
            key,
            pl.when(whole)
            .then(pl.col(name).cast(pl.Int64).cast(pl.String))
            .otherwise(pl.col(name).cast(pl.String))
            .alias(name),
        )
    return column.select(key, pl.col(name).cast(pl.String).fill_null(NOT_STATED))


NOT_STATED = "not stated"
"""The value of items, models and settings that lack an attribute which others have."""


def name_image_bins(counts: pl.Expr) -> pl.Expr:
    """Return the bins of numbers of images: "2", "3", ..., "6+"."""
    return (
        pl.when(counts >= MOST_IMAGES)
        .then(pl.lit(f"{MOST_IMAGES}+"))
        .otherwise(counts.cast(pl.String))
    )


def _make_series(name: str, values: Sequence[Value | None]) -> pl.Series:
    if any(isinstance(value, list) for value in values):
        labels = [list_labels(value) or None for value in values]
        return pl.Series(name, labels, pl.List(pl.String))
    return pl.Series(name, values, pl.String)


def _name_condition(setting: Setting) -> str:
    images = setting.images
    return f"{images.show} {images.k}" if images.show == "first" and images.k > 1 else images.show


def _list_filled(frame: pl.DataFrame, keys: Sequence[str]) -> list[str]:
    return [
        name
        for name in frame.columns
        if name not in keys and frame[name].null_count() < frame.height
    ]
