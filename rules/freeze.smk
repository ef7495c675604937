# A checkpoint: when it is done, Snakemake looks again at what is to be done, and finds that no model
# needs to be asked where the questions are the same.
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
