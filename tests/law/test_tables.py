"""The tables have a line for each kind, act and standing, and only known looks."""

import csv
from pathlib import Path
from typing import get_args, get_type_hints

from portal.law.act_answers import ACTS
from portal.law.restriction_kinds import KINDS
from portal.law.standing import Standing

LAW = Path(__file__).parents[2] / "portal" / "law"


def test_every_kind_of_order_has_an_answer_for_every_act() -> None:
    lines = list(csv.DictReader((LAW / "effects.csv").read_text("utf-8").splitlines()))
    found = [(line["kind"], line["act"]) for line in lines]
    assert sorted(found) == sorted((kind, act) for kind in ("", *KINDS) for act in ACTS)


def test_every_standing_has_known_looks_and_a_key_of_its_own() -> None:
    kinds = get_type_hints(Standing)
    for standing in Standing:
        assert standing.tone in get_args(kinds["tone"])
        assert standing.icon in get_args(kinds["icon"])
    assert len({standing.key for standing in Standing} - {""}) == len(Standing)
