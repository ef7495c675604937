"""Types of errors, as data: three published lists by name, and custom ones from YAML files.

Types and their order are the papers'; the descriptions are in our wording.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import Field, StringConstraints, ValidationError

from omibench.errors import ParamsError
from omibench.files.yaml_file import read_yaml
from omibench.params.blocks import Block
from omibench.schemas.validation import explain, suggest_name
from omibench.schemas.verdict import NO_ERROR, UNANSWERED, VerdictOutcome

TypeName = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]*$", max_length=40)]
NO_ANSWER = "no_answer"
"""The type of a response without an answer, if a taxonomy has none for it."""
"""The answer is right after all: the first check in OMIBench, F.2.1."""


class Taxonomy(Block):
    """A list of error types: name -> when an error is of this type."""

    source: str = ""
    types: Annotated[dict[TypeName, str], Field(min_length=2, max_length=40)]
    outcomes: dict[VerdictOutcome, TypeName] = {}
    """Outcomes that determine a type: no judge is called for them."""

    @property
    def names(self) -> list[str]:
        """The possible types of a failure, and `no_error`."""
        return list(dict.fromkeys([*self.types, NO_ANSWER, NO_ERROR]))

    def type_outcome(self, outcome: str) -> str | None:
        """Return the type that an outcome determines.

        Args:
            outcome: The outcome of a verdict.

        Returns:
            A type for each outcome without an answer (`no_answer` if the taxonomy lists none) and
            for those that it lists; None if a judge has to decide.
        """
        by_name: dict[str, str] = {str(name): kind for name, kind in self.outcomes.items()}
        if outcome == "scored":
            return None
        return by_name.get(outcome, NO_ANSWER if outcome in UNANSWERED else None)


TAXONOMIES: dict[str, Taxonomy] = {
    "omibench": Taxonomy(
        source="OMIBench, B.2 and F.2",
        types={
            "visual_perception": "a plain fact of one picture is misread or missed: an object, a "
            "label or number, an attribute, a position",
            "cross_image": "each picture is read about right, but what they say together is not: "
            "views are mismatched, an order in time is confused, evidence of one is left out",
            "logical": "pictures and their relation are read about right, but the reasoning fails: "
            "an invalid step, a miscalculation, a theorem or law misapplied",
            "instruction": "the task is misunderstood, or a constraint of the text is violated: "
            "a required format, a forbidden method, another question answered",
            "other": "none of these: conditions that stand nowhere, text without sense",
        },
        outcomes=dict.fromkeys(UNANSWERED, "other"),
    ),
    "emma": Taxonomy(
        source="EMMA, section 5",
        types={
            "perceptual": "visual information is misread",
            "lack_of_knowledge": "a fact, law, convention or interface that one has to know is "
            "missing or wrong",
            "visual_reasoning": "what is seen is right, but working with it in the mind fails: a "
            "rotation, a movement, a spatial or several-step visual inference",
            "textual_reasoning": "a miscalculation or a false logical step in words or formulas",
        },
    ),
    "mathreal": Taxonomy(
        source="MathReal, Error Analysis",
        types={
            "ocr": "printed text or a formula of the picture is misread",
            "figure_perception": "a figure, chart or drawing is misread",
            "calculation": "the method is right, the arithmetic or algebra is not",
            "reasoning": "an invalid step, or a principle misapplied",
            "hallucination": "quantities or assumptions that stand nowhere are used",
            "reject": "no meaningful answer is given",
        },
        outcomes=dict.fromkeys(UNANSWERED, "reject"),
    ),
}


def load_taxonomy(name: str) -> Taxonomy:
    """Load a published taxonomy by name, or a custom one from a YAML file with `types:`.

    Raises ParamsError if neither exists or the file is not a taxonomy, FileFormatError if it is not
    YAML.
    """
    if name in TAXONOMIES:
        return TAXONOMIES[name]
    path = Path(name)
    if not path.is_file():
        hint = suggest_name(name, TAXONOMIES)
        raise ParamsError(f"taxonomy {name!r} is neither a built-in one nor a file{hint}")
    try:
        taxonomy = Taxonomy.model_validate(read_yaml(path))
    except ValidationError as error:
        raise ParamsError(f"{name}: {explain(error, Taxonomy)}") from None
    unknown = [t for t in taxonomy.outcomes.values() if t not in taxonomy.types]
    if unknown or NO_ERROR in taxonomy.types:
        wrong = (
            f"outcomes: {unknown[0]!r} is not a type"
            if unknown
            else (f"types: {NO_ERROR!r} is reserved for right answers; rename that type")
        )
        raise ParamsError(f"{name}: {wrong}")
    return taxonomy
