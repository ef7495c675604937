# Shared by all rules: the typed study, its cells, and the slice that each job depends on.
import json
import os
import re
import shlex
import sys
from functools import cache
from inspect import signature
from pathlib import Path

from snakemake.logging import logger
from snakemake.utils import validate

from omibench.cli.configfiles import read_allowed_rules, explain_directory
from omibench.cli.configfiles import exit_with_error
from omibench.errors import MissingInputError, OmibenchError
from omibench.models.client.ask import BUDGET_ENV, read_budget
from omibench.graph.inputs import (
    list_all_files,
    list_named_files,
    list_missing_files,
    refuse_patterns,
)
from omibench.plugins.allowance import (
    ALLOW_ENV,
    allow_for_jobs,
    find_for_jobs,
    require_allowed,
)
from omibench.files.programs import isolate
from omibench.stages.ocr.engines import tesseract
from omibench.stages.ocr.corrections.entry import list_correction_inputs
from omibench.stages.ocr.sources.manifest import list_inputs
from omibench.params.runtime import RUNTIME_ENV, log_folder, dump_runtime
from omibench.study.plan.rehearsal import rehearse
from omibench.params.resources import count_cpus, collect_resources
from omibench.graph.code_hash import Snapshot
from omibench.graph.job_hash import slice_study
from omibench.graph.stages import STAGES, find_stage
from omibench.params.pairs import drop_given, list_paths, restore_types, split_pairs
from omibench.params.setting import Cell
from omibench.params.study import (
    COMMAND_LINE,
    local_helpers,
    local_models,
    parse_study,
    list_settings,
    rename_keys,
)
from omibench.graph.hooks import pick_environment, refuse_changed, refuse_strangers
from omibench.graph.provenance import forget
from omibench.graph.storage import name_file, refresh_copies
from omibench.graph.trust import accept_pulled
from omibench.results.study_record import record_study
from omibench.schemas.adaptive import FOLDER, Look, list_compared, locate_verdicts
from omibench.schemas.tables import read_jsonl
from omibench.params.study import list_remarks
from omibench.files.yaml_file import add_place, yaml_meaning

# Jobs never import modules from the current folder.
isolate(os.environ)

# With `--allowed-rules`, as in tests of single rules, inputs of other rules may be missing.
ALLOWED = read_allowed_rules(sys.argv) if workflow.is_main_process else []

PARAMS_FILES = [os.path.relpath(file) for file in workflow.configfiles]
SETTINGS = workflow.config_settings

try:
    # Snakemake reads all values inside a block of the command line as text.
    GIVEN = split_pairs(SETTINGS.config_args or [], "--config")
    VALUES = restore_types(config, SETTINGS.config, GIVEN)
    PLACES = dict.fromkeys(list_paths(GIVEN), COMMAND_LINE)
    # What the command line gives is the choice of who typed it.
    if workflow.is_main_process:
        require_allowed(drop_given(VALUES, GIVEN), PARAMS_FILES, find_for_jobs)
        if allow_for_jobs(VALUES, os.environ):
            workflow.register_envvars(ALLOW_ENV)
    STUDY = rehearse(
        parse_study(VALUES, "the parameters", files=PARAMS_FILES, overrides=PLACES)
    )
    READ = STUDY.ocr.sources and (not ALLOWED or "ocr" in ALLOWED)
    PAPERS = list_inputs(Path(STUDY.ocr.sources)) if READ else []
    CORRECTED = list_correction_inputs(STUDY.ocr) if READ else []
    # Of the manifest and the corrections only the values count: a comment reads no paper again.
    DESCRIBED = [*PAPERS[:1], *CORRECTED[:1]]
    DESCRIPTION = yaml_meaning(DESCRIBED)
    PAPERS = [*PAPERS[1:], *CORRECTED[1:]]
    refuse_patterns([*list_all_files(STUDY, ALLOWED), *DESCRIBED, *PAPERS])
except MissingInputError as error:
    exit_with_error(MissingInputError(f"{error}{explain_directory(workflow)}"))
except OmibenchError as error:
    exit_with_error(error)
# YAML parses a day (`as_of: 2026-11-21`) as a date, but JSON needs a string.
validate(
    json.loads(json.dumps(rename_keys(VALUES)[0], default=str)),
    "../schemas/params.schema.json",
    set_default=False,
)

# With existing results, Snakemake does not notice a missing input.
if workflow.is_main_process and (MISSING := list_missing_files(STUDY, ALLOWED)):
    exit_with_error(
        MissingInputError(
            "the parameters list missing files: "
            + ", ".join(add_place(file, PARAMS_FILES) for file in MISSING)
            + explain_directory(workflow)
        )
    )
for remark in list_remarks(STUDY, PARAMS_FILES) if workflow.is_main_process else []:
    logger.warning(f"omibench: {remark}")

# The rules share one search of the package.
source_hash = Snapshot(STUDY).hash_stage

RESULTS = STUDY.study.results
LOGS = log_folder(RESULTS)

# Never accept results that Snakemake did not write, or that changed after their job. Within a stage
# of DVC, results that it brings from elsewhere are checked and accepted, as by `omibench trust`.
if workflow.is_main_process:
    refresh_copies(workflow)
    try:
        if "DVC_STAGE" in os.environ:
            accept_pulled(Path(RESULTS))
        refuse_strangers(RESULTS, ALLOWED)
        refuse_changed(RESULTS, sys.argv, PARAMS_FILES)
    except OmibenchError as error:
        exit_with_error(error)

# Budget, location of the store and access to models are not parameters of rules: a larger budget
# does not rerun finished jobs. They reach jobs by the environment.
BUDGET = read_budget(STUDY)
RUNTIME = dump_runtime(STUDY.model_dump(mode="json", exclude_defaults=True), Path.cwd())
ENVIRONMENT = {RUNTIME_ENV: RUNTIME} | ({} if BUDGET is None else {BUDGET_ENV: BUDGET})

# Jobs find `omibench` next to the Python that runs Snakemake, even without an active environment. A
# signal reaches all processes of a job: the shell and `tee` outlive the command, which waits for
# billed responses and reports why it ended. The prefix is common to all modules of a Snakefile, so
# each job picks the environment of the study that has its output.
STOPPING = "trap : INT TERM HUP; tee() ( trap '' INT TERM HUP; exec tee \"$@\"; ); "
shell.prefix(
    f"set -euo pipefail; {STOPPING}export PATH={shlex.quote(str(Path(sys.executable).parent))}:$PATH; "
    f"{pick_environment(RESULTS, ENVIRONMENT)}".replace("{", "{{").replace("}", "}}")
)


def one_of(names):
    """Return a pattern that matches only these names; files of other names have no rule."""
    return "|".join(map(re.escape, names)) or "[^/]+"


wildcard_constraints:
    model=one_of(STUDY.models),
    setting=one_of(STUDY.settings),
    look="[0-9]+",


def cells(stage):
    """Return the file of every cell of the study at one stage."""
    path = f"{RESULTS}/{find_stage(stage).outputs[0].path}"
    return [
        path.format(model=cell.model, setting=cell.setting)
        for cell in find_stage(stage).cells(STUDY)
    ]


def cells_read_by(stage):
    """Return the files of every cell that a stage reads, by the stage that wrote them."""
    return {
        name: cells(name) for name in find_stage(stage).inputs if find_stage(name).cells
    }


def of_jobs(function):
    """Return a function of wildcards with its signature, which Snakemake asks for twice a job."""
    function.__signature__ = signature(function)
    return function


# Values with text of the parameters are functions, because Snakemake would treat `{A}` in a title
# or label as a wildcard.
def study_slice(stage):
    """Return what a job of the stage depends on, as JSON text for its command."""
    if find_stage(stage).is_given_by_cell:
        return of_jobs(
            lambda wildcards: _json(stage, Cell(wildcards.model, wildcards.setting))
        )
    return of_jobs(lambda wildcards: _json(stage, None))


@cache
def _json(stage, cell):
    return json.dumps(
        slice_study(STUDY, stage, cell), sort_keys=True, ensure_ascii=False
    )


def certificate():
    """Return the judge's certificate, if the study has human labels."""
    return f"{RESULTS}/certify/certificate.json" if STUDY.certify.labels else []


def papers():
    """Return the files of exam papers, and pictures of corrections."""
    return lambda wildcards: PAPERS


def filled():
    """Return the job that runs a local model for all its cells; others run in each cell."""
    local = {*local_models(STUDY)}

    def of_model(wildcards):
        model = wildcards.model
        return f"{RESULTS}/infer/{model}/filled.txt" if model in local else []

    return of_jobs(of_model) if local else []


def helped(stage):
    """Return the jobs of local models that describe pictures for other models."""
    if not local_helpers(STUDY, "", STUDY.settings):
        return []
    return of_jobs(
        lambda wildcards: [
            f"{RESULTS}/infer/{helper}/helped.txt"
            for helper in local_helpers(
                STUDY, wildcards.model, settings_asked(stage, wildcards)
            )
        ]
    )


def settings_asked(stage, wildcards):
    """Return the setting of the job's cell, or all settings of its model."""
    if "setting" in wildcards.keys():
        return [wildcards.setting]
    return list_settings(STUDY, stage, wildcards.model)


# Under `infer.adaptive`, the cells to ask for a look are known after the look before.
LOOKS = STUDY.infer.adaptive
LOOKS_FOLDER = f"{RESULTS}/infer/{FOLDER}"


def before_look(wildcards):
    """Return the records of the look before; none for the first."""
    number = int(wildcards.look) - 1
    return checkpoints.look.get(look=number).output[0] if number else []


def look_verdicts(wildcards):
    """Return the verdicts of all looks so far, of the cells that this look compares."""
    before = before_look(wildcards)
    records = read_jsonl(before, Look) if before else []
    return [
        str(locate_verdicts(Path(LOOKS_FOLDER), part, cell))
        for cell in list_compared(records, STUDY.cells, LOOKS.keep)
        for part in range(1, int(wildcards.look) + 1)
    ]


def looks_file(file):
    """Return a file about the order of the problems, if the study has one."""
    return f"{LOOKS_FOLDER}/{file}" if LOOKS else []


def look_slice(wildcards):
    """Return what the order of the problems and a look depend on."""
    return _json("look", None)


def score_part_slice(wildcards):
    """Return what the verdicts of a look depend on: its scorer, which asks no model."""
    part = json.loads(_json("score", None))
    plugins = {"plugins": part["plugins"]} if "plugins" in part else {}
    return json.dumps({"score": {"scorers": [LOOKS.scorer]}, **plugins})


def model_slice(stage):
    """Return what the job of a model under all its settings depends on."""
    return lambda wildcards: _json(stage, Cell(wildcards.model, ""))


def named_files(rule):
    """Return the input files in the parameters of a rule: prompts, known answers, decisions."""
    if find_stage(rule).is_given_by_cell:
        return of_jobs(
            lambda wildcards: list_named_files(
                STUDY, rule, Cell(wildcards.model, wildcards.get("setting", ""))
            )
        )
    return list_named_files(STUDY, rule)


def frozen_from():
    """Return the inputs of freeze: problems from papers, or only a benchmark's files."""
    made = STUDY.benchmark.name == "papers"
    return {"problems": f"{RESULTS}/rationale/problems.jsonl"} if made else {}


@of_jobs
def frozen_questions(wildcards):
    """Return the inputs of infer from the dataset, after freeze."""
    return checkpoints.freeze.get().output.questions


def frozen_examples():
    """Return freeze's output of solved problems, if settings can use some as examples."""
    if not STUDY.freeze.examples.wanted:
        return {}
    return {"examples": f"{RESULTS}/freeze/examples.jsonl"}


def shown_examples(stage):
    """Return the solved problems for a cell's setting, or for one of a model's settings."""

    def shown(wildcards):
        names = settings_asked(stage, wildcards)
        some = any(STUDY.settings[name].examples for name in names)
        return checkpoints.freeze.get().output.examples if some else []

    are_shown = any(setting.examples for setting in STUDY.settings.values())
    return of_jobs(shown) if are_shown else []


def asked(rule):
    """Return the inputs of `help`, `fill` or `infer`, with files of all stages before `infer`."""
    before = [find_stage(name) for name in find_stage("infer").inputs]
    return {
        "questions": frozen_questions,
        "examples": shown_examples(rule),
        "named": named_files(rule),
        **{stage.name: made(stage, rule) for stage in before if stage.name != "freeze"},
    }


def made(stage, rule):
    """Return the first file of a stage, or those of the cells of a rule's job."""
    path = f"{RESULTS}/{stage.outputs[0].path}"
    if not stage.cells:
        return path

    def of_cells(wildcards):
        names = settings_asked(rule, wildcards)
        return [
            path.format(model=cell.model, setting=cell.setting)
            for cell in stage.cells(STUDY)
            if cell.setting in names
            and (rule == "help") == (cell.model != wildcards.model)
        ]

    return of_cells


def asked_for(stage):
    """Return the scheduler resources of a stage's job, by Snakemake's names."""

    @cache
    def collect(model, setting):
        return collect_resources(STUDY, stage, model, setting)

    def amount(name):
        return of_jobs(
            lambda wildcards: collect(wildcards.model, wildcards.get("setting"))[name]
        )

    return {name: amount(name) for name in collect_resources(STUDY, stage)}


def cpus(wildcards):
    """Return the cores of the job that runs a local model."""
    return count_cpus(STUDY, wildcards.model)


def note_cells():
    """Note the cells of the study, so that files of cells it no longer has are not read."""
    if not workflow.touch:
        record_study(STUDY, Path(RESULTS))


def forget_results():
    """Remove the provenance of results that are about to be rebuilt."""
    jobs = workflow.dag.needrun_jobs()
    forget(Path(RESULTS), [name_file(path) for job in jobs for path in job.output])
