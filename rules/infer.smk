# The store of responses is no output: Snakemake deletes the outputs of failed jobs.
rule infer:
    input:
        questions=rules.freeze.output.questions,
        named=named_files("infer"),
    output:
        f"{RESULTS}/infer/{{model}}/{{setting}}.parquet",
    log:
        "logs/infer/{model}/{setting}.log",
    conda:
        "../envs/omibench.yaml"
    params:
        study=study_slice("infer"),
        source=source_hash("infer"),
    shell:
        "omibench infer {input.questions} --model {wildcards.model} --setting {wildcards.setting}"
        " --params {params.study:q} --out {output} 2> {log}"
