"""Mutations: one comparison, condition, operator, number or boolean of a module changed.

Strings, annotations and the arguments of decorators stay as they are.
"""

import ast
from collections.abc import Iterator, Mapping
from typing import Final

_SWAPPED: Final[Mapping[type[ast.cmpop], type[ast.cmpop]]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}


def sites(tree: ast.Module) -> list[ast.expr | ast.stmt]:
    """Return the nodes that ``mutate`` can change, in a fixed order."""
    left_out = {id(node) for part in _left_out(tree) for node in ast.walk(part)}
    return [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.expr | ast.stmt)
        if id(node) not in left_out and _is_site(node)
    ]


def _left_out(tree: ast.Module) -> Iterator[ast.AST]:
    for node in ast.walk(tree):
        yield from getattr(node, "decorator_list", [])
        for name in ("annotation", "returns"):
            if isinstance(part := getattr(node, name, None), ast.AST):
                yield part
        match node:
            case ast.Subscript(value=ast.Name("Literal" | "Final" | "ClassVar")):
                yield node


def _is_site(node: ast.AST) -> bool:
    match node:
        case ast.Compare() | ast.BoolOp() | ast.If() | ast.IfExp():
            return True
        case ast.UnaryOp(op=ast.Not()) | ast.BinOp(op=ast.Add() | ast.Sub()):
            return True
        case ast.Constant(value=int()):
            return True
    return False


def shown(node: ast.expr | ast.stmt) -> ast.expr | ast.stmt:
    """Return what a mutation of a node of ``sites`` is about: of a statement, its condition."""
    return node.test if isinstance(node, ast.If) else node


def mutate(node: ast.expr | ast.stmt) -> None:
    """Change a node of ``sites`` in its tree."""
    match node:
        case ast.Compare():
            node.ops[0] = _SWAPPED[type(node.ops[0])]()
        case ast.BoolOp():
            node.op = ast.And() if isinstance(node.op, ast.Or) else ast.Or()
        case ast.BinOp():
            node.op = ast.Sub() if isinstance(node.op, ast.Add) else ast.Add()
        case ast.If() | ast.IfExp():
            node.test = ast.UnaryOp(ast.Not(), node.test)
        case ast.UnaryOp():
            node.operand = ast.UnaryOp(ast.Not(), node.operand)
        case ast.Constant(value=bool(value)):
            node.value = not value
        case ast.Constant(value=int(value)):
            node.value = value + 1
    ast.fix_missing_locations(node)
