"""Judges: one module each, all asked through the store.

`case` is what is judged, `instrument` what a judge is (a prompt, what it shows, how a reply is
read, how several vote), `panel` asks. Judges of scores: `gptscore`, `grade`, `extraction`; of what
was read of a page: `transcript`; of reasoning, by name in `registry`: `quality`, `alignment`,
`error_type` and those of plug-ins, which give a value of one of the `scales`. The judges that
choose among samples are in `stages.aggregate`.
"""
