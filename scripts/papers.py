"""Write docs/papers.md to standard output."""

from omibench.papers.catalogue import read_catalogue, read_rehearsal
from omibench.papers.export.overview import describe_papers

print(describe_papers(read_catalogue(), read_rehearsal()), end="")
