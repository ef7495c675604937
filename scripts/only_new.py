"""Print the requirements of one file that another lacks, each with its hashes."""

import re
import sys
from pathlib import Path


def requirements(file: str) -> list[str]:
    """Return every requirement of a file with its continuation lines."""
    return re.findall(r"(?m)^[^#\s].*(?:\n[ ].*)*", Path(file).read_text("utf-8"))


def main(file: str, other: str) -> None:
    """Print the requirements that are new in `file`."""
    known = set(requirements(other))
    print("\n".join(one for one in requirements(file) if one not in known))


if __name__ == "__main__":
    main(*sys.argv[1:3])
