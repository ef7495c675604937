"""What only its authors can say of a dataset: `--statements FILE.yaml`, for the datasheet."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import Field, StringConstraints, ValidationError

from omibench.errors import FileFormatError
from omibench.files.yaml_file import read_yaml
from omibench.schemas.problem import Noun
from omibench.schemas.validation import explain

Statement = Annotated[str, StringConstraints(strip_whitespace=True, max_length=20_000)]


class AuthorStatements(Noun):
    """Texts in Markdown, by the sections of the datasheet; those that are left out are empty."""

    motivation: Statement = ""
    """For what, by whom and with whose means it was made."""
    composition: Statement = ""
    """What the data do not show: known errors, personal or offensive content, relations."""
    collection: Statement = ""
    """Who collected it, when, with whose consent; ethical review."""
    preprocessing: Statement = ""
    """What was done that the record does not hold."""
    uses: Statement = ""
    """What it was used for, and what it should not be used for."""
    distribution: Statement = ""
    """Where it can be had, from when; restrictions by third parties."""
    maintenance: Statement = ""
    """Who looks after it, how to report errors, for how long."""
    contact: Annotated[str, Field(max_length=500)] = ""


def read_statements(path: Path) -> AuthorStatements:
    """Read the file.

    Raises:
        MissingInputError: It is not there.
        FileFormatError: It is no YAML, names another section or holds no text.
    """
    try:
        return AuthorStatements.model_validate(read_yaml(path) or {})
    except ValidationError as error:
        raise FileFormatError(f"{path}: {explain(error, AuthorStatements)}") from None
