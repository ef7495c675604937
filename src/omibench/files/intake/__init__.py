"""Bounded and checked reading of untrusted files.

A FIFO, a device, a file that is too large, a Parquet file that unpacks to gigabytes, deeply
nested JSON, a path that leads out of its folder, a picture that is a web page: each raises a
user error with one line that contains the file name. YAML is read by `files.yaml_file`, with
bounds.
"""

from omibench.files.intake.containment import resolve_within
from omibench.files.intake.csv_rows import NumberedRow, read_csv, read_numbered_csv
from omibench.files.intake.frames import iter_frame, read_frame
from omibench.files.intake.json_text import parse_json, read_json, read_json_lines
from omibench.files.intake.metadata import strip_metadata
from omibench.files.intake.picture import EncodedPicture, read_picture
from omibench.files.intake.regular import FILE_BYTES, open_regular, read_bytes, read_text

__all__ = [
    "FILE_BYTES",
    "EncodedPicture",
    "NumberedRow",
    "iter_frame",
    "open_regular",
    "parse_json",
    "read_bytes",
    "read_csv",
    "read_frame",
    "read_json",
    "read_json_lines",
    "read_numbered_csv",
    "read_picture",
    "read_text",
    "resolve_within",
    "strip_metadata",
]
