"""The manifest, and what is wrong with one in one clear line."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omibench.errors import FileFormatError, MissingInputError
from omibench.stages.ocr.sources.manifest import list_inputs, load_manifest, select_sources, slug


def write(folder: Path, text: str) -> Path:
    path = folder / "sources.yaml"
    path.write_text(text, "utf-8")
    return path


def test_paths_are_relative_to_the_manifest(tmp_path: Path) -> None:
    digest = "0f" * 32
    text = f"sources:\n- {{name: a, paper: p/a.pdf, key: p/k.pdf, sha256: {{p/a.pdf: {digest}}}}}"
    (source,) = load_manifest(write(tmp_path, text))
    assert source.paper == str(tmp_path / "p/a.pdf")
    assert source.files == [str(tmp_path / "p/a.pdf"), str(tmp_path / "p/k.pdf")]
    assert source.sha256 == {str(tmp_path / "p/a.pdf"): digest}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("sources:\n- {name: a}", r"sources\.0\.paper: Field required"),
        (
            "sources:\n- {name: a, paper: b, papr: c}",
            r"line 2: sources\.0\.papr: unknown key; did",
        ),
        ("sources:\n- name: a\n  papr: b", r"line 3: sources\.0\.papr: .* did you mean 'paper'\?"),
        ("sorces:\n- {name: a, paper: b}", r"line 1: sorces: .* did you mean 'sources'\?"),
        (
            "benchmarks:\n- name: a\n  foldr: b\n  format: emma",
            r"yaml, line 3: benchmarks\.0\.foldr: .* did you mean 'folder'\?",
        ),
        ("sources:\n- {name: a, paper: b, subject: magic}", r"sources\.0\.subject"),
        ("- 1", "is .1., but must be a block of keys"),
        ("sources: [", "line 1: is not valid YAML"),
        ("sources:\n- {name: a b, paper: x}\n- {name: a b, paper: y}", "'a b' is given twice"),
        (
            "sources:\n- {name: a b, paper: x}\n- {name: a_b, paper: y}",
            "'a b' and 'a_b' would share",
        ),
        ("sources:\n- {name: a, paper: x}\n- {name: A, paper: y}", "'a' and 'A' would share"),
    ],
)
def test_a_mistake_is_told_in_one_line(tmp_path: Path, text: str, told: str) -> None:
    with pytest.raises(FileFormatError, match=told) as error:
        load_manifest(write(tmp_path, text))
    assert "\n" not in str(error.value)


def test_a_missing_manifest_is_told(tmp_path: Path) -> None:
    with pytest.raises(MissingInputError, match="cannot be read"):
        load_manifest(tmp_path / "none.yaml")


@pytest.mark.parametrize(
    ("paths", "names"),
    [
        (["x/a.pdf", "y/a.pdf", "z/a.pdf-2"], ["a.pdf", "a.pdf-2", "a.pdf-2-2"]),
        (["x/a.pdf-2", "y/a.pdf", "z/a.pdf"], ["a.pdf-2", "a.pdf", "a.pdf-3"]),
        (["x/a.pdf", "y/A.pdf", "z/a.PDF"], ["a.pdf", "A.pdf-2", "a.PDF-3"]),
        (["x/\uac00.pdf", "y/\u1100\u1161.pdf"], ["\uac00.pdf", "\u1100\u1161.pdf-2"]),
    ],
)
def test_no_two_files_share_a_place(paths: list[str], names: list[str]) -> None:
    assert [source.name for source in select_sources([Path(p) for p in paths], None)] == names


@given(st.lists(st.sampled_from(["a", "A", "a-2", "A-2", "a-2-2", "a b", "a_b"]), max_size=8))
def test_places_are_distinct_on_a_disk_without_upper_case(names: list[str]) -> None:
    found = select_sources([Path(str(k)) / name for k, name in enumerate(names)], None)
    assert len({source.slug.casefold() for source in found}) == len(names)


@given(st.text())
def test_a_slug_is_one_plain_part_of_a_path(name: str) -> None:
    part = slug(name)
    assert part not in ("", ".", "..")
    assert not set(part) & set("/\\: \n")


def test_what_can_be_downloaded_need_not_be_there_and_tables_are_watched(tmp_path: Path) -> None:
    (tmp_path / "old").mkdir()
    (tmp_path / "old/problems.csv").write_text("id")
    digest = "0f" * 32
    path = write(
        tmp_path,
        f"""sources:
- {{name: a, paper: a.pdf, key: k.pdf, url: 'https://x.org/a.pdf', sha256: {digest}}}
benchmarks:
- {{name: old, folder: old}}""",
    )
    names = [Path(file).relative_to(tmp_path).as_posix() for file in list_inputs(path)]
    assert names == ["sources.yaml", "k.pdf", "old/problems.csv"]


def test_a_file_that_the_manifest_does_not_name_is_read_on_its_own_and_said_to_be(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = write(tmp_path, "sources:\n- {name: a, paper: a.pdf, key: k.pdf}")
    named, loose = select_sources([tmp_path / "a.pdf", tmp_path / "b.pdf"], path)
    assert (named.key, loose.key) == (str(tmp_path / "k.pdf"), None)
    assert [r.message for r in caplog.records] == [
        f"{tmp_path / 'b.pdf'}: is not in a source of {path}; read alone, without a key"
    ]


def test_an_empty_manifest_is_told(tmp_path: Path) -> None:
    with pytest.raises(FileFormatError, match="lists no sources, photographs or benchmarks"):
        load_manifest(write(tmp_path, "sources: []"))


def test_a_source_states_attributes(tmp_path: Path) -> None:
    text = """sources:
- {name: a, paper: a.pdf, country: Brazil, attributes: {exam: local, level: [school, city]}}
"""
    (source,) = load_manifest(write(tmp_path, text))
    assert source.stated_attributes == {
        "country": "Brazil", "exam": "local", "level": ["school", "city"],
    }  # fmt: skip


def test_an_attribute_of_a_column_s_name_is_refused(tmp_path: Path) -> None:
    text = "sources:\n- {name: a, paper: a.pdf, attributes: {rules: x}}"
    with pytest.raises(FileFormatError, match="attributes: 'rules' is the name of a column"):
        load_manifest(write(tmp_path, text))
