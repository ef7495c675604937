"""Tables that papers print, read into one schema, whatever their layout.

`layouts` says what the columns of a table are (`tables.yaml` beside it), `guess` tells it from the
columns where no file says so; `rows` and `cells` read the values, `table` joins them. The audit and
the report read printed tables by these alone.
"""
