"""Reads the tables, texts and scripts that stand beside the code."""

import csv
from importlib.resources import files
from typing import TypeVar

import msgspec

T = TypeVar("T")


def read_text(package: str, name: str) -> str:
    return files(package).joinpath(name).read_text("utf-8")


def read_csv(package: str, name: str, kind: type[T]) -> list[T]:
    """Return the lines of a table, each as a ``kind``. A cell that is no text is converted."""
    lines = read_text(package, name).splitlines()
    return msgspec.convert([*csv.DictReader(lines)], list[kind], strict=False)  # type: ignore[valid-type]


def read_toml(package: str, name: str, kind: type[T]) -> T:
    """Return the content of a TOML file, whose form must be that of ``kind``."""
    return msgspec.toml.decode(files(package).joinpath(name).read_bytes(), type=kind)


def read_words(package: str, name: str) -> dict[str, list[str]]:
    """Return the lists of words of a TOML file, whose values are texts."""
    texts = read_toml(package, name, dict[str, str])
    return {key: text.split() for key, text in texts.items()}
