"""Labelling configuration of a kind of task, made from its declaration."""

from __future__ import annotations

import html
from collections.abc import Iterable
from typing import Final
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from omibench.review.kinds.declaration import Field, Kind, Option, Part
from omibench.review.label_studio.names import (
    FALSE,
    TASK,
    TRUE,
    has_stars,
    name_options,
    name_part,
    name_start,
)
from omibench.schemas.review import ReviewRole

FLAG: Final = (Option(TRUE, "Yes"), Option(FALSE, "No"))
INDEX: Final = "{{index}}"
"""The placeholder that Label Studio replaces with the step index, from 0."""


def write_configuration(kind: Kind, role: ReviewRole = "annotator") -> str:
    """Return the XML labelling configuration of a Label Studio project.

    Args:
        kind: The kind of all tasks of the project.
        role: The role of the users; parts hidden from it are omitted.

    Returns:
        A document whose controls have the names of the fields.
    """
    root = Element("View")
    SubElement(root, "Header", value=kind.title)
    SubElement(root, "Header", value=kind.instruction, size="5")
    SubElement(root, "Text", name=TASK, value=f"${TASK}")
    for part in kind.list_visible_parts(role):
        if part.style == "steps" and _find_steps_field(kind):
            continue
        SubElement(root, "Header", value=part.title, size="5")
        _add_part(root, part)
    group = ""
    for field in kind.fields:
        if field.group != group:
            group = field.group
            SubElement(root, "Header", value=group, size="5")
        _add_field(root, field)
    indent(root)
    return tostring(root, encoding="unicode") + "\n"


def _find_steps_field(kind: Kind) -> Field | None:
    return next((field for field in kind.fields if field.type == "steps"), None)


def _add_part(parent: Element, part: Part) -> None:
    name = name_part(part.name)
    if part.style in ("images", "pages"):
        # A list of pictures in one object fails for a task without pictures.
        repeater = SubElement(parent, "Repeater", on=f"${name}", indexFlag=INDEX)
        SubElement(
            repeater,
            "Image",
            name=f"{name}_{INDEX}",
            value=f"${name}[{INDEX}].url",
            zoomControl="true",
        )
    else:
        SubElement(parent, "Text", name=name, value=f"${name}")


def _add_field(parent: Element, field: Field) -> None:
    view = SubElement(parent, "View")
    if field.when is not None:
        name, values = field.when
        view.set("visibleWhen", "choice-selected")
        view.set("whenTagName", name)
        view.set("whenChoiceValue", ",".join(values))
    SubElement(view, "Header", value=f"{field.title} {field.help}".strip(), size="5")
    if field.type == "steps":
        _add_steps(view, field)
    elif field.type == "text":
        area = _add_control(view, "TextArea", field)
        area.attrib |= {"editable": "true", "maxSubmissions": "1", "rows": "6"}
        if field.edits or field.prefill:
            area.set("value", f"${name_start(field.name)}")
    elif has_stars(field):
        _add_control(view, "Rating", field).set("maxRating", str(field.scale[1]))
    else:
        _add_choices(view, field)


def _add_steps(parent: Element, field: Field) -> None:
    """Build one control for each step of a task."""
    repeater = SubElement(parent, "Repeater", on=f"${field.name}", indexFlag=INDEX)
    step = f"step_{INDEX}"
    SubElement(repeater, "Text", name=step, value=f"${field.name}[{INDEX}].text")
    choices = SubElement(
        repeater,
        "Choices",
        name=f"{field.name}_{INDEX}",
        toName=step,
        choice="single",
        required="true",
        showInline="true",
    )
    _add_options(choices, field.options)


def _add_choices(parent: Element, field: Field) -> None:
    choices = _add_control(parent, "Choices", field)
    choices.set("choice", "multiple" if field.type == "choices" else "single")
    if field.options_from:
        choices.set("value", f"${name_options(field.name)}")
        return
    _add_options(choices, list_static_options(field))


def list_static_options(field: Field) -> tuple[Option, ...]:
    """Return the options that a field has in every task; those of a flag are `true` and `false`."""
    if field.type == "rating":
        numbers = range(field.scale[0], field.scale[1] + 1)
        return tuple(Option(str(number), str(number), str(number)) for number in numbers)
    return FLAG if field.type == "flag" else field.options


def describe_option(option: Option) -> dict[str, str]:
    """Return the attributes of a choice: `value` for results, `html` for display."""
    attributes = {"value": option.value, "html": html.escape(option.title)}
    if option.help:
        attributes["hint"] = option.help
    return attributes


def _add_options(parent: Element, options: Iterable[Option]) -> None:
    for option in options:
        choice = SubElement(parent, "Choice", describe_option(option))
        if option.key and parent.tag == "Choices" and INDEX not in parent.get("name", ""):
            choice.set("hotkey", option.key)


def _add_control(parent: Element, tag: str, field: Field) -> Element:
    control = SubElement(parent, tag, name=field.name, toName=TASK)
    if field.required and not field.options_from:
        control.set("required", "true")
    return control
