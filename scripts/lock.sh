#!/bin/sh
# Pin every requirement for Python 3.11 and later, without any registry's address.
set -eu
pip install --quiet uv
compile() { uv pip compile pyproject.toml --quiet --universal --python-version 3.11 \
    --no-emit-index-url --no-emit-find-links --no-header --no-annotate "$@"; }
compile --extra workflow --extra flows --extra sample --extra ocr --group build \
    --output-file requirements.txt
compile --extra workflow --extra flows --extra sample --extra ocr --extra api --extra hub --group build --group dev \
    --constraint requirements.txt --output-file requirements-dev.txt
# What the executors of clusters need beside all that.
compile --extra workflow --extra flows --extra slurm --extra kubernetes \
    --constraint requirements-dev.txt --output-file requirements-cluster.all
grep -vxF -f requirements-dev.txt requirements-cluster.all > requirements-cluster.txt
rm requirements-cluster.all
