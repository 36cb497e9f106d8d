"""The words of the standings of fines."""

from collections.abc import Mapping
from typing import Final

from msgspec import Struct

from portal.data_files import read_csv
from portal.law.standing import Standing


class StandingWords(Struct, frozen=True):
    """The words of a standing, a line of ``standings.csv``.

    ``word`` names the standing. ``of_one`` and ``of_many`` follow a number of fines. ``clause``
    completes "passou a constar" ("is now recorded"). The others say what an open fine means for
    licensing and transfer: ``finding`` and ``consequence`` of one fine, ``findings`` and
    ``consequences`` of several, ``why`` in a sentence (``{law}`` stands for the article), and
    ``brief`` in a few words. ``agreement`` is the clause of ``agreement.toml`` for a buyer and a
    seller, and ``proof`` what the seller shows. They are "" for a paid fine.
    """

    standing: Standing
    word: str
    of_one: str
    of_many: str
    clause: str
    finding: str
    findings: str
    consequence: str
    consequences: str
    why: str
    brief: str
    agreement: str
    proof: str


WORDS: Final[Mapping[Standing, StandingWords]] = {
    words.standing: words for words in read_csv(__package__, "standings.csv", StandingWords)
}
