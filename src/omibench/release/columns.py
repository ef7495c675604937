"""The columns of a release's Parquet files, for Arrow and for `datasets`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from omibench.datasets.releases.hashes import PREFIX

if TYPE_CHECKING:
    import pyarrow as pa

CANARY: Final = "canary"
_STRING: Final = "string"
_TEXTS: Final = ["string"]
_CHOICES: Final = [{"label": "string", "text": "string", "image": "int32"}]
_COLUMNS: Final[Mapping[str, Any]] = {
    "id": _STRING,
    "question": _STRING,
    "images": ["image"],
    "choices": _CHOICES,
    "answer": _TEXTS,
    "answer_type": _STRING,
    "rationale": _STRING,
    "rationale_simulated": "bool",
    "subject": _STRING,
    "topic": _STRING,
    "language": _STRING,
    "group": _STRING,
    "subset": _STRING,
    "source": _STRING,
    "licence": _STRING,
    "access": _STRING,
    "pages": ["int32"],
    "figures": [{"sha256": "string", "page": "int32", "bbox": ["float64"], "caption": "string"}],
    "original_language": _STRING,
    "original_question": _STRING,
    "original_choices": _CHOICES,
    "translator": _STRING,
    CANARY: _STRING,
}
"""Name -> type; a list of one type is a list column, a mapping a struct column."""

_MEANINGS: Final[Mapping[str, str]] = {
    "id": "Stable identifier of the item.",
    "question": "Markdown with LaTeX; [IMAGE0], [IMAGE1], ... mark the positions of `images`. Null "
    "for metadata-only items.",
    "images": "The original bytes of the pictures, never re-encoded.",
    "choices": "Options of a multiple-choice item: a text, or the index of a picture.",
    "answer": "Gold answer: letters of a multiple-choice key, or the parts of an open answer.",
    "answer_type": "`mcq` or `open`.",
    "rationale": "Reference solution, step by step.",
    "rationale_simulated": "Whether a simulated model wrote the rationale.",
    "subject": "Domain of the item.",
    "topic": "Topic within the subject.",
    "language": "ISO 639-1 code of the question.",
    "group": "Items that share a stem share a group.",
    "subset": "Part of the benchmark that the item belongs to.",
    "source": "Name of the paper or benchmark that it was taken from.",
    "licence": "Licence of the item.",
    "access": "`full`, or `metadata` if texts and pictures cannot be redistributed.",
    "pages": "Pages of the paper, from 1.",
    "figures": "SHA-256, page, box (PDF points from the top left corner) and caption of each "
    "picture.",
    "original_language": "Language of the text before its translation.",
    "original_question": "The question before its translation.",
    "original_choices": "The options before their translation.",
    "translator": "The translator.",
    CANARY: "A text to search training data for.",
}


def describe_columns(several: Mapping[str, bool]) -> dict[str, dict[str, Any]]:
    """Return the columns of a release: name -> type and meaning, as in schema.json.

    Args:
        several: Names of the attributes, and whether an attribute is a list of labels.
    """
    attributes = {
        PREFIX + name: {
            "type": _TEXTS if is_list else _STRING,
            "meaning": f"The attribute `{name}` of the item.",
        }
        for name, is_list in several.items()
    }
    columns = {name: {"type": kind, "meaning": _MEANINGS[name]} for name, kind in _COLUMNS.items()}
    return columns | attributes


def arrow_schema(several: Mapping[str, bool]) -> pa.Schema:
    """Return the schema of the files, with the `datasets` features in its metadata.

    Args:
        several: Names of the attributes, and whether an attribute is a list of labels.
    """
    import pyarrow as pa

    types = {name: column["type"] for name, column in describe_columns(several).items()}
    features = {name: _feature(kind) for name, kind in types.items()}
    note = json.dumps({"info": {"features": features}}, sort_keys=True)
    fields = [pa.field(name, _arrow_type(kind)) for name, kind in types.items()]
    return pa.schema(fields, metadata={"huggingface": note})


def _feature(kind: Any) -> Any:
    if isinstance(kind, list):
        return {"feature": _feature(kind[0]), "_type": "List"}
    if isinstance(kind, Mapping):
        return {name: _feature(inner) for name, inner in kind.items()}
    return {"_type": "Image"} if kind == "image" else {"dtype": kind, "_type": "Value"}


def _arrow_type(kind: Any) -> pa.DataType:
    import pyarrow as pa

    if isinstance(kind, list):
        return pa.list_(_arrow_type(kind[0]))
    if isinstance(kind, Mapping):
        return pa.struct([(name, _arrow_type(inner)) for name, inner in kind.items()])
    if kind == "image":
        return pa.struct([("bytes", pa.binary()), ("path", pa.string())])
    return pa.type_for_alias(kind)
