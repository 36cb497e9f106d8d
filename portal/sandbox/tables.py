"""Reads the sandbox's tables, which are CSV files beside this module."""

import csv
from collections.abc import Iterator
from importlib.resources import files


def table_rows(name: str) -> Iterator[dict[str, str]]:
    text = files(__package__).joinpath(f"{name}.csv").read_text(encoding="utf-8")
    return csv.DictReader(text.splitlines())
