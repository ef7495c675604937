"""The study of a parameter file as it runs: its rehearsal if the file says `simulated: true`.

Commands, flows and the Python API read a study here alone, so none of them can send a request that
the study rehearses.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext
from pathlib import Path

from omibench.params.study import COMMAND_LINE, Study, parse_study, parse_study_file
from omibench.plugins.registry import leaving_out_files


def read_study(  # noqa: PLR0913 (each source of values is a keyword)
    params: str | Path | Mapping[str, object],
    overrides: Mapping[str, object] | None = None,
    options: Mapping[str, Mapping[str, object]] | None = None,
    source: str = COMMAND_LINE,
    *,
    pairs: Mapping[str, object] | None = None,
    run_plugins: bool = True,
) -> Study:
    """Return the study of a YAML file, of JSON text that begins with a brace, or of its blocks.

    Args:
        params: Path, text or blocks.
        overrides: Top-level keys that replace those of `params`.
        options: Keys inside blocks that replace those of a file.
        source: Name of `overrides`, `options` and `pairs` in messages.
        pairs: Values of `--set` for a file, merged into its blocks as by Snakemake's `--config`.
        run_plugins: Whether to run the files under `plugins:`. Without them, names of parts that
            they may register are accepted: such a study can be shown, not evaluated.

    Raises:
        ParamsError: A file is missing or no YAML; a key or value is invalid; or the study cannot be
            rehearsed (`plan.rehearsal.rehearse`).
        PluginError: A plug-in of the study cannot be loaded.
    """
    with nullcontext() if run_plugins else leaving_out_files():
        if isinstance(params, Mapping):
            sources = dict.fromkeys(overrides or {}, source)
            study = parse_study({**params, **(overrides or {})}, "params", overrides=sources)
        else:
            study = parse_study_file(params, overrides, options, source, pairs)
        if not study.simulated:
            return study
        from omibench.study.plan.rehearsal import rehearse

        return rehearse(study)
