"""Letters of unnamed Type 3 fonts, identified by the hash of their outlines.

Chrome embeds the fonts of MathJax 2 and 3 as unnamed Type 3 fonts: only their outlines
distinguish `x` the variable from `x` in a word. The table was made by printing a page of these
fonts' letters with Chrome (Skia/PDF) and hashing each procedure with `hash_outline`.
"""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pymupdf

_LONGEST = 20_000
"""Maximum size of a letter's outline procedure, in bytes."""
_MOST = 1024
"""Maximum number of glyphs of a font that are examined."""
_DIGITS = 8
_POINTS = re.compile(rb"(-?[\d.]{1,20}) (-?[\d.]{1,20}) [mlcvy]\b")
_PROCEDURE = re.compile(r"/([^\s/<>\[\]]+)\s+(\d+)\s+0\s+R")
_DIFFERENCE = re.compile(r"/([^\s/<>\[\]]+)|(\d{1,9})")


def hash_outline(procedure: bytes, scale: float) -> str:
    """Return a hash of the points of a glyph's outline.

    Args:
        procedure: Content stream of a glyph of a Type 3 font.
        scale: Height of a unit under the font's matrix, times 1,000.

    Returns:
        Eight hexadecimal digits, the same for every size and direction of the axes; empty if the
        procedure draws no path.
    """
    points = []
    for x, y in _POINTS.findall(procedure):
        points.append(f"{round(float(x) * abs(scale))},{round(float(y) * scale)}")
    if not points:
        return ""
    return hashlib.sha256(" ".join(points).encode()).hexdigest()[:_DIGITS]


def read_letters(document: pymupdf.Document, xref: int) -> dict[int, str]:
    """Return the letters of a Type 3 font that are in the table.

    Args:
        document: PDF document.
        xref: Object number of the font.

    Returns:
        Characters of Unicode's mathematical alphabets by font code.
    """
    try:
        matrix = document.xref_get_key(xref, "FontMatrix")[1].strip("[] ").split()
        scale = 1000 * float(matrix[3])
        procedures = dict(_PROCEDURE.findall(document.xref_get_key(xref, "CharProcs")[1]))
        differences = document.xref_get_key(xref, "Encoding/Differences")[1]
    except (IndexError, ValueError, RuntimeError):
        return {}
    letters: dict[int, str] = {}
    known: dict[str, str | None] = {}
    code = 0
    for name, number in _DIFFERENCE.findall(differences)[: 2 * _MOST]:
        if number:
            code = int(number)
            continue
        if name not in known:
            known[name] = _find_letter(document, procedures.get(name), scale)
        if letter := known[name]:
            letters[code] = letter
        code += 1
    return letters


def _find_letter(document: pymupdf.Document, procedure: str | None, scale: float) -> str | None:
    try:
        outline = document.xref_stream(int(procedure)) if procedure else None
    except (RuntimeError, ValueError):
        return None
    if not outline or len(outline) > _LONGEST:
        return None
    try:
        return LETTERS.get(hash_outline(outline, scale))
    except (ValueError, OverflowError):  # `1.2.3`, or the font's matrix is not finite
        return None


def _letters(alphabet: str, hashes: str) -> dict[str, str]:
    return dict(zip(hashes.split(), alphabet, strict=True))


LETTERS = {
    **_letters(
        "𝐴𝐵𝐶𝐷𝐸𝐹𝐺𝐻𝐼𝐽𝐾𝐿𝑀𝑁𝑂𝑃𝑄𝑅𝑆𝑇𝑈𝑉𝑊𝑋𝑌𝑍𝑎𝑏𝑐𝑑𝑒𝑓𝑔ℎ𝑖𝑗𝑘𝑙𝑚𝑛𝑜𝑝𝑞𝑟𝑠𝑡𝑢𝑣𝑤𝑥𝑦𝑧",
        "4d3edaed 4e8a7c8c 0dcf2b75 4688bdf1 a85e3241 50ff1159 b6ad6d1c fa9984bb 1cf8e1cd "
        "b379d55a 7d950819 adaa4cbc e43708b9 d01d9ea3 20a5a3d3 8db98d51 c9a44dac 2f80d948 "
        "ea9da441 37a38eca 98dde163 24bf5231 4ce07b1f 7d99ff7b e2b34da0 3b85b31b 5b680ee4 "
        "837b698f 282cb0e9 891f0796 79d3f31a 9afbf31d d4227e4e 559d3a19 fb54895f cbd5d02e "
        "97e187d1 62c0186f e6aa9d83 ca2a2792 05d781f3 86a5ebcd 80e880f8 328791a4 e2eb9e7a "
        "e63f750e bd07b17e a50949d1 2969683f 3f2dc0b3 fdb2371b 9d9f00e7",
    ),
    **_letters(
        "𝑨𝑩𝑪𝑫𝑬𝑭𝑮𝑯𝑰𝑱𝑲𝑳𝑴𝑵𝑶𝑷𝑸𝑹𝑺𝑻𝑼𝑽𝑾𝑿𝒀𝒁𝒂𝒃𝒄𝒅𝒆𝒇𝒈𝒉𝒊𝒋𝒌𝒍𝒎𝒏𝒐𝒑𝒒𝒓𝒔𝒕𝒖𝒗𝒘𝒙𝒚𝒛",
        "51e2b700 04cf36da 0ac33093 38bf3c32 7bee0440 9aa8200e e27b2d26 cca44cf8 6d865d06 "
        "4faceae4 e58be48b 6e2a1908 cbab72fc de80871f dbb86280 9ab10c2b e4d50154 ee724275 "
        "0d19506b 4d824731 75c5b56d 42d903c0 a2de06ef 003a11ab 4926743a 2518ab49 b25c009a "
        "d955a154 916257a0 089ffc7f ef840a6f 2fa0a2f9 3bea7404 ba9325ac 46412b06 8fbef9da "
        "6d1ebb89 f4ffeccc 17dfb61e d23c4533 abebbd9b 8634fa23 bef2610b 2a5e9883 82fccdd4 "
        "ff89bdb2 701ff31e 53a5d2ed a5f0b51c 8905ef03 5f6101b7 eb6b6f00",
    ),
    **_letters(
        "𝒜ℬ𝒞𝒟ℰℱ𝒢ℋℐ𝒥𝒦ℒℳ𝒩𝒪𝒫𝒬ℛ𝒮𝒯𝒰𝒱𝒲𝒳𝒴𝒵",
        "d2725a5c 6df075ad 17a5e201 185420ee 29b938d9 320b127e de4da468 d4acff5f 67971f20 "
        "3ef6c9b1 1d9e3b77 96037863 beb7700e f8414c09 9ef8b4f5 15f1d9d4 df728bc3 0eddd1b9 "
        "27b09f15 31ca1a53 e1a2b03f 69f615ca 05300868 861c15c5 50ffe85b d903e8a8",
    ),
    **_letters(
        "𝔸𝔹ℂ𝔻𝔼𝔽𝔾ℍ𝕀𝕁𝕂𝕃𝕄ℕ𝕆ℙℚℝ𝕊𝕋𝕌𝕍𝕎𝕏𝕐ℤ",
        "b82cb344 4d87ea62 d3e552d2 661ed216 01274b99 1c61ce4f 0e4a12c2 5077ac9c 99096572 "
        "aa5af99a a03c24cb d89cea0d 587841ac d772ceb2 443aa6d1 8ade3453 13ebf003 3bb1639a "
        "31097ecb c6b168bb abad9fe9 83ec5f5e 449cceaf 88ab84a7 7cdce10f ae129689",
    ),
    **_letters(
        "𝔄𝔅ℭ𝔇𝔈𝔉𝔊ℌℑ𝔍𝔎𝔏𝔐𝔑𝔒𝔓𝔔ℜ𝔖𝔗𝔘𝔙𝔚𝔛𝔜ℨ𝔞𝔟𝔠𝔡𝔢𝔣𝔤𝔥𝔦𝔧𝔨𝔩𝔪𝔫𝔬𝔭𝔮𝔯𝔰𝔱𝔲𝔳𝔴𝔵𝔶𝔷",
        "0c70bcf9 112de64e 61eb8225 545f45fa b439e778 0b2ccf43 2dc5d1d3 0ed036c3 5c285e1b "
        "891022cc c6e63e0e 45cafbb8 178deabf a860f397 4dbf34d2 c67d3d20 541369e5 5a9e0e8c "
        "684cebc3 b129f004 a90904eb bee29ef9 33fee86c 7c47dee3 b4101b05 6265c4a3 eeea880b "
        "0929e94d 5f56221d 152fb3e8 5393575e 26652b0f d34cb5ef c3d9d58a 80e83698 e1172744 "
        "7799ca86 e888a92b 229c3ce9 3de587b3 8bf09969 f48ce209 0fca02bf ea9f6c7d 79bcda05 "
        "53d80c90 53cee436 bba2c748 7c9adfaa 7ae54ec5 702a4845 a0b1550f",
    ),
    **_letters(
        "𝐀𝐁𝐂𝐃𝐄𝐅𝐆𝐇𝐈𝐉𝐊𝐋𝐌𝐍𝐎𝐏𝐐𝐑𝐒𝐓𝐔𝐕𝐖𝐗𝐘𝐙𝐚𝐛𝐜𝐝𝐞𝐟𝐠𝐡𝐢𝐣𝐤𝐥𝐦𝐧𝐨𝐩𝐪𝐫𝐬𝐭𝐮𝐯𝐰𝐱𝐲𝐳",
        "13ab166d 46ca24a6 7cd2e605 9417d753 02634e78 053902d1 199b6b20 3201227b c7398f00 "
        "a4dd2c55 66dfac94 d146a979 452079ae b8562b4e 76f98df9 a0e3bf46 096057b5 8e27948a "
        "7ed98a94 3ad8697c db81b8a1 f58dac8e 5ff51215 498dfcff ef1b8faa 04481c93 92bdf2cc "
        "ae35e77c f867855f 1484224a 0ebb4e7a e27f22fd e3fd21b9 992922a5 6bbc6923 e2b3dad7 "
        "e1513ee9 c26500b0 b395219f 9bdfd1a8 2cddabfd 79a4f014 1e32ff74 c237611d 33a6f97c "
        "51fef2eb 159ffd8b c0edf07f 3fb42f65 9201147f 4f74d800 3a32b948",
    ),
}
"""Italic, bold italic, script, blackboard, Fraktur and bold letters of MathJax by outline."""
