"""The typed blocks of params.yaml, a file each; `omibench.study` joins them to a Study."""
