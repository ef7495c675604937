"""Judges: one module each, all asked through the store.

`case` is what is judged, `instrument` what a judge is (a prompt, what it shows, how a reply is
read, how several vote), `panel` asks. The judges: `gptscore`, `grade`, `extraction`, `quality`,
`alignment`, `error_type`.
"""
