# One graph, from raw exam papers to a report. Rules have no logic: each has input and output files,
# the slice of the parameters it depends on, a hash of its source, and one command.
from snakemake.utils import min_version

from omibench.cli.configfiles import check_params_file, explain_directory
from omibench.study.status.hooks import print_remark, remark_when_planned
from omibench.study.status.hooks import WatchedRun, explain_locks
from omibench.graph.hooks import OutputRecorder

min_version("9.27")

# As a module after rules of yours, it leaves the default target to them.
GIVEN_TARGET = workflow.default_target

# A module with `config:` has its parameters.
if not workflow.overwrite_configfiles and not workflow.modifier.skip_configfile:
    check_params_file("params.yaml", explain_directory(workflow))

    configfile: "params.yaml"


report: "report/study.rst"


include: "rules/common.smk"


for stage in STAGES:

    include: f"rules/{stage.name}.smk"


# Write the status of each run for `omibench status`; at its end, list failed jobs and the command
# to retry.
WATCHED = WatchedRun(STUDY)

# If another run holds Snakemake's lock, say which and since when.
explain_locks(RESULTS)

# Write the provenance of each job's outputs, so that files edited or replaced later are rejected.
NOTED = OutputRecorder(RESULTS)

# Before freeze has run, the list of jobs includes some that it may make unnecessary.
remark_when_planned(workflow)


onstart:
    WATCHED.start(workflow)
    NOTED.start(workflow)
    forget_results()
    note_cells()
    print_remark(workflow)


onsuccess:
    WATCHED.end("done")


onerror:
    WATCHED.end("failed")


# A study without models and settings only builds a dataset.
rule all:
    default_target: True
    input:
        f"{RESULTS}/analyze/report.html"
        if STUDY.cells
        else f"{RESULTS}/freeze/manifest.json",
    localrule: True


rule freeze_all:
    input:
        f"{RESULTS}/freeze/manifest.json",
    localrule: True


rule infer_all:
    input:
        cells("infer"),
    localrule: True


rule score_all:
    input:
        cells("score"),
    localrule: True


rule judge_all:
    input:
        cells("judge"),
    localrule: True


if GIVEN_TARGET is not None:
    workflow.default_target = GIVEN_TARGET
