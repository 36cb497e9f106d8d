"""The failure of an erasure."""


class BytesKept(Exception):
    """The rows are deleted, but some of their bytes may remain in the database's files."""
