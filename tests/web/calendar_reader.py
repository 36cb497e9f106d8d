"""A strict reader of calendar files, written from RFC 5545. It accepts only what the portal uses.

It asserts line ends, the length of lines, the grammar of content lines, the nesting of components,
the properties that RFC 5545 requires, and those that may occur only once.
"""

import re
from datetime import UTC, date, datetime

_LINE = re.compile(r'([A-Z-]+)((?:;[A-Z-]+=(?:"[^"]*"|[^";:,]*))*):(.*)', re.DOTALL)
_REQUIRED = {
    "VCALENDAR": {"PRODID", "VERSION"},
    "VEVENT": {"UID", "DTSTAMP", "DTSTART"},
    "VJOURNAL": {"UID", "DTSTAMP"},
}
_LONGEST_LINE = 75  # octets, without the line end

Entry = dict[str, str | date | datetime | int]


def read_calendar(content: bytes) -> tuple[str, list[tuple[str, Entry]]]:
    """Return the calendar's name, and the components with their properties, in order."""
    assert content.endswith(b"\r\n")
    physical = content[:-2].split(b"\r\n")
    for octets in physical:
        assert len(octets) <= _LONGEST_LINE, octets
        assert not re.search(rb"[\x00-\x08\x0a-\x1f\x7f]", octets), octets
    text = content[:-2].decode("utf-8").replace("\r\n ", "")
    opened: list[tuple[str, Entry]] = []
    found: list[tuple[str, Entry]] = []
    calendar: Entry = {}
    for line in text.split("\r\n"):
        match = _LINE.fullmatch(line)
        assert match, line
        name, parameters, value = match.groups()
        if name == "BEGIN":
            assert value == "VCALENDAR" if not opened else value in ("VEVENT", "VJOURNAL")
            assert len(opened) < 2
            opened.append((value, {}))
        elif name == "END":
            kind, entry = opened.pop()
            assert kind == value
            assert entry.keys() >= _REQUIRED[kind], (kind, entry)
            if kind == "VCALENDAR":
                calendar = entry
            else:
                found.append((kind, entry))
        else:
            entry = opened[-1][1]
            assert name not in entry, f"{name} twice"
            entry[name] = _value(name, parameters, value)
    assert not opened
    assert found, "RFC 5545 wants at least one component"
    assert calendar["VERSION"] == "2.0"
    return str(calendar.get("X-WR-CALNAME", "")), found


def _value(name: str, parameters: str, value: str) -> str | date | datetime | int:
    if name in ("DTSTART", "DTEND"):
        assert parameters == ";VALUE=DATE"
        return datetime.strptime(value, "%Y%m%d").replace(tzinfo=UTC).date()
    assert not parameters
    if name == "DTSTAMP":
        return datetime.strptime(value, "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
    if name == "SEQUENCE":
        return int(value)
    if name in ("SUMMARY", "DESCRIPTION"):
        assert not re.search(r"(?<!\\)(?:\\\\)*[;,]", value), value
        return re.sub(
            r"\\(.)", lambda found: "\n" if found[1] in "nN" else found[1], value, flags=re.DOTALL
        )
    return value
