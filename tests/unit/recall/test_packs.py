"""Every rule of the read gate against its own examples and counter-examples."""

from __future__ import annotations

import pytest

from bmo.recall.lexer import Lexer, cut
from bmo.recall.packs import LANGUAGES, DepthRule, Need, Rule, guess_language, load_pack
from bmo.recall.patterns import PatternError, compile_pattern

pytestmark = pytest.mark.unit

RULES = [(lang, rule) for lang in LANGUAGES for rule in load_pack(lang).rules]
DEPTHS = [(lang, depth) for lang in LANGUAGES for depth in load_pack(lang).depths]
NEEDS = [(lang, need) for lang in LANGUAGES for need in load_pack(lang).needs]


def first(language: str, text: str) -> str | None:
    pack = load_pack(language)
    words = pack.lexer.read(text)
    return next((rule.id for rule in pack.rules if rule.matches(words)), None)


@pytest.mark.parametrize(("language", "rule"), RULES, ids=[f"{lang}:{r.id}" for lang, r in RULES])
def test_rule_settles_its_examples_and_no_counter_example(language: str, rule: Rule) -> None:
    assert rule.examples
    for text in rule.examples:
        assert first(language, text) == rule.id, text
    for text in rule.counter_examples:
        assert first(language, text) != rule.id, text


@pytest.mark.parametrize(("language", "rule"), DEPTHS)
def test_depth_wish_is_heard_in_its_examples_only(language: str, rule: DepthRule) -> None:
    lexer = load_pack(language).lexer
    assert rule.examples
    for text in rule.examples:
        assert rule.matches(lexer.read(text)), text
    for text in rule.counter_examples:
        assert not rule.matches(lexer.read(text)), text


@pytest.mark.parametrize(("language", "need"), NEEDS, ids=[f"{lang}:{n.id}" for lang, n in NEEDS])
def test_need_is_seen_in_its_examples_only(language: str, need: Need) -> None:
    lexer = load_pack(language).lexer
    for text in need.examples:
        assert need.matches(lexer.read(text)), text
    for text in need.counter_examples:
        assert not need.matches(lexer.read(text)), text


@pytest.mark.parametrize("language", LANGUAGES)
def test_rule_ids_are_unique_and_every_trigger_is_known(language: str) -> None:
    pack = load_pack(language)
    ids = [rule.id for rule in pack.rules]
    assert len(ids) == len(set(ids))
    assert {rule.trigger for rule in pack.rules} <= {
        "command",
        "statement",
        "smalltalk",
        "general_knowledge",
        "explicit_prompt",
        "own_fact_question",
        "indirect_need",
        "command_needs_fact",
    }


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("what did i say about the boat", "en"),
        ("was habe ich dir über das boot gesagt", "de"),
        ("qu'est-ce que je t'ai dit sur le bateau", "fr"),
        ("qué te he dicho del barco", "es"),
        ("xyzzy", "en"),
        ("", "en"),
    ],
)
def test_language_is_told_from_its_function_words(text: str, language: str) -> None:
    assert guess_language(text) == language


LEXER = Lexer(
    {"kin": ["brother", "step brother"], "my": ["my"], "q": ["what", "who"], "smalltalk": ["hi"]},
    {"whos": ["who", "is"]},
    ["is", "name"],
    openers=["um"],
    closers=["please"],
)


@pytest.mark.parametrize(
    ("pattern", "text", "found"),
    [
        ("{q} is {my} {kin}", "whos my brother", True),
        ("{q} is {my} {kin}", "who is the brother", False),
        ("{my} {kin} ... name", "my step brother what was the name", True),
        ("{my} ... name", "my a b c d e f g name", False),
        ("^ {my}", "um my brother", True),
        ("{kin} $", "my brother please", True),
        ("{my} !{kin}", "my brother", False),
        ("{my} !{kin}", "my house", True),
        ("{my}? {kin} is", "brother is", True),
        ("<{my} ; {q}> {kin}", "what brother", True),
        ("{my|=is} {kin}", "is brother", True),
        ("* {kin}", "brother", False),
    ],
)
def test_pattern_language(pattern: str, text: str, found: bool) -> None:
    words = LEXER.read(text)
    compiled = compile_pattern(pattern, LEXER)
    assert (compiled.needs <= words.classes and compiled.found_in(words.codes)) is found


def test_pattern_with_an_unknown_class_names_it() -> None:
    with pytest.raises(PatternError, match="kim"):
        compile_pattern("{q} {kim}", LEXER)


def test_pattern_with_an_open_bracket_is_refused() -> None:
    with pytest.raises(PatternError, match="open"):
        compile_pattern("<{q} ; {my}", LEXER)


def test_words_are_cut_without_apostrophes_or_at_elisions() -> None:
    assert cut("What's Sam's 3rd e-mail?") == ["whats", "sams", "3rd", "e-mail"]
    assert cut("qu'est-ce que j’aime", elision=True) == ["qu", "est", "ce", "que", "j", "aime"]
