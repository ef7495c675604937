"""`python -m tests.model_server` from the root, or `python -m model_server` from `tests`."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))  # the package calls itself `model_server`

from model_server.serve import main

if __name__ == "__main__":
    main()
