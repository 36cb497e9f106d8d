"""The price candidate that fits the vehicle best is first, and has a reason."""

import pytest

from portal.vehicle.decode import Decoded, read_decode
from portal.vehicle.ranking import of_other_vehicle, rank


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
    return read_decode(result, "INFORMACAO OCULTADA")


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


def test_of_contradicting_prices_of_one_version_the_lower_comes_first() -> None:
    car = vehicle(
        {"versao": "um", "valorAtual": "89325.00"},
        {"versao": "dois", "valorAtual": "10000.00"},
        {"versao": "um", "valorAtual": "45000.00"},
    )
    prices = [each.entry.current for each in rank(car.fipe, car)]
    assert prices == [45000, 89325, 10000]


@pytest.mark.parametrize(
    ("registered", "entry", "is_other"),
    [
        (("AUDI", "A3 LM 180CV"), ("Fiat", "ARGO", "1.0 6V FLEX"), True),
        (("AUDI", "A3 LM 180CV"), ("Audi", "A4", "2.0 TFSI"), True),
        (("AUDI", "A3 LM 180CV"), ("Audi", "A3", "SEDAN 1.8 180CV"), False),
        (("AUDI", "A3 LM 180CV"), ("", "", "A3 SEDAN 1.8 180CV"), False),
        (("AUDI", "A3 LM 180CV"), ("", "", ""), False),
        (("VW", "VW/GOL 1.0"), ("VW - VolksWagen", "Gol (novo) 1.0 Mi Total Flex", ""), False),
        (("VW", "VW/GOL 1.0"), ("VW - VolksWagen", "Polo 1.0", ""), True),
        (("GM", "CHEV/ONIX PLUS 10TAT LTZ"), ("GM - Chevrolet", "ONIX SED. Plus LTZ", ""), False),
        (("BMW", "I/BMW 320I ACTIVE FLEX"), ("BMW", "320iA 2.0 TB/Active Flex", ""), False),
        (("MERCEDES BENZ", "I/M.BENZ A200"), ("Mercedes-Benz", "A 200 1.6 TB", ""), False),
        (("CHERY", "CHERY/TIGGO5X TXS"), ("Caoa Chery", "TIGGO 5X TXS 1.5", ""), False),
        (("FORD", "FORD/F-250 XLT"), ("Ford", "F-250 XLT 3.9", ""), False),
        (("HONDA", "HONDA/CG 150 TITAN"), ("HONDA", "CG 150 TITAN-ES", ""), False),
        (("PEUGEOT", "PEUGEOT/208 ACTIVE"), ("Peugeot", "208 Active 1.2", ""), False),
        (("MARCA NOVA", "X1"), ("Outra Marca", "X1", ""), False),
        (("", ""), ("Fiat", "ARGO", ""), False),
        # The register abbreviates and joins names.
        (("", "I/LR EVOQUE DYNAMIC 5D"), ("Land Rover", "Range R.Evoque Dynamic", ""), False),
        (("", "I/JEEP GCHEROKEE LIMITED"), ("Jeep", "Grand Cherokee Limited", ""), False),
        (("", "VW/24.280 CRM 6X2"), ("VOLKSWAGEN", "24-280 E Constel. 3-Eixos", ""), False),
        (("", "I/VOLVO XC60 T5"), ("Volvo", "XC 60 T-5 2.0 245cv", ""), False),
        (("", "HONDA/HRV EXL CVT"), ("Honda", "HR-V EXL 1.8", ""), False),
        (("", "SCANIA/R 440 A6X4"), ("SCANIA", "R-440 A 6x4 2p (diesel)", ""), False),
        (("", "RENAULT/MEGANEGT DYN 16"), ("Renault", "Megane Grand Tour", ""), False),
        (("", "YAMAHA/FAZER YS250"), ("YAMAHA", "YS 250 FAZER/ FAZER L.", ""), False),
        (("", "VW/NOVO GOL TL MCV"), ("VW - VolksWagen", "Gol Trendline 1.0", ""), False),
        (("", "VW/GOL 16V"), ("VW - VolksWagen", "Gol 1.0 8V Plus", ""), False),
        (("", "FIAT/UNO MILLE FIRE"), ("Fiat", "Mille Fire/ F.Flex 4p", ""), False),
        # Another model whose name begins with, ends with or resembles the registered one.
        (("", "VW/GOL 1.0"), ("VW - VolksWagen", "Golf 1.0 TSI", ""), True),
        (("", "VW/FOX 1.0"), ("VW - VolksWagen", "CrossFox 1.6", ""), True),
        (("", "I/VOLVO XC60"), ("Volvo", "XC 90 T-8", ""), True),
        (("", "HONDA/CG 125 FAN"), ("HONDA", "CG 160 FAN", ""), True),
        (("", "I/M.BENZ C 180"), ("Mercedes-Benz", "CLC 200 K", ""), True),
    ],
)
def test_entry_of_another_make_or_model_is_recognised(
    registered: tuple[str, str], entry: tuple[str, str, str], is_other: bool
) -> None:
    make, description = registered
    names = dict(zip(("marca", "modelo", "versao"), entry, strict=True))
    sent = {"marca": make, "descricao": description, "informacoesFipe": [names | {"ano": "2015"}]}
    car = read_decode(sent, "INFORMACAO OCULTADA")
    assert of_other_vehicle(car.fipe[0], car) is is_other


@pytest.mark.parametrize(
    ("fuel", "fits"),
    [("Gasolina", True), ("Flex", True), ("Álcool", True), ("Diesel", False), ("Elétrico", False)],
)
def test_one_fuel_of_a_flexible_vehicle_is_no_difference(fuel: str, fits: bool) -> None:
    car = vehicle({"ano": "2015", "versao": "A3", "combustivel": fuel})
    (one,) = rank(car.fipe, car)
    assert ("combustível" in one.other) is not fits
