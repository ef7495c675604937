"""Words in papers that ask, announce choices, or instruct the reader."""

from __future__ import annotations

import re

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
