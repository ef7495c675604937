"""Write docs/papers.md to standard output."""

from omibench.papers.catalogue import read_catalogue
from omibench.papers.export.printed_tables import describe_papers

print(describe_papers(read_catalogue()), end="")
