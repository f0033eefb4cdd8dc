"""``bmo replay --report`` in a real browser: drawn, filtered by mouse and keys, safe, readable."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bmo.replay.diff import compare_recordings
from bmo.replay.report import report_page
from bmo.replay.rows import RecordedScenario, ScoredRow, TurnRow
from tests.browser import Browser, Page, running_chromium
from tests.unit.replay.rows import ended, recalled, said, scenario_of, stored

pytestmark = pytest.mark.integration

HOSTILE = (
    "</script><script>window.hacked = 1</script>",
    "<img src=x onerror='window.hacked = 2'><style>*{display:none}</style>",
    "<!--<script>",
    "{{data}} {{script}} ]]> \\u003c",
    "javascript:window.hacked=3",
    "&lt;b&gt; &amp; &#60;",
    "\u202eright to left override\u202c \u200b\ufeff",
    "line\u2028separator\u2029and\x00nul\x07bell\r\ntwo lines",
    "a lone surrogate \ud83d here, an emoji 🦜 and שלום",
    "w" * 400,
)


def conversation() -> tuple[TurnRow, ...]:
    """A small talk with everything a turn can have."""
    return (
        said(
            "i live in leeds",
            "allow",
            signals=("personal_fact",),
            rule="lives",
            stored=(stored("Lives in Leeds", slot="lives_in"),),
            profile=(),
            profile_context="",
            assistant="Leeds, nice.",
        ),
        said("maybe i should get a boat", "hold", signals=("goal",), reason="hedge"),
        said(
            "where do i live",
            signals=("question",),
            recall=recalled(
                "Lives in Leeds",
                left_out=(ScoredRow(text="Has a dog", why="score 0.20 under 0.30", score=0.2),),
            ),
            mismatches=("verdict discard (because), expected hold",),
        ),
        said(
            "i moved to york",
            "allow",
            signals=("personal_fact", "correction"),
            rule="moved",
            stored=(stored("Lives in York", slot="lives_in", rule="moved"),),
            ended=(ended("Lives in Leeds", replaced_by="Lives in York", said=(0, 0)),),
            session=1,
            profile=("Lives in Leeds",),
            profile_context="<profile>\n- Lives in Leeds\n</profile>",
            at="2026-04-01T09:00:00+00:00",
        ),
        said("never heard", None, reason="", signals=(), extraction_method="", session=1),
    )


PLAIN = scenario_of(*conversation(), name="plain", live=("Lives in York",), about="a move")
OTHER = scenario_of(
    said("hello", signals=("greeting",), reason="greeting"),
    name="other",
    mismatches=("no live memory has 'unicorn'",),
)


def hostile() -> RecordedScenario:
    """Every text of a page made of what would break out of it."""
    turns = [
        said(
            text,
            "allow",
            reason=text,
            signals=(text,),
            rule=text,
            assistant=text,
            extraction_method=text,
            gate_version=text,
            stored=(stored(text, category=text, slot=text, kind=text, rule=text),),
            ended=(ended(text, text, replaced_by=text),),
            recall=recalled(text, trigger=text, context=text),
            mismatches=(text,),
            profile=(text,),
            profile_context=text,
            at=text,
        )
        for text in HOSTILE
    ]
    return scenario_of(
        *turns, name=HOSTILE[0], about=HOSTILE[1], language="<i>", mode=HOSTILE[0],
        live=HOSTILE, mismatches=HOSTILE,
    )  # fmt: skip


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with running_chromium() as running:
        yield running


@pytest.fixture
def drawn(tmp_path: Path) -> Path:
    file = tmp_path / "out.html"
    file.write_text(report_page([PLAIN, OTHER]), encoding="utf-8")
    return file


def opened(browser: Browser, file: Path, fragment: str = "", **size: Any) -> Page:
    page = browser.page(**size)
    page.open(file, fragment)
    return page


def shown(page: Page) -> list[str]:
    """The words of the turns that can be seen."""
    return list(
        page.evaluate(
            "[...document.querySelectorAll('.turn')].filter(turn => turn.offsetParent !== null)"
            ".map(turn => turn.querySelector('.words').textContent)"
        )
    )


def of_verdict(verdict: str | None) -> list[str]:
    return [turn.user for turn in (*PLAIN.turns, *OTHER.turns) if turn.verdict == verdict]


def text_of(page: Page, selector: str) -> str:
    """What can be read there once it is scrolled to: what is far away is not laid out."""
    chosen = json.dumps(selector)
    page.evaluate(f"document.querySelector({chosen}).scrollIntoView({{block: 'center'}})")
    page.until(f"document.querySelector({chosen}).innerText")
    return str(page.evaluate(f"document.querySelector({chosen}).innerText"))


@pytest.mark.parametrize("width", [320, 390, 820, 1440])
@pytest.mark.parametrize("dark", [False, True])
def test_it_is_quiet_asks_for_nothing_and_fits(
    browser: Browser, tmp_path: Path, width: int, dark: bool
) -> None:
    file = tmp_path / "out.html"
    scenarios = [PLAIN, OTHER, hostile()]
    file.write_bytes(report_page(scenarios).encode("utf-8", "replace"))
    page = opened(browser, file, width=width, height=800, dark=dark)
    page.evaluate("document.querySelectorAll('details').forEach(fold => { fold.open = true; })")
    page.evaluate("new Promise(done => setTimeout(done, 50))")
    page.evaluate("document.querySelectorAll('details').forEach(fold => { fold.open = true; })")
    assert page.complaints == []
    assert page.requests == [file.as_uri()]
    wide = page.evaluate(
        "[...document.querySelectorAll('.conversation')].forEach("
        "whole => { whole.style.contentVisibility = 'visible'; });"
        "document.documentElement.scrollWidth"
    )
    assert wide <= width
    page.close()


def test_hostile_words_are_shown_and_not_run(browser: Browser, tmp_path: Path) -> None:
    file = tmp_path / "out.html"
    file.write_text(report_page([hostile()]), encoding="utf-8")
    page = opened(browser, file)
    assert page.evaluate("window.hacked") is None
    assert page.evaluate("document.querySelectorAll('img, script:not(#data)').length") == 1
    assert page.evaluate("document.querySelectorAll('style').length") == 1
    seen = page.evaluate(
        "JSON.stringify([...document.querySelectorAll('.words')].map(words => words.textContent))"
    )
    assert json.loads(seen) == list(HOSTILE)
    page.close()


def test_what_a_turn_shows(browser: Browser, drawn: Path) -> None:
    page = opened(browser, drawn)
    text = text_of(page, "#c0-0-0")
    for part in ("i live in leeds", "Leeds, nice.", "allow", "because", "lives", "90% sure",
                 "Lives in Leeds", "lives_in", "0.50 ms"):  # fmt: skip
        assert part in text
    moved = text_of(page, "#c0-1-0")
    assert "superseded" in moved
    assert "now: Lives in York" in moved
    assert page.evaluate("document.querySelector('#c0-1-0 .place').getAttribute('href')") == (
        "#c0-0-0"
    )
    asked = "document.querySelector('#c0-0-2')"
    assert "expected hold" in text_of(page, "#c0-0-2")
    page.click("#c0-0-2 .recall > summary")
    page.until(f"{asked}.querySelector('.memories')")
    inside = text_of(page, "#c0-0-2")
    assert "semantic 0.50, recency 0.25" in inside
    assert "Left out: 1" in inside
    page.click("#c0-0-2 .left > summary")
    assert "score 0.20 under 0.30" in text_of(page, "#c0-0-2")
    page.click("#c0-0-2 .block > summary")
    assert "<memory>\n- Lives in Leeds" in text_of(page, "#c0-0-2")
    assert "Remembered at the end: 1" in text_of(page, "#c0")
    assert "unicorn" in text_of(page, "#c1")
    page.close()


def test_the_charts_say_their_numbers(browser: Browser, drawn: Path) -> None:
    page = opened(browser, drawn)
    labels = page.evaluate(
        "[...document.querySelectorAll('.chart svg')].map(it => it.getAttribute('aria-label'))"
    )
    assert labels[0] == "Verdicts: allow 2, discard 2, hold 1, undecided 1"
    assert labels[1] == "Stored, by category: personal_facts 2"
    assert labels[2] == "Why turns were held: hedge 1"
    assert labels[3].startswith("Time: hook median 0.20 ms")
    page.close()


def test_filters_by_mouse(browser: Browser, drawn: Path) -> None:
    page = opened(browser, drawn)
    assert len(shown(page)) == 6
    page.click('label:has(input[value="hold"])')
    assert shown(page) == of_verdict("hold")
    assert page.evaluate("document.querySelector('#shown').textContent") == "1 of 6 turns"
    assert page.evaluate("document.querySelector('#c1').hidden") is True
    page.click('label:has(input[value="allow"])')
    assert shown(page) == ["i live in leeds", "maybe i should get a boat", "i moved to york"]
    page.click("#clear")
    page.until("document.querySelector('#shown').textContent === '6 turns'")
    page.click('label:has(input[value="mismatch"])')
    assert shown(page) == ["where do i live"]
    assert page.evaluate("location.hash") == "#?only=mismatch"
    assert page.complaints == []
    page.close()


def test_filters_by_keyboard(browser: Browser, drawn: Path) -> None:
    page = opened(browser, drawn)
    page.press("/", *"york")
    assert shown(page) == ["i moved to york"]
    page.press("Escape", "r")
    page.until("document.querySelector('#shown').textContent === '6 turns'")
    page.press("m")
    assert shown(page) == ["where do i live"]
    page.press("r")
    page.until("document.querySelector('#shown').textContent === '6 turns'")
    page.press("/", "Tab")
    # From the search box on, Tab reaches the verdicts, "Only", signal and rule in this order.
    reached = []
    for _ in range(9):
        reached.append(page.evaluate("document.activeElement.value || document.activeElement.id"))
        page.press("Tab")
    assert reached == [
        "allow", "hold", "discard", "undecided", "mismatch", "stored", "recall", "signal", "rule",
    ]  # fmt: skip
    page.evaluate("document.querySelector('input[value=hold]').focus()")
    page.press("Space")
    assert shown(page) == of_verdict("hold")
    page.press("Space")
    page.evaluate("document.querySelector('#signal').focus()")
    page.press("ArrowDown")
    assert page.evaluate("document.querySelector('#signal').value") == "personal_fact"
    assert shown(page) == ["i live in leeds", "i moved to york"]
    page.evaluate("document.querySelector('#rule').focus()")
    page.press("ArrowDown", "ArrowDown")
    assert page.evaluate("document.querySelector('#rule').value") == "moved"
    assert shown(page) == ["i moved to york"]
    page.close()


def test_keys_walk_through_the_turns(browser: Browser, drawn: Path) -> None:
    page = opened(browser, drawn)
    page.press("j", "j")
    assert page.evaluate("document.activeElement.id") == "c0-0-1"
    page.press("k")
    assert page.evaluate("document.activeElement.id") == "c0-0-0"
    page.press("n")
    assert page.evaluate("document.activeElement.id") == "c0-0-2"
    page.press("Enter")
    page.until("document.querySelector('#c0-0-2 .recall').open")
    page.press("?")
    assert page.evaluate("document.querySelector('#help').open") is True
    page.press("Escape")
    assert page.evaluate("document.querySelector('#help').open") is False
    page.close()


def test_a_view_lies_in_the_address(browser: Browser, drawn: Path) -> None:
    page = opened(browser, drawn, "#?verdict=hold&search=boat")
    assert shown(page) == ["maybe i should get a boat"]
    page.close()
    page = opened(browser, drawn, "#?search=nowhere")
    assert shown(page) == []
    assert page.evaluate("document.querySelector('#nothing').offsetParent !== null")
    page.close()


def test_a_phone_folds_the_filters(browser: Browser, drawn: Path) -> None:
    page = opened(browser, drawn, width=390, height=844)
    hidden = "document.querySelector('#facets').offsetParent === null"
    assert page.evaluate(hidden) is True
    page.click("#more")
    assert page.evaluate(hidden) is False
    assert page.evaluate("document.querySelector('#more').getAttribute('aria-expanded')") == "true"
    page.click('label:has(input[value="hold"])')
    assert shown(page) == of_verdict("hold")
    small = page.evaluate(
        "[...document.querySelectorAll('button, .chip, select, input[type=search]')]"
        ".filter(it => it.offsetParent && it.getBoundingClientRect().height < 28).length"
    )
    assert small == 0
    page.close()


CONTRAST = """
(() => {
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const light = colour => {
    canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1);
    const [r, g, b] = [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3).map(value => {
      const part = value / 255;
      return part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = node => {
    for (let at = node; at; at = at.parentElement) {
      const colour = getComputedStyle(at).backgroundColor;
      if (colour !== "rgba(0, 0, 0, 0)" && !colour.includes("/")) return colour;
    }
    return "white";
  };
  const poor = [];
  for (const node of document.querySelectorAll("body *")) {
    const own = [...node.childNodes].some(it => it.nodeType === 3 && it.data.trim());
    if (!own || !node.checkVisibility() || node.closest("svg, select, .unseen, .skip")) continue;
    const [one, other] = [light(getComputedStyle(node).color), light(behind(node))];
    const ratio = (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
    if (ratio < 4.5) poor.push([node.className, node.textContent.slice(0, 30), ratio]);
  }
  return poor;
})()
"""


@pytest.mark.parametrize("dark", [False, True])
def test_all_text_has_contrast(browser: Browser, drawn: Path, dark: bool) -> None:
    page = opened(browser, drawn, dark=dark)
    page.click('label:has(input[value="mismatch"])')
    assert page.evaluate(CONTRAST) == []
    page.click("#clear")
    page.until("document.querySelector('#shown').textContent === '6 turns'")
    assert page.evaluate(CONTRAST) == []
    page.close()


def test_the_theme_follows_the_system_and_the_switch(browser: Browser, drawn: Path) -> None:
    paper = "getComputedStyle(document.body).backgroundColor"
    bright = opened(browser, drawn)
    dim = opened(browser, drawn, dark=True)
    light, dark = bright.evaluate(paper), dim.evaluate(paper)
    assert light != dark
    dim.click("#theme")
    assert dim.evaluate(paper) == light
    dim.click("#theme")
    assert dim.evaluate(paper) == dark
    assert dim.evaluate("document.querySelector('#theme').textContent") == "Theme: dark"
    bright.press("t", "t")
    assert bright.evaluate(paper) == dark
    bright.close()
    dim.close()


def test_everything_one_can_use_has_a_name(browser: Browser, drawn: Path) -> None:
    page = opened(browser, drawn)
    nameless = [
        (node["role"]["value"], node.get("name", {}).get("value"))
        for node in page.accessible()
        if node.get("role", {}).get("value")
        in {"button", "checkbox", "combobox", "searchbox", "link", "img", "article", "navigation"}
        and not node.get("ignored")
        and not node.get("name", {}).get("value")
    ]
    assert nameless == []
    page.close()


def test_what_changed_stands_at_its_turn(browser: Browser, tmp_path: Path) -> None:
    old = scenario_of(
        *(said(turn.user, session=turn.session) for turn in PLAIN.turns), name="plain"
    )
    diff = compare_recordings([old], [PLAIN])
    file = tmp_path / "out.html"
    file.write_text(report_page([PLAIN], diff), encoding="utf-8")
    page = opened(browser, file)
    assert "stored Lives in Leeds" in text_of(page, "#c0-0-0 .changes")
    assert "replay diff: 1 scenarios" in page.evaluate(
        "document.querySelector('#difference').textContent"
    )
    page.click('label:has(input[value="changed"])')
    assert "i live in leeds" in shown(page)
    assert page.complaints == []
    page.close()
