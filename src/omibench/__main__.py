"""`python -m omibench` is `omibench`."""

from omibench.cli import main

main()
