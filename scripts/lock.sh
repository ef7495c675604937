#!/bin/sh
# Pin every requirement for Python 3.11 and later, without any registry's address.
set -eu
pip install --quiet uv
compile() { uv pip compile pyproject.toml --quiet --universal --python-version 3.11 \
    --no-emit-index-url --no-emit-find-links --no-header --no-annotate "$@"; }
compile --extra workflow --extra flows --extra sample --group build --output-file requirements.txt
compile --extra workflow --extra flows --extra sample --extra api --group build --group dev \
    --constraint requirements.txt --output-file requirements-dev.txt
