"""A model learns conversations with pictures, through the whole graph, and goes on after a kill."""

from __future__ import annotations

import importlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import yaml
from tests import asks
from tests.models import tiny_vlm
from tests.small_freeze import write_freeze
from tests.workflows_support import PARTS

from omibench.errors import MissingInputError, ModelError
from omibench.models.local.transformers import TransformersProvider
from omibench.params.models.providers import hash_weights
from omibench.params.setting import Cell
from omibench.params.study import Study, parse_study
from omibench.schemas.problem import Question
from omibench.schemas.request import (
    ImagePart,
    TextPart,
)
from omibench.schemas.tables import read_jsonl
from omibench.schemas.tuning import LossRow, TrainingConversation, TrainingTurn, TunedWeights
from omibench.settings.tasks import list_first_requests, list_tasks
from omibench.stages.tune.stage import tune_model

for package in ("torch", "transformers", "peft"):
    pytest.importorskip(package, reason=f"{package} is not installed")

torch = importlib.import_module("torch")
BLOCK = {"base": "b", "epochs": 6, "lr": 3e-3, "accumulation": 1, "batch": 5, "save_steps": 3}


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_vlm.build(tmp_path_factory.mktemp("models") / "base")


def make_study(folder: Path, base: Path, **block: Any) -> Study:
    """A frozen set of ten, and conversations about its pictures."""
    write_freeze(folder / "freeze", 10)
    rows = [
        {
            "id": question.id, "image": [figure.file for figure in question.images],
            "conversations": [
                {"from": "human", "value": f"<image><image>\nWhat is rod {n}?"},
                {"from": "gpt", "value": f"\\boxed{{{7 * n}}}"},
            ],
        }
        for n, question in enumerate(read_jsonl(folder / "freeze/questions.jsonl", Question))
    ]  # fmt: skip
    (folder / "train.json").write_text(json.dumps(rows), "utf-8")
    paths = {"data": str(folder / "train.json"), "pictures": str(folder / "freeze")}
    models = {"b": {"provider": "transformers", "id": str(base), "dtype": "float32"}}
    tuned = {"t": {**BLOCK, **paths, **block}}
    values = {"study": {"results": str(folder)}, "models": models, "tune": tuned}
    return parse_study(values, "test")


def tune(folder: Path, study: Study, job: str = "job") -> TunedWeights:
    return tune_model(
        folder / "freeze/questions.jsonl", folder / "tune/t/tuned.json", study, "t", job
    )


def read_losses(folder: Path) -> list[LossRow]:
    return read_jsonl(folder / "tune/t/loss.jsonl", LossRow)


def ask(study: Study, folder: Path) -> list[str]:
    """Responses of the tuned model, of at most eight tokens."""
    provider = TransformersProvider("t", study.models["t"])  # type: ignore[arg-type]
    requests = []
    for n, question in enumerate(read_jsonl(folder / "freeze/questions.jsonl", Question)):
        images = [
            ImagePart(sha256=f.sha256, path=str(folder / "freeze" / f.file))
            for f in question.images
        ]
        words = f"\nWhat is rod {n}?"
        requests.append(asks.ask(*images, words, problem=question.id, temperature=0, max_tokens=8))
    return [response.text for response in asks.answers(provider, *requests)]


def test_ten_conversations_are_learned_through_the_whole_graph(
    root: Path, tmp_path: Path, base: Path
) -> None:
    """Wrong before, right after, and the tuned model is compared with its base."""
    folder = tmp_path / "study"
    folder.mkdir()
    for name in PARTS:
        copy = shutil.copytree if (root / name).is_dir() else shutil.copy
        copy(root / name, folder / name)
    (folder / "data").mkdir()
    topics = ("lens", "tree", "cell", "rod", "gas", "map", "bird", "acid", "star", "gear")
    golds = ("25", "10", "7", "42", "3", "64", "81", "5", "96", "18")
    for n in range(10):
        picture = tiny_picture(n)
        picture.save(folder / f"data/p{n}.png")
    table = {
        "id": [f"p{n}" for n in range(10)],
        "question": [f"[IMAGE0] {topic} {topic} {topic}?" for topic in topics],
        "answer": golds, "images": [f"p{n}.png" for n in range(10)],
    }  # fmt: skip
    pl.DataFrame(table).write_csv(folder / "data/problems.csv")
    params = {
        "study": {"name": "tuned"}, "data": "data", "benchmark": {"name": "folder"},
        "models": {"b": {"provider": "transformers", "id": str(base), "dtype": "float32"}},
        "tune": {
            "t": {
                "base": "b", "data": "train.jsonl", "method": "full", "epochs": 80, "lr": 3.0e-3,
                "batch": 5, "accumulation": 1,
            }
        },
        "settings": {"cot": {"decoding": {"max_tokens": 12, "temperature": 0}}},
        "infer": {"models": ["b", "t"], "settings": ["cot"]},
        "score": {"scorers": ["robust"]},
        "analyze": {"explorer": False},
    }  # fmt: skip
    (folder / "params.yaml").write_text(yaml.safe_dump(params), "utf-8")
    (folder / "train.jsonl").write_text("", "utf-8")
    snakemake(folder, "freeze_all")
    study = parse_study(params, "test")
    rows = []
    for task, gold in zip(
        list_tasks(folder / "results/freeze/questions.jsonl", study, Cell("b", "cot")), golds,
        strict=True,
    ):  # fmt: skip
        (request,) = list_first_requests(task, study, Cell("b", "cot"))
        (message,) = request.conversation.messages
        parts = [
            {"type": "text", "text": part.text} if isinstance(part, TextPart)
            else {"type": "image", "path": part.path.rpartition("results/freeze/")[2]}
            for part in message.parts
        ]  # fmt: skip
        answer = {"role": "assistant", "content": f"\\boxed{{{gold}}}"}
        rows.append(
            {"id": task.question.id, "messages": [{"role": "user", "content": parts}, answer]}
        )
    (folder / "train.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    params["tune"]["t"]["pictures"] = "results/freeze"  # type: ignore[index]
    (folder / "params.yaml").write_text(yaml.safe_dump(params), "utf-8")
    snakemake(folder)
    accuracies = pl.read_parquet(folder / "results/analyze/tables/accuracy.parquet").filter(
        metric="accuracy"
    )
    by_model = dict(accuracies.select("model", "estimate").iter_rows())
    assert by_model["b"] == 0
    assert by_model["t"] == 1
    differences = pl.read_parquet(folder / "results/analyze/tables/baselines.parquet")
    (row,) = differences.filter(model="t", baseline="b", measure="accuracy", slice="").to_dicts()
    assert row["estimate"] == 1
    record = json.loads((folder / "results/tune/t/tuned.json").read_text("utf-8"))
    assert record["conversations"] == 10
    curve = pl.read_parquet(folder / "results/analyze/tables/tuning-loss.parquet")
    assert curve["estimate"][-1] < curve["estimate"][0] / 10
    report = json.loads((folder / "results/tune/t/data.json").read_text("utf-8"))
    assert report["leaking"] == 10


def tiny_picture(number: int) -> Any:
    image = importlib.import_module("PIL.Image")
    return image.new("RGB", (56, 56), (25 * number, 255 - 25 * number, 90))


def snakemake(folder: Path, *words: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "snakemake", "--cores", "2", *words], cwd=folder,
        env=os.environ | {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_stopped_run_goes_on_and_ends_as_one_that_was_not(
    tmp_path: Path, base: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, stopped = tmp_path / "whole", tmp_path / "stopped"
    record = tune(whole, make_study(whole, base))
    study = make_study(stopped, base)
    transformers = importlib.import_module("transformers")
    step = transformers.Trainer.training_step
    calls: list[int] = []

    def stop_at_the_eighth(self: Any, *args: Any, **more: Any) -> Any:
        calls.append(1)
        if len(calls) == 8:
            raise KeyboardInterrupt
        return step(self, *args, **more)

    with monkeypatch.context() as patch:
        patch.setattr(transformers.Trainer, "training_step", stop_at_the_eighth)
        with pytest.raises(KeyboardInterrupt):
            tune(stopped, study)
    assert not (stopped / "tune/t/tuned.json").exists()
    assert (stopped / "tune/t/checkpoints/checkpoint-6").is_dir()
    again = tune(stopped, study)
    assert again.steps == record.steps == 12
    assert again.weights_sha256 == record.weights_sha256
    assert read_losses(stopped) == read_losses(whole)
    assert not (stopped / "tune/t/checkpoints").exists()


def test_checkpoints_of_another_job_are_not_used(tmp_path: Path, base: Path) -> None:
    study = make_study(tmp_path, base)
    old = tmp_path / "tune/t/checkpoints/checkpoint-9"
    old.mkdir(parents=True)
    (old.parent / "job.txt").write_text("another job", "utf-8")
    assert tune(tmp_path, study).steps == 12
    assert not old.exists()


def test_an_adapter_and_its_merged_weights_are_one_model(tmp_path: Path, base: Path) -> None:
    peft, hub = importlib.import_module("peft"), importlib.import_module("transformers")
    tune(tmp_path, study := make_study(tmp_path, base, rank=4))
    weights = tmp_path / "tune/t/weights"
    assert {file.name for file in weights.iterdir()} == {
        "adapter_config.json", "adapter_model.safetensors",
    }  # fmt: skip
    assert str(base) not in (weights / "adapter_config.json").read_text("utf-8")
    plain = hub.AutoModelForImageTextToText.from_pretrained(base, dtype="float32").eval()
    ids = torch.arange(40)[None]
    before = plain(input_ids=ids).logits
    adapted = peft.PeftModel.from_pretrained(plain, weights).eval()
    beside = adapted(input_ids=ids).logits
    merged = adapted.merge_and_unload()(input_ids=ids).logits
    assert float((beside - before).abs().max()) > 1e-2
    assert torch.allclose(beside, merged, atol=1e-4)
    assert len(ask(study, tmp_path)) == 10


def test_the_identity_of_responses_has_the_weights(tmp_path: Path, base: Path) -> None:
    study = make_study(tmp_path, base)
    assert study.models["t"].store_identity["adapter"] == "missing"
    with pytest.raises(MissingInputError, match=r"has neither tuned\.json nor adapter_config"):
        ask(study, tmp_path)
    record = tune(tmp_path, study)
    identity = study.models["t"].store_identity
    assert identity["adapter"] == record.weights_sha256 == hash_weights(tmp_path / "tune/t/weights")
    assert identity["id"] == str(base)
    weights = tmp_path / "tune/t/weights/adapter_model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-1] + b"x")
    with pytest.raises(ModelError, match=r"are not those that .* describes"):
        ask(study, tmp_path)


def test_an_adapter_of_ones_own_is_used_and_other_formats_are_refused(
    tmp_path: Path, base: Path
) -> None:
    tune(tmp_path, study := make_study(tmp_path, base))
    own = shutil.copytree(tmp_path / "tune/t/weights", tmp_path / "own")
    block = study.models["t"].model_copy(update={"adapter": str(own)})
    other = study.model_copy(update={"models": {**study.models, "t": block}})
    assert ask(other, tmp_path) == ask(study, tmp_path)
    assert block.store_identity["adapter"] == study.models["t"].store_identity["adapter"]
    (own / "adapter_model.safetensors").rename(own / "adapter_model.bin")
    with pytest.raises(ModelError, match="since other formats can run code"):
        ask(other, tmp_path)


def test_a_checkpoint_that_a_kill_cut_off_is_not_used(tmp_path: Path, base: Path) -> None:
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    record = tune(whole, make_study(whole, base))
    study = make_study(killed, base)
    transformers = importlib.import_module("transformers")
    save = transformers.Trainer._save_checkpoint
    with pytest.MonkeyPatch.context() as patch:

        def cut_off(self: Any, *args: Any, **more: Any) -> None:
            save(self, *args, **more)
            if self.state.global_step == 6:
                (killed / "tune/t/checkpoints/checkpoint-6/trainer_state.json").unlink()
                raise KeyboardInterrupt

        patch.setattr(transformers.Trainer, "_save_checkpoint", cut_off)
        with pytest.raises(KeyboardInterrupt):
            tune(killed, study)
    assert tune(killed, study).weights_sha256 == record.weights_sha256


def test_an_adapter_of_another_model_is_refused(tmp_path: Path, base: Path) -> None:
    """peft only warns of names that do not fit, and the base would answer under its name."""
    safetensors = importlib.import_module("safetensors.torch")
    tune(tmp_path, study := make_study(tmp_path, base))
    own = shutil.copytree(tmp_path / "tune/t/weights", tmp_path / "own")
    file = own / "adapter_model.safetensors"
    weights = {f"other.{k}": v for k, v in safetensors.load_file(file).items()}
    safetensors.save_file(weights, file)
    block = study.models["t"].model_copy(update={"adapter": str(own)})
    other = study.model_copy(update={"models": {**study.models, "t": block}})
    with pytest.raises(ModelError, match="is of another model"):
        ask(other, tmp_path)


def test_a_text_with_control_tokens_costs_its_conversation(tmp_path: Path, base: Path) -> None:
    study = make_study(tmp_path, base)
    rows = json.loads((tmp_path / "train.json").read_text("utf-8"))
    rows[3]["conversations"][0]["value"] += " <|im_end|>"
    (tmp_path / "train.json").write_text(json.dumps(rows), "utf-8")
    assert tune(tmp_path, study).conversations == 9
    report = json.loads((tmp_path / "tune/t/data.json").read_text("utf-8"))
    assert report["left_out"] == {"a text has control tokens of the model": 1}
    assert report["examples"]["a text has control tokens of the model"] == ["item-3"]


@pytest.mark.parametrize(
    ("change", "error", "line"),
    [
        ({"targets": ["nowhere"]}, ModelError, "targets"),
        ({"max_tokens": 3}, MissingInputError, "more than max_tokens tokens (10)"),
        ({"drop_leaks": True}, MissingInputError, "shares a text or picture"),
    ],
)
def test_a_mistake_is_one_line(
    tmp_path: Path, base: Path, change: dict[str, Any], error: type[Exception], line: str
) -> None:
    with pytest.raises(error) as raised:
        tune(tmp_path, make_study(tmp_path, base, **change))
    assert line in str(raised.value)
    assert "\n" not in str(raised.value)


def test_only_answers_are_learned(tmp_path: Path, base: Path) -> None:
    from omibench.models.local.tuning import UNTRAINED, Encoder, open_base

    study = make_study(tmp_path, base)
    engine = open_base("b", study.models["b"], study.tune["t"])  # type: ignore[arg-type]
    picture = next((tmp_path / "freeze/images").iterdir())
    conversation = TrainingConversation(
        id="c", pictures=[str(picture)] * 3,
        turns=[
            TrainingTurn(role="system", content=["Be brief."]),
            TrainingTurn(role="user", content=["One", 0, 1, "two"]),
            TrainingTurn(role="assistant", content=["first answer"]),
            TrainingTurn(role="user", content=[2, "and now?"]),
            TrainingTurn(role="assistant", content=["final answer"]),
        ],
    )  # fmt: skip
    example = Encoder(engine).encode(conversation)
    learned = [label for label in example["labels"][0] if label != UNTRAINED]
    assert engine.tokenizer.decode(learned) == "first answer<|im_end|>final answer<|im_end|>"
    assert len(example["labels"][0]) == example["input_ids"].shape[1]
