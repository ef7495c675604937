"""Cells of a study as logs of Inspect, which `inspect view` opens."""
