"""`python -m omibench` runs `omibench`."""

import os
import sys

# `python -m` would import modules from the current folder, which can be a folder of papers.
if not sys.flags.safe_path and sys.path[:1] == [os.getcwd()]:  # noqa: PTH109 (nothing is imported)
    del sys.path[0]

from omibench.cli.main import main

main()
