"""The built-in prompts. Short triggers and output formats of a published protocol are kept exact.

OMIBench: B.1 (`cot`), G.1 (`least-to-most`, `plan-and-solve`, `visualization-of-thought`), G.2
(`direct`), H.4 (`in-context`). EMMA: table 5, four prompts under two names, since problems with
choices and without have their own. USNCO-V: methods. MathReal: appendix D; its instructions are
long, so they are rewritten in our own words, with steps and answer format as printed.
"""

from __future__ import annotations

from omibench.settings.prompts import add_prompt
from omibench.settings.registry import prompt
from omibench.settings.templates import CHOICES, EXAMPLES, QUESTION, Prompt, describe_template

_BLOCKS = f"[Question]\n{QUESTION}\n\n[Choices]\n{CHOICES}"
_BOXED = (
    "Please reason step by step, and then provide the final answer in the exact format: "
    '"\\boxed{ANSWER}".'
)
_STEPWISE = f"{_BOXED}\n\n{_BLOCKS}\n\n"
_COT = _STEPWISE + "Let's think step-by-step!"
_LEAST_TO_MOST = _STEPWISE + "Let's break down this problem and solve it one by one."
_PLAN_AND_SOLVE = (
    f"{_STEPWISE}Let's first understand the problem and devise a plan to solve it. Then, let's "
    "carry out the plan and solve the problem step by step."
)
_VISUALIZE = _STEPWISE + "Visualize the state after each reasoning step."
_NO_THINK = f"Return only the final answer in this exact format: \\boxed{{ANSWER}}.\n\n{_BLOCKS}"
_IN_CONTEXT = f"{_BOXED}\n\n{EXAMPLES}\n\n[REQUEST]\n[Question]\n{QUESTION}\n[Choices]\n{CHOICES}"

_EMMA_MCQ = (
    f"{QUESTION}\n{CHOICES}\nAnswer with the option's letter from the given choices and put the "
    'letter in one "\\boxed{}". '
)
_EMMA_OPEN = (
    f"{QUESTION}\nAnswer the question using a single word or phrase and put the answer in one "
    '"\\boxed{}". '
)
_EMMA_CAPTIONS = (
    "Please first solve the problem step by step, then put your final answer or a single letter "
    '(if it is a multiple choice question) in one "\\boxed{}". Here is the natural description '
    "of the figure, please solve the following problem based on the description.\n"
    f"{QUESTION}\n{CHOICES}"
)
_EMMA_COT = "Please solve the problem step by step."
_EMMA_DIRECT = (
    "Please ensure that your output only contains the final answer without any additional content "
    "(such as intermediate reasoning steps)."
)

_USNCO_LETTER = (
    "nswer with the option's letter (A, B, C, D) from the given choices directly without rationale."
)
_USNCO = f"Question: {QUESTION}\n\n{CHOICES}\n\n* A{_USNCO_LETTER}"
_USNCO_COT = (
    f"Question: {QUESTION}\n\n{CHOICES}\n\n"
    "* Firstly, analyze and solve the question step by step with rationale.\n"
    f"* Finally, a{_USNCO_LETTER}"
)

_MATHREAL_SOLVE = """\
{n}. Solution Process: reason and calculate in full, from everything that {sources}; say on which \
principle each key step rests, and check the result where that is possible."""
_MATHREAL_ANSWER = """\
{n}. Final Answer: Place the answer inside \\boxed{{}}. If there are multiple answers, place each \
one inside a separate \\boxed{{}}. Give numbers and units in the form that the problem asks for."""
_MATHREAL = "\n".join(
    (
        "Please solve the problem in the image by following these steps, and do not refuse to "
        "answer:",
        "1. Problem Analysis: say what the problem in the image asks for, what is known and what "
        "is to be found.",
        _MATHREAL_SOLVE.format(n=2, sources="the image tells"),
        _MATHREAL_ANSWER.format(n=3),
        f"\n{QUESTION}\n\n{CHOICES}",
    )
)
_MATHREAL_IUER = "\n".join(
    (
        "Please answer the following math problem in these steps, and do not refuse to answer:",
        "1. OCR of the Question Text: write out the printed text of the question, as it is laid "
        "out, with English punctuation and without comment. Leave out handwriting, the problem's "
        "number, year, region and score, captions, and labels inside figures. Where a picture "
        "shows people in dialogue, write out the question and nothing of what they say. Write out "
        "options that are text or numbers; leave out options that are pictures. A blank is ____, a "
        "pair of parentheses to fill is (    ), and a table goes row by row with one space between "
        "its columns.",
        "2. Figure Understanding: under the heading description, describe the mathematical figures "
        "(geometric figures, plots of functions, statistical charts): their elements, structure "
        "and properties. Neither solve anything yet nor write out text here.",
        _MATHREAL_SOLVE.format(n=3, sources="the image, step 1 and step 2 tell"),
        _MATHREAL_ANSWER.format(n=4),
        f"\n{QUESTION}\n\n{CHOICES}",
    )
)


@prompt("cot", source="OMIBench, B.1")
def _cot() -> Prompt:
    return Prompt(_COT, _COT)


@prompt("least-to-most", source="OMIBench, G.1")
def _least_to_most() -> Prompt:
    return Prompt(_LEAST_TO_MOST, _LEAST_TO_MOST)


@prompt("plan-and-solve", source="OMIBench, G.1")
def _plan_and_solve() -> Prompt:
    return Prompt(_PLAN_AND_SOLVE, _PLAN_AND_SOLVE)


@prompt("visualization-of-thought", source="OMIBench, G.1")
def _visualization_of_thought() -> Prompt:
    return Prompt(_VISUALIZE, _VISUALIZE)


@prompt("direct", source="OMIBench, G.2")
def _direct() -> Prompt:
    return Prompt(_NO_THINK, _NO_THINK)


@prompt("in-context", source="OMIBench, H.4")
def _in_context() -> Prompt:
    return Prompt(_IN_CONTEXT, _IN_CONTEXT)


@prompt("emma-cot", source="EMMA, C.2, table 5")
def _emma_cot() -> Prompt:
    return Prompt(_EMMA_MCQ + _EMMA_COT, _EMMA_OPEN + _EMMA_COT, "({}) ")


@prompt("emma-direct", source="EMMA, C.2, table 5")
def _emma_direct() -> Prompt:
    return Prompt(_EMMA_MCQ + _EMMA_DIRECT, _EMMA_OPEN + _EMMA_DIRECT, "({}) ")


@prompt("emma-captions", source="EMMA, C.1, table 4: Generate Responses")
def _emma_captions() -> Prompt:
    return Prompt(_EMMA_CAPTIONS, _EMMA_CAPTIONS, "({}) ")


@prompt("usnco-v", source="USNCO-V, methods")
def _usnco_v() -> Prompt:
    return Prompt(_USNCO, _USNCO)


@prompt("usnco-v-cot", source="USNCO-V, methods")
def _usnco_v_cot() -> Prompt:
    return Prompt(_USNCO_COT, _USNCO_COT)


@prompt("mathreal", source="MathReal, D: Prompt for Answer Generation")
def _mathreal() -> Prompt:
    return Prompt(_MATHREAL, _MATHREAL)


@prompt("mathreal-iuer", source="MathReal, D: Prompt for Answer Generation")
def _mathreal_iuer() -> Prompt:
    return Prompt(_MATHREAL_IUER, _MATHREAL_IUER)


add_prompt(describe_template("emma-cot-open", _EMMA_OPEN + _EMMA_COT, "EMMA, C.2, table 5"))
add_prompt(describe_template("emma-direct-open", _EMMA_OPEN + _EMMA_DIRECT, "EMMA, C.2, table 5"))
