"""Read a page as a browser's parser would: its elements, links and words."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import zlib
from collections.abc import Iterator
from functools import cached_property
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from omibench.params.setting import Cell
from omibench.stages.analyze.pages import cell_anchor

FORMULAS_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline' 'self'; img-src data: 'self'; "
    "script-src 'self'; font-src 'self'"
)
ITEM_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; font-src 'self'; "
    "base-uri 'none'; form-action 'none'"
)
FORMULA_ELEMENTS: list[tuple[str, dict[str, str]]] = [
    ("link", {"rel": "stylesheet", "href": "../formulas/katex.min.css"}),
    ("script", {"defer": "", "src": "../formulas/katex.min.js"}),
    ("script", {"defer": "", "src": "../formulas/mhchem.min.js"}),
    ("script", {"defer": "", "src": "../formulas/formulas.js"}),
]
"""What sets the formulas of a page: files beside the pages."""
ITEM_ELEMENTS: list[tuple[str, dict[str, str]]] = [
    ("link", {"rel": "stylesheet", "href": "../formulas/katex.min.css"}),
    ("link", {"rel": "stylesheet", "href": "../formulas/item.css"}),
    ("script", {"defer": "", "src": "../formulas/katex.min.js"}),
    ("script", {"defer": "", "src": "../formulas/mhchem.min.js"}),
    ("script", {"defer": "", "src": "../formulas/item.js"}),
]
"""What renders the page of an item."""
VOID = {"meta", "img", "br", "link", "input", "hr"}


class Page(HTMLParser):
    """Elements as (tag, attributes), ids, and the words outside of style."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.path = path
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.words: list[str] = []
        self._open: list[str] = []
        self.feed(path.read_text("utf-8"))
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {name: value or "" for name, value in attrs}))
        if tag not in VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {name: value or "" for name, value in attrs}))

    def handle_endtag(self, tag: str) -> None:
        assert self._open, f"</{tag}> closes nothing"
        assert self._open[-1] == tag, f"<{self._open[-1]}> is closed by </{tag}>"
        self._open.pop()

    def handle_data(self, data: str) -> None:
        if not {"style", "script"} & set(self._open):
            self.words.append(data)

    @cached_property
    def data(self) -> Any:
        """The data inside the page of an item."""
        html = self.path.read_text("utf-8")
        return json.loads(html.split('id="data">')[1].split("</script>")[0])

    @property
    def pictures(self) -> list[str]:
        """The addresses of all pictures in the data of an item; none on another page."""
        return list(_list_addresses(self.data)) if self.has_data else []

    @property
    def has_data(self) -> bool:
        """Whether it is the page of an item."""
        return "data" in self.ids

    @property
    def anchors(self) -> set[str]:
        """Its ids, and the responses of the page of an item."""
        if not self.has_data:
            return self.ids
        columns = self.data["place"]["columns"]
        return self.ids | {
            cell_anchor(Cell(column["model"], column["setting"]), sample["index"])
            for column in columns
            for sample in column["samples"]
        }

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).split())

    @property
    def ids(self) -> set[str]:
        return {a["id"] for _, a in self.elements if "id" in a}

    def links(self, attribute: str = "href") -> list[str]:
        return [a[attribute] for _, a in self.elements if attribute in a]

    def target(self, link: str) -> tuple[Path, str]:
        """The file and the fragment of a relative link."""
        parts = urlsplit(link)
        assert not parts.scheme, link
        assert not parts.netloc, link
        path = self.path.parent / unquote(parts.path) if parts.path else self.path
        return path.resolve(), parts.fragment

    @property
    def scripts(self) -> list[str]:
        """The texts of scripts that run."""
        parts = re.split(r"<script>", self.path.read_text("utf-8"))[1:]
        return [part.partition("</script>")[0] for part in parts]

    @property
    def packed(self) -> str:
        """The text of the script that another one unpacks; empty on most pages."""
        found = re.search(r'id="vega">"([^"]*)"</script>', self.path.read_text("utf-8"))
        return zlib.decompress(base64.b64decode(found[1])).decode() if found else ""

    def assert_harmless(self) -> None:
        """No script but ours, no handler, no foreign link, and the policy that forbids them."""
        ours = [place for place in self.elements if place in FORMULA_ELEMENTS + ITEM_ELEMENTS]
        tags = [tag for tag, a in self.elements if (tag, a) not in ours]
        assert not {"iframe", "object", "embed", "link", "base", "form"} & set(tags)
        kinds = [a for tag, a in self.elements if tag == "script" and (tag, a) not in ours]
        assert all(a.get("type") == "application/json" for a in kinds if a)
        assert len(self.scripts) == kinds.count({})
        for tag, attributes in self.elements:
            for name, value in attributes.items():
                assert not name.startswith("on"), (tag, name)
                if name in ("href", "src") or name.endswith(":href"):
                    assert not urlsplit(value).scheme, (tag, value)
        policies = [
            a["content"]
            for tag, a in self.elements
            if tag == "meta" and a.get("http-equiv") == "Content-Security-Policy"
        ]
        policy = "default-src 'none'; style-src 'unsafe-inline'; img-src data: 'self'"
        texts = [*self.scripts, *([self.packed] if self.packed else [])]
        digests = [hashlib.sha256(script.encode()).digest() for script in texts]
        allowed = " ".join(f"'sha256-{base64.b64encode(d).decode()}'" for d in digests)
        if ours:
            is_item = ours == ITEM_ELEMENTS
            assert is_item or ours == FORMULA_ELEMENTS
            assert policies == [ITEM_POLICY if is_item else FORMULAS_POLICY]
            assert self.scripts == []
            return
        assert policies == [f"{policy}; script-src {allowed}" if allowed else policy]


def _list_addresses(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for name, part in value.items():
            if name in ("src", "address") and part is not None:
                yield part
            else:
                yield from _list_addresses(part)
    elif isinstance(value, list):
        for part in value:
            yield from _list_addresses(part)
