"""The effects of a court's restriction on a vehicle, by the restriction's kind.

The name of a kind states its legal effect: "licenciamento" forbids licensing. The further effects
of a kind have weaker sources. Websites of the car trade report some of them (``confidence``
"reported"). No source confirms the others ("memory"). Each of Renajud's own four kinds stops a
transfer. A restriction of unknown, hidden or missing kind therefore stops a transfer, too. Of the
orders that a text may name instead, only the averbação premonitória leaves the transfer possible:
the creditor may have the sale undone.

A record may say that a restriction or one of its kinds was lifted ("BAIXADA"). The source (the
upstream API) does not document such words, so the answers are then "unknown". If the record also
has a kind that was not lifted, the answer for an act that this kind forbids remains "no". A record
may also contradict itself: it describes a restriction but says that there is no restriction. The
answers for all acts are then "unknown".
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import cast

from portal.law.act_answers import ACTS, Act, Answer, Confidence, worst
from portal.law.restriction_kinds import KIND_WORDS, Kind, read_kinds
from portal.law.rules import CONSULTED
from portal.vehicle.judicial import Restriction
from portal.wording import listed

WHO_LIFTS = (
    "Só o juiz que deu a ordem (ou um tribunal acima) pode retirá-la; Detran e Senatran não podem. "
    "O interessado pede a baixa no processo, com advogado ou defensor. Lei consultada em "
    f"{CONSULTED}."
)

_Source = tuple[str, Confidence]  # the text that states a rule, and how well the rule is confirmed
_TJSC: _Source = ("TJSC, Código de Normas, Apêndice III", "verified")
_PRACTICE: _Source = (
    "prática do Renajud, conforme sites do ramo",
    "reported",
)
_CTB_230: _Source = ("art. 230, V, do CTB", "reported")


@dataclass(frozen=True, slots=True)
class Effect:
    """The effect of one restriction on each act.

    ``kinds`` are in the order of KIND_WORDS. If the restriction's text has an unrecognised word or
    no kind, ``unrecognised`` is the text as sent, else "". ``in_force`` is False only if the record
    states that there is no restriction and no field contradicts this statement. ``doubt`` is a
    clause that explains why the record is unreliable ("a fonte registra “BAIXADA”": the source says
    "lifted"). If the record is reliable, ``doubt`` is "".
    """

    kinds: tuple[Kind, ...]
    unrecognised: str
    in_force: bool
    answers: Mapping[Act, Answer]
    doubt: str = ""

    @property
    def kinds_word(self) -> str:
        """The kinds in words: ``transferência e licenciamento``."""
        return listed([KIND_WORDS[kind] for kind in self.kinds])

    @property
    def sentence(self) -> str:
        """The effect in words, such as ``não pode transferir; pode circular``."""
        asked: tuple[Act, ...] = ("transfer", "licence", "drive")
        phrases = [self.answers[act].phrase for act in asked if self.answers[act].mark != "unknown"]
        if open_acts := [_VERBS[act] for act in asked if self.answers[act].mark == "unknown"]:
            phrases.append(f"não é possível dizer se pode {listed(open_acts, ' ou ')}")
        if self.answers["removal"].mark == "no":
            phrases.append(self.answers["removal"].phrase)
        return "; ".join(phrases)


_FREE: dict[Act, Answer] = {
    "transfer": Answer("yes", "pode transferir", "Não impede a transferência.", "", "verified"),
    "licence": Answer("yes", "pode licenciar", "Não impede o licenciamento.", "", "verified"),
    "drive": Answer("yes", "pode circular", "Não impede a circulação.", "", "verified"),
    "removal": Answer(
        "yes", "sem remoção pela ordem", "Não manda recolher o veículo.", "", "verified"
    ),
}
_VERBS: dict[Act, str] = {
    "transfer": "transferir",
    "licence": "licenciar",
    "drive": "circular",
    "removal": "ser removido",
}
_CONTRADICTION = "a fonte se contradiz"


def _unknown(reason: str) -> dict[Act, Answer]:
    return {
        act: replace(
            _FREE[act],
            mark="unknown",
            phrase=f"não é possível dizer se pode {verb}",
            reason=reason,
        )
        for act, verb in _VERBS.items()
    }


_NOT_READ = "O tipo da restrição não foi informado ou reconhecido por inteiro"
_UNKNOWN = _unknown(f"{_NOT_READ}.")
_OF_ANY_KIND = _UNKNOWN | {
    "transfer": Answer(
        "no",
        "em regra não pode transferir",
        f"{_NOT_READ}, mas todos os tipos do Renajud impedem, em regra, a transferência.",
        _TJSC[0],
        "memory",
    )
}
_CONTRADICTED = _unknown(
    "A fonte se contradiz: diz que não há restrição e, no mesmo registro, a descreve. "
    "Confirme com o juízo."
)
_KINDS: dict[Kind, dict[Act, Answer]] = {
    "transferencia": {
        "transfer": Answer(
            "no",
            "não pode transferir",
            "A restrição de transferência impede a mudança de propriedade.",
            *_TJSC,
        ),
        "licence": Answer(
            "yes",
            "em regra pode licenciar",
            "A restrição de transferência, em regra, não impede o licenciamento.",
            *_PRACTICE,
        ),
        "drive": Answer("yes", "pode circular", "Não impede a circulação.", *_PRACTICE),
        "removal": Answer(
            "yes", "sem remoção pela ordem", "Não manda recolher o veículo.", *_PRACTICE
        ),
    },
    "penhora": {
        "transfer": Answer(
            "no",
            "na prática não pode transferir",
            "O veículo penhorado garante uma dívida e pode ir a leilão: ainda que o Detran "
            "transfira, a venda não vale contra o credor.",
            *_PRACTICE,
        ),
        "licence": Answer(
            "careful",
            "em regra pode licenciar",
            "A penhora, em regra, não impede o licenciamento: confirme no Detran.",
            *_PRACTICE,
        ),
        "drive": Answer(
            "yes", "pode circular", "A penhora, sozinha, não impede a circulação.", *_PRACTICE
        ),
        "removal": Answer(
            "yes",
            "sem remoção pela ordem",
            "A averbação da penhora, sozinha, não manda recolher o veículo.",
            *_PRACTICE,
        ),
    },
    "licenciamento": {
        "transfer": Answer(
            "no",
            "em regra não pode transferir",
            "A restrição de licenciamento, em regra, impede também a transferência: confirme "
            "no Detran.",
            *_PRACTICE,
        ),
        "licence": Answer(
            "no",
            "não pode licenciar",
            "A restrição de licenciamento impede a emissão do novo CRLV.",
            *_TJSC,
        ),
        "drive": Answer(
            "careful",
            "pode circular só enquanto valer o licenciamento atual",
            "Sem novo CRLV, circular é infração gravíssima (art. 230, V, do CTB).",
            *_CTB_230,
            short="Até vencer o licenciamento atual",
        ),
        "removal": Answer(
            "careful",
            "remoção só por falta de licenciamento",
            "Vencido o licenciamento atual, o veículo em circulação pode ser removido "
            "(art. 230, V, do CTB).",
            *_CTB_230,
            short="Sem licenciamento válido",
        ),
    },
    "circulacao": {
        "transfer": Answer(
            "no",
            "não pode transferir",
            "A restrição de circulação (“total”) impede também a transferência.",
            *_PRACTICE,
        ),
        "licence": Answer(
            "no",
            "não pode licenciar",
            "A restrição de circulação (“total”) impede também o licenciamento.",
            *_PRACTICE,
        ),
        "drive": Answer(
            "no", "não pode circular", "A restrição de circulação impede o uso na via.", *_TJSC
        ),
        "removal": Answer(
            "no",
            "risco de remoção ao pátio",
            "Encontrado em circulação, o veículo pode ser recolhido ao pátio.",
            *_PRACTICE,
        ),
    },
}


# The creditor of a financed vehicle may seize it from whoever holds it.
_KINDS["busca_e_apreensao"] = {
    "transfer": Answer(
        "no",
        "na prática não pode transferir",
        "Na busca e apreensão, o credor pode tomar o veículo de quem estiver com ele.",
        "DL 911/1969, art. 3º, § 9º",
        "reported",
    ),
    "licence": replace(
        _UNKNOWN["licence"], reason="Na busca e apreensão, confirme no Detran se pode licenciar."
    ),
    "drive": Answer(
        "careful",
        "circular expõe à apreensão",
        "Encontrado na rua, o veículo pode ser apreendido.",
        "DL 911/1969, art. 3º, § 9º",
        "reported",
    ),
    "removal": Answer(
        "no",
        "risco de apreensão",
        "O veículo pode ser apreendido onde estiver (DL 911/1969, art. 3º, § 9º).",
        "DL 911/1969, art. 3º, § 9º",
        "reported",
    ),
}
for _kind, _why in (
    ("arresto", "O arresto guarda o veículo para pagar uma dívida do dono."),
    ("sequestro", "O sequestro guarda o veículo que se discute na Justiça."),
    ("indisponibilidade", "A indisponibilidade proíbe o dono de vender o que tem."),
):
    _KINDS[cast(Kind, _kind)] = _KINDS["penhora"] | {
        "transfer": Answer("no", "na prática não pode transferir", _why, *_PRACTICE),
        "licence": replace(
            _KINDS["penhora"]["licence"],
            reason="Em regra, não impede o licenciamento: confirme no Detran.",
        ),
        "drive": replace(
            _KINDS["penhora"]["drive"], reason="A ordem, sozinha, não impede a circulação."
        ),
        "removal": replace(
            _KINDS["penhora"]["removal"],
            reason="A ordem, sozinha, não manda recolher o veículo.",
        ),
    }
_KINDS["averbacao_premonitoria"] = _KINDS["arresto"] | {
    "transfer": Answer(
        "careful",
        "a compra pode ser desfeita",
        "A averbação premonitória, em regra, não impede transferir, mas a venda depois dela se "
        "presume fraude contra o credor, que pode tomar o veículo de quem comprou.",
        "art. 828, § 4º, do CPC",
        "memory",
    ),
}


def effect_of(restriction: Restriction, today: date) -> Effect:
    if restriction.is_lifted:
        return Effect((), "", in_force=False, answers=_FREE)
    fields = (restriction.kinds_text, restriction.block_type)
    reading = read_kinds("; ".join(str(field) for field in fields if field), today)
    tables = [_KINDS[kind] for kind in reading.stated]
    doubt = ""
    if restriction.recorded is False:
        doubt, tables = _CONTRADICTION, [_CONTRADICTED]
    elif reading.revoked_by:
        doubt = f"a fonte registra “{reading.revoked_by}”"
        tables.append(_unknown(f"{doubt[0].upper()}{doubt[1:]}: confirme com o juízo."))
    is_hidden = any(field.is_hidden for field in fields)
    if is_hidden and restriction.recorded is not False:
        # The hidden text may name a kind that is still in force, or another order.
        tables.append(_OF_ANY_KIND)
    elif reading.unrecognised or is_hidden or not tables:
        # Beside a lifted kind, the unread words may name another order.
        is_more = reading.states_more and restriction.recorded is not False
        tables.append(_OF_ANY_KIND if is_more or not doubt else _UNKNOWN)
    answers = {act: _decisive([table[act] for table in tables]) for act in ACTS}
    return Effect(reading.kinds, reading.unrecognised, True, answers, doubt)


def _decisive(answers: Sequence[Answer]) -> Answer:
    """Return the least favourable answer. In a tie, the highest confidence wins."""
    order = ("verified", "reported", "memory")
    return min(worst(answers), key=lambda answer: order.index(answer.confidence))
