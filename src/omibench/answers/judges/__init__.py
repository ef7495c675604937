"""Judges: one module each, all queried through the store.

`case` is the input, `instrument` the judge (a prompt, its material, how a reply is read, how
several vote), `panel` sends the requests. Judges of scores: `gptscore`, `grade`, `extraction`; of
transcripts of a page: `transcript`; of reasoning, by name in `registry`: `quality`, `alignment`,
`error_type` and those of plug-ins, which return a value of one of the `scales`. The judges that
choose among samples are in `stages.aggregate`.
"""
