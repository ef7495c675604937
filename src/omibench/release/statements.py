"""Authors' statements for the datasheet: `--statements FILE.yaml`."""

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
    """Markdown texts by section of the datasheet; omitted ones are empty."""

    motivation: Statement = ""
    """Purpose, creators and funding."""
    composition: Statement = ""
    """Limits of the data: known errors, personal or offensive content, relations."""
    collection: Statement = ""
    """Collectors, time, consent; ethical review."""
    preprocessing: Statement = ""
    """Processing steps that the provenance does not contain."""
    uses: Statement = ""
    """Existing uses, and discouraged uses."""
    distribution: Statement = ""
    """Availability and date; restrictions by third parties."""
    maintenance: Statement = ""
    """Maintainer, how to report errors, and duration of support."""
    contact: Annotated[str, Field(max_length=500)] = ""


def read_statements(path: Path) -> AuthorStatements:
    """Read the file.

    Raises:
        MissingInputError: The file does not exist.
        FileFormatError: The file is not YAML, or has an unknown section or one that is not text.
    """
    try:
        return AuthorStatements.model_validate(read_yaml(path) or {})
    except ValidationError as error:
        raise FileFormatError(f"{path}: {explain(error, AuthorStatements)}") from None
