"""A choice that changes a page's view, such as a filter or a page number."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Choice:
    """A link to the view with this choice.

    ``key`` is the choice's value in the URL. ``count`` is the number of rows in that view, or None.
    """

    label: str
    url: str
    is_chosen: bool
    key: str = ""
    count: int | None = None
