"""Papers and keys set in type in many styles, with the truth of what was printed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from hypothesis import strategies as st

from glyphtex.marks import Box
from omibench.stages.ocr.layout.layout import Item, Line
from omibench.stages.ocr.layout.reading_order import collect_words, in_reading_order
from omibench.stages.ocr.structure.document import Document

ROMAN = ["I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X", "XI", "XII"]
CHINESE = ["一", "二", "三", "四", "五", "六", "七", "八", "九", "十", "十一", "十二"]
NUMBERINGS: dict[str, Callable[[int], str]] = {
    "dot": lambda n: f"{n}. ",
    "bracket": lambda n: f"{n}) ",
    "wide": lambda n: f"{n}．",
    "comma": lambda n: f"{n}、",
    "dash": lambda n: f"{n}.- ",
    "zero": lambda n: f"{n:02}. ",
    "problem": lambda n: f"Problem {n}. ",
    "question": lambda n: f"Question {n} (10 points) ",
    "roman": lambda n: f"Problem {ROMAN[n - 1]}: ",
    "bare roman": lambda n: f"{ROMAN[n - 1]}. ",
    "questão": lambda n: f"Questão {n:02} - ",
    "ejercicio": lambda n: f"Ejercicio {n}.- ",
    "aufgabe": lambda n: f"Aufgabe {n}: ",
    "задача": lambda n: f"Задача {n}. ",
    "zadanie": lambda n: f"Zadanie {n}. ",
    "di": lambda n: f"第{n}题 ",
    "di written": lambda n: f"第{CHINESE[n - 1]}题：",
    "Japanese": lambda n: f"問{n} ",
    "Korean": lambda n: f"{n}번. ",
    "Hungarian": lambda n: f"{n}. feladat: ",
    "q": lambda n: f"Q{n}. ",
    "q bare": lambda n: f"Q.{n} ",
    "hash": lambda n: f"#{n} ",
    "No": lambda n: f"No. {n} ",
    "code": lambda n: f"(D{n:02}) ",
    "lettered": lambda n: f"T{n}. ",
    "points": lambda n: f"{n} [5 marks] ",
    "brackets": lambda n: f"({n}) ",
    "bare": lambda n: f"{n} ",
}
LETTERINGS = {
    "(A)": "({}) ", "A)": "{}) ", "A.": "{}. ", "A、": "{}．", "(a)": "({}) ", "a)": "{}) ",
}  # fmt: skip
STATEMENTS = [
    "A ball of 1.5 kg rolls down a slope of thirty degrees",
    "Two beakers hold 20 mL of water and of brine",
    "In the figure, a beetle walks along the edge of a leaf",
    "The table gives the masses of 5 stars and of 3 planets",
    "Let ABC be a triangle whose sides are 3, 4 and 5",
    "Consider the reaction of A with B in a closed vessel",
]
MORE = [
    "which is at rest at first. Answers are to be rounded.",
    "2 m/s is its speed when it leaves the table",
    "Problem solvers may take g to be 10 in all that follows,",
    "as was shown in 1998 by two groups that knew nothing of each other.",
    "12 of them are green and the others are of no known colour.",
]
ASKS = ["Which of these is right?", "What is the best answer?", "Which one is largest?"]
PARTS = [
    ["(a) Find its speed.", "(b) Find its mass.", "(c) How long does it take?"],
    ["a) Determine its speed.", "b) Determine its mass."],
    ["（1）求速度．", "（2）求质量．", "（3）求时间．"],
    ["i) State its speed.", "ii) State its mass."],
    ["I. It is green.", "II. It is round.", "III. It is old.", "Say which of these are true."],
    ["1. It is green.", "2. It is round.", "3. It is old.", "Which are true?"],
    ["Table 1: Masses", "1 4.5 6.7 1998", "2 4.7 8.9 1999", "3 5.0 9.1 2001"],
]
WORDS = ["copper", "4.5 m", "the left one", "twice as much", "none of these", "CO2", "120 J"]


@dataclass(slots=True)
class Printed:
    """One printed problem: its label, the letters of its choices, and the right one, if printed."""

    label: str
    letters: str
    answer: str | None = None


@dataclass(slots=True, repr=False)
class Press:
    """Sets rows of text, each at its x, one below the other, 48 to a page."""

    lines: list[Line] = field(default_factory=list)
    row: int = 0

    def __repr__(self) -> str:
        return "\n".join(["", *(line.text for line in self.lines), ""])

    def set(self, *cells: tuple[float, str], bold: bool = False, size: float = 10.0) -> None:
        page, place = divmod(self.row, 48)
        y = 80.0 + 14 * place
        for x, text in cells:
            box = Box(x, y - 8, x + 0.5 * size * len(text), y + 2)
            self.lines.append(Line(page + 1, box, text.strip(), size, bold, y))
        self.row += 1

    def skip(self) -> None:
        self.row += 1

    def flow(self) -> list[Item]:
        pages = sorted({line.page for line in self.lines})
        return [
            item
            for page in pages
            for item in in_reading_order([i for i in self.lines if i.page == page], None)
        ]

    def document(self) -> Document:
        return Document([], self.flow(), 10.0, collect_words(self.lines))


def set_lines(text: str, *, engine: str = "textlayer") -> list[Line]:
    """Lines below each other: ten points of indent a space, bold after `*`, cells between bars."""
    made = []
    for k, row in enumerate(text.split("\n")):
        cells = row.split("|")
        indent = 10.0 * (len(row) - len(row.lstrip())) if len(cells) == 1 else 0.0
        bold = row.lstrip().startswith("*")
        for c, cell in enumerate(cells):
            words, x, y = cell.strip().removeprefix("*"), 72 + indent + 90 * c, 80.0 + 14 * k
            if words:
                box = Box(x, y - 8, x + 5 * len(words), y + 2)
                line = Line(1, box, words, 10, bold, y, indent=indent, starts=c == 0, engine=engine)
                made.append(line)
    return made


def list_texts(items: Sequence[Item]) -> list[str]:
    """The texts of the lines among items."""
    return [item.text for item in items if isinstance(item, Line)]


@dataclass(slots=True)
class Style:
    """How a paper is set: numbering, choices, how many columns of them, where its key stands."""

    numbering: str
    lettering: str
    across: int
    inset: bool
    title: str


styles = st.builds(
    Style,
    st.sampled_from(list(NUMBERINGS)),
    st.sampled_from(list(LETTERINGS)),
    st.sampled_from([1, 2, 4]),
    st.booleans(),
    st.sampled_from(["National Olympiad 2026", "Instructions", ""]),
)


@st.composite
def papers(draw: st.DrawFn, least: int = 3, most: int = 12) -> tuple[Style, list[Printed], Press]:
    """A paper with 3 to 12 problems: its style, its problems, and the type that was set."""
    style = draw(styles)
    press = Press()
    head(press, style)
    problems = []
    for n in range(1, draw(st.integers(least, most)) + 1):
        label = {"code": f"D{n}", "lettered": f"T{n}"}.get(style.numbering, str(n))
        problems.append(set_problem(draw, press, style, n, label))
    return style, problems, press


SECTIONS = [
    (["Section A", "Section B", "Section C"], ["A{}", "B{}", "C{}"]),
    (["Part I: Multiple choice", "Part II: Theory", "Part III"], ["I.{}", "II.{}", "III.{}"]),
    (["一、选择题", "二、填空题", "三、计算题"], ["一.{}", "二.{}", "三.{}"]),
    (["Seção 1 - Física", "Seção 2 - Química", "Seção 3"], ["1.{}", "2.{}", "3.{}"]),
]


@st.composite
def sectioned(draw: st.DrawFn) -> tuple[list[list[Printed]], list[str], Press]:
    """A paper of two or three sections that each count from 1: problems, titles, the type set."""
    style = draw(styles)
    style.numbering = draw(st.sampled_from(["dot", "bracket", "problem", "question", "di"]))
    titles, labels = draw(st.sampled_from(SECTIONS))
    titles = titles[: draw(st.integers(2, 3))]
    press = Press()
    head(press, style)
    sections = []
    for title, label in zip(titles, labels, strict=False):
        press.set((72, title), bold=True, size=12)
        if draw(st.booleans()):
            press.set((72, "Each problem is worth four points."))
        count = draw(st.integers(2, 6))
        sections.append(
            [set_problem(draw, press, style, n, label.format(n)) for n in range(1, count + 1)]
        )
    return sections, titles, press


def head(press: Press, style: Style) -> None:
    if style.title:
        press.set((72, style.title), bold=True, size=14)
        press.set((72, "Write clearly. Each problem is worth the same."))
        press.skip()


def set_problem(draw: st.DrawFn, press: Press, style: Style, n: int, label: str) -> Printed:
    first = NUMBERINGS[style.numbering](n) + draw(st.sampled_from(STATEMENTS))
    press.set((72, first))
    inset = 90 if style.inset else 72
    for text in draw(st.lists(st.sampled_from(MORE), max_size=2)):
        press.set((inset, text))
    asked = draw(st.booleans())
    if not asked:
        for text in draw(st.one_of(st.just(["Calculate its mass."]), st.sampled_from(PARTS))):
            press.set((100, text))
        press.skip()
        return Printed(label, "")
    press.set((inset, draw(st.sampled_from(ASKS))))
    letters = "ABCDE"[: draw(st.integers(4, 5))]
    set_choices(draw, press, style, letters, inset)
    press.skip()
    return Printed(label, letters)


def set_choices(draw: st.DrawFn, press: Press, style: Style, letters: str, x: float) -> None:
    low = "a" in style.lettering
    cells = [
        LETTERINGS[style.lettering].format(c.lower() if low else c) + draw(st.sampled_from(WORDS))
        for c in letters
    ]
    for k in range(0, len(cells), style.across):
        row = cells[k : k + style.across]
        press.set(*((x + 120.0 * i, text) for i, text in enumerate(row)))


Row = list[tuple[float, str]]
Answers = Sequence[tuple[str, str]]


def _table(answers: Answers) -> list[Row]:
    return [[(72, "Problem"), (200, "Answer")], *([(72, n), (200, a)] for n, a in answers)]


def _wide_table(answers: Answers) -> list[Row]:
    head: Row = [(72, "No."), (150, "Answer"), (250, "Topic"), (380, "Points")]
    return [head, *([(72, n), (152, a), (250, "Mechanics"), (385, "5")] for n, a in answers)]


def _grid(answers: Answers) -> list[Row]:
    rows: list[Row] = []
    for k in range(0, len(answers), 6):
        part = answers[k : k + 6]
        rows.append([(40, "题号"), *((110 + 50.0 * i, n) for i, (n, _) in enumerate(part))])
        rows.append([(40, "答案"), *((110 + 50.0 * i, a) for i, (_, a) in enumerate(part))])
    return rows


def _columns(answers: Answers) -> list[Row]:
    parts = [answers[k : k + 4] for k in range(0, len(answers), 4)]
    return [[(72 + 100.0 * i, f"{n} - {a}") for i, (n, a) in enumerate(part)] for part in parts]


def _runs(answers: Answers) -> list[Row]:
    numbers = [int(n) for n, _ in answers]
    if len(numbers) < 2 or numbers != list(range(numbers[0], numbers[0] + len(numbers))):
        return _columns(answers)
    letters = "".join(a for _, a in answers)
    return [[(72, f"{numbers[0]}-{numbers[-1]}：{letters}")]]


def _each(*texts: str) -> Callable[[Answers], list[Row]]:
    return lambda answers: [[(72, t.format(n, a))] for n, a in answers for t in texts]


KEYS: dict[str, Callable[[Answers], list[Row]]] = {
    "table": _table,
    "wide table": _wide_table,
    "grid": _grid,
    "columns": _columns,
    "runs": _runs,
    "row": lambda answers: [[(72, "  ".join(f"{n}) {a}" for n, a in answers))]],
    "lines": _each("{}. {}"),
    "reasons": _each("{}. {}", "because nothing else would keep the energy of the whole."),
    "sentences": _each("{}. Energy is kept.", "Hence the correct answer is ({1})."),
    "chosen": _each("{}．由能量守恒可知，故选{}．"),
}


def set_key(kind: str, answers: Answers, press: Press) -> None:
    """Set a key of (number, letter) pairs in one of the ways of `KEYS`."""
    for row in KEYS[kind](answers):
        press.set(*row)


TITLES = ["Answer Key", "ANSWERS", "Solutions", "参考答案", "参 考 答 案", "Gabarito", "Respuestas"]
MARKS = [
    "Answer: {}", "Answer: ({})", "Ans. ({})", "Correct answer: {}.", "答案：{}", "【答案】{}",
    "Respuesta: {}", "Gabarito: {}", "Antwort: {}", "arrow",
]  # fmt: skip
