"""Settings as texts, from ``PORTAL_`` environment variables and secret files."""

from collections.abc import Iterable, Mapping
from pathlib import Path

PREFIX = "PORTAL_"


class SettingsError(ValueError):
    """An invalid setting. The text is one line for the operator."""


def read_texts(environ: Mapping[str, str], secrets: Iterable[str], home: Path) -> dict[str, str]:
    """Return the value of each ``PORTAL_`` variable by its name without the prefix.

    ``secrets`` are the names that ``PORTAL_<NAME>_FILE`` may set instead, by the path of a file
    that holds the value; a relative path is relative to ``home``. Raises SettingsError.
    """
    texts = {
        name.removeprefix(PREFIX): _checked_text(name, value)
        for name, value in environ.items()
        if name.startswith(PREFIX)
    }
    for name in secrets:
        path = texts.pop(f"{name}_FILE", "")
        if path and texts.get(name):
            raise SettingsError(f"{PREFIX}{name} and {PREFIX}{name}_FILE are both set")
        if path:
            texts[name] = _read_file(f"{PREFIX}{name}_FILE", home / path)
    return texts


def _checked_text(name: str, value: str) -> str:
    try:
        value.encode()
    except UnicodeEncodeError:  # a variable's undecodable bytes become lone surrogates (PEP 383)
        raise SettingsError(f"{name} makes no sense: it is not UTF-8") from None
    return value.strip()


def _read_file(name: str, path: Path) -> str:
    try:
        content = path.read_text("utf-8").strip()
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise SettingsError(f"{name} cannot be read: {reason}") from None
    except ValueError:
        raise SettingsError(f"{name} cannot be read: it is not UTF-8 text") from None
    if not content:
        # An empty file does not count as unset, because without UPSTREAM_TOKEN a managed portal
        # would change to pass-through mode.
        raise SettingsError(f"{name} makes no sense: the file is empty")
    return content
