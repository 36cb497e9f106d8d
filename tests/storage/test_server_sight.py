"""What several server processes have seen, as ``flask doctor`` reads it."""

from portal.storage.server_sight import SightWriter, read_sight
from portal.system.sight import Sight, SignInRefusal, SignInSeen
from tests.conftest import PortalFactory


def test_later_sign_in_of_two_processes_counts(portal: PortalFactory) -> None:
    database = portal().parts.database
    seen: dict[str, SignInSeen] = {}

    def process(name: str) -> SightWriter:
        return SightWriter(database, lambda: None, lambda: None, lambda: seen.get(name))

    writers = {name: process(name) for name in ("a", "b")}
    steps: list[tuple[str, float, SignInRefusal]] = [
        ("a", 1000.0, ""),
        ("b", 1010.0, "other secret"),
        ("a", 1600.0, ""),  # the same as this process has written before
    ]
    for name, at, refusal in steps:
        seen[name] = SignInSeen(at, refusal)
        for writer in writers.values():
            writer.write()
        assert read_sight(database) == Sight(sign_in=SignInSeen(at, refusal))
