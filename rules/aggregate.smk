rule aggregate:
    input:
        responses=rules.infer.output,
        verdicts=rules.score.output,
        answers=rules.freeze.output.answers,
        questions=rules.freeze.output.questions,
        named=named_files("aggregate"),
    output:
        f"{RESULTS}/aggregate/{{model}}/{{setting}}.parquet",
    log:
        f"{LOGS}/aggregate/{{model}}/{{setting}}.log",
    benchmark:
        f"{LOGS}/aggregate/{{model}}/{{setting}}.tsv"
    conda:
        "../envs/omibench.yaml"
    resources:
        **asked_for("aggregate"),
    params:
        study=study_slice("aggregate"),
        source=source_hash("aggregate"),
        results=subpath(input.answers, ancestor=2),
    shell:
        "omibench aggregate --results {params.results:q} --model {wildcards.model:q}"
        " --setting {wildcards.setting:q} --params {params.study:q} --out {output:q} 2> {log:q}"
