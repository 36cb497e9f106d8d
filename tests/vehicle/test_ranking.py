"""The candidate that is this vehicle comes first, and says why."""

import json

from portal.vehicle import Decoded, rank, read_decode


def vehicle(*entries: dict[str, str]) -> Decoded:
    result = {
        "marca": "AUDI",
        "descricao": "A3 LM 180CV",
        "anoModelo": "2015",
        "combustivel": "Alcool / Gasolina",
        "potencia": "180",
        "cilindradas": "1798",
        "informacoesFipe": list(entries),
    }
    return read_decode(json.dumps({"result": result}).encode(), "X")


def order(car: Decoded) -> list[str]:
    return [str(r.entry.version) for r in rank(car.fipe, car)]


def test_of_one_version_the_model_year_is_chosen() -> None:
    same = {"versao": "A3 SED. 1.8 180CV", "combustivel": "Flex"}
    car = vehicle({"ano": "2014"} | same, {"ano": "2016"} | same, {"ano": "2015"} | same)
    assert [r.entry.year for r in rank(car.fipe, car)] == [2015, 2014, 2016]


def test_another_model_of_the_right_year_comes_after_the_model_a_year_off() -> None:
    car = vehicle(
        {"ano": "2015", "versao": "A4 2.0", "combustivel": "Flex"},
        {"ano": "2014", "versao": "A3 LM 1.8 180CV", "combustivel": "Flex"},
    )
    assert order(car) == ["A3 LM 1.8 180CV", "A4 2.0"]


def test_fuels_are_the_same_under_any_of_their_names() -> None:
    car = vehicle(
        {"ano": "2015", "versao": "a", "combustivel": "Gasolina"},
        {"ano": "2015", "versao": "b", "combustivel": "Flex"},
    )
    assert order(car) == ["b", "a"]


def test_displacement_power_and_words_tell_versions_apart() -> None:
    car = vehicle(
        {"ano": "2015", "versao": "A3 SED. 1.4 TFSI 122CV"},
        {"ano": "2015", "versao": "A3 SED. 2.0 TFSI"},
        {"ano": "2015", "versao": "A3 LM 1.8/1.8 TB 180CV"},
    )
    best = rank(car.fipe, car)[0]
    assert str(best.entry.version) == "A3 LM 1.8/1.8 TB 180CV"
    assert best.reason == (
        "Confere com o registro: ano-modelo 2015, potência (180 cv), cilindrada (1,8), "
        "nome (A3, LM, 180CV)."
    )


def test_a_difference_is_named_too() -> None:
    car = vehicle({"ano": "2010", "combustivel": "Diesel"})
    assert rank(car.fipe, car)[0].reason == "Difere do registro: ano-modelo 2010, combustível."


def test_equal_candidates_keep_the_sources_order_and_admit_it() -> None:
    car = vehicle({"versao": "um"}, {"versao": "dois"})
    assert order(car) == ["um", "dois"]
    reason = "O registro não traz dados que distingam esta versão."
    assert rank(car.fipe, car)[0].reason == reason
