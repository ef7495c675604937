"""Write docs/papers.md to standard output."""

from omibench.paper_export.catalogue import read_catalogue
from omibench.paper_export.guide import describe_papers

print(describe_papers(read_catalogue()), end="")
