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


# Under `infer.adaptive`: all cells answer the problems in one order, the part of one look after the
# other, until they are behind.
rule order:
    input:
        questions=frozen_questions,
    output:
        f"{RESULTS}/infer/adaptive/order.json",
    log:
        f"{LOGS}/look/order.log",
    benchmark:
        f"{LOGS}/look/order.tsv"
    conda:
        "../envs/omibench.yaml"
    params:
        study=look_slice,
        source=source_hash("infer.looks"),
    shell:
        "omibench adaptive order {input.questions:q} --params {params.study:q} --out {output:q}"
        " 2> {log:q}"


rule infer_part:
    input:
        **asked("infer_part"),
        helped=helped("infer"),
        order=f"{RESULTS}/infer/adaptive/order.json",
        before=before_look,
    output:
        f"{RESULTS}/infer/adaptive/{{look}}/infer/{{model}}/{{setting}}.parquet",
    log:
        f"{LOGS}/infer_part/{{look}}/{{model}}/{{setting}}.log",
    benchmark:
        f"{LOGS}/infer_part/{{look}}/{{model}}/{{setting}}.tsv"
    conda:
        "../envs/omibench.yaml"
    threads: cpus
    resources:
        **asked_for("infer_part"),
    params:
        study=study_slice("infer"),
        source=source_hash("infer"),
    shell:
        "omibench infer {input.questions:q} --model {wildcards.model:q} --setting {wildcards.setting:q}"
        " --order {input.order:q} --look {wildcards.look:q} --params {params.study:q} --out {output:q}"
        " 2> >(tee {log:q} >&2)"


rule score_part:
    input:
        responses=f"{RESULTS}/infer/adaptive/{{look}}/infer/{{model}}/{{setting}}.parquet",
        answers=rules.freeze.output.answers,
    output:
        f"{RESULTS}/infer/adaptive/{{look}}/score/{{model}}/{{setting}}.parquet",
    log:
        f"{LOGS}/score_part/{{look}}/{{model}}/{{setting}}.log",
    benchmark:
        f"{LOGS}/score_part/{{look}}/{{model}}/{{setting}}.tsv"
    conda:
        "../envs/omibench.yaml"
    params:
        study=score_part_slice,
        source=source_hash("score"),
    shell:
        "omibench score {input.responses:q} --answers {input.answers:q} --params {params.study:q}"
        " --out {output:q} > {log:q} 2>&1"


# A checkpoint: after it, only the cells that can still be the best are asked.
checkpoint look:
    input:
        questions=frozen_questions,
        order=f"{RESULTS}/infer/adaptive/order.json",
        before=before_look,
        verdicts=look_verdicts,
    output:
        f"{RESULTS}/infer/adaptive/looks-{{look}}.jsonl",
    log:
        f"{LOGS}/look/{{look}}.log",
    benchmark:
        f"{LOGS}/look/{{look}}.tsv"
    conda:
        "../envs/omibench.yaml"
    params:
        study=look_slice,
        source=source_hash("infer.looks"),
        cells=[word for cell in STUDY.cells for word in ("--cell", "/".join(cell))],
    shell:
        "omibench adaptive look {wildcards.look:q} {params.cells:q} --params {params.study:q}"
        " --out {output:q} 2> {log:q}"


rule looks:
    input:
        questions=frozen_questions,
        last=f"{RESULTS}/infer/adaptive/looks-{len(LOOKS.looks) if LOOKS else 0}.jsonl",
    output:
        f"{RESULTS}/infer/adaptive/looks.jsonl",
    log:
        f"{LOGS}/look/looks.log",
    benchmark:
        f"{LOGS}/look/looks.tsv"
    conda:
        "../envs/omibench.yaml"
    params:
        source=source_hash("infer.looks"),
    shell:
        "cp {input.last:q} {output:q} 2> {log:q}"


rule infer:
    input:
        **asked("infer"),
        filled=filled(),
        helped=helped("infer"),
        order=looks_file("order.json"),
        looks=looks_file("looks.jsonl"),
    output:
        f"{RESULTS}/infer/{{model}}/{{setting}}.parquet",
    log:
        f"{LOGS}/infer/{{model}}/{{setting}}.log",
    benchmark:
        f"{LOGS}/infer/{{model}}/{{setting}}.tsv"
    conda:
        "../envs/omibench.yaml"
    resources:
        **asked_for("infer_part" if LOOKS else "infer"),
    params:
        study=study_slice("infer"),
        source=source_hash("infer"),
        order=lambda wildcards, input: ["--order", input.order] if input.order else [],
    shell:
        "omibench infer {input.questions:q} --model {wildcards.model:q} --setting {wildcards.setting:q}"
        " {params.order:q} --params {params.study:q} --out {output:q} 2> >(tee {log:q} >&2)"
