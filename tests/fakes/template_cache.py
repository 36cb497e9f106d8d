"""Compile each template once per test process, and not once per application."""

from contextlib import suppress

from flask import Flask
from jinja2.bccache import Bucket, BytecodeCache, FileSystemBytecodeCache


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


class SharedBytecodeCache(FileSystemBytecodeCache):
    """Keeps compiled templates in files, for processes that are forked before the compilation."""

    def load_bytecode(self, bucket: Bucket) -> None:
        with suppress(OSError):  # some tests limit the open files of a process
            super().load_bytecode(bucket)

    def dump_bytecode(self, bucket: Bucket) -> None:
        with suppress(OSError):
            super().dump_bytecode(bucket)


def install(directory: str | None = None) -> None:
    """Give all applications that are created from now on one cache, in memory or in a directory."""
    cache = SharedBytecodeCache(directory) if directory else MemoryBytecodeCache()
    Flask.jinja_options = {"bytecode_cache": cache}
