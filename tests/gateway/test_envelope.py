"""Invalid envelopes of stored answers count as absent, and execute no code."""

import os
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from portal.gateway.envelope import SCHEMA, Envelope, Seal

SEAL = Seal(b"secret")


def envelope(key: str = "tag:name", body: bytes = b'{"a": "\xc3\xa7"}', **more: Any) -> Envelope:
    values: dict[str, Any] = {"fetched_at": 1.5, "keep_s": 60.0, "origin": "primary", "status": 200}
    return Envelope(key=key, body=body, empty=False, **{**values, **more})


@given(st.binary(max_size=2000), st.text(max_size=50))
def test_signed_envelope_verifies_to_the_same_bytes(body: bytes, origin: str) -> None:
    held = envelope(body=body, origin=origin)
    assert SEAL.verify(SEAL.sign(held), held.key) == held


@given(st.data())
def test_envelope_with_one_changed_bit_is_absent(data: st.DataObject) -> None:
    sealed = bytearray(SEAL.sign(envelope()))
    at = data.draw(st.integers(0, len(sealed) - 1))
    sealed[at] ^= 1 << data.draw(st.integers(0, 7))
    assert SEAL.verify(bytes(sealed), "tag:name") is None


@given(st.binary(max_size=200) | st.none() | st.text() | st.integers())
def test_other_values_are_absent(planted: object) -> None:
    assert SEAL.verify(planted, "tag:name") is None


def test_entry_moved_to_another_key_is_absent() -> None:
    """Swapping two signed entries would show one vehicle's record as another's."""
    assert SEAL.verify(SEAL.sign(envelope("tag:one")), "tag:two") is None


def test_entry_of_another_secret_is_absent() -> None:
    assert SEAL.verify(Seal(b"another").sign(envelope()), "tag:name") is None


@pytest.mark.parametrize("schema", [0, SCHEMA - 1, SCHEMA + 1])
def test_entry_of_another_schema_is_absent(schema: int) -> None:
    assert SEAL.verify(SEAL.sign(envelope(schema=schema)), "tag:name") is None


def test_correctly_signed_invalid_content_is_absent() -> None:
    content = msgspec.msgpack.encode({"not": "an envelope"})
    assert SEAL.verify(SEAL._sign(content) + content, "tag:name") is None


def test_planted_pickle_is_not_executed(tmp_path: Path) -> None:
    """Flask-Caching's default serializer, pickle, would execute this entry."""
    trap = tmp_path / "sprung"

    class Trap:
        def __reduce__(self) -> tuple[Callable[[str], None], tuple[str]]:
            return os.mkdir, (str(trap),)

    planted = pickle.dumps(Trap())
    assert SEAL.verify(planted, "tag:name") is None
    assert SEAL.verify(SEAL._sign(planted) + planted, "tag:name") is None
    assert not trap.exists()


def test_keyed_hash_depends_on_secret_and_hides_text() -> None:
    assert (
        SEAL.keyed_hash("ABC1D23") == SEAL.keyed_hash("ABC1D23") != Seal(b"x").keyed_hash("ABC1D23")
    )
    assert "ABC1D23" not in SEAL.keyed_hash("ABC1D23")
