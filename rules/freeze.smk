# A checkpoint: after it, Snakemake evaluates the graph again, and skips model calls if the
# questions are unchanged.
checkpoint freeze:
    input:
        **frozen_from(),
        named=named_files("freeze"),
    output:
        **frozen_examples(),
        questions=f"{RESULTS}/freeze/questions.jsonl",
        answers=f"{RESULTS}/freeze/answers.jsonl",
        originals=f"{RESULTS}/freeze/originals.jsonl",
        manifest=f"{RESULTS}/freeze/manifest.json",
        card=f"{RESULTS}/freeze/README.md",
        images=directory(f"{RESULTS}/freeze/images"),
    log:
        f"{LOGS}/freeze/freeze.log",
    benchmark:
        f"{LOGS}/freeze/freeze.tsv"
    conda:
        "../envs/omibench.yaml"
    params:
        study=study_slice("freeze"),
        source=source_hash("freeze"),
        out=subpath(output.questions, parent=True),
        problems=lambda wildcards, input: input.get("problems", ""),
    shell:
        "omibench freeze {params.problems:q} --params {params.study:q} --out {params.out:q} 2> {log:q}"
