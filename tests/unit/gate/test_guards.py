"""Guards that spare a stage its work: where one says no, the stage itself finds nothing."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bmo.gate import cue_words, ellipsis, skip_rules
from bmo.gate import speech_act as speech_acts
from bmo.gate.appositives import written_out
from bmo.gate.dialect import with_my
from bmo.gate.discourse import open_discourse
from bmo.gate.echo_questions import without_leads
from bmo.gate.factuality import factuality_lexicon, may_be_framed, vetoes, vetoes_of_turn
from bmo.gate.mentions import mentions
from bmo.gate.negation_scope import may_be_beyond
from bmo.gate.other_moments import of_the_moment
from bmo.gate.packs import load_pack
from bmo.gate.people import people_lexicon
from bmo.gate.professional_word import without_professional
from bmo.gate.restarts import without_restart
from bmo.gate.said_of_another import SaidAgain, with_verb_said
from bmo.gate.self_introduction import introduced
from bmo.gate.sensitive_lexicon import _SHAPES, load_lexicon
from bmo.gate.speech_act import speech_act_lexicon
from bmo.gate.verbless_wishes import POLITE
from bmo.language import LANGUAGES, LanguageCode, repair, segment, words
from bmo.language.clause_borders import border_before, border_words
from bmo.language.lexicon import match_phrase, surface_lexicon
from bmo.turn import DialogueContext

pytestmark = pytest.mark.unit

COMMON = 'i you my the a is are was have do not and that so to in , . ? " went home maria 5'.split()


def vocabulary(language: LanguageCode) -> list[str]:
    """Words that the guards of a language look for, and words that they look beside."""
    factuality = factuality_lexicon(language)
    told = [
        phrase
        for behind in factuality.cues.values()
        for found in behind.values()
        for phrase, _, _ in found
    ]
    opened = [
        phrase
        for seconds in factuality.leading.values()
        for found in seconds.values()
        for phrase, _ in found
    ]
    phrases = [" ".join(phrase) for phrase in (*told, *opened, *factuality.asides)]
    people = [" ".join(form) for form in people_lexicon(language).forms]
    said = [*cue_words._cue_words(language), *border_words(language), *phrases, *people]
    opening = speech_act_lexicon(language).openers
    return sorted({*said, *opening, "no do not", "no never mind", "the doctor told me", "you know"})


def spoken(language: LanguageCode) -> st.SearchStrategy[str]:
    """Text of a language's cues among ordinary words."""
    pieces = st.one_of(st.sampled_from(COMMON), st.sampled_from(vocabulary(language)))
    return st.lists(pieces, max_size=14).map(" ".join)


TEXTS = st.one_of([st.tuples(st.just(code), spoken(code)) for code in LANGUAGES])


@settings(max_examples=400, deadline=None)
@given(TEXTS)
def test_a_word_that_opens_no_clause_is_no_border(case: tuple[LanguageCode, str]) -> None:
    language, text = case
    said, lexicon = words(text, language), surface_lexicon(language)
    openers = border_words(language)
    for i in range(1, len(said)):
        follow = "".join(said.norm[i + 1 : i + 2])
        if said.after[i - 1]:
            continue
        follows = openers.get(said.norm[i], frozenset())
        if follows is not None and follow not in follows:
            for begin in range(i):
                assert not border_before(said.norm, said.after, begin, i, lexicon, frozenset()), (
                    said.norm,
                    i,
                )


@settings(max_examples=400, deadline=None)
@given(TEXTS)
def test_what_concerns_no_stage_is_left_by_it(case: tuple[LanguageCode, str]) -> None:
    language, text = case
    said, people = words(text, language), people_lexicon(language)
    stages = cue_words.stages_of(said.norm, language)
    if not stages & cue_words.REPAIRED:
        assert repair(said, language, cued=False).norm == repair(said, language).norm
    clauses = segment(said, language)
    scoped = stages & cue_words.SCOPED != 0 and may_be_beyond(said.norm, language)
    if not scoped:
        assert not any("scope" in vetoes(said, clause, language) for clause in clauses)
    if not (scoped or stages & cue_words.VETOED or may_be_framed(said, clauses, language)):
        assert not any(vetoes(said, clause, language) for clause in clauses)
    if not stages & cue_words.TAKEN_BACK:
        assert vetoes_of_turn(said, language) is None
    if language != "en":
        return
    pack = load_pack("en")
    jobs = pack.lexicons["occupations"]
    if not stages & cue_words.LEADING:
        assert without_leads(said, clauses, "do you smoke?") == clauses
        assert without_restart(said) is said
    if not stages & cue_words.DIALECTAL:
        assert with_my(said, people) is said
    for clause in clauses if not stages & cue_words.DATED else ():
        assert ellipsis._days_first(said, clause, pack.lexicons) is None
    if not stages & cue_words.REPORTED:
        assert without_professional(said) is said
    if not stages & cue_words.SAID_OF_ANOTHER:
        found = with_verb_said(said, people, pack.stops, DialogueContext(), {})
        assert found == SaidAgain(said)
    if "," not in said.text:
        assert introduced(said, "what is your name?", jobs) is said
        if not stages & cue_words.RELATED:
            assert written_out(said, people, pack.stops, jobs) is said


SMALL_TALK = sorted(
    phrase
    for code in LANGUAGES
    for kind, phrases in skip_rules.load_pack(code).items()
    if isinstance(phrases, list)
    for phrase in phrases
    if isinstance(phrase, str)
)


@settings(max_examples=400, deadline=None)
@given(
    st.lists(st.sampled_from([*SMALL_TALK, *COMMON, "hahaha", "heyyy", "", "!", "ok."]), max_size=5)
)
def test_what_holds_other_words_is_no_small_talk(pieces: list[str]) -> None:
    text = " ".join(pieces)
    if not skip_rules._small_talk().hold_all(text.split(" ")):
        assert skip_rules._match(skip_rules._words(text), None) is None


def test_every_phrase_of_small_talk_is_made_of_its_words() -> None:
    known = skip_rules._small_talk()
    assert SMALL_TALK
    assert [p for p in SMALL_TALK if not known.hold_all(p.split(" "))] == []
    assert [p for p in SMALL_TALK if not known.hold_all([*p.split(" "), "!"])] == []


SENSITIVE = load_lexicon()
INTRODUCING = [" ".join(t.words) for found in SENSITIVE.triggers.values() for t in found]
NUMBERS = [*SENSITIVE.numbers.digits, *SENSITIVE.numbers.teens, *SENSITIVE.numbers.tens]
SHAPED = "a@b.de at dot punto 12 7 x8 1a = : secret= token: one-two one, -----BEGIN \u212ay".split()


@settings(max_examples=800, deadline=None)
@given(
    st.lists(st.sampled_from([*INTRODUCING, *NUMBERS, *SHAPED, *COMMON]), max_size=10),
    st.sampled_from([" ", "  ", "\n", "-", ", "]),
)
def test_what_is_made_of_harmless_pieces_holds_nothing(said: list[str], between: str) -> None:
    text = between.join(said)
    if SENSITIVE.harmless.hold_all(text.split(" ")):
        raw = text.encode()
        seen = SENSITIVE.telling.Match(raw) or ()
        assert _SHAPES not in seen
        assert not seen or SENSITIVE.number.search(raw) is None


def test_ordinary_words_are_harmless_and_secrets_are_not() -> None:
    assert SENSITIVE.harmless.hold_all("my brother's dog (a pug) is well-known, isn't he?".split())
    for text in ("my password", "pin 5802", "seven", "sam@example.org", "k\u212ay", "a" * 20):
        assert not SENSITIVE.harmless.hold_all(text.split(" "))


RECURRING = sorted(" ".join(phrase) for phrase in load_pack("en").lexicons["recurring"])
DAYS = st.one_of(st.sampled_from(RECURRING), st.sampled_from([*COMMON, "and", "or", "then"]))


@settings(max_examples=600, deadline=None)
@given(st.lists(DAYS, min_size=1, max_size=8).map(" ".join), st.integers(0, 20))
def test_no_days_stand_where_their_words_do_not(text: str, at: int) -> None:
    norm, recurring = words(text).norm, load_pack("en").lexicons
    firsts, lasts = ellipsis.words_of_days(recurring["recurring"])
    if at >= len(norm):
        return
    if norm[at] not in firsts:
        assert ellipsis._days_until(norm, at, len(norm), recurring) == at
    if at and norm[at - 1] not in lasts:
        assert all(ellipsis._days_until(norm, i, at, recurring) != at for i in range(at))


@settings(max_examples=600, deadline=None)
@given(TEXTS)
def test_what_opens_no_speech_act_is_none(case: tuple[LanguageCode, str]) -> None:
    language, text = case
    norm, lexicon = words(text, language).norm, speech_act_lexicon(language)
    for i, word in enumerate(norm):
        alone, more = lexicon.opened.get(word, (0, {}))
        may = more.get(norm[i + 1], alone) if i + 1 < len(norm) else alone
        for name, bit in speech_acts._TABLES.items():
            if not may & bit:
                assert not match_phrase(getattr(lexicon, name), norm, i)


@settings(max_examples=400, deadline=None)
@given(TEXTS)
def test_what_concerns_no_clause_is_not_found_in_it(case: tuple[LanguageCode, str]) -> None:
    language, text = case
    said, pack, people = words(text, language), load_pack(language), people_lexicon(language)
    stages = cue_words.stages_of(said.norm, language)
    if not stages & cue_words.OF_THE_MOMENT:
        assert not of_the_moment(said.norm, pack)
    if not stages & cue_words.WISHED:
        assert POLITE.isdisjoint(said.norm)
    if language == "en" and not stages & cue_words.NAMED:
        assert people.names.isdisjoint(said.norm)
    if language == "en" and not stages & cue_words.OWNED:
        discourse = open_discourse(people, DialogueContext(), "")
        for clause in segment(said, language):
            assert mentions(said, clause, discourse, pack.stops) == []
