"""Compile each template once per test process, and not once per application."""

from contextlib import suppress
from types import CodeType

from flask import Flask
from jinja2.bccache import Bucket, BytecodeCache, FileSystemBytecodeCache


class MemoryBytecodeCache(BytecodeCache):
    """Keeps compiled templates in memory, by name and source."""

    def __init__(self) -> None:
        self._code: dict[tuple[str, str], CodeType | None] = {}

    def load_bytecode(self, bucket: Bucket) -> None:
        bucket.code = self._code.get((bucket.key, bucket.checksum))

    def dump_bytecode(self, bucket: Bucket) -> None:
        self._code[bucket.key, bucket.checksum] = bucket.code


class SharedBytecodeCache(FileSystemBytecodeCache):
    """Keeps compiled templates in files, so that forked processes share them."""

    def load_bytecode(self, bucket: Bucket) -> None:
        with suppress(OSError):  # some tests limit the open files of a process
            super().load_bytecode(bucket)

    def dump_bytecode(self, bucket: Bucket) -> None:
        with suppress(OSError):
            super().dump_bytecode(bucket)


def install(directory: str | None = None) -> None:
    """Make all applications created from now on share one template cache.

    The cache is in ``directory``, or in memory if that is None.
    """
    cache = SharedBytecodeCache(directory) if directory else MemoryBytecodeCache()
    Flask.jinja_options = {"bytecode_cache": cache}
