"""The points of an infraction on a driving licence, and whether they count.

The rules are arts. 259 and 261 of the CTB (the traffic code). Points count on the licence of the
offender, who is the driver or the owner. Points never count against the car. They count for 12
months from the infraction.
"""

from datetime import date

from msgspec import Struct

from portal.law.deadlines import LEI_14071_SINCE, plus_years
from portal.law.infractions import Infraction
from portal.wording import day

_LISTED_ARTICLES = ("221", "230, VII", "230, XXI", "232", "233", "233-A", "240", "241")
_LISTED_SOLE_PARAGRAPHS = tuple(f"{article}, parágrafo único" for article in _LISTED_ARTICLES)
_LICENSED = ("condutor", "proprietário")
_EXPIRED = (
    "Os pontos desta multa contavam por 12 meses desde a infração: em regra, já não contam mais."
)


class Points(Struct, frozen=True):
    """The points of a fine. A number is None if it cannot be determined.

    ``by_gravity`` are the points that art. 259 assigns to the infraction's gravity. ``counted`` are
    the points that count once no appeal is possible. ``dateless_note`` is a variant of ``note``
    without the fine's own dates, or "" if ``note`` does not state them.
    """

    by_gravity: int | None
    counted: int | None
    note: str
    dateless_note: str = ""

    @property
    def shared_note(self) -> str:
        return self.dateless_note or self.note


def points_of(
    infraction: Infraction | None, sent: int, committed_on: date | None, today: date
) -> Points:
    """Return the points of a fine.

    ``sent`` is the upstream's number of points, which is often 0. This number is used only if the
    table of infractions has no points.
    """
    if infraction is None or infraction.points is None:
        if sent > 0:
            return Points(sent, sent, "Pontos enviados pela fonte; não conferidos com a tabela.")
        has_changed = infraction is not None and infraction.gravity == "mudou"
        why = ": a regra mudou entre 2016 e 2021" if has_changed else ""
        return Points(None, None, f"Não é possível dizer os pontos desta infração{why}.")
    by_gravity, counted = infraction.points, infraction.points_counted
    if committed_on is not None and committed_on > today:
        note = "Não é possível dizer se contam: a data da infração está no futuro."
        return Points(by_gravity, None, note)
    if infraction.gravity == "especial":
        return Points(0, 0, "Esta infração não gera pontos.")
    if counted is None:
        return Points(by_gravity, None, "Não há norma clara sobre a contagem de pontos neste caso.")
    if counted == 0:
        return Points(by_gravity, 0, _why_not_counted(infraction, committed_on))
    left_on = plus_years(committed_on, 1)
    if left_on is not None and left_on < today:
        note = f"Os pontos contam por 12 meses; em regra, saíram da contagem em {day(left_on)}."
        return Points(by_gravity, 0, note, _EXPIRED)
    return Points(by_gravity, counted, "")


def _why_not_counted(infraction: Infraction, committed_on: date | None) -> str:
    base = infraction.article.split(" c/c ")[0]
    if infraction.suspends:
        why = "a própria infração leva à suspensão do direito de dirigir (art. 259, § 4º, do CTB)"
    elif infraction.offender and infraction.offender not in _LICENSED:
        why = "quem responde por ela não é condutor nem proprietário"
    elif base in _LISTED_ARTICLES or base in _LISTED_SOLE_PARAGRAPHS:
        why = "o art. 259, § 4º, do CTB a exclui da contagem"
    else:
        why = "o manual de fiscalização a trata como não computável (Res. CONTRAN 985/2022)"
    note = f"Os pontos não são contados: {why}."
    if committed_on is not None and committed_on < LEI_14071_SINCE:
        note += f" A infração é anterior a {day(LEI_14071_SINCE)}, quando a regra era outra."
    return note
