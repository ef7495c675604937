"""How the pages look and are used: both schemes, a laptop's screen, names for every control."""

from __future__ import annotations

import io
from typing import Any

import pytest
from PIL import Image, ImageStat

from omibench.review.kinds import KINDS

pytestmark = pytest.mark.slow

WEAK_CONTRAST = """() => {
  const parse = (css) => (css.match(/[\\d.]+/g) ?? []).map(Number);
  const luminance = (rgb) => {
    const [r, g, b] = rgb.slice(0, 3).map((v) => {
      const s = v / 255;
      return s <= 0.03928 ? s / 12.92 : ((s + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const findGround = (node) => {
    for (let box = node; box; box = box.parentElement) {
      const colour = parse(getComputedStyle(box).backgroundColor);
      if (colour.length === 3 || colour[3] > 0.9) return colour;
    }
    return [255, 255, 255];
  };
  const weak = [];
  for (const node of document.querySelectorAll("body *")) {
    const text = [...node.childNodes].filter((child) => child.nodeType === 3);
    if (!text.some((child) => child.data.trim()) || !node.checkVisibility()) continue;
    if (node.closest("script, .katex-mathml, :disabled")) continue;
    const colour = parse(getComputedStyle(node).color);
    if (colour[3] === 0) continue; // mhchem measures with letters that nobody sees
    const [ink, ground] = [luminance(colour), luminance(findGround(node))];
    const ratio = (Math.max(ink, ground) + 0.05) / (Math.min(ink, ground) + 0.05);
    if (ratio < 4.5) weak.push(`${node.className} ${node.textContent.slice(0, 40)} ${ratio}`);
  }
  return weak;
}"""
NAMELESS = """() => [
  ...document.querySelectorAll("input, textarea, button, a, dialog, section, [role]"),
].filter((node) => node.type !== "hidden" && node.checkVisibility())
  .filter((node) => !node.getAttribute("aria-label"))
  .filter((node) => {
    const by = (node.getAttribute("aria-labelledby") ?? "").split(" ").filter(Boolean);
    const labels = [...(node.labels ?? []), ...by.map((id) => document.getElementById(id))];
    const text = [node, ...labels].map((part) => part?.textContent ?? "").join("").trim();
    return !text && !["alert", "status"].includes(node.getAttribute("role"));
  }).map((node) => node.outerHTML.slice(0, 120))"""
TWINS = """() => {
  const ids = [...document.querySelectorAll("[id]")].map((node) => node.id);
  return ids.filter((id, i) => ids.indexOf(id) !== i);
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pages_are_readable_in_both_schemes(seat: Any, scheme: Any) -> None:
    desk = seat("Sol Serra", color_scheme=scheme)
    page = desk.page
    for path in ("/", "/progress", "/tasks/item%3Alook", "/tasks/baseline%3Aall", "/nowhere"):
        page.goto(desk.address + path)
        page.wait_for_load_state("networkidle")
        assert page.evaluate(WEAK_CONTRAST) == [], path
        assert page.evaluate(NAMELESS) == [], path
        assert page.evaluate(TWINS) == [], path
        screen = Image.open(io.BytesIO(page.screenshot())).convert("L")
        assert (ImageStat.Stat(screen).mean[0] < 110) == (scheme == "dark"), path
    assert not [text for text in desk.messages if "404" not in text]


@pytest.mark.parametrize("kind", KINDS)
def test_a_kind_fits_a_laptop(seat: Any, kind: str) -> None:
    desk = seat("Ana Abreu")
    page = desk.open(f"{kind}:hostile" if kind == "rationale" else f"{kind}:all")
    size = "[document.documentElement.scrollWidth, document.documentElement.scrollHeight]"
    assert page.evaluate(size) == [1366, 768]
    assert page.locator(".panel-foot .primary").is_visible()
    assert page.evaluate(NAMELESS) == []
    assert page.evaluate(TWINS) == []
    cropped = page.evaluate(
        """() => [...document.querySelectorAll(".content .sheet img")].filter((image) => {
          const box = image.getBoundingClientRect();
          const part = image.closest(".part").getBoundingClientRect();
          const shape = image.naturalWidth / image.naturalHeight;
          return Math.abs(box.width / box.height - shape) > 0.02 * shape || box.right > part.right;
        }).length"""
    )
    assert cropped == 0
    # Every key is shown beside what it does, and none does two things.
    keys = page.locator(".fields kbd").all_inner_texts()
    fields = [field for field in KINDS[kind].fields if field.type != "steps"]
    options = [
        option.key
        for field in fields
        for option in field.options
        if not field.when and option.value != field.absent
    ]
    assert {key for key in options if key} <= set(keys)


def test_a_picture_is_enlarged_moved_and_closed_by_keys(seat: Any) -> None:
    desk = seat("Ana Abreu")
    page = desk.open("item:pictures")
    desk.press("+")
    viewer = page.locator("dialog.viewer")
    viewer.wait_for()
    first = float(viewer.get_attribute("data-scale") or 0)
    box = viewer.locator("img").bounding_box()
    assert box is not None
    assert box["x"] >= -1
    assert box["y"] >= -1
    assert box["x"] + box["width"] <= 1367
    assert box["y"] + box["height"] <= 769
    desk.press("+ + v")
    assert float(viewer.get_attribute("data-scale") or 0) > 1.4 * first
    page.mouse.move(600, 400)
    page.mouse.wheel(0, -400)
    desk.press("j")
    assert "temperature (2 of 2)" in viewer.inner_text()
    desk.press("Escape")
    viewer.wait_for(state="detached")
    assert page.locator("input:checked").count() == 0


def test_keys_rest_while_somebody_types_and_may_be_switched_off(seat: Any) -> None:
    desk = seat("Ana Abreu")
    page = desk.open("item:look")
    page.get_by_role("textbox", name="Comment").focus()
    desk.press("v n q j ?")
    assert page.get_by_role("textbox", name="Comment").input_value() == "vnqj?"
    assert page.locator("input:checked").count() == 0
    desk.press("Escape ?")
    page.get_by_role("checkbox", name="Use single keys").uncheck()
    desk.press("Escape v")
    assert page.locator(".fields input:checked").count() == 0
    desk.press("?")
    page.get_by_role("checkbox", name="Use single keys").check()
    desk.press("Escape v")
    assert page.get_by_role("radio", name="Valid", exact=True).is_checked()


def test_the_clock_rests_while_nobody_looks(seat: Any) -> None:
    # The clock of the page runs on while the browser works: some seconds more, but not 30.
    desk = seat("Ben Borg")
    desk.page.clock.install()
    page = desk.open("baseline:all")
    clock = page.locator(".clock")
    page.clock.run_for(65_000)
    assert clock.inner_text() in {"1:05", "1:06", "1:07", "1:08"}
    page.get_by_role("button", name="Pause").click()
    page.clock.run_for(30_000)
    assert clock.inner_text() in {"1:05", "1:06", "1:07", "1:08"}
    page.get_by_role("button", name="Go on").click()
    page.evaluate(
        """() => {
          Object.defineProperty(document, "visibilityState", { get: () => "hidden" });
          document.dispatchEvent(new Event("visibilitychange"));
        }"""
    )
    page.clock.run_for(30_000)
    assert clock.inner_text() in {"1:05", "1:06", "1:07", "1:08"}


def test_the_time_of_a_baseline_outlives_a_reload(seat: Any) -> None:
    desk = seat("Ugo Unger")
    desk.page.clock.install()
    page = desk.open("baseline:all")
    page.clock.run_for(61_000)
    page.wait_for_load_state("networkidle")
    desk.open("baseline:all")
    assert page.locator(".clock").inner_text() >= "1:00"
