"""Printed tables checked against themselves: counts, totals, intervals, differences, repeats.

No study is needed. `layouts` says what the columns of a table are, `printed` reads its values; each
check is one pure function from printed values to findings; `run` joins them.
"""
