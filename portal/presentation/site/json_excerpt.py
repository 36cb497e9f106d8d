"""Indents JSON and shortens its lists, for the examples of the API reference."""

import json
from typing import Final

_MOST_SCALARS: Final = 4
_INDENT: Final = "  "


def excerpt(document: object, depth: int = 0) -> str:
    """Indent a document, and shorten its long lists.

    If a list contains objects or lists, or more than _MOST_SCALARS values, only its first element
    remains. A text such as ``… mais 3`` (3 more) replaces the other elements.
    """
    inner = _INDENT * (depth + 1)
    match document:
        case dict() if document:
            members = [
                f"{inner}{json.dumps(key, ensure_ascii=False)}: {excerpt(value, depth + 1)}"
                for key, value in document.items()
            ]
            return "{\n" + ",\n".join(members) + f"\n{_INDENT * depth}}}"
        case list() if document:
            if len(document) <= _MOST_SCALARS and not any(
                isinstance(each, dict | list) for each in document
            ):
                return json.dumps(document, ensure_ascii=False)
            lines = [f"{inner}{excerpt(document[0], depth + 1)}"]
            if len(document) > 1:
                lines.append(f"{inner}… mais {len(document) - 1}")
            return "[\n" + ",\n".join(lines) + f"\n{_INDENT * depth}]"
        case _:
            return json.dumps(document, ensure_ascii=False)
