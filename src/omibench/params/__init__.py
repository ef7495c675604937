"""The typed blocks of params.yaml, a file each; `omibench.params.study` joins them to a Study."""
