"""The filters and functions of the templates, and the links to the glossary."""

import re
from collections.abc import Hashable
from functools import lru_cache
from typing import Final

from jinja2 import Environment
from jinja2.ext import Extension
from jinja2.runtime import Macro
from markupsafe import Markup, escape

from portal import formats, wording
from portal.charts.paths import hatch_path
from portal.dossier import details, figures
from portal.dossier.car_rows import car_rows
from portal.dossier.deadline_steps import deadline_steps
from portal.dossier.fined_places import places_by_year
from portal.dossier.lookups import LOOKUP_WORDS, OPERATION_TEXTS
from portal.dossier.status_style import LOOKS, act_word, acts_by_word
from portal.issued.identifiers import display_number
from portal.law.checklist import LINES
from portal.phrasebook import (
    acts,
    at_the_car,
    checklist,
    deadlines,
    declared,
    findings,
    fines,
    orders,
    prices,
    report,
    sight,
    sums,
    verdict,
)
from portal.phrasebook.agreement import order_checklist
from portal.phrasebook.authorities import appeal_body
from portal.phrasebook.effects import ACT_TEXTS, reason
from portal.phrasebook.failures import FAULTS, back_at_midnight, back_next_month
from portal.phrasebook.glossary import term
from portal.phrasebook.pauses import pause_words
from portal.phrasebook.prices import monthly_range
from portal.presentation.authority import short_authority
from portal.presentation.caller_name import shown_caller
from portal.presentation.fields import amount, definitions, value
from portal.presentation.icons import PALETTE, icon, paper_icon
from portal.presentation.lists.batches import mistake
from portal.presentation.lists.comparison import comparison_path
from portal.presentation.operations.page import saved_words, spent_words
from portal.presentation.paper.fines import fine_rules, paper_sums
from portal.presentation.paper.prices import paper_doubts, price_facts
from portal.presentation.paths import subject_path
from portal.presentation.plate_glyphs import glyph_path
from portal.presentation.vehicle.fine_ledger import (
    open_sum,
    short_word,
    standing_bar,
)
from portal.system.local_time import from_epoch, local_time
from portal.vehicle.plate import Plate
from portal.vehicle.spelling import sentence
from portal.vehicle.version_names import version_name


def operation_title(name: str) -> str:
    """Return an operation's title, or the name if a stored name is of a former operation."""
    return next((texts.title for key, texts in OPERATION_TEXTS.items() if key == name), name)


def term_link(slug: str, text: str = "") -> Markup:
    """Return a link to the glossary entry whose key is ``slug``.

    The link's text is ``text``, or the entry's name if ``text`` is empty. Raises ValueError for an
    unknown slug.
    """
    entry = term(slug)
    if entry is None:
        raise ValueError(f"the glossary has no entry {slug!r}")
    shown = escape(text or entry.name)
    return Markup(f'<a class="term" href="/glossario#{entry.slug}">{shown}</a>')  # noqa: S704


@lru_cache(maxsize=1024)
def drawn_once(macro: Macro, *words: Hashable) -> Markup:
    """Return what a macro draws, which is kept for other pages.

    ``words`` are of the portal's own closed vocabulary, never what a record or a person says.
    """
    return Markup(macro(*words))  # noqa: S704 a macro escapes its words


_INDENT: Final = re.compile(r"^[ \t]+(?=<)", re.MULTILINE)


class UnindentedTags(Extension):
    """Leaves out the indentation of tags: 3 % of a page's compressed size."""

    def preprocess(
        self,
        source: str,
        name: str | None,  # noqa: ARG002
        filename: str | None = None,  # noqa: ARG002
    ) -> str:
        return _INDENT.sub("", source)


def register(environment: Environment) -> None:
    """Register the filters and the functions with Jinja.

    A filter takes less time than a function, and one of constants, such as an icon, is computed
    once: when its template is compiled. Globals are few, because each import of a page looks at
    all of them. Also set Jinja to strip white space around blocks and in front of tags.
    """
    environment.add_extension(UnindentedTags)
    environment.trim_blocks = True
    environment.lstrip_blocks = True
    environment.globals |= {
        "act_labels": {act: texts.label for act, texts in ACT_TEXTS.items()},
        "line_count": len(LINES),
        "faults": FAULTS,
    }
    environment.filters.update(
        {
            "icon": icon,
            "paper_icon": paper_icon,
            "paper_colour": PALETTE.__getitem__,
            "hatch_path": hatch_path,
            "comparison_path": comparison_path,
            "term": term_link,
            "value": value,
            "amount": amount,
            "definitions": definitions,
            "once": drawn_once,
            "given": details.given,
            "blank": details.blank,
            "fine_rows": details.fine_rows,
            "fine_notes": details.fine_notes,
            "order_notes": details.order_notes,
            "explanations": details.explanations,
            "other_of_fine": details.other_of_fine,
            "other_of_order": details.other_of_order,
            "multiplier": details.multiplier_of,
            "discount_sentence": details.discount_sentence,
            "expired_points": details.expired_points,
            "deadline_rules": details.deadline_rules,
            "protocol": details.protocol,
            "letter": details.letter,
            "court_detail": details.court_detail,
            "sources": figures.sources,
            "transfer_figure": figures.transfer,
            "owed_figure": figures.owed,
            "worth_figure": figures.worth,
            "field_text": formats.field_text,
            "brl": formats.brl,
            "call_price": formats.call_price,
            "pause_words": pause_words,
            "spent_words": spent_words,
            "saved_words": saved_words,
            "price": formats.price,
            "price_range": formats.price_range,
            "integer": formats.integer,
            "percent": formats.percent,
            "change": formats.change,
            "change_range": formats.change_range,
            "monthly_range": monthly_range,
            "date": formats.short_date,
            "moment": formats.moment,
            "near_moment": formats.near_moment,
            "age": formats.age,
            "plural": wording.counted,
            "listed": wording.listed,
            "duration": formats.duration,
            "size": formats.size,
            "local": local_time,
            "from_epoch": from_epoch,
            "dossier_number": display_number,
            "operation_title": operation_title,
            "caller_name": shown_caller,
            "lookup_word": LOOKUP_WORDS.__getitem__,
            "lookup_title": lambda name: OPERATION_TEXTS[name].long_title,
            "subject_path": subject_path,
            "mistake": mistake,
            "back_at_midnight": back_at_midnight,
            "back_next_month": back_next_month,
            "look": LOOKS.__getitem__,
            "act_word": act_word,
            "acts_by_word": acts_by_word,
            "sentence": sentence,
            "deadline_steps": deadline_steps,
            "fine_rules": fine_rules,
            "standing_bar": standing_bar,
            "open_sum": open_sum,
            "paper_sums": paper_sums,
            "points_sum": sums.points,
            "places_by_year": places_by_year,
            "price_facts": price_facts,
            "paper_doubts": paper_doubts,
            "car_rows": car_rows,
            "status_word": fines.status_word,
            "fines_in_words": sums.fines_in_words,
            "gravities": sums.gravities,
            "repeated": sums.repeated,
            "order_title": orders.title,
            "order_checklist": order_checklist,
            "orders_in_words": orders.count_words,
            "who_lifts": orders.who_lifts,
            "answer_reason": reason,
            "appeal_body": appeal_body,
            "line_title": checklist.title,
            "line_something": checklist.something,
            "open_words": sums.open_words,
            "enforceable_words": sums.enforceable_words,
            "called_off_words": sums.called_off_words,
            "gravity_word": fines.gravity_word,
            "discount_note": fines.discount_note,
            "short_authority": short_authority,
            "short_word": short_word,
            "glyph_path": glyph_path,
            "plate": Plate,
            "act_label": acts.label,
            "act_short": acts.short,
            "act_why": acts.why,
            "act_brief": acts.brief,
            "month_name": lambda day: wording.MONTHS[day.month - 1],
            "since": wording.since,
            "monthly_words": prices.monthly_words,
            "deadline_title": deadlines.title,
            "deadline_name": deadlines.name,
            "deadline_brief": deadlines.brief,
            "finding": verdict.finding,
            "caveat": verdict.caveat,
            "headline": verdict.headline,
            "notices": verdict.notices,
            "clause": findings.clause,
            "consequence": findings.consequence,
            "contradiction": report.contradiction,
            "version_name": version_name,
            "sight_what": sight.what,
            "sight_before": sight.value_before,
            "sight_now": sight.value_now,
            "sight_rest": sight.rest,
            "sight_is_worse": sight.is_worse,
            "seen_words": at_the_car.seen_words,
            "line_words": declared.line_words,
            "line_source": declared.line_source,
            "contradicted_words": declared.contradicted_words,
            "warning_words": declared.warning_words,
            "obstacle_words": declared.obstacle_words,
        }
    )
