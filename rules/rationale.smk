rule rationale:
    input:
        problems=rules.filter.output.problems,
        named=named_files("rationale"),
    output:
        problems=f"{RESULTS}/rationale/problems.jsonl",
        candidates=f"{RESULTS}/rationale/candidates.jsonl",
        labels=f"{RESULTS}/rationale/labels.jsonl",
        subfields=f"{RESULTS}/rationale/labels.yaml",
    log:
        f"{LOGS}/rationale/rationale.log",
    benchmark:
        f"{LOGS}/rationale/rationale.tsv"
    conda:
        "../envs/omibench.yaml"
    params:
        study=study_slice("rationale"),
        source=source_hash("rationale"),
        out=subpath(output.problems, parent=True),
    shell:
        "omibench rationale {input.problems:q} --params {params.study:q} --out {params.out:q} 2> {log:q}"
