"""Independent computations of the sample booklets' answers, without their keys.

`<booklet>.py` computes every numeric, symbolic and multi-part answer, and every choice among
numbers, from the machine-readable data of the figures. `second_solver.yaml` has the answers of a
solver who saw only the printed pages. tests/sample/test_checks.py compares both with the gold
answers.
"""
