"""Namespaces are separate in the store, and a purge covers all of them."""

from pathlib import Path

from portal.gateway.envelope import SCHEMA, Envelope, Seal
from portal.gateway.lookup import Lookup
from portal.gateway.operations import DECODE, RENAINF, REPORT
from portal.vehicle.plate import Plate
from tests.gateway.gateways import SECRET, opened_cache, store_of

PLATE = Plate.parse("ABC1D23")


def envelope(key: str, schema: int = SCHEMA) -> Envelope:
    return Envelope(key, 1.8e9, 1e9, "primary", 200, False, b"{}", schema=schema)


def test_keys_of_namespaces_differ_only_in_name(tmp_path: Path) -> None:
    cache = opened_cache(tmp_path)
    here, there = store_of(cache, "upstream:a:80"), store_of(cache, "upstream:b:80")
    for keys in (
        [each.key(Lookup(DECODE, PLATE), None) for each in (here, there)],
        [each.key(Lookup(REPORT, PLATE, body=b"{}"), "credential") for each in (here, there)],
        [each.newest_report_key(PLATE, None) for each in (here, there)],
    ):
        (tag, name), (same_tag, other_name) = (key.split(":") for key in keys)
        assert tag == same_tag == here.tag(PLATE.text)
        assert name != other_name


def test_keys_are_those_under_which_former_versions_have_stored(tmp_path: Path) -> None:
    """Under other keys, each stored answer would be paid again, and no purge would find it."""
    here = store_of(opened_cache(tmp_path), "upstream:a:80")
    tag = "6f365b199b1528bc9f443c94"
    assert here.tag(PLATE.text) == tag
    assert [
        here.key(Lookup(DECODE, PLATE), None),
        here.key(Lookup(RENAINF, PLATE, "SP"), "credential"),
        here.newest_report_key(PLATE, None),
    ] == [
        f"{tag}:9f6165d0b6c779ae01dcea531cf0d4dd4682d4f7",
        f"{tag}:d63b5c14034c7a37817f702a42071aa4ababc8cc",
        f"{tag}:8829895b1fc854f2aadc49aca6542f83778382d8",
    ]


def test_entries_of_former_layout_are_not_served_but_purged(tmp_path: Path) -> None:
    cache, seal = opened_cache(tmp_path), Seal(SECRET)
    here = store_of(cache, "upstream:a:80")
    former = f"{here.tag(PLATE.text)}:{seal.keyed_hash(Lookup(DECODE, PLATE).question, 40)}"
    for key in (former, here.key(Lookup(DECODE, PLATE), None)):
        cache.replace(key, seal.sign(envelope(key, SCHEMA - 1)), 3600)
        assert here.read(key) is None
    assert here.purge({here.tag(PLATE.text): 0}) == 2
