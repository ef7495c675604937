rule freeze:
    input:
        **frozen_from(),
        named=named_files("freeze"),
    output:
        questions=f"{RESULTS}/freeze/questions.jsonl",
        answers=f"{RESULTS}/freeze/answers.jsonl",
        manifest=f"{RESULTS}/freeze/manifest.json",
        card=f"{RESULTS}/freeze/README.md",
        images=directory(f"{RESULTS}/freeze/images"),
    log:
        "logs/freeze.log",
    conda:
        "../envs/omibench.yaml"
    params:
        study=study_slice("freeze"),
        source=source_hash("freeze"),
        out=subpath(output.questions, parent=True),
        problems=lambda wildcards, input: input.get("problems", ""),
    shell:
        "omibench freeze {params.problems} --params {params.study:q} --out {params.out} 2> {log}"
