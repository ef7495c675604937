rule judge:
    input:
        responses=rules.infer.output,
        verdicts=rules.score.output,
        answers=rules.freeze.output.answers,
        questions=rules.freeze.output.questions,
        named=named_files("judge"),
    output:
        f"{RESULTS}/judge/{{model}}/{{setting}}.parquet",
    log:
        f"{LOGS}/judge/{{model}}/{{setting}}.log",
    benchmark:
        f"{LOGS}/judge/{{model}}/{{setting}}.tsv"
    conda:
        "../envs/omibench.yaml"
    resources:
        **asked_for("judge"),
    params:
        study=study_slice("judge"),
        source=source_hash("judge"),
    shell:
        "omibench judge {input.responses:q} --verdicts {input.verdicts:q} --answers {input.answers:q}"
        " --questions {input.questions:q} --params {params.study:q} --out {output:q} 2> {log:q}"
