rule score:
    input:
        responses=rules.infer.output,
        answers=rules.freeze.output.answers,
        questions=rules.freeze.output.questions,
        named=named_files("score"),
    output:
        f"{RESULTS}/score/{{model}}/{{setting}}.parquet",
    log:
        f"{LOGS}/score/{{model}}/{{setting}}.log",
    benchmark:
        f"{LOGS}/score/{{model}}/{{setting}}.tsv"
    conda:
        "../envs/omibench.yaml"
    resources:
        **asked_for("score"),
    params:
        study=study_slice("score"),
        source=source_hash("score"),
    shell:
        "omibench score {input.responses:q} --answers {input.answers:q} --questions {input.questions:q}"
        " --params {params.study:q} --out {output:q} > {log:q} 2>&1"
