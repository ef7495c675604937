"""Kinds of review tasks on problems: their parts, fields and keys."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from omibench.review.kinds.declaration import (
    ANSWER,
    AUDITOR,
    CHOICES,
    FACTS,
    ITEM_LABELS,
    PAGES,
    PROBLEM,
    QUESTION,
    SOLUTION,
    STATEMENT,
    Contradiction,
    Field,
    Kind,
    Option,
    Part,
    ask_one,
    correct_parts,
)

# Review of an item in its final form: validity, quality and defects.

DEFECTS: Final = (
    Option("ambiguous_statement", "The statement is ambiguous", "1"),
    Option("misleading_image", "A picture misleads", "2"),
    Option("wrong_solution", "The solution is wrong", "3"),
    Option("wrong_answer", "The answer is wrong", "4"),
    Option("image_not_needed", "The pictures are not needed", "5"),
    Option("unreadable", "Text or picture cannot be read", "6"),
    Option("text_image_mismatch", "Text and pictures do not fit together", "7"),
    Option("other", "Another defect, described in the comment", "8"),
)

ITEM: Final = Kind(
    name="item",
    title="Problem",
    instruction=(
        "Read the problem as a user of the dataset would, and solve it: the official answer and "
        "the solution follow your own answer. Decide whether it can be "
        "solved in its current form, whether text and pictures match, and whether answer and "
        "solution are correct. Quality: 5 is a problem that you would be glad to have written, 3 "
        "is acceptable, 1 should not be in a dataset. Your corrections below the form apply only "
        "if the problem is valid with them."
    ),
    parts=(
        *STATEMENT,
        replace(ANSWER, after_answer=True),
        replace(SOLUTION, after_answer=True),
        ITEM_LABELS,
        FACTS,
    ),
    fields=(
        ask_one(
            "valid",
            "Is the problem valid?",
            Option("valid", "Valid", "v"),
            Option("invalid", "Not valid", "n", drops=True),
        ),
        ask_one(
            "solution_valid",
            "Is the solution right?",
            Option("valid", "Right", "s"),
            Option("invalid", "Not right", "x"),
            Option("absent", "No solution", "z"),
            required=False,
            about="solution",
            absent="absent",
        ),
        Field("quality", "Quality", "rating", tolerance=1, key="q"),
        Field("defects", "Defects", "choices", options=DEFECTS, required=False),
        *correct_parts(QUESTION, CHOICES, ANSWER, SOLUTION, about=(CHOICES, SOLUTION)),
    ),
    contradictions=(
        Contradiction(
            {"valid": "valid", "solution_valid": "invalid"},
            unless="solution",
            field="solution_valid",
            message="the problem is valid, but its solution is not right: correct the solution "
            "below, or call the problem not valid",
        ),
        Contradiction(
            {"valid": "valid", "defects": "wrong_solution"},
            unless="solution",
            field="defects",
            message="the problem is valid, but its solution is wrong: correct the solution below, "
            "or call the problem not valid",
        ),
        Contradiction(
            {"valid": "valid", "defects": "wrong_answer"},
            unless="answer",
            field="defects",
            message="the problem is valid, but its answer is wrong: correct the answer below, or "
            "call the problem not valid",
        ),
    ),
    source="OMIBench, A.4.1",
)


# Comparison of a problem with the page that it was read from.

PAGE: Final = Kind(
    name="page",
    title="Page check",
    instruction=(
        "Compare the problem with the page; the boxes show where it was read. Correct reading "
        "errors in words, numbers, formulas and options, and the answer if it differs from the "
        "key. Write formulas between dollar signs, and keep marks such as `[IMAGE0]` at the "
        "position of a picture. Remove the problem if it cannot be corrected from the page: parts "
        "are missing or illegible, or no answer is well defined. Also report pictures that are not "
        "those of the page or are cut off."
    ),
    parts=(*PROBLEM, PAGES, FACTS),
    fields=(
        ask_one(
            "usable",
            "Is the problem complete, if need be with your corrections?",
            Option("usable", "Yes", "y"),
            Option("unusable", "No: remove it", "n", drops=True),
        ),
        ask_one(
            "pictures",
            "Are all its pictures correct, complete and at their marks?",
            Option("right", "Yes", "r"),
            Option("wrong", "No: remove it until they are fixed", "w", drops=True),
        ),
        Field(
            "reasons",
            "Why should it be removed?",
            "choices",
            options=(
                Option("incomplete", "A part of it is missing", "1"),
                Option("misread", "Too many reading errors to correct", "2"),
                Option("unreadable", "A formula or picture is illegible", "3"),
                Option("no_answer", "No well-defined answer", "4"),
                Option("duplicate", "Already in the dataset", "5"),
            ),
            required=False,
            when=("usable", ("unusable",)),
        ),
        *correct_parts(QUESTION, CHOICES, ANSWER),
    ),
    source="OMIBench, A.2 (format conversion and filtering)",
)


# The subject, subfield and topic of an item.

SUBJECTS: Final = (
    Option("astronomy", "Astronomy", "a"),
    Option("biology", "Biology", "b"),
    Option("chemistry", "Chemistry", "c"),
    Option("mathematics", "Mathematics", "m"),
    Option("physics", "Physics", "p"),
    Option("coding", "Coding", "g"),
    Option("other", "Another one", "o"),
)
LABELS: Final = tuple(
    Part(name, title, "text", hidden_from=AUDITOR, hashed=False)
    for name, title in (
        ("subject", "Current subject"),
        ("subfield", "Current subfield"),
        ("topic", "Current topic"),
        ("reason", "The labeller's reason"),
    )
)
SUBFIELDS: Final = Part("subfields", "Known subfields", "facts", hashed=False)

LABEL: Final = Kind(
    name="label",
    title="Label",
    instruction=(
        "Label the problem by the method and concept of its solution, not by its story, and take "
        "the pictures into account. Keep the label, change the topic within "
        "its subject, or change subject and topic. If several items fit none of the subfields, "
        "propose a new one."
    ),
    parts=(*PROBLEM, *LABELS, SUBFIELDS),
    fields=(
        ask_one("subject", "Subject", *SUBJECTS, prefill="subject"),
        ask_one(
            "subfield",
            "Subfield",
            Option("none", "None fits", "0", "Propose one below; the topic says what it is."),
            options_from="subfields",
            narrowed_by="subject",
            prefill="subfield",
            attribute="subfield",
        ),
        Field(
            "topic",
            "Topic",
            "text",
            prefill="topic",
            help="As specific as possible; separate several topics with `#`.",
        ),
        Field(
            "proposal",
            "Proposed change to the subfields",
            "text",
            required=False,
            help="A subfield to add, rename or merge, and why.",
        ),
    ),
    source="OMIBench, A.5 (manual verification and correction)",
)


# Comparison of a translated problem with its original.

ORIGINAL_QUESTION: Final = Part("original_question", "Original question", "markdown")
ORIGINAL_CHOICES: Final = Part("original_choices", "Original choices", "choices")

TRANSLATION: Final = Kind(
    name="translation",
    title="Translation check",
    instruction=(
        "Compare the translation with the original, sentence by sentence: conditions, negations, "
        "numbers, units, symbols and names of quantities. Correct differences, and terms that an "
        "English exam paper would not use. If a word or condition of the original has several "
        "meanings and the context does not decide between them, the problem is ambiguous and is "
        "removed from the dataset."
    ),
    parts=(ORIGINAL_QUESTION, ORIGINAL_CHOICES, *PROBLEM, FACTS),
    fields=(
        ask_one(
            "translation",
            "The translation is ...",
            Option("verified", "Correct", "v"),
            Option("corrected", "Correct with my changes", "c"),
            Option("ambiguous", "Ambiguous: remove the problem", "a", drops=True),
        ),
        *correct_parts(QUESTION, CHOICES),
    ),
    source="OMIBench, A.2 (multilingual translation and verification)",
)


# Whether the difficulty and type of a problem fit the dataset.

DIFFICULTY: Final = Kind(
    name="difficulty",
    title="Difficulty",
    instruction=(
        "Judge as a former participant of such competitions. Keep a problem that requires several "
        "steps of reasoning about its pictures. Remove problems that are trivial, that require "
        "specialist knowledge of a narrow field, or that differ in style from the papers of the "
        "dataset."
    ),
    parts=(*PROBLEM, FACTS),
    fields=(
        ask_one(
            "curation",
            "Does it belong in the dataset?",
            Option("keep", "Keep it", "y"),
            Option("trivial", "Trivial", "t", drops=True),
            Option("too_special", "Too special", "s", drops=True),
            Option("out_of_style", "Out of style", "o", drops=True),
        ),
        Field(
            "level",
            "How hard is it compared with other problems of the dataset?",
            "choice",
            options=(
                Option("easy", "Easy", "1"),
                Option("medium", "Medium", "2"),
                Option("hard", "Hard", "3"),
            ),
            required=False,
            when=("curation", ("keep",)),
            attribute="difficulty",
        ),
    ),
    source="OMIBench, A.2 (difficulty curation)",
)


# A worked solution based on responses of models.

REFERENCE: Final = Part("reference", "Reference solution", "markdown")
CANDIDATES: Final = Part("candidates", "Candidates", "candidates")
_CHECKS: Final = "Checks of the candidate: mark those that it passes"

RATIONALE: Final = Kind(
    name="rationale",
    title="Rationale",
    instruction=(
        "Choose the candidate that needs the least work, and mark which of the five checks it "
        "passes before you change anything. Then turn it into a solution that a good student can "
        "follow, and state how much work that took. If you hesitate between a revision and a new "
        "text, write a new one if the structure is a problem. If no candidate reaches the official "
        "answer, you see wrong ones: they show typical errors, and parts of them may still be "
        "useful. The text ends with the final answer, in the form required by the question."
    ),
    parts=(*PROBLEM, REFERENCE, CANDIDATES, FACTS),
    fields=(
        Field(
            "candidate",
            "Candidate",
            "choice",
            options=(Option("none", "None of them", "0"),),
            options_from="candidates",
        ),
        Field(
            "concepts",
            "Concepts",
            "flag",
            key="c",
            group=_CHECKS,
            help="Every major step follows, all conditions are used correctly, and none is made "
            "up.",
        ),
        Field(
            "computation",
            "Computation",
            "flag",
            key="m",
            group=_CHECKS,
            help="Algebra, arithmetic and cases are right, and intermediate results agree.",
        ),
        Field(
            "completeness",
            "Completeness",
            "flag",
            key="p",
            group=_CHECKS,
            help="No step is missing that a reader could not complete easily, and each step leads "
            "to the next.",
        ),
        Field(
            "final_answer",
            "Final answer",
            "flag",
            key="f",
            group=_CHECKS,
            help="The reasoning leads to the official answer, which is stated once, clearly and in "
            "the right form.",
        ),
        Field(
            "clarity",
            "Clarity and style",
            "flag",
            key="l",
            group=_CHECKS,
            help="Easy to follow, without repetition or detours, in the notation of the problem.",
        ),
        Field(
            "action",
            "How much work did it take?",
            "choice",
            options=(
                Option(
                    "accept",
                    "Accept, with minor edits",
                    "a",
                    "Correct and complete; only wording, transitions or notation were edited.",
                ),
                Option(
                    "revise",
                    "Substantive revision",
                    "v",
                    "The idea is correct; missing steps were added, a local mistake was fixed, or "
                    "detours were cut.",
                ),
                Option(
                    "rewrite",
                    "Complete rewrite",
                    "w",
                    "The reasoning is wrong as a whole, contradicts itself, or cannot be followed.",
                ),
            ),
        ),
        Field(
            "solution",
            "The rationale",
            "text",
            required=False,
            edits="candidates",
            help="Starts with the chosen candidate.",
        ),
    ),
    reviewers=1,
    source="OMIBench, A.3.2",
)
"""One person writes the solution; it is audited as part of the item (A.4.1)."""
