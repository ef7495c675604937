"""`python -m glyphtex PAPER.pdf`."""

import sys

from glyphtex.command import main

if __name__ == "__main__":
    sys.exit(main())
