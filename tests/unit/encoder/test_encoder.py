from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bmo.encoder import MODEL, Encoder, EncoderUnavailable, WordPiece
from bmo.encoder.encoding import (
    MAX_ASKED_TOKENS,
    MAX_BEFORE_TOKENS,
    MAX_TOKENS,
    encode_memory_pair,
    encode_turn,
)
from bmo.turn import CATEGORIES

pytestmark = pytest.mark.unit

DURABLE = (
    ("", "my brother is a vet in cardiff"),
    ("", "i cant eat shellfish it makes my throat swell"),
    ("What do you do for work?", "im a bricklayer been one since school"),
    ("", "we always squash our commits before merging"),
)
NOTHING = (
    ("", "play some jazz"),
    ("Shall I go on?", "yes please"),
    ("", "how tall is the eiffel tower"),
    ("Your timer is done.", "thanks bmo"),
)
NEEDS_MEMORY = ("whats my brothers name again", "suggest a dinner i would like", "who is my boss")
NEEDS_NONE = ("set a timer for ten minutes", "how long do i boil an egg", "my boss is called rita")


@pytest.fixture(scope="module")
def encoder() -> Encoder:
    return Encoder.open()


@pytest.mark.parametrize("turn", DURABLE)
def test_durable_turns_are_above_the_threshold(encoder: Encoder, turn: tuple[str, str]) -> None:
    assert encoder.assess([turn])[0].allow >= encoder.thresholds.allow


@pytest.mark.parametrize("turn", NOTHING)
def test_empty_turns_are_discarded(encoder: Encoder, turn: tuple[str, str]) -> None:
    found = encoder.assess([turn])[0]
    assert found.discard >= encoder.thresholds.discard and found.allow < encoder.thresholds.allow


@pytest.mark.parametrize("text", NEEDS_MEMORY)
def test_questions_about_the_user_need_memory(encoder: Encoder, text: str) -> None:
    assert encoder.assess([("", text)])[0].read_need >= encoder.thresholds.read


@pytest.mark.parametrize("text", NEEDS_NONE)
def test_other_turns_need_none(encoder: Encoder, text: str) -> None:
    assert encoder.assess([("", text)])[0].read_need < encoder.thresholds.read


def test_the_question_decides_a_short_answer(encoder: Encoder) -> None:
    answered, alone = encoder.assess([("Where do you live?", "rotterdam"), ("", "rotterdam")])
    assert answered.allow > encoder.thresholds.allow > alone.allow


def test_probabilities_are_probabilities(encoder: Encoder) -> None:
    for found in encoder.assess([*DURABLE, *NOTHING, ("", ""), ("a" * 9000, "b " * 9000)]):
        assert found.allow + found.hold + found.discard == pytest.approx(1.0)
        assert set(found.categories) == set(CATEGORIES)
        assert all(0 <= p <= 1 for p in (*found.categories.values(), found.read_need))
        assert found.version == encoder.version


def test_a_batch_gives_what_single_turns_give(encoder: Encoder) -> None:
    turns = [*DURABLE, *NOTHING]
    assert encoder.assess(turns) == [encoder.assess([turn])[0] for turn in turns]


def test_no_turns_give_no_assessments(encoder: Encoder) -> None:
    assert encoder.assess([]) == []


def test_threads_get_the_same_answers(encoder: Encoder) -> None:
    wanted = encoder.assess(DURABLE)
    with ThreadPoolExecutor(4) as pool:
        assert all(
            found == wanted for found in pool.map(lambda _: encoder.assess(DURABLE), range(8))
        )


@settings(max_examples=40, deadline=None)
@given(st.text(st.characters(categories=["L", "N", "P", "S", "Z", "C"])), st.text())
def test_any_words_are_assessed(encoder: Encoder, before: str, text: str) -> None:
    assert 0 <= encoder.assess([(before, text)])[0].allow <= 1


@given(st.text(max_size=2000), st.text(max_size=2000), st.text(max_size=500))
@settings(max_examples=60, deadline=None)
def test_input_fits_the_model(asked: str, text: str, before: str) -> None:
    turn = encode_turn(WORDS, asked, text, before)
    pair = encode_memory_pair(WORDS, (before, asked), (asked, text))
    for one in (turn, pair):
        assert len(one.ids) == len(one.kinds) <= MAX_TOKENS
        assert one.kinds == sorted(one.kinds)
    assert turn.kinds.count(0) <= MAX_ASKED_TOKENS + MAX_BEFORE_TOKENS + 3


WORDS = WordPiece.open()


def test_long_context_keeps_its_question() -> None:
    question = WORDS.pieces("where do you live?")
    turn = encode_turn(WORDS, "so it goes on and on " * 60 + "where do you live?", "leeds")
    assert turn.ids[1 : turn.kinds.count(0) - 1][-len(question) :] == question


def test_a_closed_judge_says_so() -> None:
    encoder = Encoder.open()
    encoder.close()
    with pytest.raises(EncoderUnavailable, match="closed"):
        encoder.assess([("", "hello")])


def test_a_missing_model_names_the_fix(tmp_path: Path) -> None:
    with pytest.raises(EncoderUnavailable, match="missing: reinstall the package"):
        Encoder.open(tmp_path)


def test_a_damaged_model_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "judge"
    shutil.copytree(MODEL, folder)
    (folder / "model.onnx").write_bytes(b"not a model")
    with pytest.raises(EncoderUnavailable, match="sha256"):
        Encoder.open(folder)


def test_a_file_that_is_no_model_is_refused(tmp_path: Path) -> None:
    import hashlib

    manifest = json.loads((MODEL / "model.json").read_text())
    manifest["sha256"] = hashlib.sha256(b"not a model").hexdigest()
    (tmp_path / "model.json").write_text(json.dumps(manifest))
    (tmp_path / manifest["file"]).write_bytes(b"not a model")
    with pytest.raises(EncoderUnavailable, match="onnxruntime cannot run"):
        Encoder.open(tmp_path)


def test_a_manifest_without_thresholds_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "judge"
    shutil.copytree(MODEL, folder)
    manifest = json.loads((folder / "model.json").read_text())
    del manifest["thresholds"]
    (folder / "model.json").write_text(json.dumps(manifest))
    with pytest.raises(EncoderUnavailable, match=r"does not describe an encoder.*thresholds"):
        Encoder.open(folder)


@pytest.mark.parametrize("own", [None, "0"])
def test_onnxruntime_leaves_no_id_of_the_machine_unless_the_user_says_so(
    tmp_path: Path, own: str | None
) -> None:
    """It makes the file that holds the id when it is imported and may send."""
    kept = {k: v for k, v in os.environ.items() if k not in ("ORT_DISABLE_TELEMETRY", "HOME")}
    env = kept | {"HOME": str(tmp_path)} | ({} if own is None else {"ORT_DISABLE_TELEMETRY": own})
    code = (
        "import os; from bmo.encoder import Encoder; Encoder.open().close();"
        "print(os.environ['ORT_DISABLE_TELEMETRY'])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == (own or "1")
    if own is None:
        assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_importing_does_not_import_onnxruntime() -> None:
    code = "import sys, bmo.encoder; print({'onnxruntime', 'tokenizers'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_pairs_tell_an_end_from_what_stays(encoder: Encoder) -> None:
    memories = [("", "i live in leeds with my mum"), ("", "my sister has a dog called pickle")]
    ended = encoder.relate(("", "i dont live in leeds any more we moved to hull"), memories)
    assert ended[0][1] > ended[1][1]
    question = ("", "where do i live")
    needed = encoder.answers(question, memories)
    lives, dog = needed
    assert lives is not None and dog is not None and lives > dog
    alone = [encoder.answers(question, [memory])[0] for memory in memories * 4]
    assert encoder.answers(question, memories * 4) == alone, "whoever weighs it, a pair is the same"
    assert encoder.answers(question, memories, until=time.monotonic()) == [None, None]


def test_pieces_tell_which_words_of_a_memory_are_over(encoder: Encoder) -> None:
    memory = ("", "i do the food bank on tuesdays and aerobics on thursdays")
    pieces = encoder.over(("", "aerobics has moved to wednesdays now"), memory)
    border = memory[1].index(" and ")
    assert [begin for begin, _ in pieces] == sorted({begin for begin, _ in pieces})
    over = [chance for begin, chance in pieces if begin > border]
    stays = [chance for begin, chance in pieces if begin < border]
    assert sum(over) / len(over) > sum(stays) / len(stays)
    assert encoder.over(("", "hello"), ("", "")) == []


def test_no_matrix_can_saturate() -> None:
    """The weights fit seven bits: two products with activations of eight fit sixteen.

    Kernels of CPUs with AVX2 and without VNNI add two such products in sixteen bits.
    """
    import onnx
    from onnx import numpy_helper

    model = onnx.load(str(MODEL / "model.onnx"))
    matrices = [
        numpy_helper.to_array(tensor)
        for tensor in model.graph.initializer
        if tensor.data_type == onnx.TensorProto.INT8 and "word" not in tensor.name
    ]
    assert matrices
    largest = max(int(abs(matrix.astype(int)).max()) for matrix in matrices)
    assert 2 * 255 * largest <= 32767


def test_the_shipped_file_is_small_and_licensed() -> None:
    assert (MODEL / "model.onnx").stat().st_size <= 44_000_000
    assert "Apache License" in (MODEL / "LICENSE").read_text()
    assert "MIT License" in (MODEL / "LICENSE-bge-small-en-v1.5").read_text()
    assert (MODEL / "MODEL_CARD.md").is_file()
