#!/bin/sh
# Pin every requirement for Python 3.11 and later, with the hashes of all files of each release and
# without a registry's address.
set -eu
pip install --quiet uv
compile() { uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
    --no-emit-index-url --no-emit-find-links --no-header --no-annotate "$@"; }
all="--extra pdf --extra report --extra packs --extra workflow --extra flows"
all="$all --extra stats --extra review --extra labels"
# shellcheck disable=SC2086
{
    compile --group build --output-file requirements-build.txt
    compile pyproject.toml $all --extra sample --extra ocr --group build \
        --constraint requirements-build.txt --output-file requirements.txt
    compile pyproject.toml $all --extra sample --extra ocr --extra api --extra hub \
        --extra release --extra docs --extra inspect --extra chemistry --extra coding \
        --group build --group dev \
        --constraint requirements.txt --output-file requirements-dev.txt
    # Additional requirements of cluster executors.
    compile pyproject.toml $all --extra slurm --extra kubernetes \
        --constraint requirements-dev.txt --output-file requirements-cluster.all
}
python scripts/only_new.py requirements-cluster.all requirements-dev.txt > requirements-cluster.txt
rm requirements-cluster.all
python scripts/licences.py > docs/licences.md
