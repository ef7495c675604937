"""`python -m omibench` is `omibench`."""

import os
import sys

# `python -m` would import whatever lies in the current folder, which may be one of papers.
if not sys.flags.safe_path and sys.path[:1] == [os.getcwd()]:  # noqa: PTH109 (nothing is imported)
    del sys.path[0]

from omibench.cli.main import main

main()
