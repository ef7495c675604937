"""Croissant: the metadata of a release as JSON-LD, for machines (mlcommons.org/croissant/1.0)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from omibench.release.columns import describe_columns
from omibench.schemas.release import ReleaseProvenance

_TYPES: Final = {"string": "sc:Text", "bool": "sc:Boolean"}
_CONTEXT: Final = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "conformsTo": "dct:conformsTo",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "equivalentProperty": "cr:equivalentProperty",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "extract": "cr:extract",
    "field": "cr:field",
    "fileProperty": "cr:fileProperty",
    "fileObject": "cr:fileObject",
    "fileSet": "cr:fileSet",
    "format": "cr:format",
    "includes": "cr:includes",
    "isLiveDataset": "cr:isLiveDataset",
    "jsonPath": "cr:jsonPath",
    "key": "cr:key",
    "md5": "cr:md5",
    "parentField": "cr:parentField",
    "path": "cr:path",
    "recordSet": "cr:recordSet",
    "references": "cr:references",
    "regex": "cr:regex",
    "repeated": "cr:repeated",
    "replace": "cr:replace",
    "samplingRate": "cr:samplingRate",
    "sc": "https://schema.org/",
    "separator": "cr:separator",
    "source": "cr:source",
    "subField": "cr:subField",
    "transform": "cr:transform",
}
_PARQUET: Final = "application/x-parquet"
_FORMS: Final = {
    ".parquet": _PARQUET,
    ".jsonl": "application/jsonlines",
    ".json": "application/json",
    ".md": "text/markdown",
}


def describe_croissant(
    provenance: ReleaseProvenance,
    digests: Mapping[str, str],
    splits: Sequence[str],
    several: Mapping[str, bool],
    licences: Sequence[str],
) -> dict[str, Any]:
    """The document croissant.json.

    Args:
        provenance: Name, version and sources.
        digests: SHA-256 of the files that it lists, by their paths in the release.
        splits: Names of the splits.
        several: Names of the attributes, and whether an attribute is a list of labels.
        licences: Those of the items.

    Returns:
        JSON-LD with every file by its hash and, for each split, the columns of one text or truth
        value.
    """
    return {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "name": provenance.name,
        "description": f"{sum(s.items for s in provenance.sources)} problems with pictures, each "
        "with its gold and reference solution.",
        "version": provenance.version,
        "license": list(licences) or ["not stated"],
        "url": f"urn:uuid:{provenance.canary.rsplit(' ', 1)[-1]}",
        "citeAs": f"{provenance.name}, version {provenance.version}",
        "isLiveDataset": False,
        "distribution": [
            *(_describe_file(path, digest) for path, digest in sorted(digests.items())),
            *(_describe_set(split) for split in splits),
        ],
        "recordSet": [_describe_records(split, several) for split in splits],
    }


def _describe_file(path: str, digest: str) -> dict[str, Any]:
    suffix = "." + path.rpartition(".")[2]
    return {
        "@type": "cr:FileObject",
        "@id": path,
        "name": path,
        "contentUrl": path,
        "encodingFormat": _FORMS.get(suffix, "text/plain"),
        "sha256": digest,
    }


def _describe_set(split: str) -> dict[str, Any]:
    return {
        "@type": "cr:FileSet",
        "@id": f"files-{split}",
        "name": f"files-{split}",
        "encodingFormat": _PARQUET,
        "includes": f"data/{split}-*.parquet",
    }


def _describe_records(split: str, several: Mapping[str, bool]) -> dict[str, Any]:
    columns = describe_columns(several)
    fields = [
        {
            "@type": "cr:Field",
            "@id": f"{split}/{name}",
            "name": name,
            "description": column["meaning"],
            "dataType": _TYPES[column["type"]],
            "source": {"fileSet": {"@id": f"files-{split}"}, "extract": {"column": name}},
        }
        for name, column in columns.items()
        if isinstance(column["type"], str)
    ]
    return {
        "@type": "cr:RecordSet",
        "@id": split,
        "name": split,
        "key": {"@id": f"{split}/id"},
        "field": fields,
    }
