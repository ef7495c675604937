rule analyze:
    input:
        frozen=rules.freeze.output.answers,
        questions=rules.freeze.output.questions,
        responses=cells("infer"),
        verdicts=cells("score"),
        judgements=cells("judge"),
        saliency=cells("saliency"),
        aggregates=cells("aggregate"),
        certificate=certificate(),
        named=named_files("analyze"),
    output:
        report=report(
            f"{RESULTS}/analyze/report.html",
            caption="../report/page.rst",
            category="Results",
        ),
        table=report(
            f"{RESULTS}/analyze/main.csv",
            caption="../report/table.rst",
            category="Results",
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
