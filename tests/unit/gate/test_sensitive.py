"""Sensitive data: the packs' examples, all spoken forms, and what must stay as it is."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bmo.gate import WriteGate
from bmo.gate.digit_runs import find_runs, tokenise
from bmo.gate.secret_shapes import luhn
from bmo.gate.sensitive import SECRET_MASK, scan
from bmo.gate.sensitive_lexicon import LANGUAGES, load_lexicon, load_pack
from bmo.settings import load_settings
from bmo.turn import Turn

pytestmark = pytest.mark.unit

EXAMPLES = [(e["text"], e["masked"]) for code in LANGUAGES for e in load_pack(code)["example"]]
CLEAN = [e["text"] for code in LANGUAGES for e in load_pack(code)["clean"]]


@pytest.mark.parametrize(("text", "masked"), EXAMPLES)
def test_pack_example_is_masked(text: str, masked: str) -> None:
    assert scan(text).masked == masked


@pytest.mark.parametrize("text", CLEAN)
def test_pack_clean_text_is_left_alone(text: str) -> None:
    found = scan(text)
    assert found.masked == text
    assert not found.found


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("my pin is one two three four", "one two three four"),
        ("pin four oh two nine ok", "four oh two nine"),
        ("the pin for the bank app is 4092", "4092"),
        ("4092 is my pin", "4092"),
        ("the gate code is 8812 star", "8812 star"),
        ("the verification code i got is 558 201", "558 201"),
        ("your otp has come 482913 type it", "482913"),
        ("the code they texted me is G-482913", "G-482913"),
        ("use 5802 as the code", "5802"),
        ("card four one one one, one one one one, one one one one, one one one one", "one one one"),
        ("4012-8888-8888-1881", "4012-8888-8888-1881"),
        ("my card number is 1234 5678 9012 3456", "1234 5678 9012 3456"),
        ("the card is 4485 1234 5678 9012 and the cvv is 913", "913"),
        ("card 4012888888881881 expires 09/28", "09/28"),
        ("change my wifi password to sunflower82", "sunflower82"),
        ("hunter2 is my password", "hunter2"),
        ("the passphrase is correct horse battery staple", "correct horse battery staple"),
        ("wifi password Crookes-Otter-88 save it", "Crookes-Otter-88"),
        ("my password is the word banana77 with capitals", "banana77"),
        ("password: tr0ub4dor", "tr0ub4dor"),
        ("export API_KEY=abc123def456", "abc123def456"),
        ("postgres://bmo:hunter22@db.local/bmo", "hunter22"),
        ("use sk-proj-abcdefghijklmnop1234", "sk-proj-abcdefghijklmnop1234"),
        ("the token ghp_0123456789abcdefghijABCDEFGHIJ012345", "ghp_0123456789"),
        ("AKIAIOSFODNN7EXAMPLE is the key id", "AKIAIOSFODNN7EXAMPLE"),
        ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abcDEF_123", "eyJhbGci"),
        ("-----BEGIN PRIVATE KEY-----\nMIIEvQ\n-----END PRIVATE KEY-----", "MIIEvQ"),
        ("take aB3dE6gH9jK2mN5pQ8sT1vW4 for the upload", "aB3dE6gH9jK2mN5pQ8sT1vW4"),
        ("my iban is DE89 3704 0044 0532 0130 00", "DE89 3704 0044 0532 0130 00"),
        ("de89370400440532013000", "de89370400440532013000"),
        ("GB82 WEST 1234 5698 7654 32 is the account", "GB82 WEST 1234 5698 7654 32"),
        ("account number 12345678 sort code 20-30-40", "12345678"),
        ("078-05-1120", "078-05-1120"),
        ("my social security number is 219 09 9999", "219 09 9999"),
        ("the safe combination is 33 12 45", "33 12 45"),
        ("mein passwort ist Sommer2019", "Sommer2019"),
        ("die tan ist 883 201", "883 201"),
        ("mon code pin c'est quatre sept un deux", "quatre sept un deux"),
        ("el código de la puerta es cuatro cuatro nueve uno", "cuatro cuatro nueve uno"),
    ],
)
def test_secret_is_never_in_the_masked_text(text: str, secret: str) -> None:
    found = scan(text, "keep")
    assert secret in text
    assert found.secrets
    assert secret not in found.masked
    assert SECRET_MASK in found.masked


@pytest.mark.parametrize(
    "text",
    [
        "i forgot my password",
        "is my password too short",
        "my password is on a sticky note",
        "what's the wifi password again",
        "i changed my password yesterday",
        "i have a pin on my jacket",
        "add pin nuts to the list, 300 grams",
        "the dress code is smart casual",
        "i wrote 400 lines of code in 2 days",
        "my card expired in 2023",
        "i have 3 cards in my wallet",
        "my number one song is hey ya",
        "call me at seven thirty",
        "wake me at 6 45 and again at 7 15",
        "i'm forty two and my son is eleven",
        "we paid two hundred and forty thousand for the house",
        "the score was four three two one at some point",
        "my lottery numbers are four eleven nineteen twenty three and thirty",
        "my flat is at 14 rue de rivoli 75001 paris",
        "my address is 221b baker street",
        "the meter reading is 40213",
        "released version 1.2.3.4 on 2024-05-06",
        "the isbn is in the book 2001 a space odyssey",
        "the safe weighs 300 pounds",
        "i keep my passport in the drawer and it expires in 2027",
        "token economy is a thing we use with the kids",
    ],
)
def test_ordinary_numbers_stay(text: str) -> None:
    found = scan(text)
    assert found.masked == text


@pytest.mark.parametrize(
    ("text", "drop", "mask"),
    [
        ("call me on 020 7946 0958", "call me on [phone]", "call me on [phone ending 58]"),
        ("it's +49 30 901820", "it's [phone]", "it's [phone ending 20]"),
        ("mail oksana.b@example.org", "mail [email]", "mail [email at example.org]"),
        (
            "passport number X4820193",
            "passport number [identity number]",
            "passport number [identity number ending 93]",
        ),
    ],
)
def test_identifiers_follow_the_policy(text: str, drop: str, mask: str) -> None:
    assert scan(text, "drop").masked == drop
    assert scan(text, "mask").masked == mask
    kept = scan(text, "keep")
    assert kept.masked == text
    assert len(kept.identifiers) == 1
    assert not kept.secrets


def test_spans_are_offsets_of_the_original() -> None:
    text = "the alarm code is 5 8 0 2, mail a@example.org"
    found = scan(text)
    assert [text[s.start : s.end] for s in found.secrets] == ["5 8 0 2"]
    assert [text[s.start : s.end] for s in found.identifiers] == ["a@example.org"]


@pytest.mark.parametrize(
    ("text", "digits"),
    [
        ("four oh two", "402"),
        ("double four triple nine", "44999"),
        ("forty two ninety-one", "4291"),
        ("zweiundvierzig neunzehn", "4219"),
        ("treinta y cuatro cinco", "345"),
        ("5 8 0 2", "5802"),
        ("4012-8888", "40128888"),
        ("٤٠٩٢", "4092"),
    ],
)
def test_spoken_digits(text: str, digits: str) -> None:
    assert [run.digits for run in find_runs(tokenise(text), load_lexicon().numbers)] == [digits]


def test_checks_of_cards_and_ibans() -> None:
    assert luhn("4012888888881881")
    assert not luhn("4012888888881882")
    assert [s.kind for s in scan("DE89 3704 0044 0532 0130 00").secrets] == ["account"]
    assert "account" not in [s.kind for s in scan("DE88 3704 0044 0532 0130 00").secrets]
    assert [s.kind for s in scan("gb82 west 1234 5698 7654 32").secrets] == ["account"]
    assert "account" not in [s.kind for s in scan("gb83 west 1234 5698 7654 32").secrets]


@settings(deadline=None)  # the first example reads the tables
@given(st.text(max_size=300))
def test_any_text_is_scanned_once_and_for_all(text: str) -> None:
    first = scan(text)
    again = scan(first.masked)
    assert not again.secrets
    for span in (*first.secrets, *first.identifiers):
        assert 0 <= span.start < span.end <= len(text)


@settings(deadline=None)  # the first example reads the tables
@given(
    st.sampled_from(
        ["my pin is {}", "the alarm code is {} ok", "otp {}", "die pin ist {}", "{} is my pin"]
    ),
    st.lists(st.integers(0, 9), min_size=4, max_size=8),
    st.sampled_from(["", " ", "-"]),
)
def test_no_digit_of_a_code_survives(frame: str, digits: list[int], joint: str) -> None:
    code = joint.join(map(str, digits))
    masked = scan(frame.format(code)).masked
    assert not any(char.isdigit() for char in masked)


@settings(deadline=None)  # the first example reads the tables
@given(st.text(alphabet="0123456789 -", min_size=0, max_size=40), st.text(max_size=20))
def test_masking_never_touches_what_is_outside_the_spans(number: str, tail: str) -> None:
    text = f"the code is {number} {tail}"
    found = scan(text, "drop")
    outside = text
    for span in sorted((*found.secrets, *found.identifiers), key=lambda s: -s.start):
        outside = outside[: span.start] + outside[span.end :]
    stripped = found.masked
    for mask in (SECRET_MASK, "[phone]", "[email]", "[identity number]"):
        stripped = stripped.replace(mask, "")
    assert stripped == outside


def test_a_masked_secret_is_still_a_secret() -> None:
    first = scan("my pin is 4821 and i live in leeds")
    again = scan(first.masked)
    assert [span.kind for span in again.secrets] == ["number"]
    assert again.masked == first.masked


@pytest.mark.parametrize(
    "said",
    [
        "my passport number is 533401227",
        "remember my drivers license number D1234567",
        "my brothers phone number is 07700 900123 and he lives in leeds",
        "im keeping the passport obviously its number is 533401227",
    ],
)
def test_no_memory_is_made_of_words_around_an_identifier(said: str) -> None:
    gate = WriteGate.from_settings(load_settings(gatekeeper_mode="local", bmo_sensitive="drop"))
    stored = [fact.text for fact in gate.decide(Turn(text=said, language="en")).facts]
    assert not [text for text in stored if "number" in text]
