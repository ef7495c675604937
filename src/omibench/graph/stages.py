"""Table of stages: from raw exam papers to a report, in the order of the graph.

Slices of the parameters, inputs, provenance, status and the list of files are derived from it;
`dvc.yaml`, the rules and the command line are tested against it. A new stage is a row here, and a
name in `STAGES`.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Final

from omibench.errors import ParamsError
from omibench.graph.stage import (
    Blocks,
    GraphJob,
    ResultFile,
    Stage,
    drop,
    list_layout_files,
    list_model_files,
    model_files,
    pick,
    prompt_file,
)
from omibench.params.panel import JudgePanel
from omibench.params.review import DECISIONS, REVIEWERS, TASKS
from omibench.params.runtime import RUNTIME_INFER
from omibench.params.setting import Cell
from omibench.params.stages.tune import RECORD
from omibench.params.study import Study
from omibench.schemas.adaptive import Look, ProblemOrder
from omibench.schemas.certificate import (
    Certificate,
    DisagreementRow,
    ReasoningCertificates,
    StudyRecord,
)
from omibench.schemas.curation import FilterJudgement, LabelRow, RationaleCandidate, Reject
from omibench.schemas.pages import OcrReport, PagePicture, PageText
from omibench.schemas.problem import Answer, Example, OriginalRow, Problem, Question
from omibench.schemas.tables import (
    AggregateRow,
    FrozenManifest,
    JudgementRow,
    ResponseRow,
    SaliencyRow,
    VerdictRow,
)
from omibench.schemas.tuning import LossRow, TrainingReport, TunedWeights
from omibench.schemas.validation import suggest_name

# ocr: exam papers in, problems out.


def _list_ocr_models(study: Study, job: GraphJob) -> list[str]:
    readers = (study.ocr.reader, study.ocr.formula_model)
    return list(dict.fromkeys(name for name in readers if name))


def _list_ocr_files(study: Study, job: GraphJob) -> list[str]:
    # The papers are in the manifest, which the rule reads.
    models = study.ocr.models
    return [*study.ocr.prompts.values(), *list_model_files(study, models)] if models else []


OCR = Stage(
    "ocr",
    target="freeze",
    params=("study", "models", "ocr"),
    plugins=("engines", "benchmarks", "generators", "providers"),
    hashed_separately=("read_ahead", "waiting"),
    models=_list_ocr_models,
    files=_list_ocr_files,
    outputs=(
        ResultFile("ocr/problems.jsonl", Problem, "every problem extracted from the papers"),
        ResultFile("ocr/pages.jsonl", PageText, "text of every page"),
        ResultFile("ocr/report.json", OcrReport, "status of every file"),
        ResultFile("ocr/images/{paper}/{figure}.png", None, "figures cropped from the pages"),
        ResultFile(
            "ocr/formulas/{paper}/{formula}.png",
            None,
            "crops of formulas with a doubtful reading",
        ),
        ResultFile("ocr/page_pictures.jsonl", PagePicture, "rendered pages and their sizes"),
        ResultFile("ocr/pages/{paper}/{page}.jpg", None, "pages with problems"),
    ),
)


# filter: removal of problems that cannot be evaluated fairly.


def _list_filter_files(study: Study, job: GraphJob) -> list[str | None]:
    return [
        *study.filter.files,
        *(prompt_file(screen.prompt) for screen in study.filter.screens.values()),
        *list_model_files(study, study.filter.models),
    ]


FILTER = Stage(
    "filter",
    target="freeze",
    params=("study", "models", "filter"),
    inputs=("ocr",),
    plugins=("reasons", "model_reasons", "prompts", "conditions", "providers"),
    models=lambda study, job: study.filter.models,
    files=_list_filter_files,
    outputs=(
        ResultFile("filter/problems.jsonl", Problem, "problems that pass the filter"),
        ResultFile("filter/rejects.parquet", Reject, "removed problems, with reason and evidence"),
        ResultFile("filter/rejects.html", None, "the same with pictures; open it in a browser"),
        ResultFile("filter/formulas/{file}", None, "KaTeX, if the page contains formulas"),
        ResultFile("filter/formulas/fonts/{file}", None, "its fonts"),
        ResultFile("filter/judgements.parquet", FilterJudgement, "model judgements, if any"),
    ),
)


# rationale: worked solutions for problems without one, and topics.


def _list_rationale_files(study: Study, job: GraphJob) -> list[str]:
    return [*study.rationale.files, *list_model_files(study, study.rationale.models)]


RATIONALE = Stage(
    "rationale",
    target="freeze",
    params=("study", "models", "rationale"),
    inputs=("filter",),
    plugins=("scorers", "providers"),
    models=lambda study, job: study.rationale.models,
    files=_list_rationale_files,
    outputs=(
        ResultFile("rationale/problems.jsonl", Problem, "the same with rationale and topic"),
        ResultFile(
            "rationale/candidates.jsonl", RationaleCandidate, "every solution written by a model"
        ),
        ResultFile("rationale/labels.jsonl", LabelRow, "labels with their source and reason"),
        ResultFile("rationale/labels.yaml", None, "subfields of each subject, for you to edit"),
    ),
)


# freeze: the reviewed dataset, with questions and answers in separate files.

_DATA_SUFFIXES = (".parquet", ".jsonl", ".json", ".csv")


def _list_freeze_files(study: Study, job: GraphJob) -> list[str | None]:
    return [study.review.decisions, *_list_task_files(study), *_benchmark_files(study)]


def _list_task_files(study: Study) -> list[str]:
    """Existing tasks and decisions.

    Tasks are made from the output of earlier stages, so these run without them; freeze then
    reports how to make them.
    """
    if study.review.folder is None or study.benchmark.name != "papers":
        return []
    files = [Path(study.review.folder) / name for name in (TASKS, DECISIONS)]
    return [str(file) for file in files if file.is_file()]


def _benchmark_files(study: Study) -> list[str]:
    if study.benchmark.name == "papers" or not study.data:
        return []
    folder = Path(study.data)
    files = [path for path in folder.glob("*") if path.suffix in _DATA_SUFFIXES]
    return [str(path) for path in sorted([*files, *folder.glob("*/*.parquet")])]


def _select_freeze_blocks(study: Study, job: GraphJob, blocks: Blocks) -> Blocks:
    """A qualification test of reviewers does not change their decisions."""
    if "review" not in blocks:
        return blocks
    review = {name: value for name, value in blocks["review"].items() if name != "calibration"}
    others = {name: block for name, block in blocks.items() if name != "review"}
    return {**others, "review": review} if review else others


FREEZE = Stage(
    "freeze",
    target="freeze",
    params=("benchmark", "data", "review", "freeze"),
    inputs=("rationale",),
    plugins=("benchmarks",),
    files=_list_freeze_files,
    select_blocks=_select_freeze_blocks,
    outputs=(
        ResultFile(
            "freeze/questions.jsonl", Question, "input of inference: no answer, no solution"
        ),
        ResultFile(
            "freeze/answers.jsonl", Answer, "input of scoring: gold answer and reference rationale"
        ),
        ResultFile(
            "freeze/examples.jsonl", Example, "solved problems that settings can show as examples"
        ),
        ResultFile(
            "freeze/originals.jsonl",
            OriginalRow,
            "original texts of translated problems; often empty",
        ),
        ResultFile("freeze/manifest.json", FrozenManifest, "name, version and content hashes"),
        ResultFile("freeze/README.md", None, "the dataset card"),
        ResultFile("freeze/images/{sha256}.{kind}", None, "its pictures, each once"),
    ),
)


# tune: models fine-tuned on multi-image data.


def _list_bases(study: Study, job: GraphJob) -> set[str]:
    return {study.tune[job.cell.model].base} if job.cell else set()


def _list_tune_files(study: Study, job: GraphJob) -> Iterable[str | None]:
    return [study.tune[job.cell.model].locate_data(study.data)] if job.cell else []


def _select_tune_blocks(study: Study, job: GraphJob, blocks: Blocks) -> Blocks:
    if job.cell is None:
        return blocks
    block = dict(blocks["tune"][job.cell.model])
    for name in ("label", "resources"):
        block.pop(name, None)
    near = pick(blocks.get("filter", {}), ("near_duplicate", "near_duplicate_images"))
    return {
        **{key: value for key, value in blocks.items() if key not in ("tune", "filter")},
        **({"filter": near} if near else {}),
        "tune": {job.cell.model: block},
    }


TUNE = Stage(
    "tune",
    target="infer",
    params=("study", "data", "models", "filter", "tune"),
    inputs=("freeze",),
    cells=lambda study: [Cell(name, "") for name in study.tune],
    is_given_by_cell=True,
    models=_list_bases,
    files=_list_tune_files,
    select_blocks=_select_tune_blocks,
    outputs=(
        ResultFile(f"tune/{{model}}/{RECORD}", TunedWeights, "record of a model's tuned weights"),
        ResultFile("tune/{model}/data.json", TrainingReport, "what became of its training set"),
        ResultFile("tune/{model}/loss.jsonl", LossRow, "its training loss by step"),
        ResultFile("tune/{model}/weights/{file}", None, "the adapter, or all weights"),
    ),
)


# infer: responses of each model to every frozen question under each setting.


def list_asked_models(study: Study, job: GraphJob) -> set[str]:
    """Respondent of a job and helpers of its settings."""
    if job.cell is None:
        return set()
    settings = job.settings(study)
    return {job.cell.model, *(m for name in settings for m in study.settings[name].helpers)}


def list_asked_files(study: Study, job: GraphJob) -> list[str | None]:
    """Files in a job's settings, and those that its models answer from."""
    if job.cell is None:
        return []
    files: list[str | None] = []
    for name in job.settings(study):
        setting = study.settings[name]
        files += [prompt_file(setting.prompt), *setting.prompts.values(), setting.images.prompt]
        files += model_files(study, job.cell.model, name)
        files += list_model_files(study, setting.helpers)
    return files


def select_settings(study: Study, job: GraphJob, blocks: Blocks) -> Blocks:
    """Return the job's settings without fields for display or later aggregation."""
    if job.cell is None and job.rule == "look":
        chosen = study.study.model_dump(mode="json", exclude_defaults=True)
        adaptive = pick(blocks.get("infer", {}), ("adaptive",))
        return {"study": pick(chosen, ("seed", "limit")), "infer": adaptive}
    if job.cell is None:
        return drop(blocks, ("settings", "infer"))
    settings = blocks.get("settings", {})
    asked_settings = {
        name: drop(settings.get(name, {}), ("label", "aggregate")) for name in job.settings(study)
    }
    # No cell depends on the list of cells; the rest of `infer` decides whether a job has failed,
    # and reaches it by the environment.
    return drop(blocks, ("infer",)) | {"settings": asked_settings}


INFER = Stage(
    "infer",
    target="infer",
    params=("study", "data", "models", "settings", "infer"),
    inputs=("freeze",),
    plugins=("providers", "prompts", "conditions", "strategies"),
    cells=lambda study: study.cells,
    is_given_by_cell=True,
    more_rules=("help", "fill", "order", "infer_part", "score_part", "look", "looks"),
    hashed_separately=("looks",),
    asks="respondent",
    models=list_asked_models,
    files=list_asked_files,
    select_blocks=select_settings,
    outputs=(
        ResultFile("infer/{model}/{setting}.parquet", ResponseRow, "the responses of one cell"),
        ResultFile(
            "infer/{model}/filled.txt",
            None,
            "marker: a local model has answered under all its settings",
        ),
        ResultFile(
            "infer/{model}/helped.txt",
            None,
            "marker: a helper has answered all requests shared by cells",
        ),
        ResultFile(
            "infer/adaptive/order.json",
            ProblemOrder,
            "order of the problems under `infer.adaptive`, made before the first request",
        ),
        ResultFile("infer/adaptive/looks.jsonl", Look, "what each look found, and who stopped"),
        ResultFile("infer/adaptive/looks-{look}.jsonl", Look, "the same up to a look"),
        ResultFile(
            "infer/adaptive/{look}/infer/{model}/{setting}.parquet",
            ResponseRow,
            "the responses to the problems that a look adds",
        ),
        ResultFile(
            "infer/adaptive/{look}/score/{model}/{setting}.parquet", VerdictRow, "their verdicts"
        ),
        ResultFile("infer/study.json", StudyRecord, "the current cells of the study"),
    ),
)


# score: verdicts on each response by each scorer.


def _list_score_files(study: Study, job: GraphJob) -> list[str | None]:
    return [
        *(panel.prompt for panel in study.score.panels.values()),
        *list_model_files(study, study.judges("score")),
    ]


SCORE = Stage(
    "score",
    target="score",
    params=("study", "models", "score"),
    inputs=("freeze", "infer"),
    plugins=("scorers", "providers"),
    cells=lambda study: study.cells,
    asks="judges",
    models=lambda study, job: study.judges("score"),
    files=_list_score_files,
    outputs=(
        ResultFile("score/{model}/{setting}.parquet", VerdictRow, "the verdicts of one cell"),
    ),
)


# judge: judgements of the reasoning in responses.


def _list_judge_files(study: Study, job: GraphJob) -> list[str | None]:
    return [
        *(panel.prompt for panel in study.judge.panels.values()),
        *list_model_files(study, study.judges("judge")),
        prompt_file(study.judge.errors.taxonomy) if study.judge.errors else None,
    ]


def _select_judge_blocks(study: Study, job: GraphJob, blocks: Blocks) -> Blocks:
    # No cell depends on the list of cells.
    return {name: drop(block, ("settings",)) for name, block in blocks.items()}


JUDGE = Stage(
    "judge",
    target="analyze",
    params=("study", "models", "judge"),
    inputs=("freeze", "infer", "score"),
    plugins=("judges", "providers"),
    cells=lambda study: study.judged_cells,
    asks="judges",
    models=lambda study, job: study.judges("judge"),
    files=_list_judge_files,
    select_blocks=_select_judge_blocks,
    outputs=(
        ResultFile("judge/{model}/{setting}.parquet", JudgementRow, "judgements of its reasoning"),
    ),
)


# saliency: dependence of a choice on parts of the pictures.


def _list_saliency_files(study: Study, job: GraphJob) -> list[str | None]:
    return [*list_asked_files(study, job), *study.saliency.prompts.values()]


def _select_saliency_blocks(study: Study, job: GraphJob, blocks: Blocks) -> Blocks:
    selected = drop(select_settings(study, job, blocks), ("saliency",))
    if job.cell is None:
        return selected
    # No cell depends on the list of other cells.
    block = drop(blocks.get("saliency", {}), ("models",))
    return selected | {"saliency": block | {"settings": [job.cell.setting]}}


SALIENCY = Stage(
    "saliency",
    target="analyze",
    params=("study", "data", "models", "settings", "saliency"),
    inputs=("freeze", "infer"),
    plugins=("providers", "prompts", "conditions"),
    cells=lambda study: study.salient_cells,
    is_given_by_cell=True,
    asks="respondent",
    models=list_asked_models,
    files=_list_saliency_files,
    select_blocks=_select_saliency_blocks,
    outputs=(
        ResultFile(
            "saliency/{model}/{setting}.parquet",
            SaliencyRow,
            "effect of covering each patch of a picture on each option",
        ),
        ResultFile(
            "saliency/{model}/{setting}/{map}.png",
            None,
            "the same as a heat map over the picture",
        ),
    ),
)


# aggregate: joint evaluation of several samples of one problem.


def _find_panel(study: Study, cell: Cell | None) -> JudgePanel | None:
    return study.settings[cell.setting].aggregate.judge if cell else None


def list_reward_models(study: Study, job: GraphJob) -> list[str]:
    """The models that choose among a cell's samples, and their captioners."""
    if job.cell is None:
        return []
    setting = study.settings[job.cell.setting]
    judges = setting.aggregate.name_judges(job.cell.model)
    captioner = setting.aggregate.captions or setting.images.model
    return list(dict.fromkeys([*judges, *([captioner] if judges and captioner else [])]))


def _list_aggregate_files(study: Study, job: GraphJob) -> list[str | None]:
    panel = _find_panel(study, job.cell)
    files = list_model_files(study, list_reward_models(study, job))
    if panel is None or job.cell is None:
        return [*files]
    setting = study.settings[job.cell.setting]
    return [*files, panel.prompt, setting.images.prompt, setting.aggregate.caption_prompt]


def _select_aggregate_blocks(study: Study, job: GraphJob, blocks: Blocks) -> Blocks:
    if job.cell is None:
        return pick(blocks, ("score",))
    setting = job.cell.setting
    is_shown = bool(list_reward_models(study, job))
    keys = ("decoding", "aggregate", *(("images", "without") if is_shown else ()))
    return {
        "settings": {setting: pick(blocks["settings"][setting], keys)},
        "score": pick(blocks.get("score", {}), ("scorers",)),
        "study": {"seed": study.study.seed} if study.study.seed else {},
    }


AGGREGATE = Stage(
    "aggregate",
    target="analyze",
    params=("study", "models", "settings", "score"),
    inputs=("freeze", "infer", "score"),
    plugins=("scorers", "providers", "conditions", "aggregations"),
    cells=lambda study: study.aggregated_cells,
    is_given_by_cell=True,
    models=list_reward_models,
    files=_list_aggregate_files,
    select_blocks=_select_aggregate_blocks,
    outputs=(
        ResultFile(
            "aggregate/{model}/{setting}.parquet", AggregateRow, "results over several samples"
        ),
    ),
)


# certify: agreement of judges with human labels.

_CERTIFY_KEYS = {
    "study": ("seed",),
    "certify": ("labels", "disagreements"),
    "analyze": ("main_scorer", "confidence"),
}
"""Inputs of certificates in blocks with more fields. The study's name, which a certificate carries
to other studies, reaches the job by the environment."""


def _list_certify_files(study: Study, job: GraphJob) -> list[str | None]:
    return [study.certify.labels]


def _select_certify_blocks(study: Study, job: GraphJob, blocks: Blocks) -> Blocks:
    return {name: pick(blocks.get(name, {}), keys) for name, keys in _CERTIFY_KEYS.items()} | {
        "infer": drop(blocks.get("infer", {}), RUNTIME_INFER),
        "score": blocks.get("score", {}),
        "judge": blocks.get("judge", {}),
        "settings": {
            name: pick(block, ("decoding", "aggregate"))
            for name, block in blocks.get("settings", {}).items()
        },
        "models": blocks.get("models", {}),
    }


CERTIFY = Stage(
    "certify",
    target="analyze",
    params=("study", "models", "settings", "infer", "score", "judge", "certify", "analyze"),
    inputs=("freeze", "infer", "score", "judge"),
    narrows_models=True,
    files=_list_certify_files,
    select_blocks=_select_certify_blocks,
    outputs=(
        ResultFile(
            "certify/certificate.json", Certificate, "agreement of the judge with human labels"
        ),
        ResultFile(
            "certify/reasoning.json",
            ReasoningCertificates,
            "agreement of the judges of reasoning with human labels",
        ),
        ResultFile(
            "certify/disagreements.jsonl",
            DisagreementRow,
            "disagreements of scorer and judge, for reading",
        ),
    ),
)


# analyze: tables, figures, report and explorer.

CELL_FILES: Final = ("infer", "score", "aggregate")
"""The stages whose files say what is right in a cell."""


def _list_analyze_files(study: Study, job: GraphJob) -> list[str | None]:
    errors = study.judge.errors
    labels = [errors.labels or study.certify.labels, prompt_file(errors.taxonomy)] if errors else []
    analyze = study.analyze
    layouts = list_layout_files(analyze.published)
    others = (analyze.people, analyze.people_cutoffs, analyze.external_scores)
    certify = study.certify
    people = [certify.labels, certify.sources, *labels]
    tables = [*analyze.published, *layouts, *others, *certify.certificates]
    full = _list_full_results(analyze.full_results)
    return [*dict.fromkeys([*tables, *people, *full, *_list_review_files(study)])]


def _list_full_results(folder: str | None) -> list[str]:
    """Files of `analyze.full_results`: the dataset, and the verdicts of each cell."""
    if folder is None:
        return []
    cells = (path for part in CELL_FILES for path in sorted(Path(folder, part).glob("*/*.parquet")))
    return [str(Path(folder, "freeze", "manifest.json")), *map(str, cells)]


def _list_review_files(study: Study) -> list[str]:
    """Existing tasks, decisions and reviewers of the review."""
    folder = study.review.folder
    paths = [Path(folder) / name for name in (TASKS, DECISIONS, REVIEWERS)] if folder else []
    return [str(path) for path in paths if path.is_file()]


def _select_analyze_blocks(study: Study, job: GraphJob, blocks: Blocks) -> Blocks:
    """Saliency only if it is measured; of the review its folder and what settles a task."""
    if not study.salient_cells:
        blocks = drop(blocks, ("saliency",))
    review = blocks.get("review", {})
    review = pick(review, ("folder", "reviewers")) if "folder" in review else {}
    others = {name: block for name, block in blocks.items() if name != "review"}
    return {**others, "review": review} if review else others


ANALYZE = Stage(
    "analyze",
    target="analyze",
    params=(
        "study", "benchmark", "models", "tune", "settings", "infer", "score", "judge", "saliency",
        "certify", "review", "analyze",
    ),
    inputs=("freeze", "tune", "infer", "score", "judge", "saliency", "aggregate", "certify"),
    plugins=("sections", "results", "figures", "scorers"),
    files=_list_analyze_files,
    select_blocks=_select_analyze_blocks,
    outputs=(
        ResultFile("analyze/report.html", None, "the report; open it in a browser"),
        ResultFile(
            "analyze/headline.txt", None, "its path and the three main numbers"
        ),
        ResultFile("analyze/metrics.json", None, "accuracies by cell, for DVC and the leaderboard"),
        ResultFile(
            "analyze/main.csv",
            None,
            "accuracy and GPTScore by cell and subject, with intervals",
        ),
        ResultFile("analyze/by_images.csv", None, "accuracy by number of images"),
        ResultFile("analyze/failures.csv", None, "outcomes without an answer"),
        ResultFile("analyze/differences.csv", None, "results compared with printed ones"),
        ResultFile("analyze/audit.csv", None, "consistency checks of printed tables"),
        ResultFile("analyze/rationales.csv", None, "marks of reasoning, if judges gave any"),
        ResultFile("analyze/errors.csv", None, "types of errors, if judges identified any"),
        ResultFile("analyze/samples.csv", None, "pass@k, consistency@k and the chosen sample"),
        ResultFile(
            "analyze/saliency.csv", None, "dependence of choices on patches of the pictures"
        ),
        ResultFile("analyze/{section}.csv", None, "the table of another section of the report"),
        ResultFile("analyze/written.json", None, "names of its tables; others are not removed"),
        ResultFile(
            "analyze/tables/{result}.parquet",
            None,
            "a result of the study: one row per number, with its interval (docs/results.md)",
        ),
        ResultFile("analyze/tables/{result}.csv", None, "the same as CSV"),
        ResultFile("analyze/figures/{figure}.svg", None, "figures of the report and of results"),
        ResultFile("analyze/figures/{figure}.vl.json", None, "the same as Vega-Lite"),
        ResultFile("analyze/plots/{plot}/{model}.csv", None, "the same numbers for `dvc plots`"),
        ResultFile(
            "analyze/explorer/index.html", None, "index from each number to its responses"
        ),
        ResultFile(
            "analyze/explorer/pages/{problem}.html", None, "one problem and all its responses"
        ),
        ResultFile(
            "analyze/explorer/cells/{model}@{setting}.html", None, "one cell, problem by problem"
        ),
        ResultFile("analyze/explorer/images/{sha256}.{kind}", None, "pictures drawn by models"),
        ResultFile("analyze/explorer/formulas/{file}", None, "script and style of the pages"),
        ResultFile("analyze/explorer/formulas/fonts/{file}", None, "its fonts"),
    ),
)  # fmt: skip

STAGES = (
    OCR, FILTER, RATIONALE, FREEZE, TUNE, INFER, SCORE, JUDGE, SALIENCY, AGGREGATE,
    CERTIFY, ANALYZE,
)  # fmt: skip
STAGE_NAMES = tuple(stage.name for stage in STAGES)


def find_stage(rule: str) -> Stage:
    """Return the stage of a rule.

    Args:
        rule: Name of a stage, or of another rule of it, such as `fill`.

    Raises:
        ParamsError: If it does not exist; suggests the nearest name.
    """
    for stage in STAGES:
        if rule in stage.rules:
            return stage
    raise ParamsError(f"{rule!r} is not a stage{suggest_name(rule, STAGE_NAMES)}")
