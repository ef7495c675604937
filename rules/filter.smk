rule filter:
    input:
        problems=rules.ocr.output.problems,
        named=named_files("filter"),
    output:
        problems=f"{RESULTS}/filter/problems.jsonl",
        rejects=f"{RESULTS}/filter/rejects.parquet",
        page=f"{RESULTS}/filter/rejects.html",
        judgements=f"{RESULTS}/filter/judgements.parquet",
    log:
        f"{LOGS}/filter/filter.log",
    benchmark:
        f"{LOGS}/filter/filter.tsv"
    conda:
        "../envs/omibench.yaml"
    params:
        study=study_slice("filter"),
        source=source_hash("filter"),
        out=subpath(output.problems, parent=True),
    shell:
        "omibench filter {input.problems:q} --params {params.study:q} --out {params.out:q} 2> {log:q}"
