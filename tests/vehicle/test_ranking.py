"""The price candidate that fits the vehicle best is first, and has a reason."""

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
    return read_decode(result, "X")


def order(car: Decoded) -> list[str]:
    return [str(r.entry.version) for r in rank(car.fipe, car)]


def test_same_version_is_ranked_by_model_year() -> None:
    same = {"versao": "A3 SED. 1.8 180CV", "combustivel": "Flex"}
    car = vehicle({"ano": "2014"} | same, {"ano": "2016"} | same, {"ano": "2015"} | same)
    assert [r.entry.year for r in rank(car.fipe, car)] == [2015, 2014, 2016]


def test_right_model_of_wrong_year_beats_other_model() -> None:
    car = vehicle(
        {"ano": "2015", "versao": "A4 2.0", "combustivel": "Flex"},
        {"ano": "2014", "versao": "A3 LM 1.8 180CV", "combustivel": "Flex"},
    )
    assert order(car) == ["A3 LM 1.8 180CV", "A4 2.0"]


def test_fuel_synonyms_match() -> None:
    car = vehicle(
        {"ano": "2015", "versao": "a", "combustivel": "Gasolina"},
        {"ano": "2015", "versao": "b", "combustivel": "Flex"},
    )
    assert order(car) == ["b", "a"]


def test_displacement_power_and_words_distinguish_versions() -> None:
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


def test_reason_names_the_differences() -> None:
    car = vehicle({"ano": "2010", "combustivel": "Diesel"})
    assert rank(car.fipe, car)[0].reason == "Difere do registro: ano-modelo 2010, combustível."


def test_equal_candidates_keep_the_sources_order() -> None:
    car = vehicle({"versao": "um"}, {"versao": "dois"})
    assert order(car) == ["um", "dois"]
    reason = "O registro não traz dados que distingam esta versão."
    assert rank(car.fipe, car)[0].reason == reason
