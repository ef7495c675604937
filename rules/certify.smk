rule certify:
    input:
        answers=rules.freeze.output.answers,
        questions=rules.freeze.output.questions,
        responses=cells("infer"),
        verdicts=cells("score"),
        judgements=cells("judge"),
        labels=named_files("certify"),
    output:
        certificate=f"{RESULTS}/certify/certificate.json",
        disagreements=f"{RESULTS}/certify/disagreements.jsonl",
        reasoning=f"{RESULTS}/certify/reasoning.json",
    log:
        f"{LOGS}/certify/certify.log",
    benchmark:
        f"{LOGS}/certify/certify.tsv"
    conda:
        "../envs/omibench.yaml"
    params:
        study=study_slice("certify"),
        source=source_hash("certify"),
        results=subpath(input.answers, ancestor=2),
        out=subpath(output.certificate, parent=True),
    shell:
        "omibench certify {input.labels:q} --results {params.results:q} --params {params.study:q}"
        " --out {params.out:q} > {log:q} 2>&1"
