"""The folder in which a study runs: the only code that determines it.

Relative paths of a study (results, store, data, prompts, plug-ins, board) start in its folder, and
Snakemake runs there. It is the folder of `params.yaml`, wherever a command was started. A parameter
file with another name, such as `studies/emma.yaml`, belongs to the nearest folder with a Snakefile,
its own or one above; without any to its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, chdir, contextmanager
from pathlib import Path
from typing import Final, NamedTuple

from omibench.errors import MissingInputError, reason_of

SNAKEFILE: Final = "Snakefile"
PARAMS: Final = "params.yaml"


class StudyPlace(NamedTuple):
    """The folder of a study, and its parameters as they are named there.

    Attributes:
        folder: An absolute path.
        params: Path of the parameter file relative to `folder`, or the parameters as JSON text.
    """

    folder: Path
    params: str


def find_study(params: str) -> StudyPlace:
    """Return the folder of a study and its parameter file there.

    Args:
        params: Path of the parameter file, which need not exist; or JSON text that begins with a
            brace, whose study runs in the current folder.
    """
    if params.lstrip().startswith("{"):
        return StudyPlace(Path.cwd(), params)
    file = Path(params).parent.resolve() / Path(params).name  # a link belongs to its own folder
    folders = file.parents[:1] if file.name == PARAMS else file.parents
    folder = next((f for f in folders if (f / SNAKEFILE).is_file()), file.parent)
    return StudyPlace(folder, str(file.relative_to(folder)))


@contextmanager
def in_study_folder(params: str, tell: Callable[[str], object]) -> Iterator[str]:
    """Work in the folder of a study, and return to the current one at the end.

    Args:
        params: Parameter file or JSON text, as for `find_study`.
        tell: Receives one line if the study's folder is not the current one.

    Yields:
        The parameters as they are named in the study's folder.

    Raises:
        MissingInputError: The folder does not exist.
    """
    place = find_study(params)
    if place.folder != Path.cwd():
        tell(f"{params}: runs in the folder of its study, {place.folder}")
    with ExitStack() as stack:
        try:
            stack.enter_context(chdir(place.folder))
        except OSError as error:
            raise MissingInputError(
                f"{params}: the folder {place.folder} cannot be entered: {reason_of(error)}"
            ) from None
        yield place.params
