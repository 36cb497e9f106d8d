"""The operator's commands print English (docs/decisions/0011)."""

import ast
from pathlib import Path

COMMANDS = Path(__file__).parents[2] / "portal" / "commands"


def test_texts_of_the_commands_are_english() -> None:
    words = {
        "não",
        "está",
        "chave",
        "armazenadas",
        "veículo",
        "linha",
        "banco",
        "consulta",
        "pedido",
    }
    for path in COMMANDS.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                assert node.value.isascii(), (path.name, node.value)
                assert not words & set(node.value.lower().split()), (path.name, node.value)
