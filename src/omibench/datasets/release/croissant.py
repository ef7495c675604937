"""Croissant metadata of a release as JSON-LD (mlcommons.org/croissant/1.0)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final
from urllib.parse import quote

from omibench.datasets.release.tables import describe_columns
from omibench.datasets.release_folder import ReleaseProvenance

_TYPES: Final = {
    "string": "sc:Text",
    "bool": "sc:Boolean",
    "int32": "sc:Integer",
    "float64": "sc:Float",
    "image": "sc:ImageObject",
}
_CONFIGS: Final = {"default": "data", "sample": "sample"}
"""Configurations of the card, and their file folders."""
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
    """Return the document croissant.json.

    Args:
        provenance: Name, version and sources.
        digests: SHA-256 of the listed files, by their paths in the release.
        splits: Names of the splits.
        several: Names of the attributes, and whether an attribute is a list of labels.
        licences: Licences of the items.

    Returns:
        JSON-LD with every file and its hash and, for each configuration, a record set with all
        columns and the split of each item.
    """
    return {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "name": provenance.name,
        "description": f"{sum(s.items for s in provenance.sources)} problems with pictures, each "
        f"with its gold and reference solution. Canary: {provenance.canary}",
        "version": provenance.version,
        "license": list(licences) or ["not stated"],
        "url": f"urn:uuid:{provenance.canary.rsplit(' ', 1)[-1]}",
        "citeAs": f"{provenance.name}, version {provenance.version}",
        "isLiveDataset": False,
        "distribution": [
            *(_describe_file(path, digest) for path, digest in sorted(digests.items())),
            *(_describe_set(config) for config in _CONFIGS),
        ],
        "recordSet": [
            _describe_splits(splits),
            *(_describe_records(config, several) for config in _CONFIGS),
        ],
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


def _describe_set(config: str) -> dict[str, Any]:
    return {
        "@type": "cr:FileSet",
        "@id": f"files-{config}",
        "name": f"files-{config}",
        "encodingFormat": _PARQUET,
        "includes": f"{_CONFIGS[config]}/*.parquet",
    }


def _describe_splits(splits: Sequence[str]) -> dict[str, Any]:
    return {
        "@type": "cr:RecordSet",
        "@id": "splits",
        "name": "splits",
        "dataType": "cr:Split",
        "key": {"@id": "splits/name"},
        "field": [_name_field("splits/name", "name", "Name of the split.", "sc:Text")],
        "data": [{"splits/name": split} for split in splits],
    }


def _describe_records(config: str, several: Mapping[str, bool]) -> dict[str, Any]:
    columns = describe_columns(several)
    return {
        "@type": "cr:RecordSet",
        "@id": config,
        "name": config,
        "key": {"@id": f"{config}/id"},
        "field": [
            _describe_split(config),
            *(
                _describe_field(config, name, column["type"], column["meaning"])
                for name, column in columns.items()
            ),
        ],
    }


def _describe_split(config: str) -> dict[str, Any]:
    """Return the field with an item's split, which is part of its file name."""
    # Also matches the plain name of a split, since mlcroissant applies it to its own result again.
    head, tail = rf"(?:.*\b{_CONFIGS[config]}/)?", r"(?:-\d{5}-of-\d{5}\.parquet)?"
    pattern = f"^{head}([a-z][a-z0-9_]*){tail}$"
    return {
        **_name_field(f"{config}/split", "split", "Split of the item.", "sc:Text"),
        "references": {"field": {"@id": "splits/name"}},
        "source": {
            "fileSet": {"@id": f"files-{config}"},
            "extract": {"fileProperty": "fullpath"},
            "transform": {"regex": pattern},
        },
    }


def _describe_field(config: str, name: str, kind: Any, meaning: str) -> dict[str, Any]:
    """Return a column as a field; lists of structs become repeated fields with subfields."""
    identity = f"{config}/{quote(name, safe='')}"
    source = {"fileSet": {"@id": f"files-{config}"}, "extract": {"column": name}}
    content, is_list = (kind[0], True) if isinstance(kind, list) else (kind, False)
    if isinstance(content, Mapping):
        return {
            **_name_field(identity, name, meaning, None),
            "repeated": True,
            "subField": [
                {
                    **_name_field(f"{identity}/{part}", part, "", _find_type(inner)),
                    "source": {**source, "transform": {"jsonPath": part}},
                }
                for part, inner in content.items()
            ],
        }
    if content == "image":
        source["transform"] = {"jsonPath": "bytes"}
    return {
        **_name_field(identity, name, meaning, _TYPES[content]),
        **({"repeated": True} if is_list else {}),
        "source": source,
    }


def _find_type(kind: Any) -> str:
    return _TYPES[kind[0] if isinstance(kind, list) else kind]


def _name_field(identity: str, name: str, meaning: str, kind: str | None) -> dict[str, Any]:
    return {
        "@type": "cr:Field",
        "@id": identity,
        "name": name,
        **({"description": meaning} if meaning else {}),
        **({"dataType": kind} if kind else {}),
    }
