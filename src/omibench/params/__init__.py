"""The typed blocks of params.yaml, a file each; `omibench.params.study` joins them to a Study.

Paths are relative to the folder in which the command runs. The JSON schema that editors complete
from is generated from these types (`omibench schema`).
"""
