"""Compile each template once per test process, and not once per application."""

from flask import Flask
from jinja2.bccache import Bucket, BytecodeCache


class MemoryBytecodeCache(BytecodeCache):
    """Keeps compiled templates by name and source, as Jinja's own caches do on a disk."""

    def __init__(self) -> None:
        self._code: dict[tuple[str, str], bytes] = {}

    def load_bytecode(self, bucket: Bucket) -> None:
        code = self._code.get((bucket.key, bucket.checksum))
        if code is not None:
            bucket.bytecode_from_string(code)

    def dump_bytecode(self, bucket: Bucket) -> None:
        self._code[bucket.key, bucket.checksum] = bucket.bytecode_to_string()


def install() -> None:
    """Give all applications that are created from now on one cache."""
    Flask.jinja_options = {"bytecode_cache": MemoryBytecodeCache()}
