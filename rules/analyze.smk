from omibench.stages.analyze.workflow_report import (
    label_figure,
    label_table,
    number_category,
)


rule analyze:
    input:
        **cells_read_by("analyze"),
        looks=looks_file("looks.jsonl"),
        frozen=rules.freeze.output.answers,
        questions=rules.freeze.output.questions,
        manifest=rules.freeze.output.manifest,
        certificate=certificate(),
        named=named_files("analyze"),
    output:
        report=report(
            f"{RESULTS}/analyze/report.html",
            caption="../report/page.rst",
            category="00 Report",
            labels={
                "file": "the report",
                "finding": "everything below, on one page",
            },
        ),
        table=report(
            f"{RESULTS}/analyze/main.csv",
            caption="../report/table.rst",
            category=lambda wildcards: number_category("main"),
            labels={"figure": "Leaderboard", "finding": "all numbers, as CSV"},
        ),
        figures=report(
            directory(f"{RESULTS}/analyze/figures"),
            patterns=["{figure}.svg"],
            caption="../report/figure.rst",
            category=lambda wildcards: number_category(wildcards.figure),
            labels=lambda wildcards, output: label_figure(
                output.figures, wildcards.figure
            ),
        ),
        tables=report(
            directory(f"{RESULTS}/analyze/tables"),
            patterns=["{result}.csv"],
            caption="../report/result.rst",
            category=lambda wildcards: number_category("results"),
            labels=lambda wildcards: label_table(wildcards.result),
        ),
        metrics=f"{RESULTS}/analyze/metrics.json",
        headline=f"{RESULTS}/analyze/headline.txt",
    log:
        f"{LOGS}/analyze/analyze.log",
    benchmark:
        f"{LOGS}/analyze/analyze.tsv"
    conda:
        "../envs/omibench.yaml"
    params:
        study=study_slice("analyze"),
        source=source_hash("analyze"),
        results=subpath(input.frozen, ancestor=2),
        out=subpath(output.report, parent=True),
    shell:
        "omibench analyze {params.results:q} --params {params.study:q} --out {params.out:q} 2> {log:q}"
        " > {output.headline:q}"
