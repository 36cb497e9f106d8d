"""What ``python -m tests.quality.mutants`` changes."""

import ast

import pytest

from tests.quality.mutations import mutate, sites


@pytest.mark.parametrize(
    ("source", "mutants"),
    [
        ("a < b", ["a <= b"]),
        ("a in b", ["a not in b"]),
        ("a or b", ["a and b"]),
        ("not a", ["not not a"]),
        ("a + 1", ["a - 1", "a + 2"]),
        ("a if b else c", ["a if not b else c"]),
        ("if a:\n    f(True)", ["if not a:\n    f(True)", "if a:\n    f(False)"]),
        ("a: Literal[1] = 2", ["a: Literal[1] = 3"]),
        (
            "@of(1)\ndef a(b: c[1]=2) -> d[3]:\n    '4'",
            ["@of(1)\ndef a(b: c[1]=3) -> d[3]:\n    '4'"],
        ),
        ("a * 'text'", []),
    ],
)
def test_each_mutant_has_one_mutation(source: str, mutants: list[str]) -> None:
    found = []
    for site in range(len(sites(ast.parse(source)))):
        tree = ast.parse(source)
        mutate(sites(tree)[site])
        found.append(ast.unparse(tree).replace('"""4"""', "'4'"))
    assert found == mutants
