"""Texts of a dataset as a reviewer sees them: formulas set, everything else as it is written."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

RENDER = """async (texts) => {
  const { renderMarkdown } = await import("/static/web/markdown.js");
  return texts.map((text) => {
    const box = document.createElement("div");
    box.append(renderMarkdown(text, (index) => {
      const mark = document.createElement("b");
      mark.textContent = `<picture ${index}>`;
      return mark;
    }));
    for (const math of box.querySelectorAll(".math")) {
      const source = math.querySelector("annotation").textContent;
      math.replaceChildren(math.classList.contains("display") ? `{{${source}}}` : `{${source}}`);
    }
    for (const node of box.querySelectorAll(".math-refused .tag")) node.remove();
    for (const node of box.querySelectorAll(".math-refused")) node.removeAttribute("title");
    return box.innerHTML.replace(/<span class="math( display)?">(.*?)<\\/span>/gs, "$2");
  });
}"""
CASES = {
    "a $x$ b": "<p>a {x} b</p>",
    r"\(x\) \[y\] $$z$$": "<p>{x} {{y}} {{z}}</p>",
    "$ x = 1 $ and $ 5 apples $": "<p>{ x = 1 } and $ 5 apples $</p>",
    "$5 and $6": "<p>$5 and $6</p>",
    r"\$5 costs $x$": "<p>$5 costs {x}</p>",
    "$$\nx\n\ny": "<p>$$\nx</p><p>y</p>",
    "$$\nx\n\n= y\n$$ end": "<p>{{\nx\n\n= y\n}} end</p>",
    "\\begin{align}\na\n\\end{align}": "<p>{{\\begin{align}\na\n\\end{align}}}</p>",
    r"So \boxed{\frac{1}{2}}, or \boxed{x": r"<p>So {\boxed{\frac{1}{2}}}, or \boxed{x</p>",
    r"$\ce{H2O}$": r"<p>{\ce{H2O}}</p>",
    r"$\frac{1}$": ('<p><span class="math-refused"><code>$\\frac{1}$</code></span></p>'),
    "**b** *i* 2*3*4 ** x": "<p><strong>b</strong> <em>i</em> 2*3*4 ** x</p>",
    "one\ntwo\n\nthree": "<p>one\ntwo</p><p>three</p>",
    "# Title": '<p class="heading">Title</p>',
    "(a) first\n- dash": (
        '<div class="item"><span class="marker">(a)</span><div>first</div></div>'
        '<div class="item"><span class="marker">-</span><div>dash</div></div>'
    ),
    "```\n$x$ <b>\n```": "<pre>$x$ &lt;b&gt;</pre>",
    "```py\nx": '<pre><span class="tag block">py</span>x</pre>',
    "``` kept too": "<p><code></code>` kept too</p>",
    "`$x$`": "<p><code>$x$</code></p>",
    "see [IMAGE3].": "<p>see <b>&lt;picture 3&gt;</b>.</p>",
    "|a|b|\n|-|:-:|\n|$x$|2|": (
        '<div class="scroll"><table><thead><tr><th>a</th><th>b</th></tr></thead>'
        "<tbody><tr><td>{x}</td><td>2</td></tr></tbody></table></div>"
    ),
    "a|b": "<p>a|b</p>",
    "x\r\ny": "<p>x\ny</p>",
}


def test_texts_are_rendered_as_they_are_written(seat: Any) -> None:
    page = seat("Ana Abreu").open("item:form")
    texts = page.evaluate(RENDER, list(CASES))
    assert dict(zip(CASES, texts, strict=True)) == CASES


@pytest.mark.slow
def test_a_long_text_without_ends_takes_linear_time(seat: Any) -> None:
    page = seat("Ana Abreu").open("item:form")
    texts = [
        "$" * 90_000,
        "$$\n" * 30_000,
        r"\[" * 45_000,
        "*a " * 30_000,
        "`" * 89_999,
        "[" * 90_000,
    ]
    rendered = page.evaluate(RENDER, texts)
    assert all(len(text) > 9_000 for text in rendered)


@pytest.mark.slow
def test_an_answer_may_be_a_formula_without_delimiters(seat: Any) -> None:
    page = seat("Ana Abreu").open("item:form")
    answers = [r"\frac{1}{2}", "A", r"the ratio \frac{1}{2}", r"$x$ \alpha", r"\undefined{x}"]
    sets = page.evaluate(
        """async (answers) => {
          const { renderParts } = await import("/static/parts.js");
          const part = { name: "answer", title: "Answer", style: "answer" };
          const [section] = renderParts([part], { answer: answers }, { place: () => null });
          return [...section.querySelectorAll("li")].map((item) =>
            [...item.querySelectorAll("annotation")].map((node) => node.textContent).join());
        }""",
        answers,
    )
    assert sets == [r"\frac{1}{2}", "", "", "x", ""]


@pytest.mark.slow
def test_the_formulas_of_a_published_benchmark_are_set(seat: Any, shared_data: Path) -> None:
    lines = (shared_data / "omibench/test.jsonl").read_text("utf-8").splitlines()
    texts = [text for line in lines for text in json.loads(line).values() if isinstance(text, str)]
    page = seat("Ana Abreu").open("item:form")
    counts = page.evaluate(
        """async (texts) => {
          const { renderMarkdown } = await import("/static/web/markdown.js");
          const box = document.createElement("div");
          const counts = { math: 0, refused: 0 };
          for (const text of texts) {
            box.replaceChildren(renderMarkdown(text, () => document.createElement("b")));
            counts.math += box.querySelectorAll(".math").length;
            counts.refused += box.querySelectorAll(".math-refused").length;
          }
          return counts;
        }""",
        texts,
    )
    assert counts["math"] > 10_000
    assert counts["refused"] < 0.005 * counts["math"]
