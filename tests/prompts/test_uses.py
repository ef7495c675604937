"""A folder of prompts: who uses which file, what reruns for it, and what is said of it."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from omibench.cli.prompts import prompts_app
from omibench.errors import ParamsError
from omibench.graph.inputs import list_named_files
from omibench.graph.job_hash import slice_study
from omibench.graph.stages import STAGES
from omibench.params.prompt_files import list_prompt_uses
from omibench.params.setting import Cell
from omibench.params.study import Study, parse_study
from omibench.settings import prompts
from prompts.senders import JUDGE, write_params

pytestmark = pytest.mark.usefixtures("own_folder")

USED_BY = {
    "quality": {"judge"},
    "gptscore": {"score"},
    "grade": {"score"},
    "extraction": {"score"},
    "mark": {"aggregate"},
    "cot": {"infer", "saliency"},
    "letter": {"saliency"},
    "caption": {"infer"},
    "tools-sketch": {"infer"},
    "topic": {"rationale"},
    "translation": {"filter"},
    "page-text": {"ocr"},
    "comparison": set(),
    "plan-and-solve": set(),
}
"""Prompt -> the stages of the study below that send it."""


def build_study(folder: Path | None) -> Study:
    values = write_params(folder)
    settings = ["cot", "captions", "sketch", "best-of-n"]
    values["settings"] = {name: values["settings"][name] for name in settings}
    values["infer"] = {"models": [JUDGE], "settings": settings}
    return parse_study(values, "params.yaml")


def list_slices(study: Study) -> dict[str, object]:
    return {str(job): slice_study(study, *job) for stage in STAGES for job in stage.jobs(study)}


@pytest.mark.parametrize("name", USED_BY)
def test_a_file_is_an_input_of_the_stages_that_send_it_alone(name: str, tmp_path: Path) -> None:
    file = tmp_path / f"{name}.txt"
    file.write_text("{question} {problem} {labels}")
    study = build_study(tmp_path)
    readers = {
        stage.name
        for stage in STAGES
        for job in stage.jobs(study)
        if str(file) in list_named_files(study, *job)
    }
    assert readers == USED_BY[name]
    before, after = list_slices(build_study(None)), list_slices(study)
    changed = {
        stage.name
        for stage in STAGES
        for job in stage.jobs(study)
        if before[str(job)] != after[str(job)] and stage.name not in ("analyze", "certify")
    }
    assert changed == USED_BY[name]


def test_only_the_cells_that_send_a_prompt_depend_on_its_file(tmp_path: Path) -> None:
    (tmp_path / "cot.txt").write_text("{question}")
    study = build_study(tmp_path)
    files = {s: list_named_files(study, "infer", Cell(JUDGE, s)) for s in study.settings}
    assert all(files.values())  # cot is the prompt of each
    (tmp_path / "caption.txt").write_text("Describe.")
    study = build_study(tmp_path)
    caption = str(tmp_path / "caption.txt")
    readers = [
        s for s in study.settings if caption in list_named_files(study, "infer", Cell(JUDGE, s))
    ]
    assert readers == ["captions"]


def test_what_a_block_names_itself_stays(tmp_path: Path) -> None:
    (tmp_path / "gptscore.txt").write_text("Judge.")
    values = write_params(tmp_path)
    values["score"]["judge"] = {"models": [JUDGE], "prompt": "mine.txt"}
    study = parse_study(values, "params.yaml")
    assert study.score.judge
    assert study.score.judge.prompt == "mine.txt"


def test_a_slice_reads_as_it_was_planned(tmp_path: Path) -> None:
    for name in ("grade", "cot", "mark"):
        (tmp_path / f"{name}.txt").write_text("{question}")
    study = build_study(tmp_path)
    sliced = parse_study(slice_study(study, "score"), "--params", whole_study=False)
    assert sliced.prompts is None
    assert sliced.score.panels == study.score.panels
    asked = parse_study(slice_study(study, "infer", Cell(JUDGE, "cot")), "--params", False)
    assert asked.settings["cot"].prompts == {"cot": str(tmp_path / "cot.txt")}


def test_a_folder_with_a_file_of_no_prompt_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "gptscor.txt").write_text("Judge.")
    with pytest.raises(
        ParamsError, match=r"prompts: .*'gptscor' is not a prompt; .*did you mean 'gpts"
    ):
        build_study(tmp_path)


def test_a_link_in_the_folder_sends_no_other_file(tmp_path: Path) -> None:
    (tmp_path / "key.txt").write_text("s3cret")
    words = tmp_path / "words"
    words.mkdir()
    (words / "gptscore.txt").symlink_to("../key.txt")
    with pytest.raises(ParamsError, match=r"prompts: .*'gptscore\.txt' leads out of this folder"):
        build_study(words)


def test_a_block_that_names_no_prompt_is_one_line() -> None:
    with pytest.raises(ParamsError, match="unknown prompt 'topics'; did you mean 'topic'"):
        parse_study({"rationale": {"prompts": {"topics": "x.txt"}}}, "params.yaml")


def test_uses_say_where_a_file_is_named(tmp_path: Path) -> None:
    for name in ("quality", "cot", "topic"):
        (tmp_path / f"{name}.txt").write_text("{question}")
    uses = {(use.key, use.prompt) for use in list_prompt_uses(build_study(tmp_path))}
    assert {
        ("rationale.prompts.topic", "topic"), ("judge.quality.prompt", "quality"),
        ("settings.cot.prompts.cot", "cot"), ("settings.sketch.prompts.cot", "cot"),
    } <= uses  # fmt: skip


def run(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(prompts_app, arguments)
    return result.exit_code, result.output


def test_the_list_says_slots_hash_and_original(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    code, output = run("list")
    assert code == 0
    lines = output.splitlines()
    start = lines.index("gptscore: says whether a response reaches the official answer")
    assert lines[start + 1] == "  slots: [{question}] {official_answer} {response} [{pictures}]"
    assert lines[start + 2].startswith("  built in: SHA-256 ")
    assert lines[start + 2].endswith("; printed: OMIBench, C.2")


def test_the_list_of_a_study_says_which_files_are_sent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "words").mkdir()
    (tmp_path / "words/gptscore.txt").write_text("[[literal]]\n{official_answer} {response}")
    Path("params.yaml").write_text(
        "prompts: words\nmodels: {j: {provider: openai, id: m}}\nscore: {judge: j}\n"
    )
    _, output = run("show", "gptscore")
    assert "  score.judge.prompt: words/gptscore.txt, literal, SHA-256 " in output
    assert "  | You grade answers to olympiad problems." in output


@pytest.mark.parametrize(
    ("text", "code", "said"),
    [
        ("Judge.", 0, "can be used"),
        ("[[literal]]\n{official_answer} {response}", 0, "can be used"),
        ("[[literal]]\n{respnse} {response}", 1, "lacks {official_answer}"),
        ("[[literal]]\n{respnse} {official_answer} {response}", 1, "unknown {respnse}; did you"),
    ],
)
def test_a_file_is_checked_and_the_exit_code_says_so(
    tmp_path: Path, text: str, code: int, said: str
) -> None:
    (tmp_path / "gptscore.txt").write_text(text)
    for target in (tmp_path / "gptscore.txt", tmp_path):
        result, output = run("check", str(target))
        assert result == code
        assert said in output
    (tmp_path / "gptscore.txt").rename(tmp_path / "pasted.txt")
    assert run("check", str(tmp_path / "pasted.txt"), "--as", "gptscore")[0] == code


def test_a_plug_in_s_judge_is_listed_and_its_file_is_checked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(prompts._ENTRIES, "brevity", prompts.find_prompt("quality"))
    del prompts._ENTRIES["brevity"]  # the fixture takes it away again
    Path("mine.py").write_text(
        "from omibench.answers.judges.instrument import make_instrument\n"
        "from omibench.answers.judges.registry import judge\n"
        "from omibench.answers.judges.scales import NumberScale\n"
        "@judge('brevity')\n"
        "def build(panel):\n"
        "    return make_instrument('brevity', 'Mark it.', NumberScale(1, 5))\n"
    )
    Path("params.yaml").write_text(
        "prompts: words\nplugins: [mine.py]\nmodels: {j: {provider: openai, id: m}}\n"
        "judge: {others: {brevity: j}}\n"
    )
    (tmp_path / "words").mkdir()
    file = Path("words/brevity.txt")
    for text, code, said in (
        ("[[literal]]\n{question}", 1, f"{file}: lacks {{response}}"),
        ("Be quick. {response}", 0, f"{file}: can be used"),
    ):
        file.write_text(text)
        checked = run("check", "words", "--params", "params.yaml")
        assert checked == (code, f"{said}{', the material RESPONSE' * code}\n")
    assert f"  judge.others.brevity.prompt: {file}, SHA-256 " in run("list")[1]
    assert "  | Mark it.\n" in run("show", "brevity", "--params", "params.yaml")[1]


@pytest.mark.parametrize(
    ("block", "said"),
    [
        (
            {"settings": {"x": {"prompt": "cot", "prompts": {"emma-cot": "a.txt"}}}},
            "settings.x.prompts: the prompt 'emma-cot' is not sent here",
        ),
        (
            {"settings": {"x": {"prompts": {"tools-sketch": "a.txt"}}}},
            "settings.x.prompts: the prompt 'tools-sketch' is not sent here",
        ),
        (
            {
                "models": {"j": {"provider": "openai", "id": "m"}},
                "filter": {"difficulty": {"models": ["j"], "prompts": {"caption": "a.txt"}}},
            },
            "filter.difficulty.prompts: the prompt 'caption' is not sent here",
        ),
        (
            {"settings": {"x": {"aggregate": {"how": "majority", "caption_prompt": "a.txt"}}}},
            "caption_prompt requires `captions`",
        ),
    ],
)
def test_a_file_for_a_prompt_that_is_never_sent_is_one_line(
    block: dict[str, object], said: str
) -> None:
    with pytest.raises(ParamsError) as error:
        parse_study(block, "params.yaml")
    assert said in str(error.value)
    assert "\n" not in str(error.value)


def test_a_folder_without_text_files_says_so(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("Prompts of ours.")
    assert run("check", str(tmp_path)) == (0, f"{tmp_path}: contains no text file\n")


def test_a_file_that_is_not_there_is_named_before_its_prompt(tmp_path: Path) -> None:
    result = CliRunner().invoke(prompts_app, ["check", str(tmp_path / "mine.txt")])
    assert str(result.exception) == f"{tmp_path}/mine.txt: the file does not exist"


def test_a_reward_head_is_given_no_words_of_a_folder(tmp_path: Path) -> None:
    (tmp_path / "mark.txt").write_text("Mark {response}.")
    choosing = {"how": "best-of-n", "judge": "head"}
    setting = {"images": "none", "decoding": {"samples": 2}, "aggregate": choosing}
    models = {
        "a": {"provider": "openai", "id": "m"},
        "head": {"provider": "transformers-reward", "id": "m"},
    }
    values = {
        "prompts": str(tmp_path), "models": models, "settings": {"x": setting},
        "infer": {"models": ["a"], "settings": ["x"]},
    }  # fmt: skip
    study = parse_study(values, "params.yaml")
    assert not list_prompt_uses(study)
    assert not list_named_files(study, "aggregate", Cell("a", "x"))
    assert parse_study(study.model_dump(mode="json", exclude_defaults=True), "again") == study


def test_every_fault_of_a_folder_is_listed(tmp_path: Path) -> None:
    (tmp_path / "caption.txt").write_text("", "utf-8")
    (tmp_path / "direct.txt").write_text("{qestion}", "utf-8")
    (tmp_path / "dircet.txt").write_text("{question}", "utf-8")
    (tmp_path / "gptscore.txt").write_bytes(b"\xff\xfe")
    code, output = run("check", str(tmp_path))
    assert code == 1
    for name in ("caption.txt", "direct.txt", "dircet.txt", "gptscore.txt"):
        assert f"{tmp_path / name}" in output
    assert "did you mean" in output
