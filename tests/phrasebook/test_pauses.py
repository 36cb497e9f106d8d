"""Why a list waits."""

from typing import get_args

from portal.batch.model import Reason
from portal.messages.mail import mail_text
from portal.phrasebook.pauses import PAUSES, pause_words


def test_every_reason_has_words() -> None:
    assert set(PAUSES) == set(get_args(Reason)) - {""}
    assert pause_words("") == ""


def test_mail_says_why_in_portuguese() -> None:
    for reason, words in PAUSES.items():
        subject, text = mail_text("batch.paused", {"batch": "b1", "reason": reason})
        assert subject == "Um lote parou"
        assert text == f"O lote b1 parou: {words[0].lower()}{words[1:]}."
