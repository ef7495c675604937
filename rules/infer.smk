# The store is not an output, since Snakemake deletes the outputs of failed jobs. Messages of
# requests (progress, cost, missing answers) go to the log and the terminal.
rule help:
    input:
        **asked("help"),
    output:
        f"{RESULTS}/infer/{{model}}/helped.txt",
    log:
        f"{LOGS}/help/{{model}}.log",
    benchmark:
        f"{LOGS}/help/{{model}}.tsv"
    conda:
        "../envs/omibench.yaml"
    threads: cpus
    resources:
        **asked_for("help"),
    params:
        study=model_slice("help"),
        source=source_hash("infer"),
    shell:
        "omibench fill {input.questions:q} --model {wildcards.model:q} --as-helper"
        " --params {params.study:q} --out {output:q} 2> >(tee {log:q} >&2)"


rule fill:
    input:
        **asked("fill"),
        helped=helped("fill"),
    output:
        f"{RESULTS}/infer/{{model}}/filled.txt",
    log:
        f"{LOGS}/fill/{{model}}.log",
    benchmark:
        f"{LOGS}/fill/{{model}}.tsv"
    conda:
        "../envs/omibench.yaml"
    threads: cpus
    resources:
        **asked_for("fill"),
    params:
        study=model_slice("infer"),
        source=source_hash("infer"),
    shell:
        "omibench fill {input.questions:q} --model {wildcards.model:q} --params {params.study:q}"
        " --out {output:q} 2> >(tee {log:q} >&2)"


rule infer:
    input:
        **asked("infer"),
        filled=filled(),
        helped=helped("infer"),
    output:
        f"{RESULTS}/infer/{{model}}/{{setting}}.parquet",
    log:
        f"{LOGS}/infer/{{model}}/{{setting}}.log",
    benchmark:
        f"{LOGS}/infer/{{model}}/{{setting}}.tsv"
    conda:
        "../envs/omibench.yaml"
    resources:
        **asked_for("infer"),
    params:
        study=study_slice("infer"),
        source=source_hash("infer"),
    shell:
        "omibench infer {input.questions:q} --model {wildcards.model:q} --setting {wildcards.setting:q}"
        " --params {params.study:q} --out {output:q} 2> >(tee {log:q} >&2)"
