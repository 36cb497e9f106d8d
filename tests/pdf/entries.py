"""Access to the entries of a PDF's dictionaries, for tests."""

from pypdf.generic import DictionaryObject, PdfObject


def dictionary(holder: PdfObject, *names: str) -> DictionaryObject:
    """Return the dictionary at a path of names."""
    found = entry(holder, *names)
    assert isinstance(found, DictionaryObject), names
    return found


def entry(holder: PdfObject, *names: str) -> PdfObject:
    """Return the entry at a path of names, through indirect references."""
    for name in names:
        assert isinstance(holder, DictionaryObject), name
        holder = holder[name]
    return holder
