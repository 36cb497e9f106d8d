"""The legal consequences of a vehicle's records, such as points and deadlines."""

from portal.law.act_answers import ACTS, Act, Answer, Mark
from portal.law.act_matrix import ACT_LABELS, NOTHING_STALE, Missing, Row, Stale
from portal.law.assessment import AssessedFine, Totals, fines_in_words, totals
from portal.law.courts import court_body_name, court_name, find_court
from portal.law.deadlines import RULES_NOTE, Clock
from portal.law.effects import WHO_LIFTS, Effect, effect_of
from portal.law.glossary import GLOSSARY, Term, term
from portal.law.identification import tampering_of
from portal.law.infractions import Infraction, find
from portal.law.negotiation import SHARES, Cost, Negotiation, Share, negotiate
from portal.law.next_steps import HEDGE, PHASE_TITLES, STEPS, Situation, Step, steps_for
from portal.law.orders import AssessedOrder, orders_in_words
from portal.law.reasons import Reason
from portal.law.report_check import Contradiction, Evidence, contradictions
from portal.law.speeding import excess_of, is_speeding
from portal.law.standing import Standing
from portal.law.unverified import UNVERIFIED, Unverified
from portal.law.verdict import Cause, Level, Verdict, judge

__all__ = [
    "ACTS",
    "ACT_LABELS",
    "GLOSSARY",
    "HEDGE",
    "NOTHING_STALE",
    "PHASE_TITLES",
    "RULES_NOTE",
    "SHARES",
    "STEPS",
    "UNVERIFIED",
    "WHO_LIFTS",
    "Act",
    "Answer",
    "AssessedFine",
    "AssessedOrder",
    "Cause",
    "Clock",
    "Contradiction",
    "Cost",
    "Effect",
    "Evidence",
    "Infraction",
    "Level",
    "Mark",
    "Missing",
    "Negotiation",
    "Reason",
    "Row",
    "Share",
    "Situation",
    "Stale",
    "Standing",
    "Step",
    "Term",
    "Totals",
    "Unverified",
    "Verdict",
    "contradictions",
    "court_body_name",
    "court_name",
    "effect_of",
    "excess_of",
    "find",
    "find_court",
    "fines_in_words",
    "is_speeding",
    "judge",
    "negotiate",
    "orders_in_words",
    "steps_for",
    "tampering_of",
    "term",
    "totals",
]
