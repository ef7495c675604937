from __future__ import annotations

import pytest

from omibench.answers.match import match_answer

ONE_WAY = r"""\to \Rightarrow \implies \mapsto \leftarrow \subset \subseteq \supset \in \ni \notin
\setminus \vdash \models \prec \succ \ll \gg \div \bmod \circ \triangleleft
\otimes \wedge \rtimes"""
EITHER_WAY = r"\cap \cup \land \lor \oplus \perp \parallel \cong \iff \neq"


@pytest.mark.parametrize("operator", ONE_WAY.split())
def test_the_sides_of_an_operator_stay_where_they_are(operator: str) -> None:
    assert match_answer([f"$p {operator} q$"], f"q {operator} p") is None
    assert match_answer([f"$p {operator} q$"], f"{{p}} {operator}  q")


@pytest.mark.parametrize("operator", EITHER_WAY.split())
def test_the_sides_of_some_operators_may_change_places(operator: str) -> None:
    assert match_answer([f"$p {operator} q$"], f"q {operator} p")


@pytest.mark.parametrize(
    ("gold", "pred"),
    [
        (r"\ce{A -> B}", r"\ce{B -> A}"), (r"x\mapsto 2x", r"2x\mapsto x"),
        (r"A\cap B\cup C", r"A\cup B\cap C"), (r"(A\cap B)\cup C", r"A\cap(B\cup C)"),
        (r"p\to q", r"p\leftarrow q"), (r"\binom{n}{k}", r"\binom{k}{n}"),
        (r"-\nabla V", r"-V\nabla"),
        (r"\neg p\land q", r"p\land\neg q"), (r"a+b\circ c", r"b+a\circ c"),
        (r"\vec a\cdot\vec b", r"\vec a\times\vec b"),
        (r"\vec E\times\vec B", r"\vec B\times\vec E"),
        (r"\overrightarrow{AB}", r"\overrightarrow{BA}"),
        (r"2\overrightarrow{AB}", r"\overrightarrow{BA}\cdot 2"),
        (r"\mathbf{E}\times\mathbf{B}", r"\mathbf{E}\cdot\mathbf{B}"),
        (r"\mathbf E\times\mathbf B", r"\mathbf B\times\mathbf E"),
        (r"(\vec a\cdot\vec b)\vec c", r"\vec a(\vec b\cdot\vec c)"),
        (r"(\vec a\times\vec b)\times\vec c", r"\vec c\times(\vec a\times\vec b)"),
        (r"\vec a\times(\vec b+\vec c)", r"(\vec b+\vec c)\times\vec a"),
        (r"\nabla\cdot\vec E", r"\nabla\times\vec E"), ("R_{12}+1", "1+R_{21}"),
        ("30'", r"30^\circ"), ("30'", "30"), (r"60^\circ", "60'"), ("30''", "30'"),
        ("(ab)'", "(ab)"),
    ],
)  # fmt: skip
def test_another_order_is_another_answer(gold: str, pred: str) -> None:
    assert match_answer([f"${gold}$"], pred) is None
    assert match_answer([f"${gold}$"], gold)


@pytest.mark.parametrize(
    ("gold", "pred"),
    [
        (r"\ce{A + B -> C}", r"B + A \to C"), (r"x\mapsto 2x", r"x\mapsto x\cdot 2"),
        (r"A\cap B\cap C", r"C\cap B\cap A"), (r"p\to q", r"q\leftarrow p"),
        (r"A\subset B", r"B\supset A"), (r"p\land\neg q", r"\neg q\land p"), (r"6\div 2", "6/2"),
        ("6 ÷ 3", "2"), (r"\vec a\cdot\vec b", r"\vec b\cdot\vec a"), (r"m\cdot\vec g", r"m\vec g"),
        (r"\mathbf{E}\times\mathbf{B}", r"\vec E\times\vec B"),
        (r"\vec F = q(\vec E+\vec v\times\vec B)", r"\vec F = q\vec E + q\vec v\times\vec B"),
        (r"W=\vec F\cdot\vec s+mgh", r"W=mgh+\vec s\cdot\vec F"), ("x'_{1}+1", "1+x_1'"),
        (r"\mathbf{5\,N\cdot m}", "5 N m"), (r"B_\perp L v", r"v B_\perp L"), ("30'", "$30'$"),
        (r"M_\odot R + a", r"a + R M_{\odot}"), ("f'(x)+1", "1+f'(x)"),
    ],
)  # fmt: skip
def test_operands_are_compared_as_formulas(gold: str, pred: str) -> None:
    assert match_answer([f"${gold}$"], pred)
