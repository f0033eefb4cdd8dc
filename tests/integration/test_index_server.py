"""QDRANT_URL: the index on a server, over HTTP, while it answers and while it does not."""

from __future__ import annotations

from pathlib import Path

import pytest

from bmo.index import IndexUnavailable, MemoryIndex, read_mem0_collection
from bmo.settings import Settings
from tests.fakes.certificates import self_signed
from tests.fakes.embedder import HashingEmbedder
from tests.fakes.qdrant_door import API_KEY, QdrantDoor
from tests.fakes.qdrant_server import FakeQdrantServer
from tests.fakes.speaker import allowed, day, forget, gone, likes, turn
from tests.integration.memory_parts import bytes_with, open_parts

pytestmark = pytest.mark.integration


def test_facts_live_on_the_server_and_nothing_here(server: QdrantDoor, tmp_path: Path) -> None:
    with open_parts(tmp_path, qdrant_url=server.url, qdrant_api_key=API_KEY) as parts:
        assert (parts.index.backend, parts.index.notice) == ("server", "")
        parts.say(turn("i like zydeco"), allowed("i like zydeco", likes("zydeco")))
        parts.say(turn("so do i", user="ben"), allowed("so do i", likes("zydeco")))
        parts.settled()
        hits = parts.index.search("ana", "zydeco", top_k=5, threshold=0.1)
        assert [hit.text for hit in hits] == ["Likes zydeco"]
        assert (parts.index.count("ana"), parts.index.count()) == (1, 2)
        assert not (tmp_path / "qdrant-edge").exists()
        found = list(read_mem0_collection(parts.settings, parts.index.collection))
        assert {memory.user_id for memory in found} == {"ana", "ben"}
    with open_parts(tmp_path, qdrant_url=server.url, qdrant_api_key=API_KEY) as again:
        assert again.index.count() == 2


def test_forgetting_reaches_the_server(server: QdrantDoor, tmp_path: Path) -> None:
    with open_parts(tmp_path, qdrant_url=server.url, qdrant_api_key=API_KEY) as parts:
        said = turn("i like zydeco")
        (known,) = parts.say(said, allowed(said.text, likes("zydeco"))).added
        parts.mended()
        request = forget("forget it", gone(known, scope="memory"))
        receipt = parts.say(turn("forget it", at=day(1)), request).receipt
        parts.settled()
        assert receipt is not None
        final = parts.ledger.receipt("ana", receipt.id)
        assert final is not None and final.complete
        # Where index and ledger are being compared, the comparison may have found it first.
        assert final.places["index"] in (0, 1)
        assert "index_files" not in final.places  # a server rewrites its own
        assert parts.index.count() == 0
    assert bytes_with(tmp_path, "zydeco") == []


def test_outage_leaves_everything_in_the_outbox(server: QdrantDoor, tmp_path: Path) -> None:
    server.stop()
    with open_parts(tmp_path, qdrant_url=server.url, qdrant_api_key=API_KEY) as parts:
        assert "does not answer" in parts.index.notice
        parts.say(turn("i like zydeco"), allowed("i like zydeco", likes("zydeco")))
        assert parts.is_behind()
        assert parts.ledger.count_live("ana") == 1
        server.start()
        parts.settled()  # however long the server is still to be left alone
        assert parts.index.count() == 1
        assert parts.index.unavailable == ""


def test_closing_tries_once_more(server: QdrantDoor, tmp_path: Path) -> None:
    with open_parts(tmp_path, qdrant_url=server.url, qdrant_api_key=API_KEY) as parts:
        server.stop()
        for word in ("zydeco", "gumbo"):
            parts.say(turn(f"i like {word}"), allowed(f"i like {word}", likes(word)))
            assert parts.is_behind()
        server.start()
    with server.client() as client:
        there = client.scroll(parts.index.collection)[0]
    texts = {str((point.payload or {}).get("data")) for point in there}
    assert {"Likes zydeco", "Likes gumbo"} <= texts


def test_wrong_key_names_the_variable(server: QdrantDoor, tmp_path: Path) -> None:
    settings = Settings(bmo_home=tmp_path, qdrant_url=server.url, _env_file=None)  # type: ignore[call-arg]
    index = MemoryIndex.open(settings, HashingEmbedder())
    assert "QDRANT_API_KEY" in index.notice
    with pytest.raises(IndexUnavailable, match="QDRANT_API_KEY"):
        index.count()
    index.close()


def opened(home: Path, url: str, **more: object) -> MemoryIndex:
    given = {"qdrant_url": url, "qdrant_api_key": API_KEY, **more}
    settings = Settings(bmo_home=home, **given, _env_file=None)  # type: ignore[arg-type,call-arg]
    return MemoryIndex.open(settings, HashingEmbedder(64))


def test_https_on_a_server_without_it_says_so(server: QdrantDoor, tmp_path: Path) -> None:
    index = opened(tmp_path, server.url.replace("http://", "https://"))
    assert "does not speak https" in index.notice
    assert "write http:// in QDRANT_URL" in index.notice
    index.close()


def test_a_certificate_that_signs_itself_is_trusted_by_a_setting(tmp_path: Path) -> None:
    certificate, tls = self_signed(tmp_path)
    server = FakeQdrantServer(tls)
    index = opened(tmp_path, server.url)
    assert "certificate that this machine does not trust" in index.unavailable
    assert "QDRANT_CA_FILE" in index.unavailable
    index.close()
    index = opened(tmp_path, server.url, qdrant_ca_file=tmp_path / "none.pem")
    assert "none.pem' cannot be read" in index.unavailable
    index.close()
    index = opened(tmp_path, server.url, qdrant_ca_file=certificate)
    assert (index.unavailable, index.count()) == ("", 0)
    index.close()
    server.close()
