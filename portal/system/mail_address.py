"""Whether a text is an e-mail address that an SMTP server takes."""

import re


def is_mail_address(text: str) -> bool:
    return len(text) <= 254 and bool(re.fullmatch(r"[!-?A-~]+@[!-?A-~]+", text, re.ASCII))
