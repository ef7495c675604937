"""The instructions for tools, and the stages of each manner.

`sketch` follows the idea of Visual Sketchpad as OMIBench uses it over several images (I.1); `slow`
and `flow` follow the ideas of SlowPerception (perceive a figure stroke by stroke before anything
else) and CogFlow (perceive, turn the perceptions into statements, then reason from these), which
OMIBench tests as frameworks (6.4). All wording is ours, and none of the three implements those
systems.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from omibench.params.setting import Manner, Tools
from omibench.schemas.request import NOT_YET, write_call
from omibench.settings.prompts.catalogue import PromptEntry, Slot, add_prompt, fill_text
from omibench.settings.prompts.wording import read_wording
from omibench.settings.tools.arguments import specs

MOST_CALLS = 8
"""Maximum calls of one turn that are run."""


class Way(NamedTuple):
    """How a model should proceed: rules, and the task of each stage before the last.

    `stages[0]` follows the problem; each later one is sent when the stage before it has ended.
    """

    rules: str = ""
    stages: tuple[str, ...] = ("",)
    rules_of_one: str = ""
    """The rules for a problem with one picture, if they differ."""


_SKETCH = (
    "Work as with a sketchpad, in rounds of three: say what you need to see or check next, "
    "make the one sketch that shows it (an auxiliary line, marked points, a part enlarged, "
    "what distracts blurred{across}), and say what the sketch tells you. "
)
_SOLVE = "in the format that was asked for at the beginning"
WAYS: dict[Manner, Way] = {
    "free": Way(),
    "sketch": Way(
        _SKETCH.format(across=", two pictures side by side")
        + "Take every picture of the problem into account, not one alone; mark what belongs "
        "together in several pictures in the same colour; make no sketch that would tell you "
        "nothing new. ",
        rules_of_one=_SKETCH.format(across="") + "Make no sketch that would tell you nothing new. ",
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


def _describe(name: str, purpose: str, text: str, *slots: Slot) -> PromptEntry:
    owner = f"respondent ({name})"
    return PromptEntry(name, purpose, text, slots, owner=owner, is_fragment=True)


_ENTRIES = (
    add_prompt(_describe(
        "tools",
        "says what the tools are for, before the problem",
        "You can look closer at the pictures of the problem, and draw on copies of them, with "
        "tools. {calls}The pictures are called, in the order in which they stand in the problem: "
        "{pictures}. What a tool makes is a new picture (result_1, result_2, ...), which later "
        "calls can use too. Places are shares of a picture's width and height: [0, 0] is its "
        "upper left corner and [1, 1] its lower right one. At most {most_calls} calls of a turn "
        "are carried out, and you have {turns} with calls. {manner}Once you need no more tools, go "
        "on without calling any.",
        Slot("calls", "how tools are called, from tools-native or tools-text"),
        Slot("pictures", "the names of the pictures, in their order"),
        Slot("most_calls", "how many calls of a turn are carried out", required=False),
        Slot("turns", "how many turns may call", required=False),
        Slot("manner", "the rules of the setting's manner, such as tools-sketch", required=False),
    )),
    add_prompt(_describe(
        "tools-native",
        "says how tools of the provider's interface are called",
        "You call them as tools. ",
    )),
    add_prompt(_describe(
        "tools-text",
        "says how tools are called in blocks of text",
        "To call one, end your message with a block like this:\n\n{example}\n\n"
        "Several blocks may follow each other; write nothing after them, since the results come "
        "in the next message. The tools are:\n\n{tools}\n\n",
        Slot("example", "a call as it is to be written"),
        Slot("tools", "every tool with its arguments, one a line"),
    )),
    add_prompt(_describe(
        "tools-end",
        "asks for the answer after the last turn with calls",
        f"You cannot call tools any more: give the final answer {_SOLVE}.",
    )),
    add_prompt(_describe(
        "tools-end-step",
        "ends a stage after the last turn with calls",
        "You cannot call tools any more: end this step in words.",
    )),
    add_prompt(_describe(
        "tools-left-out",
        "says that calls were too many",
        "Only the first {most_calls} of your {calls} calls were carried out.",
        Slot("most_calls", "how many calls were carried out", required=False),
        Slot("calls", "how many there were", required=False),
    )),
    add_prompt(_describe("tools-sketch", "rules of the manner `sketch`", WAYS["sketch"].rules)),
    add_prompt(_describe(
        "tools-sketch-one",
        "rules of the manner `sketch` for a problem with one picture",
        WAYS["sketch"].rules_of_one,
    )),
    add_prompt(_describe("tools-slow", "rules of the manner `slow`", WAYS["slow"].rules)),
    add_prompt(_describe(
        "tools-slow-1", "stage 1 of the manner `slow`", WAYS["slow"].stages[0]
    )),
    add_prompt(_describe(
        "tools-slow-2", "stage 2 of the manner `slow`", WAYS["slow"].stages[1]
    )),
    add_prompt(_describe("tools-flow", "rules of the manner `flow`", WAYS["flow"].rules)),
    add_prompt(_describe(
        "tools-flow-1", "stage 1 of the manner `flow`", WAYS["flow"].stages[0]
    )),
    add_prompt(_describe(
        "tools-flow-2", "stage 2 of the manner `flow`", WAYS["flow"].stages[1]
    )),
    add_prompt(_describe(
        "tools-flow-3", "stage 3 of the manner `flow`", WAYS["flow"].stages[2]
    )),
)  # fmt: skip
ENTRIES = {entry.name: entry for entry in _ENTRIES}


class ToolWords(NamedTuple):
    """The instructions for tools: ours, or those of files by prompt name."""

    tools: Tools
    files: Mapping[str, str] = {}

    @property
    def stages(self) -> list[str]:
        """The task of each stage; the first one can be empty."""
        manner, stages = self.tools.manner, WAYS[self.tools.manner].stages
        return [
            self._read(f"tools-{manner}-{number}") if stage else ""
            for number, stage in enumerate(stages, 1)
        ]

    def write_instructions(self, inventory: str, pictures: int = 2) -> str:
        """Return the text before the problem: purpose of the tools, its pictures, manner."""
        calls = self._read(f"tools-{self.tools.style}")
        if self.tools.style == "text":
            calls = fill_text(calls, _show_tools(self.tools))
        manner: str = self.tools.manner
        rules = WAYS[self.tools.manner].rules
        if pictures == 1 and WAYS[self.tools.manner].rules_of_one:
            manner = f"{manner}-one"
        values = {
            "calls": calls,
            "pictures": inventory,
            "most_calls": str(MOST_CALLS),
            "turns": _turns(self.tools.max_turns - 1),
            "manner": self._read(f"tools-{manner}") if rules else "",
        }
        return fill_text(self._read("tools"), values)

    def forbid_calls(self, last: bool) -> str:
        """Return the text after the results of the last turn with calls."""
        return self._read("tools-end" if last else "tools-end-step")

    def describe_left_out(self, calls: int) -> str:
        """Return the text after a turn with more calls than are run."""
        values = {"most_calls": str(MOST_CALLS), "calls": str(calls)}
        return fill_text(self._read("tools-left-out"), values)

    def _read(self, name: str) -> str:
        """Read the wording of a prompt; a file gets the same ending as ours."""
        entry = ENTRIES[name]
        if name not in self.files:
            return entry.text
        end = entry.text[len(entry.text.rstrip()) :]
        return f"{read_wording(self.files[name], entry).text}{end}"


def _turns(count: int) -> str:
    return "1 turn" if count == 1 else f"{count} turns"


def _show_tools(tools: Tools) -> dict[str, str]:
    """Return the text protocol: an example, and each tool with the schema of its arguments."""
    lines = [
        f"- {spec.name}: {spec.description} Arguments: {_signature(spec.parameters)}."
        for spec in specs(tools.names)
    ]
    call = write_call("crop", '{"image": "image_1", "box": [0.1, 0.2, 0.6, 0.5]}')
    return {"example": call, "tools": "\n".join(lines)}


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
