"""The names of versions, as the register and the price table write them."""

import pytest

from portal.vehicle.versions import compare

DIFFERING = """
S10 High Country 2.8 4x4 CD Diesel Aut. | S10 LS CS
Hilux CD SRX | HILUX CS DLX
Strada Volcano CD Aut. | STRADA ENDURANCE CS13
Saveiro Cross CD | SAVEIRO CS
Ranger Limited CD | RANGER XL CS4
Fiesta 1.6 Hatch | FIESTA SEDAN
CG 160 TITAN | CG 160 FAN
up! cross 1.0 | UP TAKE
Corolla ALTIS 2.0 | COROLLA GLI18
Civic EXR | CIVIC LXS
Renegade Limited 1.8 4x2 Aut. | RENEGADE SPORT MT
Logan Intense 1.6 | LOGAN AUTH
Hilux CD SRX 4x4 2.8 | HILUX CDSRVA4FD
Hilux CD SR 4x4 2.8 | HILUX CDSRVA4FD
ONIX HATCH LTZ 1.0 | ONIX 10MT LT1
ONIX PREMIER 1.0 Aut. | ONIX 10MT LT1
Amarok CS S 2.0 | AMAROK CD 4X4
Frontier LE CD 4x4 | FRONTIER XE 4X2 CD
L200 Triton Sport HPE AT | L200 TRITON GL MT
Virtus Highline 1.0 Aut. | VIRTUS MSI MT
HB20 Sense 1.0 | HB20 10M VISION LIMITED
Kwid Zen 1.0 | KWID INTENSE
Argo Trekking 1.3 | ARGO DRIVE
Mobi Like 1.0 | MOBI WAY
Ka SE 1.0 | KA SEL 1.5
Golf Comfortline | GOLF HIGHLINE AA
Jetta Trendline | JETTA COMFORT
Cruze Sedan LT | CRUZE HB SPORT LTZ
Spin LT 1.8 | SPIN PREMIER 18L AT
Compass Longitude 4x2 | COMPASS TRAILHAWK 4X4
Sandero Expression | SANDERO PRIV 16
Duster Dynamique 4x4 | DUSTER EXPRESSION 4X2
Fit EXL CVT | FIT LX MT
City Touring Sedan | CITY EX HATCH
March SV 1.6 | MARCH S 16 MT UNIQUE
Kicks SL CVT | KICKS ADVANCE
208 Griffe Aut. | 208 ALLURE MEC
C3 Shine Aut. | C3 FEEL
Tracker LTZ | TRACKER PREMIER
Toro Ultra 4x4 Diesel | TORO ENDURANCE AT6
"""
ALIKE = """
Hilux CD SRV 4x4 2.8 | HILUX CDSRVA4FD
ONIX HATCH LT 1.0 | ONIX 10MT LT1
Renegade Longitude 1.8 | RENEGADE LONGITUDE F
T-Cross Comfortline 1.0 | T CROSS CL
Toro Freedom 1.8 16V Flex Aut. | TORO FREEDOM AT9
Logan Authentique 1.0 | LOGAN AUTH 10
Polo Trendline 1.0 | POLO TREND
S10 LS 2.8 CS Diesel | S10 LS CS
Ranger XLS CD 4x4 | RANGER XLSCD4A22C
Strada Freedom CD | STRADA FREEDOM CD13
Saveiro Robust CS | SAVEIRO CS RB MF
Gol 1.0 Mi Total Flex 8V 4p | GOL 1.0
A3 LM 1.8 TFSI | A3 LM 180CV
CG 160 Fan Flex | CG 160 FAN
Corolla XEI 2.0 Aut. | COROLLA XEI20FLEX
Civic EXL CVT | CIVIC EXL
HB20S Premium Sedan | HB20S 16A PREM
Compass Limited 4x4 Diesel Aut. | COMPASS LIMITED D
Fiesta Sedan 1.6 | FIESTA SEDAN1.6FLEX
Uno Way 1.0 | UNO WAY 1.0
"""


def pairs(text: str) -> list[tuple[str, str]]:
    return [
        (table.strip(), register.strip())
        for table, register in (line.split("|") for line in text.strip().splitlines())
    ]


@pytest.mark.parametrize(("table", "register"), pairs(DIFFERING))
def test_another_version_is_noticed(table: str, register: str) -> None:
    assert compare(table, register).differing


@pytest.mark.parametrize(("table", "register"), pairs(ALIKE))
def test_the_register_s_own_version_has_no_difference(table: str, register: str) -> None:
    assert compare(table, register).differing == ()
