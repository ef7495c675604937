"""Printed tables checked against themselves: counts, totals, intervals, differences, repeats.

No study is needed. The room `printed_tables` reads the tables; each check is one pure function from
printed values to findings; `run` joins them.
"""
