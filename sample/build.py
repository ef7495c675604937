"""Typeset the sample booklets, and write the known answers of simulated models and the manifest.

    python sample/build.py              every booklet
    python sample/build.py physics      one booklet, its known answers and its rows of the manifest

The same sources give the same bytes: dates are left out and the scan's noise is seeded.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import json
from pathlib import Path
from typing import Any

import oracle
import yaml

HERE = Path(__file__).resolve().parent
LICENCE = "CC BY 4.0"
SCAN_DPI = 200
SCAN_TURN_DEGREES = 0.8
SCAN_NOISE = 5.0
SCAN_JPEG_QUALITY = 70

Booklet = dict[str, Any]
Row = dict[str, Any]


def names() -> list[str]:
    """The names of the booklets, sorted."""
    return sorted(path.stem for path in (HERE / "booklets").glob("*.yaml"))


def load(name: str) -> Booklet:
    """Return the source of one booklet; sample/README.md describes its fields."""
    path = HERE / "booklets" / f"{name}.yaml"
    booklet: Booklet = yaml.safe_load(path.read_text(encoding="utf-8"))
    if booklet["booklet"] != name:
        raise SystemExit(f"{path.name}: booklet is {booklet['booklet']!r}, expected {name!r}")
    return booklet


def typeset(template: str, name: str) -> bytes:
    """Return the PDF of one template for one booklet, with only typst's fonts."""
    import typst

    return typst.compile(
        HERE / "typeset" / f"{template}.typ",
        root=HERE,
        format="pdf",
        ignore_system_fonts=True,
        sys_inputs={"booklet": name},
    )


def scan(pdf: bytes) -> bytes:
    """Return the pages of a PDF as if scanned: slightly turned, noisy, JPEG, no text layer."""
    import numpy as np
    import pymupdf
    from PIL import Image

    noise = np.random.default_rng(20260101)
    out = pymupdf.open()
    for page in pymupdf.open(stream=pdf):
        pixels = page.get_pixmap(dpi=SCAN_DPI, colorspace=pymupdf.csGRAY)
        sheet = Image.frombytes("L", (pixels.width, pixels.height), pixels.samples)
        turned = sheet.rotate(SCAN_TURN_DEGREES, Image.Resampling.BICUBIC, fillcolor=250)
        grey = np.asarray(turned, dtype=np.float64) * 0.94 + 6.0
        grey += noise.normal(0.0, SCAN_NOISE, grey.shape)
        jpeg = io.BytesIO()
        Image.fromarray(grey.clip(0, 255).astype(np.uint8)).save(
            jpeg, "JPEG", quality=SCAN_JPEG_QUALITY
        )
        leaf = out.new_page(width=page.rect.width, height=page.rect.height)
        leaf.insert_image(leaf.rect, stream=jpeg.getvalue())
    return bytes(out.tobytes(garbage=4, deflate=True, no_new_id=True))


def page_texts(pdf: bytes) -> list[str]:
    """Return the text layer of each page; for a scan, the text of a perfect reader."""
    import pymupdf

    return [page.get_text(sort=False).strip() for page in pymupdf.open(stream=pdf)]


def papers(booklet: Booklet) -> dict[str, str]:
    """Return the files of a booklet by their part in the manifest, relative to this folder."""
    name = booklet["booklet"]
    files = {"paper": f"papers/{name}.pdf"}
    if booklet["key"]:
        files["key"] = f"papers/{name}_key.pdf"
    if booklet["solutions"]:
        files["solutions"] = f"papers/{name}_solutions.pdf"
    return files


def manifest_row(booklet: Booklet, folder: Path = HERE) -> Row:
    """Return one entry of sources.yaml, with the SHA-256 of each file under `folder`."""
    files = papers(booklet)
    digests = {
        path: hashlib.sha256((folder / path).read_bytes()).hexdigest() for path in files.values()
    }
    return {
        "name": booklet["booklet"],
        "paper": files["paper"],
        "key": files.get("key"),
        "solutions": files.get("solutions"),
        "competition": booklet["competition"],
        "year": booklet["year"],
        "country": booklet.get("country", "International"),
        "subject": booklet["subject"],
        "language": booklet.get("language", "en"),
        "licence": booklet.get("licence", LICENCE),
        "redistribute": True,
        "sha256": digests,
    }


def build(name: str, folder: Path = HERE) -> tuple[Row, list[Row]]:
    """Write one booklet's PDFs to `folder`/papers; return its manifest row and known answers."""
    booklet = load(name)
    (folder / "papers").mkdir(parents=True, exist_ok=True)
    templates = {"paper": "booklet", "key": "key", "solutions": "solutions"}
    rows = [oracle.row(booklet, problem) for problem in booklet["problems"]]
    for part, path in papers(booklet).items():
        pdf = typeset(templates[part], name)
        if part == "paper" and booklet.get("scan"):
            texts = page_texts(pdf)
            rows += [{"id": f"{name}#p{n}", "page_text": t} for n, t in enumerate(texts, 1)]
            pdf = scan(pdf)
        (folder / path).write_bytes(pdf)
    return manifest_row(booklet, folder), rows


def write_oracle(rows: dict[str, list[Row]]) -> None:
    """Replace the rows of the given booklets and keep the others."""
    path = HERE / "oracle.jsonl"
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    kept: dict[str, list[Row]] = {}
    for row in map(json.loads, lines):
        source = row["id"].partition("#")[0] if "#" in row["id"] else row["id"].rpartition("-")[0]
        kept.setdefault(source, []).append(row)
    merged = {**{n: r for n, r in kept.items() if n in names()}, **rows}
    out = [json.dumps(row, ensure_ascii=False) for name in sorted(merged) for row in merged[name]]
    path.write_text("\n".join(out) + "\n", encoding="utf-8")


def write_manifest(rows: dict[str, Row]) -> None:
    """Replace the entries of the given booklets; keep the header comment and the others."""
    path = HERE / "sources.yaml"
    old = path.read_text(encoding="utf-8") if path.exists() else ""
    header = "".join(line for line in old.splitlines(keepends=True) if line.startswith("#"))
    kept = {row["name"]: row for row in (yaml.safe_load(old) or {}).get("sources") or []}
    merged = {**{n: r for n, r in kept.items() if n in names()}, **rows}
    body = yaml.safe_dump(
        {"sources": [merged[name] for name in sorted(merged)]},
        sort_keys=False,
        allow_unicode=True,
        width=100,
    )
    path.write_text(header + body, encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("booklet", nargs="*", help="names of booklets; all when none is given")
    wanted = parser.parse_args().booklet or names()
    for name in wanted:
        if name not in names():
            parser.error(f"no booklet {name!r}; available: {', '.join(names())}")
    built = {name: build(name) for name in wanted}
    write_manifest({name: row for name, (row, _) in built.items()})
    write_oracle({name: rows for name, (_, rows) in built.items()})
    for name, (row, rows) in built.items():
        print(f"{name}: {len(rows)} oracle rows, {', '.join(row['sha256'])}")


if __name__ == "__main__":
    main()
