"""What a model is told of its tools, and the stages of each manner.

`sketch` follows the idea of Visual Sketchpad as OMIBench uses it over several images (I.1);
`slow` and `flow` the ideas of SlowPerception (perceive a figure stroke by stroke before anything
else) and CogFlow (perceive, make what was perceived one's own as statements, then reason from
these), which OMIBench tries as frameworks (6.4). All words are ours, and none of the three is an
implementation of those systems.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from omibench.params.tool import Manner, Tools
from omibench.schemas.tool_calls import NOT_YET, write_call
from omibench.settings.tools.arguments import specs

MOST_CALLS = 8
"""Calls of one turn that are carried out."""


class Way(NamedTuple):
    """How a model is to go about it: rules, and what each stage before the last is to do.

    `stages[0]` follows the problem; each later one is said when the stage before it has ended.
    """

    rules: str = ""
    stages: tuple[str, ...] = ("",)


_SOLVE = "in the format that was asked for at the beginning"
WAYS: dict[Manner, Way] = {
    "free": Way(),
    "sketch": Way(
        "Work as with a sketchpad, in rounds of three: say what you need to see or check next, "
        "make the one sketch that shows it (an auxiliary line, marked points, a part enlarged, "
        "what distracts blurred, two pictures side by side), and say what the sketch tells you. "
        "Take every picture of the problem into account, not one alone; mark what belongs "
        "together in several pictures in the same colour; make no sketch that would tell you "
        "nothing new. "
    ),
    "slow": Way(
        "Perceive first and solve later. ",
        (
            f"For now, {NOT_YET}. First read its pictures slowly, one after the other. "
            "Begin each with its simplest parts, and go along every line, curve or bond stroke by "
            "stroke, a long one in short stretches: where it begins, which way it goes, how long "
            "it is against what you have read already, where it ends or meets another. Then read "
            "the labels, numbers, units and axes, and say which part each belongs to. Look closer "
            "wherever you are not sure, and correct what you then see otherwise. End with the "
            "complete reading of every picture, and no answer.",
            "Now solve the problem from your reading. Where the pictures have to be taken "
            f"together, say how. Give the final answer {_SOLVE}.",
        ),
    ),
    "flow": Way(
        "Work in three steps: perceive, make it your own, reason. ",
        (
            f"Step 1, perceive; {NOT_YET}. List what each picture shows that "
            "the problem may need, one short line for each object, relation, label and value, "
            "with the picture that it is in. Look closer where you are not sure.",
            "Step 2, make it your own. Turn these lines into statements to reason with: "
            "equations, inequalities, orders, facts of the subject that they bring in, and what "
            "is the same thing in several pictures. Number the statements, strike out any that "
            f"no line of step 1 supports, and {NOT_YET}.",
            "Step 3, reason. Solve the problem from the numbered statements alone, and name the "
            "statement that each step rests on. If one is missing, go back to the picture for it. "
            f"Give the final answer {_SOLVE}.",
        ),
    ),
}


def instructions(tools: Tools, inventory: str) -> str:
    """What stands before the problem: what the tools are for, the pictures' names, the manner."""
    call = _describe_tools(tools) if tools.style == "text" else "You call them as tools. "
    return (
        "You can look closer at the pictures of the problem, and draw on copies of them, with "
        f"tools. {call}The pictures are called, in the order in which they stand in the problem: "
        f"{inventory}. What a tool makes is a new picture (result_1, result_2, ...), which later "
        "calls can use too. Places are shares of a picture's width and height: [0, 0] is its "
        f"upper left corner and [1, 1] its lower right one. At most {MOST_CALLS} calls of a turn "
        f"are carried out, and you have {_turns(tools.max_turns - 1)} with calls. "
        f"{WAYS[tools.manner].rules}Once you need no more tools, go on without calling any."
    )


def no_more(last: bool) -> str:
    """Said after the results of the last turn that may call."""
    goal = f"give the final answer {_SOLVE}" if last else "end this step in words"
    return f"You cannot call tools any more: {goal}."


def _turns(count: int) -> str:
    return "1 turn" if count == 1 else f"{count} turns"


def describe_left_out(calls: int) -> str:
    """Said when a turn made more calls than are carried out."""
    return f"Only the first {MOST_CALLS} of your {calls} calls were carried out."


def _describe_tools(tools: Tools) -> str:
    """The text protocol: an example, and each tool with the schema of its arguments."""
    example = write_call("crop", '{"image": "image_1", "box": [0.1, 0.2, 0.6, 0.5]}')
    listed = "\n".join(
        f"- {spec.name}: {spec.description} Arguments: {_signature(spec.parameters)}."
        for spec in specs(tools.offered)
    )
    return (
        f"To call one, end your message with a block like this:\n\n{example}\n\n"
        "Several blocks may follow each other; write nothing after them, since the results come "
        f"in the next message. The tools are:\n\n{listed}\n\n"
    )


def _signature(schema: Any) -> str:
    """`image: name of a picture, such as image_1; box: [left, top, right, bottom]`."""
    needed = schema["required"]
    return "; ".join(
        f"{name}{'' if name in needed else ' (may be left out)'}: {_kind(of)}"
        for name, of in schema["properties"].items()
    )


def _kind(schema: Any) -> str:
    if "description" in schema:
        return str(schema["description"])
    if schema["type"] == "array":
        return f"a list of {_kind(schema['items'])}"
    if "enum" in schema:
        return " or ".join(schema["enum"])
    if schema["type"] == "number":
        return f"a number from {schema['minimum']} to {schema['maximum']}"
    return f"a text of at most {schema['maxLength']} characters"
