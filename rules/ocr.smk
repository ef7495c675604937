rule ocr:
    input:
        papers(),
        described=ancient(DESCRIBED),
        named=named_files("ocr"),
    output:
        problems=f"{RESULTS}/ocr/problems.jsonl",
        pages=f"{RESULTS}/ocr/pages.jsonl",
        report=f"{RESULTS}/ocr/report.json",
        images=directory(f"{RESULTS}/ocr/images"),
        formulas=directory(f"{RESULTS}/ocr/formulas"),
        page_pictures=f"{RESULTS}/ocr/page_pictures.jsonl",
        page_images=directory(f"{RESULTS}/ocr/pages"),
    log:
        f"{LOGS}/ocr/ocr.log",
    benchmark:
        f"{LOGS}/ocr/ocr.tsv"
    conda:
        "../envs/omibench.yaml"
    params:
        study=study_slice("ocr"),
        described=DESCRIPTION,
        source=source_hash("ocr"),
        ahead=source_hash("ocr.read_ahead") if STUDY.ocr.asks_ahead else "",
        engine=tesseract.version() if STUDY.ocr.engine == tesseract.NAME else "",
        out=subpath(output.problems, parent=True),
    shell:
        "omibench ocr --params {params.study:q} --out {params.out:q} 2> {log:q}"
