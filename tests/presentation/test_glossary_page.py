"""The glossary's table of rules: act, article, date and source, from the table that is cited."""

import re
from html import unescape

from portal.law.rules import RULES
from portal.phrasebook.rules import SOURCE_WORDS
from portal.presentation.site.public_pages import GlossaryPage
from tests.presentation.rendering import render
from tests.web.html_checker import check_html


def test_each_rule_is_a_row_with_its_date_and_source() -> None:
    html = render(GlossaryPage())
    check_html(html)
    rows = re.findall(r'<tr><th scope="row">.*?</tr>', html)
    assert len(rows) == len(RULES)
    for rule, row in zip(RULES, rows, strict=True):
        told = unescape(re.sub("<[^>]+>", " ", row))
        for each in (rule.act, rule.article or "—", rule.dated, rule.rule):
            assert each in told
        assert SOURCE_WORDS[rule.source] in told
