# Checkpoints are no outputs, since Snakemake deletes those of failed jobs: a stopped run goes on.
rule tune:
    input:
        questions=frozen_questions,
        named=named_files("tune"),
    output:
        record=f"{RESULTS}/tune/{{model}}/tuned.json",
        data=f"{RESULTS}/tune/{{model}}/data.json",
        loss=f"{RESULTS}/tune/{{model}}/loss.jsonl",
        weights=directory(f"{RESULTS}/tune/{{model}}/weights"),
    log:
        f"{LOGS}/tune/{{model}}.log",
    benchmark:
        f"{LOGS}/tune/{{model}}.tsv"
    conda:
        "../envs/omibench.yaml"
    threads: cpus
    resources:
        **asked_for("tune"),
    params:
        study=model_slice("tune"),
        source=source_hash("tune"),
        gpus=lambda wildcards: STUDY.tune[wildcards.model].gpus,
    shell:
        "omibench tune {input.questions:q} --model {wildcards.model:q} --params {params.study:q}"
        " --gpus {params.gpus:q} --out {output.record:q} 2> >(tee {log:q} >&2)"
