"""Consistency checks of printed tables: counts, totals, intervals, differences, repeats.

No study is needed. The package `printed_tables` reads the tables; each check is one pure
function from printed values to findings; `run` combines them.
"""
