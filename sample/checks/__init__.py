"""The answers of the sample booklets, found a second time and apart from their keys.

`<booklet>.py` computes every numeric, symbolic and multi-part answer, and every choice among
numbers, from the machine-readable data of the figures. `second_solver.yaml` holds the answers of a
solver who saw only the printed pages. tests/sample/test_checks.py holds both against the golds.
"""
