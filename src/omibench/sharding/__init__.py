"""Parts of cells that flows have asked at the same time, ahead of the jobs of the graph."""
