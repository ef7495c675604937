"""Tables printed in papers, read into one schema, whatever their layout.

`layouts` describes the columns of a table (`tables.yaml` next to it), `guess` infers them if no
file does; `rows` and `cells` read the values, `table` joins them. The audit and the report read
printed tables only through these.
"""
