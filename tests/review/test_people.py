"""reviewers.yaml."""

from __future__ import annotations

from pathlib import Path

import pytest

from omibench.errors import FileFormatError, MissingInputError
from omibench.review.people import find_reviewer, read_reviewers

PEOPLE = """
- {name: ann, roles: [annotator], subjects: [physics], email: ann@example.org}
- {name: bob, roles: [auditor, senior], group: expert, simulated: true}
"""


def write_people(folder: Path, text: str) -> Path:
    path = folder / "reviewers.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_people_have_roles_subjects_and_groups(tmp_path: Path) -> None:
    ann, bob = read_reviewers(write_people(tmp_path, PEOPLE))
    assert ann.may_review("annotator", "physics")
    assert not ann.may_review("annotator", "biology")
    assert not ann.may_review("senior", "physics")
    assert bob.may_review("senior", "biology")
    assert (bob.group, bob.simulated, ann.simulated) == ("expert", True, False)
    assert read_reviewers(write_people(tmp_path, "")) == []


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("name: ann", "contains a dict, not a list of people"),
        ("- {name: ann}", "entry 1 (ann): roles: Field required"),
        ("- {name: ann, roles: []}", "roles: List should have at least 1 item"),
        ("- {name: ann, roles: [imported]}", "(got 'imported')"),
        ("- {name: ann, roles: [senior], subject: physics}", "did you mean 'subjects'?"),
        ("- {name: ann, roles: [senior]}\n- {name: ann, roles: [senior]}", "have the name 'ann'"),
    ],
)
def test_a_wrong_entry_is_one_line(tmp_path: Path, text: str, line: str) -> None:
    path = write_people(tmp_path, text)
    with pytest.raises(FileFormatError) as error:
        read_reviewers(path)
    assert str(error.value).startswith(str(path))
    assert line in str(error.value)


def test_the_nearest_name_is_suggested(tmp_path: Path) -> None:
    people = read_reviewers(write_people(tmp_path, PEOPLE))
    assert find_reviewer(people, "bob").group == "expert"
    with pytest.raises(
        MissingInputError, match=r"'anne' is not in reviewers\.yaml; did you mean 'ann'\?"
    ):
        find_reviewer(people, "anne")
