"""Parameters given as KEY=VALUE."""

from __future__ import annotations

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from omibench.errors import ParamsError
from omibench.params.pairs import drop_given, list_paths, merge_blocks, restore_types, split_pairs

KEYS = st.sampled_from(["folder", "n", "kinds"])
LEAVES = st.none() | st.booleans() | st.integers(-9, 9) | st.sampled_from(["a", "null x", "page"])
BLOCKS = st.recursive(
    LEAVES | st.lists(LEAVES, max_size=2), lambda inner: st.dictionaries(KEYS, inner, max_size=3)
)


def test_braces_are_yaml_and_other_values_are_text() -> None:
    pairs = ["data=a=b", "simulated=true", "study={limit: {n: 3}, store: null}", "plugins=[x.py]"]
    assert split_pairs(pairs) == {
        "data": "a=b",
        "simulated": "true",
        "study": {"limit": {"n": 3}, "store": None},
        "plugins": ["x.py"],
    }
    again = split_pairs(["study={seed: 1, limit: {n: 3}}", "data=a", "study={seed: 2}", "data=b"])
    assert again == {"study": {"seed": 2, "limit": {"n": 3}}, "data": "b"}


@pytest.mark.parametrize(
    ("pair", "message"),
    [
        ("data", "--config data: is not KEY=VALUE"),
        ("study.seed=3", "--config study.seed: is not KEY=VALUE with a top-level key"),
        ("study={seed: 3", "--config study: {seed: 3 is not YAML: line 1: is not valid YAML"),
        ("study={seed: 3, seed: 4}", "line 1: "),
        ("study=" + "{a: " * 60 + "1" + "}" * 60, "nested"),
    ],
)
def test_what_is_wrong_is_named(pair: str, message: str) -> None:
    with pytest.raises(ParamsError) as error:
        split_pairs([pair], "--config")
    assert message in str(error.value)


def test_keys_in_braces_replace_those_of_the_block_and_keep_its_others() -> None:
    old = {"folder": "review", "sample": {"share": 0.1, "seed": 1}, "kinds": ["item"]}
    new = {"folder": None, "sample": {"seed": 2}, "kinds": ["page"]}
    assert merge_blocks(old, new) == {
        "folder": None,
        "sample": {"share": 0.1, "seed": 2},
        "kinds": ["page"],
    }
    assert merge_blocks(None, new) == new
    assert merge_blocks(old, "text") == "text"


def test_what_a_file_says_itself_stays_when_keys_beside_it_are_given() -> None:
    file = {"study": {"store": "../s", "limit": {"n": 3}}, "data": "d", "plugins": ["p.py"]}
    given = {"study": {"limit": {"n": 5}, "seed": 2}, "plugins": [], "data": {"x": 1}}
    assert drop_given(file, given) == {"study": {"store": "../s", "limit": {}}}
    assert [*list_paths(given)] == ["study.limit.n", "study.seed", "plugins", "data.x"]


@given(st.dictionaries(KEYS, BLOCKS, max_size=3), st.dictionaries(KEYS, BLOCKS, max_size=3))
def test_values_inside_blocks_have_the_types_of_yaml_again(file: object, block: object) -> None:
    text = yaml.safe_dump(block, default_flow_style=True, width=10**6).strip()
    typed = split_pairs([f"review={text}"])
    as_text = {"review": yaml.load(text, Loader=yaml.BaseLoader)}
    config = merge_blocks({"review": file, "data": "d"}, as_text)
    assert restore_types(config, as_text, typed) == merge_blocks(
        {"review": file, "data": "d"}, typed
    )
