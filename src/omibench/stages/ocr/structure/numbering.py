"""Words and numbers that structure a paper: language, subjects, references, problem numbers."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from omibench.schemas.problem import Subject
from omibench.stages.ocr.layout.layout import Item, Line

# Detect the language of a paper by its script and most frequent words.

UNKNOWN = "und"
"""The ISO 639 code of an undetermined language."""

_SCRIPTS = (
    ("ja", re.compile("[\u3040-\u30ff]")),
    ("ko", re.compile("[\uac00-\ud7af]")),
    ("zh", re.compile("[\u3400-\u9fff]")),
    ("ru", re.compile("[\u0400-\u04ff]")),
    ("el", re.compile("[\u0370-\u03ff]{3,}")),
    ("ar", re.compile("[\u0600-\u06ff]")),
    ("he", re.compile("[\u0590-\u05ff]")),
    ("hi", re.compile("[\u0900-\u097f]")),
    ("th", re.compile("[\u0e00-\u0e7f]")),
)
_COMMON_WORDS = {
    "en": "the of and is in to which that are with for as by from how what this it be",
    "es": "de la el los las un una del que es en con por para cuál como se y al su más son",
    "pt": "de o a os as um uma do da dos das que é em com por para qual não ao na no são",
    "fr": "de la le les des un une du est dans avec pour quelle qui sur par au et ce sont il",
    "de": "der die das und ist ein eine mit von den dem zu für auf wie welche sind im",
    "it": "di la il gli della che è con per un una nel quale sono dei delle alla più non",
    "nl": "het een van en is dat op met voor zijn de welke deze wordt niet aan bij",
    "pl": "jest się na do nie że oraz który przez dla jak są po to od ze jego",
    "cs": "je se na že který pro do jsou jak jeho ve za byl kde tak nebo při",
    "tr": "bir ve bu için ile olan hangisi değil kadar olarak ne göre en çok",
    "vi": "của là và các một trong không được cho với những này khi bằng",
    "id": "yang dan di dari untuk dengan adalah pada ini sebuah tidak jika oleh",
    "hu": "az egy és hogy nem van mint amely meg ha csak mekkora milyen",
    "sv": "och är att det som en på av för med den ett till inte hur vilken",
    "ro": "și este care cu pe din sunt pentru mai nu prin al ale într dintre când",
}
_VOCABULARY = {code: frozenset(words.split()) for code, words in _COMMON_WORDS.items()}
_FEWEST = 2


def detect_language(text: str) -> str:
    """Return the ISO 639-1 code of the language of a text; `und` if it is unclear."""
    letters = sum(c.isalpha() for c in text)
    for code, script in _SCRIPTS:
        # Kana among Chinese characters indicate Japanese, however few; letters in formulas do not
        # count.
        share = 0.02 if code == "ja" else 0.2
        if letters and sum(map(len, script.findall(text))) > share * letters:
            return code
    words = re.findall(r"[^\W\d_]+", text.lower())
    votes = Counter(
        {
            code: sum(word in vocabulary for word in words)
            for code, vocabulary in _VOCABULARY.items()
        }
    )
    (first, most_votes), (_, second) = votes.most_common(2)
    return first if most_votes >= _FEWEST and most_votes > second else UNKNOWN


# Words in papers that ask, announce choices, or instruct the reader.

_ASKS = re.compile(
    r"[?？:：]\s*(?:\[IMAGE\d+\]\s*)*$|…\s*$|\b(?:which|choose|select|mark|cu[áa]l(?:es)?|se[ñn]ale|"
    r"marque|indique|elija|qual|quais|assinale|welche[rs]?|wähle)\b",
    re.I,
)
_CHOOSES = re.compile(
    r"[?？]\W*$|\b(?:which|choose|select|pick|mark the)\b|выбер|выбор|как(?:ой|ая|ое|ие) из|верн|"
    r"вибер|як(?:ий|а|е) з|обер|избер|коя от|кое от|кой от|ποι[οαάόε]|επιλ|σωστ|[α-ωά-ώ]\s*;\s*$|"
    r"选|選|正确的|正確的|错误的|不正确|最大的是|最小的是|是\s*[(（_]|どれ|何か|고르|것은|옳은",
    re.I,
)
_TASK = re.compile(
    r"[?？]|\b(?:points?|pts|marks?|puntos|pontos|punkte)\b|^(?:find|determine|calculate|compute|state|"
    r"what|how|why|show|derive|explain|estimate|sketch|plot|draw|give|prove|identify|name|describe|"
    r"calcule|determine|encuentre|halle|explique|cu[áa]l|qu[ée]|calcular|berechne|bestimme)\b",
    re.I,
)
_TASK_ELSEWHERE = re.compile(
    r"\d\s*(?:балл|бал[аи]?\b|очк|точк[аи]\b|μονάδ|μόρι|점|点\s*[)）]|分\s*[)）])|"
    r"^\W*(?:най[дт]|определ|вычисл|рассчит|докаж|объясн|постро|нарису|изобраз|сколько|почему|запиш|"
    r"оцени|вывед|чему|знайд|визнач|обчисл|доведіть|поясн|побуд|намер|изчисл|пресмет|докаж|начерта|"
    r"να\s|βρε|υπολογ|δείξ|αποδείξ|σχεδι|πόσ|γιατί|求|计算|計算|证明|証明|说明|說明|写出|画出|作出|解释|"
    r"分析|推导|試|试|若|如果|请|請|구하|설명)|求[めよ]|いくら|为什么|多少|구하[시여]",
    re.I,
)
_BLANK = re.compile(r"[_＿]{2}|□|…{2}|\.{4}")
_PAIRS = re.compile(
    r"\bmatch(?:ing)?\b|соответстви|відповідніст|съответств|αντιστοιχ|对应|配对|連線|连线", re.I
)


def asks(text: str) -> bool:
    """Return whether a text ends with a question, or asks to choose or mark, as before choices."""
    return _ASKS.search(text) is not None


def tells_to_choose(text: str) -> bool:
    """Return whether a text ends with a question, or asks which; an announcement is not enough."""
    return _CHOOSES.search(text) is not None


def asks_for_work(text: str) -> bool:
    """Return whether a text asks or instructs, like a task and unlike a choice."""
    return _TASK.search(text) is not None or _TASK_ELSEWHERE.search(text) is not None


def leaves_blank(text: str) -> bool:
    """Return whether a text has a space for an answer, like a sub-question and unlike a choice."""
    return _BLANK.search(text) is not None


def asks_for_pairs(text: str) -> bool:
    """Return whether a text asks to match lists, whose letters are not choices."""
    return _PAIRS.search(text) is not None


# Detect subjects in section headings and tags, in five languages.

_SUBJECT_WORDS: dict[Subject, str] = {
    "astronomy": "astronomy astronomia astronomie 天文 天文学",
    "biology": "biology biologia biologie 生物 life science",
    "chemistry": "chemistry quimica chemie 化学",
    "mathematics": "mathematics maths math matematica matematicas mathematik 数学",
    "physics": "physics fisica physik 物理",
}
_SUBJECT = {word: subject for subject, words in _SUBJECT_WORDS.items() for word in words.split()}
_SECTION = re.compile(
    r"(?:section|part|teil|secci[óo]n|parte|se[çc][ãa]o|abschnitt)\s+[\dIVXA-H]+\b.{0,60}"
    r"|[IVX]{1,4}\s*、\s*\S{1,20}|[一二三四五六七八九十]\s*[、.．]\s*\S{1,20}",
    re.I,
)
_TAG = re.compile(r"\[([^\[\]\d]{3,20})\]\s*")


def subject_word(text: str) -> Subject | None:
    """Return the subject in a short text such as `Biología`, `Section B: Physics`."""
    folded = unicodedata.normalize("NFD", text.lower())
    letters = "".join(c for c in folded if not unicodedata.combining(c))
    subjects = {_SUBJECT[word] for word in re.findall(r"[^\W\d_]+", letters) if word in _SUBJECT}
    return subjects.pop() if len(subjects) == 1 else None


def is_heading(text: str) -> bool:
    """Return whether a line is the heading of a section: `Section B`, `II、简答题`, `Química`."""
    if _SECTION.fullmatch(text):
        return True
    return len(text.split()) <= 3 and subject_word(text) is not None


def leading_tag(text: str) -> tuple[Subject | None, str]:
    """Return the subject of a tag such as `[Physics]` at the start of a statement, and the rest."""
    match = _TAG.match(text)
    subject = subject_word(match[1]) if match else None
    return (subject, text[match.end() :]) if match and subject else (None, text)


# Find references to figures by number.

_SLAVIC = (
    r"obr\.|obráz(?:ek|k\w{1,3})|obrázcích|rys\.|rysun(?:ek|k\w{1,3})|рис\.|рисун(?:ок|к\w{1,3})"
)
_NUMBER = r"\s*(?:(?:č|nr|№)\.?\s*)?(\d{1,3})"
_REFERENCE = re.compile(
    # "a" joins numbers only after Czech words: "in Figure 1 a 3 kg block"
    rf"(?:{_SLAVIC}){_NUMBER}\s+a\s+(\d{{1,3}})|"
    rf"(?:figures?|fig\.|figuras?|abbildung(?:en)?|图|圖|図|{_SLAVIC}){_NUMBER}"
    r"(?:\s*(?:,|and|y|e|und|i|oraz|и|和|と|、|-|–)\s*(\d{1,3}))*"
    r"|第\s*(\d{1,3})\s*[図图圖]",
    re.I,
)


def figure_numbers(text: str) -> list[str]:
    """Return the distinct numbers of the figures in a text, in order."""
    mentions = (match[0] for match in _REFERENCE.finditer(text))
    numbers = [number for mention in mentions for number in re.findall(r"\d{1,3}", mention)]
    return list(dict.fromkeys(numbers))


# Parse the numbers of problems: `1.`, `Problem 3`, `第5题`, `Q7`, `(D01.1)`, `B2 a)`.

_PROBLEM_WORDS = (
    "problems?|probs?\\.|questions?|exercises?|exerc?\\.|items?|tasks?|theory(?: problems?)?|"
    "experiment(?:al problems?)?|"
    "problemas?|preguntas?|ejercicios?|ejs?\\.|reactivo|quest[aã]o|exerc[ií]cio|"
    "aufgabe|frage|probl[eè]me|exercice|esercizio|quesito|domanda|problema|"
    "vraag|opgave|oppgave|opgaven|uppgift|teht[aä]v[aä]|zadanie|zadatak|naloga|[uú]loha|p[rř][ií]klad|"
    "soal|soru|c[aâ]u|b[aà]i|задача|задание|вопрос|πρόβλημα|θέμα|문제|問題|問|问题|试题|試題|题目|题"
)
_DIGITS = "零一二三四五六七八九十"
_SEPARATOR = r"\s*(?:[.．]\s?[-–](?=\s)|[.:：、．)）\]】]|[-–—](?=\s))?\s*"
_OF = r"(?:\s+(?:of|de|von|sur|di|из)\s+\d{1,3}(?=\s*[:.)\]]))?"
"""The total in "Question 1 of 8:"."""
_PART = r"(?P<part>\s?[(（]?[a-h][)）]|\.\d{1,2}\b)?"
_STYLES = (
    (
        "word",
        rf"[【\[]?(?:{_PROBLEM_WORDS})\s*(?:n(?:[oº°r]|um(?:ber)?)?\.?\s*|#\s*|№\s*)?"
        rf"(?:(?P<prefix>[A-Z])[-–.]?(?=\d))?(?P<n>\d{{1,3}}|[IVX]{{1,5}}(?![A-Za-z])){_PART}"
        rf"(?!\w){_OF}{_SEPARATOR}",
    ),
    ("di", rf"[【(（]?第\s*(?P<n>\d{{1,3}}|[{_DIGITS}]{{1,3}})\s*[题題问問]{_SEPARATOR}"),
    ("ban", r"(?P<n>\d{1,3})\s*번\s*[.)]?\s*"),
    ("feladat", r"(?P<n>\d{1,3})\s*\.\s*(?:feladat|mesele|uzdevums|ülesanne|užduotis)\b[.:]?\s*"),
    ("ordinal", r"(?P<n>\d{1,3})\s*[ªº°]?\s*(?:quest[aã]o|pregunta|aufgabe)\b\s*[.:)\-–]?\s*"),
    ("example", r"例\s*(?P<n>\d{1,3})\s*[.:：、．)）]?\s*"),
    ("letter", rf"Q(?:u(?:es)?)?\s*\.?\s*(?:no\.?\s*)?(?P<n>\d{{1,3}})(?!\w){_SEPARATOR}"),
    ("nr", rf"(?:#|№|n[oº°r]\.|n[º°])\s*(?P<n>\d{{1,3}})(?!\w){_SEPARATOR}"),
    ("code", r"[(（\[](?P<prefix>[A-Z])[-.]?(?P<n>\d{1,2})(?P<part>\.\d{1,2})?[)）\]]\s*"),
    ("plain", r"\**(?P<n>\d{1,3})\s*(?:[.．]\s?[-–](?=\s)|[.．、]|[)）\]])(?!\d)\s*"),
    ("plain", r"(?P<n>\d{1,3})\s?(?P<part>[(（]?[a-h][)）])\s*"),
    (
        "plain",
        r"(?P<n>\d{1,3})\s*[.:]?\s*[(（\[]\s*\d{1,3}\s*(?:points?|pts?|marks?|p|分|点|puntos|"
        r"pontos|"
        r"punkte)\.?\s*[)）\]]\s*",
    ),
    (
        "plain",
        r"(?P<prefix>[A-Z])[-.]?(?P<n>\d{1,2})(?P<part>\.\d{1,2}\b|\s?[(（]?[a-h][)）])?"
        r"(?:\s*[.:：、)）](?!\d)\s*|\s+(?![=<>≤≥≈+×·/^_)]))",
    ),
    ("heading", r"[A-Z][A-Za-z]+(?: [A-Z]?[a-z]+){0,2} (?P<n>\d{1,2})\s*:\s*(?=\S)"),
)
_RARE = (
    ("paren", r"[(（\[]\s?(?P<n>\d{1,3})\s?[)）\]]\s*(?=\S)"),
    ("roman", r"(?P<n>[IVX]{1,5})\s*[.)、](?!\w)\s*(?=\S)"),
    ("bare", r"(?P<n>\d{1,3})(?:\s+(?=[^\W\d_])|$)"),
    ("dash", r"(?P<n>\d{1,3})\s*[-–—:：]\s+(?=[^\W\d_])"),
)
_PREFIXES = "ABCDEFGHJKLMNOPQRSTUWYZ"
"""Letters that are not Roman numerals."""
NAMED = ("word", "di", "ban", "feladat", "ordinal", "example", "nr")
"""Styles that always number problems."""


class Number(NamedTuple):
    """A possible problem number: its value, its style, and the start of the text.

    `prefix` is a letter printed with it ("B" of "B2"), `part` its sub-question ("a)" of "B2 a)"),
    which stays with the text.
    """

    value: int
    style: str
    end: int
    prefix: str = ""
    part: str = ""


_PATTERNS = tuple(
    (style, re.compile(pattern, re.I if style in NAMED else 0)) for style, pattern in _STYLES
)
_RARE_PATTERNS = tuple((style, re.compile(pattern)) for style, pattern in _RARE)


def read_number(text: str) -> Number | None:
    """Return the number at the start of a line, if it looks like that of a problem."""
    return _first(text, _PATTERNS)


def read_rare_number(text: str) -> Number | None:
    """Return the number in an ambiguous style: `(3)`, `III.`, `3 Text`, `3 - Text`.

    Use it only if a paper has no other numbering.
    """
    return _first(text, _RARE_PATTERNS)


def looks_numbered(line: Line) -> bool:
    """Return whether a line starts with a possible problem number and is more than a label."""
    number = read_number(line.text)
    if number is None or (number.prefix and number.style == "plain"):
        return False
    return number.end < len(line.text) or number.style != "plain"


def format_label(section: str, value: int | str) -> str:
    """Return the label of a problem: `7`, `B2`, or with a longer section name `II.3`."""
    joined = not section or (len(section) == 1 and section in _PREFIXES)
    return f"{section}{value}" if joined else f"{section}.{value}"


def parse_label(label: str) -> tuple[str, int]:
    """Return the section and number of a label of `format_label`; number 0 for other texts."""
    match = re.fullmatch(r"(?:([A-Za-z])|(.+)\.)?(\d{1,3})", label)
    return ((match[1] or match[2] or ""), int(match[3])) if match else ("", 0)


def roman_value(text: str) -> int:
    """Return `IX` as 9; 0 for anything but Roman numerals below 40."""
    match = re.fullmatch(r"(X{0,3})(IX|IV|V?I{0,3})", text.upper())
    if not match:
        return 0
    return 10 * len(match[1]) + _ROMAN_DIGITS.index(match[2])


_ROMAN_DIGITS = ["", *["I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX"]]


def _first(text: str, patterns: tuple[tuple[str, re.Pattern[str]], ...]) -> Number | None:
    for style, pattern in patterns:
        match = pattern.match(text)
        if match and (value := _value(match["n"])):
            groups = match.groupdict()
            prefix, part = groups.get("prefix") or "", groups.get("part") or ""
            end = match.end() if not part else 0 if part[0] == "." else match.start("part")
            return Number(value, style, end, prefix.upper(), part.strip())
    return None


def _value(digits: str) -> int:
    if digits.isdecimal():
        return int(digits)
    if digits[0] not in _DIGITS:
        return roman_value(digits)
    tens, _, units = digits.rpartition("十")
    if "十" not in digits:
        return _DIGITS.index(digits) if len(digits) == 1 else 0
    return (_DIGITS.index(tens) if tens else 1) * 10 + (_DIGITS.index(units) if units else 0)


# Titles inside a paper: starts of sections and answers, and the end of the paper.

_KINDS = (
    r"multiple[- ]choice|single[- ]choice|short[- ]answers?|long[- ]answers?|free[- ]response|"
    r"true(?:[ /-]+| or )false|fill in the blanks?|theor(?:y|etical)|experimental|practical|"
    r"data analysis|"
    r"opci[óo]n m[úu]ltiple|m[úu]ltipla escolha|respuesta (?:corta|abierta)|"
    r"quest[õo]es (?:abertas|objetivas|"
    r"discursivas)|problemas|einfachauswahl|mehrfachauswahl|选择题|填空题|简答题|计算题|解答题|"
    r"判断题|实验题|"
    r"論述題|選擇題|non[- ]?multiple"
)
_TITLE = re.compile(
    rf"(?:(?:section|part|paper|round|day|teil|secci[óo]n|parte|se[çc][ãa]o|abschnitt|partie|"
    rf"sezione|"
    rf"раздел|часть)\s+(?P<name>[A-H]|[IVX]{{1,4}}|\d)\b|(?P<letter>[A-H]|[IVX]{{1,4}}|"
    rf"[一二三四五六七八九十])\s*"
    rf"[、.．:)])|{_KINDS}",
    re.I,
)
_NOT_PROBLEMS = re.compile(
    r"instruction|rule|note|guideline|direction|constant|formula|contents|credit|information|"
    r"data sheet|"
    r"注意|说明|须知|常数|instru[çc]|instruc|regla|regra|constante|hinweis|konstante|normas",
    re.I,
)
_ANSWERS = re.compile(
    r"[\W\d_]*(?:(?:official|suggested|brief|short|final|worked|model|full|detailed|correct|right|"
    r"richtige|korrekte)\s+|(?:plantilla|hoja|tabla|folha|tabela|grille|table|list)\s+(?:des?|of)\s+"
    r"(?:las\s+|les\s+)?)*"
    r"(?:answers?(?:\s*(?:keys?|sheet key|and (?:explanations|solutions)))?|solutions?|"
    r"keys?(?: to .{3,40})?|"
    r"(?:(?:answers?|solutions?) (?:to|for) .{3,60})|mark(?:ing)? schemes?|"
    r"clave(?: de respuestas)?|respuestas|soluciones|gabarito(?: oficial)?|respostas|"
    r"resolu[çc](?:[ãa]o|[õo]es)|solu[çc](?:[ãa]o|[õo]es)|corrig[ée]s?|r[ée]ponses|"
    r"l[öo]sungen|l[öo]sungsschl[üu]ssel|antworten|soluzioni|risposte|ответы|решения|"
    r"rozwi[ąa]zania|"
    r"odpowiedzi|参考答案(?:[及与和](?:解析|评分标准|详解))?|答案(?:[及与和]解析)?|试题答案|"
    r"解答|解析|正解|模範解答|정답)"
    r"(?:\s+(?:correctas?|corretas|corrette|correctes|oficiales|oficiais|esatte))?[\W_]*",
    re.I,
)
_LETTER_OF_KEY = re.compile(r"[\W_]*\d{1,3}[\W_]+[A-Ja-j][\W_]*")
_FEWEST_OF_KEY = 3
_FEW_WORDS = re.compile(r"[^\W\d_]{2,}(?: [^\W\d_]+){0,4}\s*[:：]?")
_KEY = re.compile(
    r"[\W_]*(?:answer keys?|key|mark(?:ing)? schemes?|clave de respuestas|gabarito(?: oficial)?|"
    r"l[öo]sungsschl[üu]ssel|参考答案)[\W_]*",
    re.I,
)
_END = re.compile(
    r"[\W_]*(?:the\s+)?end(?: of (?:the )?(?:paper|exam(?:ination)?|test|questions?|problems?|"
    r"section .))?[\W_]*|"
    r"[\W_]*(?:fin del examen|fim da prova|ende der (?:klausur|pr[üu]fung)|全卷完|试题结束|"
    r"試題完)[\W_]*",
    re.I,
)
_LISTED = re.compile(r"[(（]?(?:[a-hA-H]|\d{1,2}|[ivx]{1,4})[)）.]")
_POINTS = re.compile(r"\b(?:points?|pts|marks?|puntos|pontos|punkte)\b", re.I)
_LONGEST = 60
_INTRODUCTION = 8
"""The maximum number of lines between the title of a section and its first problem."""


def section_name(text: str) -> str:
    """Return the letter or number in the title of a section, if any."""
    match = _TITLE.match(text)
    return ((match["name"] or match["letter"] or "") if match else "").upper()


def opens_section(item: Item, size: float) -> bool:
    """Return whether an item is the title of a section of problems.

    It has the words of a section title ("Section B", "二、填空题", "Multiple choice"), or it is
    short, stands out from the body by weight or size, and is not a title of instructions, constants
    or answers.
    """
    if not isinstance(item, Line) or not item.upright or not item.starts:
        return False
    text = item.text
    if len(text) > _LONGEST or _NOT_PROBLEMS.search(text) or _ANSWERS.fullmatch(text):
        return False
    if is_heading(text) and (_TITLE.match(text) or subject_word(text)):
        return True
    stands_out = item.bold or item.size > 1.1 * size
    if _TITLE.match(text):
        return stands_out or text.isupper() or _TITLE.fullmatch(text) is not None
    return stands_out and read_number(text) is None and not re.search(r"[.?!:,;。？，]$", text)


def without_titles(
    items: Sequence[Item], size: float, *, restarts: bool
) -> tuple[list[Item], list[Item]]:
    """Return the items of a problem without the section that starts after it, and without titles.

    `restarts`: the next problem is number 1, so a section does start here. Otherwise only titles
    are left out, with introductions of the section ("Each problem is worth four points.") but no
    questions.
    """
    if restarts:
        begins = range(len(items) - 1, max(0, len(items) - 1 - _INTRODUCTION), -1)
        opening = next((k for k in begins if opens_section(items[k], size)), len(items))
        return list(items[:opening]), list(items[opening:])
    titles = [k for k in range(1, len(items)) if _is_prominent_heading(items[k], size)]
    kept_items = [item for k, item in enumerate(items) if k not in titles]
    after = items[titles[-1] + 1 :] if titles else []
    if len(after) <= _INTRODUCTION and all(isinstance(i, Line) and _tells(i.text) for i in after):
        kept_items = kept_items[: len(kept_items) - len(after)]
    return kept_items, [items[k] for k in titles]


def _is_prominent_heading(item: Item, size: float) -> bool:
    if not isinstance(item, Line) or not item.starts:
        return False
    return (item.bold or item.size > 1.05 * size) and is_heading(item.text)


def _tells(text: str) -> bool:
    """Return whether a line can introduce a section: it neither asks nor starts a part or a
    choice."""
    return not (asks_for_work(_POINTS.sub("", text)) or _LISTED.match(text))


def is_end(item: Item) -> bool:
    """Return whether a line marks the end of the paper."""
    return isinstance(item, Line) and item.starts and _END.fullmatch(item.text) is not None


def split_answers(flow: Sequence[Item], size: float) -> tuple[list[Item], list[Item]]:
    """Return the paper and the section of answers at its end, if any.

    The section has a title, such as "Answer key" or 参考答案, after at least two numbered lines. A
    title in the type of the body counts only if it is alone in its row and the numbers after it
    restart; if they continue, it belongs to a single problem. Unknown titles are detected by the
    text after them: numbers that restart, each with only a letter.
    """
    lines = [(k, i) for k, i in enumerate(flow) if isinstance(i, Line) and i.upright and i.starts]
    usual = {k: number.value for k, line in lines if (number := read_number(line.text))}
    rare = {k: number.value for k, line in lines if (number := read_rare_number(line.text))}
    titles = {
        k: title
        for k, line in lines
        if k not in usual and _ANSWERS.fullmatch(title := _close_letter_spaces(line.text))
    }
    inside: set[str] = set()
    for index, title in titles.items():
        before = [value for k, value in usual.items() if k < index]
        if len(before) < 2:
            before = [value for k, value in rare.items() if k < index]
        after = [v for k, v in usual.items() if k > index] or [
            v for k, v in rare.items() if k > index
        ]
        if len(before) < 2:
            continue
        follows = max(before) + 1
        repeated = list(titles.values()).count(title) > 1
        if title in inside or (follows in after and (after[0] == follows or repeated)):
            inside.add(title)
            continue
        line = flow[index]
        prominent = isinstance(line, Line) and (line.bold or line.size > 1.1 * size)
        alone = not any(_beside(line, neighbour) for neighbour in flow[index + 1 : index + 3])
        restarts = bool(after) and after[0] < follows
        if prominent or (alone and (restarts or _KEY.fullmatch(title))):
            return list(flow[:index]), list(flow[index + 1 :])
    begin = _key_begins(lines, usual)
    if begin is None:
        return list(flow), []
    end = begin - 1 if _may_be_title(flow[begin - 1]) else begin
    return list(flow[:end]), list(flow[begin:])


def _key_begins(lines: Sequence[tuple[int, Line]], values: Mapping[int, int]) -> int | None:
    """Return the start of numbered letters that restart and end the paper, if any."""
    numbered = [(k, line.text) for k, line in lines if k in values]
    tail: list[int] = []
    while numbered and _LETTER_OF_KEY.fullmatch(numbered[-1][1]):
        tail.insert(0, numbered.pop()[0])
    question_numbers = [values[k] for k, _ in numbered]
    restarts = bool(tail) and bool(question_numbers) and values[tail[0]] <= question_numbers[0]
    other_texts = [line.text for k, line in lines if tail and k > tail[0] and k not in values]
    short = all(len(text) <= _LONGEST for text in other_texts)
    if restarts and short and len(tail) >= max(_FEWEST_OF_KEY, len(question_numbers) / 2):
        return tail[0]
    return None


def _may_be_title(item: Item) -> bool:
    """Return whether a line is only a few words: not a choice, a value or the end of a sentence."""
    return isinstance(item, Line) and item.starts and _FEW_WORDS.fullmatch(item.text) is not None


def _close_letter_spaces(text: str) -> str:
    """Remove the space between spaced-out letters: 参 考 答 案."""
    return re.sub(r"(?<=[\u3400-\u9fff])\s+(?=[\u3400-\u9fff])", "", text)


def _beside(line: Item, item: Item) -> bool:
    return (
        isinstance(line, Line)
        and isinstance(item, Line)
        and item.page == line.page
        and abs(item.baseline - line.baseline) < 0.5 * line.size
    )
