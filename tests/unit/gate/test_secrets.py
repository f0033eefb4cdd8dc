"""Secrets are masked whatever their shape, what stands beside them and harmless twins are not."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bmo.gate.secrets import SECRET_MASK, bare_secret, scan

pytestmark = pytest.mark.unit

# What stands in braces is the secret.
SECRETS = [
    # cards and accounts, typed and said
    "my card number is {4012 8888 8888 1881}, expiry {09/28}, cvv {913}",
    "{four oh one two eight eight eight eight eight eight eight eight one eight eight one}",
    "my card is {forty one eleven eleven eleven eleven eleven eleven eleven}",
    "my iban is {DE89 3704 0044 0532 0130 00} at the bank",
    "meine iban ist {D E acht neun drei sieben null vier null null vier vier null fünf drei zwei}",
    "routing number {021000021} account {12345678}",
    # provider tokens and keys
    "{AKIAIOSFODNN7EXAMPLE} is the key id",
    "the token {ghp_0123456789abcdefghijABCDEFGHIJ012345}",
    "the telegram bot is {123456789:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw1}",
    "anthropic key {sk-ant-api03-qwertyuiopASDFGH1234567890zxcv}",
    "vault token {hvs.CAESIJ1a2B3c4D5e6F7g8H9i0J}",
    "doppler {dp.pt.a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8s9T0}",
    "take {aB3dE6gH9jK2mN5pQ8sT1vW4} for the upload",
    "postgres://bmo:{hunter22}@db.local/bmo",
    "export API_KEY={abc123def456}",
    "-----BEGIN nothing but {-----BEGIN PRIVATE KEY-----\nMIIEvQ\n-----END PRIVATE KEY-----}",
    # what follows a credential's name
    "the admin credentials are {admin slash hunter two}",
    "my pw is {rover}",
    "router pass is {bluebird}",
    "my password has changed it is {rover} now",
    "i use {4829} for everything, card, phone and door",
    "the secret question answer is {fluffy}",
    "is your wifi password {walnutcake}?",
    "my password is {b l u e and then seven seven} ok",
    "you'll need the wifi password. it's {hunter2}",
    "change my wifi password to {sunflower82}",
    "{4092} is my pin",
    "the pin for the bank app is {four double nine two}",
    "the door code used to be {4829} now it's {5561}",
    "the safe combination is {left 32 right 14 left 8}",
    "my seed phrase is {ocean tiger lamp river stone cloud} don't lose it",
    "my drivers license number is {D1234567}",
    "my insurance number is {QQ 12 34 56 C}",
    "my passport number is {X4820193}",
    "mein passwort hat sich geändert es ist {kartoffelsalat}",
    "meine geheimzahl ist {zweiundvierzig neunzehn}",
    "der türcode lautet {4 7 1 1} falls du ihn brauchst",
    "mon mot de passe c'est {soleil42} et j'habite à lyon",
    "le code de l'alarme est {7 7 4 1}",
    "la clave del wifi es {tortilla2020}",
    "mi pin es {dos cuatro ocho uno}",
    # a fact beside a secret stays
    "i live in leeds and the wifi password is {correct horse battery staple} and my brother is sam",
    "the wifi is called larkspur and the key is {otter}",
]
HARMLESS = [
    "the pin in my hip was put in in 2019",
    "library card since 2004",
    "sd card holds 128 gigs",
    "the safe word in our family is fun",
    "which card number did i give you last time",
    "how do i reset my password",
    "my password is too short",
    "is my password too short?",
    "is the wifi password on the fridge?",
    "my password manager is bitwarden",
    "the code is 500 lines long",
    "my zip code is 94110 and the exit code was 137",
    "set my alarm for six thirty and wake me at seven",
    "one two three four five six seven eight nine ten here i come",
    "my phone number is 07700 900123 and my mail is oksana@example.org",
    "call me on plus four four seven seven double oh nine hundred one two three four",
    "commit 9fceb02d0ae598e95dc970b74767f19372d61af8 broke it",
    "see https://example.org/2024/05/a-long-article-title-about-cheese-12",
    "we paid two hundred and forty thousand for the house",
    "ich hab mein passwort vergessen",
    "meine postleitzahl ist 28195",
    "la clé du succès c'est la patience",
    "la clave del éxito es dormir",
]
ANSWERS = [
    ("What's the door code?", "{4471}"),
    ("Sure. What is your PIN?", "um {five five oh nine}"),
    ("And what's the Wi-Fi password?", "{bluebird}"),
    ("Wie lautet der Türcode?", "{4 4 1 2}"),
    ("Do you want me to store your password?", "yes please"),
    ("What's the door code?", "i don't know"),
    ("How many children do you have?", "three"),
]


def split(row: str) -> tuple[str, str]:
    return re.sub(r"[{}]", "", row), re.sub(r"\{[^}]*\}", SECRET_MASK, row)


@pytest.mark.parametrize("row", SECRETS)
def test_secret_is_masked_and_nothing_else(row: str) -> None:
    text, masked = split(row)
    assert scan(text).masked == masked


@pytest.mark.parametrize("text", HARMLESS)
def test_harmless_twin_stays_as_it_is(text: str) -> None:
    assert scan(text).kinds == ()


@pytest.mark.parametrize(("asked", "row"), ANSWERS)
def test_bare_value_answers_the_question_for_it(asked: str, row: str) -> None:
    text, masked = split(row)
    assert scan(text, asked).masked == masked


@pytest.mark.parametrize(
    ("text", "bare"),
    [
        ("my pin is 4829", True),
        ("please remember my card number 4012 8888 8888 1881, expiry 09/28", True),
        ("der türcode ist 4711 falls du ihn brauchst", True),
        ("my pin is 4829 and my brother is called sam", False),
        ("i live in leeds. my password is hunter2", False),
        ("my brother is called sam", False),
    ],
)
def test_bare_secret_leaves_nothing_worth_keeping(text: str, bare: bool) -> None:
    assert bare_secret(scan(text)) is bare


def test_kinds_name_what_was_found() -> None:
    assert scan("my pin is 4829 and the wifi password is otter7").kinds == ("pin", "password")


PIECES = st.sampled_from(
    ["my pin is ", "the password for ", "is ", "4012 8888 8888 1881 ", "four ", "b ", "and ", "sk-"]
)


@settings(deadline=None)  # the first example reads the tables
@given(st.lists(st.one_of(PIECES, st.text(max_size=12)), max_size=12).map("".join))
def test_nothing_outside_the_spans_changes_and_masks_stay(text: str) -> None:
    found = scan(text)
    rest, at = "", 0
    for start, end in found.spans:
        assert at <= start < end <= len(text)
        rest, at = rest + text[at:start] + SECRET_MASK, end
    assert found.masked == rest + text[at:]
    if found.spans:
        assert SECRET_MASK in scan(found.masked).masked


@pytest.mark.parametrize(
    "piece",
    ["my pin is ", "4111 ", "one ", "key=a ", "de12 ", "a1B2", "://a:", "-----BEGIN PRIVATE "],
)
def test_secret_behind_hostile_text_is_found(piece: str) -> None:
    text = (piece * 10_000)[:10_000] + ". my password is hunter2"
    assert scan(text).masked.endswith(". my password is [secret]")
