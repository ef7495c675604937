"""The typed blocks of params.yaml, one file each; `omibench.params.study` joins them to a Study.

Paths are relative to the folder in which the command runs. The JSON schema for editors is generated
from these types (`omibench schema`).
"""
