rule saliency:
    input:
        responses=rules.infer.output,
        answers=rules.freeze.output.answers,
        questions=rules.freeze.output.questions,
        named=named_files("saliency"),
    output:
        table=f"{RESULTS}/saliency/{{model}}/{{setting}}.parquet",
        maps=directory(f"{RESULTS}/saliency/{{model}}/{{setting}}"),
    log:
        f"{LOGS}/saliency/{{model}}/{{setting}}.log",
    benchmark:
        f"{LOGS}/saliency/{{model}}/{{setting}}.tsv"
    conda:
        "../envs/omibench.yaml"
    threads: cpus
    resources:
        **asked_for("saliency"),
    params:
        study=study_slice("saliency"),
        source=source_hash("saliency"),
        results=subpath(input.answers, ancestor=2),
    shell:
        "omibench saliency --results {params.results:q} --model {wildcards.model:q}"
        " --setting {wildcards.setting:q} --params {params.study:q} --out {output.table:q} 2> {log:q}"
