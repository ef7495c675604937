"""What people write as YAML: every way to get it wrong has its line, and each key can be found."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from omibench.errors import ParamsError
from omibench.files.yaml_file import (
    add_place,
    find_line,
    locate_key,
    parse_yaml,
    read_mapping,
    yaml_meaning,
)

TEXT = """\
models:
  gpt-4.1:
    provider: openai
    price: {input: 1, output: 2}
  gpt-4: {provider: openai}
infer:
  models:
    - gpt-4.1
    - gpt-4
"""


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b"a: [1, 2\nb: 3\n", "line 2: is not valid YAML: did not find expected ',' or ']'"),
        (b"a:\n\tb: 1\n", "line 2: is not valid YAML: a tab indents it; use spaces"),
        (b"a: b: c\n", "line 1: is not valid YAML: mapping values are not allowed"),
        (b"a: 1\nb: {c: 1,\n d: 2, c: 3}\n", "line 3: the key 'c' occurs twice, first in line 2"),
        (b"a: *b\n", "line 1: is not valid YAML: found undefined alias"),
        (b"a: !!python/name:os.system x\n", "line 1: is not valid YAML: could not determine"),
        (
            b"\xef\xbb\xbfa: 1\nb: caf\xe9\n",
            "line 2: is not UTF-8 text (it contains the byte 0xe9)",
        ),
        (b"a: \x00\n", "is not text: it contains the character #x0000"),
        (b"? [a]\n: b\n", "line 1: is not valid YAML: found unhashable key"),
    ],
)
def test_a_mistake_has_its_line(text: bytes, said: str) -> None:
    with pytest.raises(ValueError, match=r"line|text") as error:
        parse_yaml(text)
    assert str(error.value).startswith(said)
    assert "\n" not in str(error.value)


def test_the_same_key_may_stand_in_two_blocks_and_in_an_anchor() -> None:
    text = "x: &x {a: 1, b: 2}\ny: {<<: *x, b: 3}\nz: [*x, *x]\n"
    assert parse_yaml(text) == yaml.safe_load(text)


plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=12,
)


@given(plain)
def test_what_is_right_reads_as_yaml_reads_it(values: Any) -> None:
    text = yaml.safe_dump(values, allow_unicode=True)
    assert parse_yaml(text) == yaml.safe_load(text)


@given(st.binary(max_size=40))
def test_any_bytes_are_values_or_one_line(content: bytes) -> None:
    said = ""
    try:
        parse_yaml(content)
    except ValueError as error:
        said = str(error)
    assert "\n" not in said


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("models", 1), ("models.gpt-4.1.price.input", 4), ("models.gpt-4.provider", 5),
        ("models.gpt-4.1.pirce", 2), ("infer.models.1", 9), ("infer.setings", 6), ("ocr", None),
        ("", None),
    ],
)  # fmt: skip
def test_the_line_of_a_key_also_where_names_hold_dots(path: str, line: int | None) -> None:
    assert find_line(TEXT, path) == line


def test_the_last_file_that_holds_a_key_is_the_place(tmp_path: Path) -> None:
    first, second = tmp_path / "a.yaml", tmp_path / "b.yaml"
    first.write_text(TEXT)
    second.write_text("ocr:\n  dpi: 9\n  pages: two.txt\n")
    files = [first, second]
    assert locate_key("ocr.dpi: too few", files) == f"{second}, line 2"
    assert locate_key("infer.models names 'x'", files) == f"{first}, line 7"
    assert locate_key("data: wrong", files) is None
    assert add_place("two.txt", files) == f"two.txt ({second}, line 3)"
    assert add_place("three.txt", files) == "three.txt"


def test_a_file_that_is_none_of_parameters(tmp_path: Path) -> None:
    with pytest.raises(ParamsError, match=r"cannot be read: it is a folder, not a file$"):
        read_mapping(tmp_path)
    file = tmp_path / "p.yaml"
    file.write_text("just words\n")
    with pytest.raises(ParamsError, match=r"p\.yaml: contains a single value \('just words'\)"):
        read_mapping(file)
    file.write_text("ocr: {}\n")
    assert read_mapping(file) == {"ocr": {}}


def test_comments_and_layout_do_not_change_the_meaning_of_files(tmp_path: Path) -> None:
    file, other = tmp_path / "a.yaml", tmp_path / "b.yaml"
    file.write_text("sources: [{name: a, year: 2024-01-01}]\n")
    other.write_text("")
    before = yaml_meaning([file, other])
    file.write_text("# Ana's\nsources:\n- year: 2024-01-01\n  name: a\n")
    assert yaml_meaning([file, other]) == before
    file.write_text("sources: [{name: b, year: 2024-01-01}]\n")
    assert yaml_meaning([file, other]) != before != yaml_meaning([other, file])
