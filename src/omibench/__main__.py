"""`python -m omibench` is `omibench`."""

from omibench.cli.main import main

main()
