"""What stands beside records or in their place: success, failure, or neither."""

import pytest

from portal.gateway.notices import Kind, judge


@pytest.mark.parametrize(
    ("members", "kind"),
    [
        ({}, None),
        ({"message": "Processada com sucesso"}, "success"),
        ({"mensagem": "Nenhuma multa encontrada", "fonte": "Base indisponível"}, "failure"),
        ({"msg": "Veja o edital"}, "unknown"),
        ({"meta": {"avisos": ["Consulta realizada", "Veja o edital"]}}, "unknown"),
        ({"erro": "Nenhum registro encontrado"}, "success"),
        ({"erro": "X12"}, "failure"),
        ({"codigo": 404}, "failure"),
        ({"codigo": 204, "total": 0}, None),
        ({"fonte": "Detran"}, None),
        ({"total": 3}, "unknown"),
        ({"totalRegistros": "5", "message": "Sucesso"}, "unknown"),
        ({"quantidade": 0, "message": "Sucesso"}, "success"),
        ({"resumo": "Existem 3 multas"}, "unknown"),
        ({"avisos": ["Processada com sucesso"] * 1_001}, "unknown"),
    ],
    ids=str,
)
def test_gravest_notice_counts(members: dict[str, object], kind: Kind | None) -> None:
    found = judge(members)
    assert (found and found.kind) == kind
