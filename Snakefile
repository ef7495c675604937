# One graph, from raw exam papers to a report. Rules hold no logic: files in, files out, the slice
# of the parameters that the rule depends on, a hash of its source, and one command.
from snakemake.utils import min_version

from omibench.cli.configfiles import check_params_file, explain_directory
from omibench.status.checkpoint import print_remark, remark_when_planned
from omibench.status.hooks import Watched
from omibench.graph.provenance.hooks import Noted

min_version("9.27")

if not workflow.overwrite_configfiles:
    check_params_file("params.yaml", explain_directory(workflow))

    configfile: "params.yaml"


report: "report/study.rst"


include: "rules/common.smk"


for stage in STAGES:

    include: f"rules/{stage.name}.smk"


# Notes of each run, for `omibench status`; at its end every failed job and the command that retries.
WATCHED = Watched(STUDY)

# Notes of what each job writes: a file that is edited or exchanged later is not read.
NOTED = Noted(RESULTS)

# Before freeze has run, a list of jobs holds those that it may spare.
remark_when_planned(workflow)


onstart:
    WATCHED.start(workflow)
    NOTED.start(workflow)
    forget_results()
    print_remark(workflow)


onsuccess:
    WATCHED.end("done")


onerror:
    WATCHED.end("failed")


# A study that names no model and setting makes a dataset.
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
