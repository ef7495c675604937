"""The scripts of interactive figures are the published files, made classic."""

from __future__ import annotations

import pytest

from omibench.web.plots_page import make_classic, read_vega_scripts


def test_the_interpreter_becomes_a_classic_script() -> None:
    vega, interpreter = read_vega_scripts()
    assert "6.2.0" in vega
    assert interpreter.startswith("const omibenchInterpreter = (() => {")
    assert not [line for line in interpreter.splitlines() if line.startswith(("import", "export"))]
    assert "new Function" not in interpreter


def test_another_module_is_refused() -> None:
    with pytest.raises(ValueError, match="import or export"):
        make_classic("import { evil } from 'elsewhere';")
