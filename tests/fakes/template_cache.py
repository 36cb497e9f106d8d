"""Compile each template once per test run, and not once per application and process."""

from contextlib import suppress
from pathlib import Path
from types import CodeType

from flask import Flask
from jinja2.bccache import Bucket, FileSystemBytecodeCache


class RunBytecodeCache(FileSystemBytecodeCache):
    """Keeps compiled templates in files, which processes share, and in memory."""

    def __init__(self, directory: str) -> None:
        super().__init__(directory)
        self._code: dict[tuple[str, str], CodeType | None] = {}

    def load_bytecode(self, bucket: Bucket) -> None:
        key = (bucket.key, bucket.checksum)
        if self._code.get(key) is None:
            with suppress(OSError):  # some tests limit the open files of a process
                super().load_bytecode(bucket)
            self._code[key] = bucket.code
        bucket.code = self._code[key]

    def dump_bytecode(self, bucket: Bucket) -> None:
        self._code[bucket.key, bucket.checksum] = bucket.code
        with suppress(OSError):
            super().dump_bytecode(bucket)


def install(directory: Path) -> None:
    """Make all applications created from now on share the compiled templates in a directory."""
    directory.mkdir(exist_ok=True)
    Flask.jinja_options = {"bytecode_cache": RunBytecodeCache(str(directory))}
