"""The Brazilian states, with their courts and the bodies that issue fines."""

import random
from dataclasses import dataclass

from portal.sandbox.profile import Issuer


@dataclass(frozen=True, slots=True)
class Region:
    """One state.

    ``of_court`` is the text after "TRIBUNAL DE JUSTICA" (court of justice) in the name of the
    state's court. ``authorities`` are the digits of the state in the codes of its authorities.
    ``municipality_code`` is the capital's four-digit code in TOM, the federal table of
    municipalities. ``weight`` is roughly the state's share of Brazil's vehicles in per cent.
    """

    of_court: str
    authorities: str
    capital: str
    municipality_code: str
    road: str
    labour_court: str
    weight: int


_TABLE = """
AC|DO ACRE|01|RIO BRANCO|0139|BR-364|TRT14|1
AL|DE ALAGOAS|02|MACEIO|2785|BR-101|TRT19|1
AM|DO AMAZONAS|03|MANAUS|0255|BR-174|TRT11|2
AP|DO AMAPA|04|MACAPA|0605|BR-156|TRT8|1
BA|DA BAHIA|05|SALVADOR|3849|BR-324|TRT5|5
CE|DO CEARA|06|FORTALEZA|1389|BR-116|TRT7|4
DF|DO DISTRITO FEDERAL E DOS TERRITORIOS|07|BRASILIA|9701|BR-020|TRT10|4
ES|DO ESPIRITO SANTO|08|VITORIA|5705|BR-101|TRT17|2
GO|DE GOIAS|09|GOIANIA|9373|BR-060|TRT18|5
MA|DO MARANHAO|10|SAO LUIS|0921|BR-135|TRT16|2
MG|DE MINAS GERAIS|13|BELO HORIZONTE|4123|BR-040|TRT3|12
MS|DE MATO GROSSO DO SUL|12|CAMPO GRANDE|9051|BR-163|TRT24|2
MT|DE MATO GROSSO|11|CUIABA|9067|BR-364|TRT23|2
PA|DO PARA|14|BELEM|0427|BR-316|TRT8|3
PB|DA PARAIBA|15|JOAO PESSOA|2051|BR-230|TRT13|1
PE|DE PERNAMBUCO|17|RECIFE|2531|BR-232|TRT6|4
PI|DO PIAUI|18|TERESINA|1219|BR-343|TRT22|1
PR|DO PARANA|16|CURITIBA|7535|BR-277|TRT9|8
RJ|DO RIO DE JANEIRO|19|RIO DE JANEIRO|6001|BR-101|TRT1|8
RN|DO RIO GRANDE DO NORTE|20|NATAL|1761|BR-304|TRT21|1
RO|DE RONDONIA|22|PORTO VELHO|0003|BR-364|TRT14|1
RR|DE RORAIMA|23|BOA VISTA|0301|BR-174|TRT11|1
RS|DO RIO GRANDE DO SUL|21|PORTO ALEGRE|8801|BR-290|TRT4|7
SC|DE SANTA CATARINA|25|FLORIANOPOLIS|8105|BR-282|TRT12|6
SE|DE SERGIPE|27|ARACAJU|3105|BR-101|TRT20|1
SP|DE SAO PAULO|26|SAO PAULO|7107|BR-116|TRT2|28
TO|DO TOCANTINS|28|PALMAS|9733|BR-153|TRT10|1
"""


def _region(line: str) -> Region:
    _, of_court, authorities, capital, municipality, road, labour, weight = line.split("|")
    return Region(of_court, authorities, capital, municipality, road, labour, int(weight))


REGIONS = {line[:2]: _region(line) for line in _TABLE.split("\n") if line}


@dataclass(frozen=True, slots=True)
class Authority:
    """The body that issued a fine, and the place of the infraction."""

    code: str
    name: str
    place: str


def draw_state(rng: random.Random) -> str:
    return rng.choices(list(REGIONS), [region.weight for region in REGIONS.values()])[0]


def authority(issuer: Issuer, state: str, rng: random.Random) -> Authority:
    """Return a body of the kind ``issuer`` in a state, and a random place."""
    region = REGIONS[state]
    if issuer == "federal":
        place = f"{region.road} KM {rng.randint(3, 640)},{rng.randint(0, 9)}"
        return Authority("000100", "POLICIA RODOVIARIA FEDERAL", place)
    street = rng.choice(
        ("AV BRASIL", "AV GETULIO VARGAS", "R SETE DE SETEMBRO", "AV SANTOS DUMONT", "AV BEIRA RIO")
    )
    place = f"{street}, {rng.randint(20, 4800)}"
    if issuer == "state":
        return Authority(f"1{region.authorities}100", f"DETRAN {state}", place)
    code = f"2{region.municipality_code}0"
    return Authority(code, f"PREFEITURA MUNICIPAL DE {region.capital}", place)
