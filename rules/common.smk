# For all rules: the typed study, its cells, and the slice of it that each job depends on.
import json
import os
import re
import shlex
import sys
from pathlib import Path

from snakemake.logging import logger
from snakemake.utils import validate

from omibench.cli.configfiles import read_allowed_rules, explain_directory
from omibench.cli.ending import exit_with_error
from omibench.errors import MissingInputError, OmibenchError
from omibench.client.spending_limit import BUDGET_ENV, read_budget
from omibench.graph.inputs import (
    list_all_files,
    list_named_files,
    list_missing_files,
    refuse_patterns,
)
from omibench.files.isolated import isolate
from omibench.stages.ocr.engines import tesseract
from omibench.stages.ocr.corrections.collect import list_correction_inputs
from omibench.stages.ocr.sources.manifest import list_inputs
from omibench.params.runtime import RUNTIME_ENV, log_folder, dump_runtime
from omibench.plan.rehearsal import rehearse
from omibench.params.resources import count_cpus, collect_resources
from omibench.graph.code_hash import source_hash
from omibench.graph.slices import slice_study
from omibench.graph.stages import STAGES, find_stage
from omibench.params.cell import Cell
from omibench.params.study import (
    COMMAND_LINE,
    local_helpers,
    local_models,
    parse_study,
    list_settings,
)
from omibench.graph.provenance.hooks import refuse_changed, refuse_strangers
from omibench.graph.provenance.provenance import forget
from omibench.params.checks.remarks import list_remarks
from omibench.files.yaml_file import add_place

# No process that a job starts imports what happens to lie in the current folder.
isolate(os.environ)

# With `--allowed-rules`, as in tests of single rules, files that others need may be missing.
ALLOWED = read_allowed_rules(sys.argv) if workflow.is_main_process else []

PARAMS_FILES = [os.path.relpath(file) for file in workflow.configfiles]

try:
    STUDY = rehearse(
        parse_study(
            config,
            "the parameters",
            files=PARAMS_FILES,
            overrides=dict.fromkeys(workflow.config_settings.config, COMMAND_LINE),
        )
    )
    READ = STUDY.ocr.sources and (not ALLOWED or "ocr" in ALLOWED)
    PAPERS = list_inputs(Path(STUDY.ocr.sources)) if READ else []
    PAPERS += list_correction_inputs(STUDY.ocr) if READ else []
    refuse_patterns([*list_all_files(STUDY, ALLOWED), *PAPERS])
except MissingInputError as error:
    exit_with_error(MissingInputError(f"{error}{explain_directory(workflow)}"))
except OmibenchError as error:
    exit_with_error(error)
# YAML reads a day (`as_of: 2026-11-21`) as a date, which is a string in JSON.
validate(
    json.loads(json.dumps(config, default=str)),
    "../schemas/params.schema.json",
    set_default=False,
)

# Over old results Snakemake would not miss an input that is not there.
if workflow.is_main_process and (MISSING := list_missing_files(STUDY, ALLOWED)):
    exit_with_error(
        MissingInputError(
            "the parameters name files that are not there: "
            + ", ".join(add_place(file, PARAMS_FILES) for file in MISSING)
            + explain_directory(workflow)
        )
    )
for remark in list_remarks(STUDY) if workflow.is_main_process else []:
    logger.warning(f"omibench: {remark}")

RESULTS = STUDY.study.results
LOGS = log_folder(RESULTS)

# Results of others, and what was changed after its job had ended, are never taken for Snakemake's.
if workflow.is_main_process:
    try:
        refuse_strangers(RESULTS, ALLOWED)
        refuse_changed(RESULTS, sys.argv, PARAMS_FILES)
    except OmibenchError as error:
        exit_with_error(error)

# The budget is no parameter of a rule: a larger one makes no job run again that is done.
BUDGET = read_budget(STUDY)
CAP = "" if BUDGET is None else f"export {BUDGET_ENV}={BUDGET}; "

# Nor is where the store lies and how a model is reached.
RUNTIME = dump_runtime(STUDY.model_dump(mode="json", exclude_defaults=True), Path.cwd())

# Jobs find `omibench` beside the Python that runs Snakemake, in an active environment or not.
# A signal goes to all processes of a job: the shell and `tee` outlive the command, which waits for
# answers that are paid, and writes why it ended.
STOPPING = "trap : INT TERM HUP; tee() ( trap '' INT TERM HUP; exec tee \"$@\"; ); "
shell.prefix(
    f"set -euo pipefail; {STOPPING}export PATH={shlex.quote(str(Path(sys.executable).parent))}:$PATH; "
    f"{CAP}export {RUNTIME_ENV}={shlex.quote(RUNTIME)}; ".replace("{", "{{").replace(
        "}", "}}"
    )
)


def one_of(names):
    """A pattern that takes these names alone; a file of an unknown one has no rule."""
    return "|".join(map(re.escape, names)) or "[^/]+"


wildcard_constraints:
    model=one_of(STUDY.models),
    setting=one_of(STUDY.settings),


def cells(stage):
    """The file of every cell of the study at one stage."""
    return [
        f"{RESULTS}/{stage}/{cell.model}/{cell.setting}.parquet"
        for cell in find_stage(stage).cells(STUDY)
    ]


# What holds text of the parameters is a function: Snakemake would take `{A}` in a title or a label for
# a wildcard of its own.
def study_slice(stage):
    """What a job of the stage depends on, as the JSON text that its command is given."""
    if find_stage(stage).is_given_by_cell:
        return lambda wildcards: _json(stage, Cell(wildcards.model, wildcards.setting))
    return lambda wildcards: _json(stage, None)


def _json(stage, cell):
    return json.dumps(
        slice_study(STUDY, stage, cell), sort_keys=True, ensure_ascii=False
    )


def certificate():
    """The judge's certificate, where the study names labels of people to make it from."""
    return f"{RESULTS}/certify/certificate.json" if STUDY.certify.labels else []


def papers():
    """The manifest of exam papers and the files that it names."""
    return lambda wildcards: PAPERS


def filled(wildcards):
    """A local model's responses are bought in one job ahead of its cells, others' in each cell."""
    local = wildcards.model in local_models(STUDY)
    return f"{RESULTS}/infer/{wildcards.model}/filled.txt" if local else []


def helped(stage):
    """Models of this machine that describe pictures for others are loaded in jobs of their own."""
    return lambda wildcards: [
        f"{RESULTS}/infer/{helper}/helped.txt"
        for helper in local_helpers(
            STUDY, wildcards.model, settings_asked(stage, wildcards)
        )
    ]


def settings_asked(stage, wildcards):
    """The setting of the job's cell, or all under which it asks its model."""
    if "setting" in wildcards.keys():
        return [wildcards.setting]
    return list_settings(STUDY, stage, wildcards.model)


def model_slice(stage):
    """What the job that asks a model under all its settings depends on."""
    return lambda wildcards: _json(stage, Cell(wildcards.model, ""))


def named_files(rule):
    """The files that the parameters name for a job of the rule: prompts, oracles, decisions."""
    if find_stage(rule).is_given_by_cell:
        return lambda wildcards: list_named_files(
            STUDY, rule, Cell(wildcards.model, wildcards.get("setting", ""))
        )
    return lambda wildcards: list_named_files(STUDY, rule)


def frozen_from():
    """What freeze reads: the problems made from papers, or nothing but a benchmark's own files."""
    made = STUDY.benchmark.name == "papers"
    return {"problems": f"{RESULTS}/rationale/problems.jsonl"} if made else {}


def frozen_questions(wildcards):
    """What infer reads of the dataset, once freeze is done."""
    return checkpoints.freeze.get().output.questions


def frozen_examples():
    """What freeze writes of solved problems, where settings may show some as examples."""
    if not STUDY.freeze.examples.wanted:
        return {}
    return {"examples": f"{RESULTS}/freeze/examples.jsonl"}


def shown_examples(stage):
    """The solved problems that a cell's setting shows, or one of a model's settings."""

    def shown(wildcards):
        names = settings_asked(stage, wildcards)
        some = any(STUDY.settings[name].examples for name in names)
        return checkpoints.freeze.get().output.examples if some else []

    return shown


def asked_for(stage):
    """What a job of the stage asks of the scheduler, by the names that Snakemake knows."""

    def amount(name):
        return lambda wildcards: collect_resources(
            STUDY, stage, wildcards.model, wildcards.get("setting")
        )[name]

    return {name: amount(name) for name in collect_resources(STUDY, stage)}


def cpus(wildcards):
    """Cores of the job that loads a local model."""
    return count_cpus(STUDY, wildcards.model)


def forget_results():
    """What is kept beside results that are about to be rebuilt holds no longer."""
    jobs = workflow.dag.needrun_jobs()
    forget(Path(RESULTS), [str(path) for job in jobs for path in job.output])
