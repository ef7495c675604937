"""Datasets of the Hugging Face hub, at a pinned commit, through the library `datasets`."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from omibench.errors import MissingInputError, ModelError

log = logging.getLogger("omibench.benchmarks")


def fetch(hub: str, revision: str, folder: Path) -> Path:
    """Write every configuration and split of a dataset to `folder` as Parquet, and return it.

    Files are named `<configuration>-<split>`, or by the split where there is one configuration.
    Pictures stay the bytes that the hub holds. `hub` is `owner/name`, or a local folder of the
    same layout. Raises MissingInputError without the library, and when the hub does not give the
    dataset at that commit.
    """
    try:
        import datasets
    except ImportError:
        raise ModelError(
            f"benchmark.hub: {hub} is read through the library datasets: install the extra `hub`, "
            "or download the files and name their folder in `data`"
        ) from None
    datasets.disable_progress_bars()
    log.info("reading %s at %s", hub, revision)
    with _told(hub, revision):
        names = datasets.get_dataset_config_names(hub, revision=revision)
        for name in names:
            splits = datasets.load_dataset(hub, name, revision=revision)
            for split, rows in splits.items():
                kept = rows
                for column, feature in rows.features.items():
                    kept = _undecoded(kept, column, feature)
                part = f"{name}-{split}" if len(names) > 1 else str(split)
                kept.to_parquet(str(folder / f"{_file_name(part)}.parquet"))
    return folder


def _undecoded(rows: object, column: str, feature: object) -> object:
    """The rows with the bytes of pictures as they are: decoding would encode them anew."""
    import datasets

    picture = datasets.Image(decode=False)
    if isinstance(feature, datasets.Image):
        return rows.cast_column(column, picture)  # type: ignore[attr-defined]
    inner = getattr(feature, "feature", None)
    if isinstance(inner, datasets.Image):
        return rows.cast_column(column, datasets.List(picture))  # type: ignore[attr-defined]
    return rows


def _file_name(text: str) -> str:
    return "".join(c if c.isalnum() or c in "-_" else "-" for c in text)


@contextmanager
def _told(hub: str, revision: str) -> Iterator[None]:
    from datasets.exceptions import DatasetsError
    from huggingface_hub.errors import HfHubHTTPError

    try:
        yield
    except (DatasetsError, HfHubHTTPError, OSError, ValueError) as error:
        line = " ".join(str(error).split())[:300]
        raise MissingInputError(
            f"benchmark.hub: {hub} at {revision[:12]} cannot be read: {line}"
        ) from None
