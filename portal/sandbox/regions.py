"""The Brazilian states, with their courts and the bodies that issue fines."""

import random
from dataclasses import dataclass

from portal.sandbox.profile import Issuer


@dataclass(frozen=True, slots=True)
class Region:
    """One state.

    ``of_court`` is the text after "TRIBUNAL DE JUSTICA" (court of justice) in the name of the
    state's court. ``municipality_code`` is the capital's four-digit code in TOM, the federal table
    of municipalities, or "" if the code is uncertain. ``weight`` is roughly the state's share of
    Brazil's vehicles in per cent.
    """

    of_court: str
    ibge_code: str
    capital: str
    municipality_code: str
    road: str
    labour_court: str
    weight: int


_TABLE = """
AC|DO ACRE|12|RIO BRANCO||BR-364|TRT14|1
AL|DE ALAGOAS|27|MACEIO||BR-101|TRT19|1
AM|DO AMAZONAS|13|MANAUS|0255|BR-174|TRT11|2
AP|DO AMAPA|16|MACAPA||BR-156|TRT8|1
BA|DA BAHIA|29|SALVADOR|3849|BR-324|TRT5|5
CE|DO CEARA|23|FORTALEZA|1389|BR-116|TRT7|4
DF|DO DISTRITO FEDERAL E DOS TERRITORIOS|53|BRASILIA|9701|BR-020|TRT10|4
ES|DO ESPIRITO SANTO|32|VITORIA||BR-101|TRT17|2
GO|DE GOIAS|52|GOIANIA|9373|BR-060|TRT18|5
MA|DO MARANHAO|21|SAO LUIS||BR-135|TRT16|2
MG|DE MINAS GERAIS|31|BELO HORIZONTE|4123|BR-040|TRT3|12
MS|DE MATO GROSSO DO SUL|50|CAMPO GRANDE|9051|BR-163|TRT24|2
MT|DE MATO GROSSO|51|CUIABA||BR-364|TRT23|2
PA|DO PARA|15|BELEM|0427|BR-316|TRT8|3
PB|DA PARAIBA|25|JOAO PESSOA||BR-230|TRT13|1
PE|DE PERNAMBUCO|26|RECIFE|2531|BR-232|TRT6|4
PI|DO PIAUI|22|TERESINA||BR-343|TRT22|1
PR|DO PARANA|41|CURITIBA|7535|BR-277|TRT9|8
RJ|DO RIO DE JANEIRO|33|RIO DE JANEIRO|6001|BR-101|TRT1|8
RN|DO RIO GRANDE DO NORTE|24|NATAL||BR-304|TRT21|1
RO|DE RONDONIA|11|PORTO VELHO||BR-364|TRT14|1
RR|DE RORAIMA|14|BOA VISTA||BR-174|TRT11|1
RS|DO RIO GRANDE DO SUL|43|PORTO ALEGRE|8801|BR-290|TRT4|7
SC|DE SANTA CATARINA|42|FLORIANOPOLIS||BR-282|TRT12|6
SE|DE SERGIPE|28|ARACAJU||BR-101|TRT20|1
SP|DE SAO PAULO|35|SAO PAULO|7107|BR-116|TRT2|28
TO|DO TOCANTINS|17|PALMAS||BR-153|TRT10|1
"""


def _region(line: str) -> Region:
    _, of_court, ibge, capital, municipality, road, labour, weight = line.split("|")
    return Region(of_court, ibge, capital, municipality, road, labour, int(weight))


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
        return Authority(f"1{region.ibge_code}100", f"DETRAN {state}", place)
    code = f"2{region.municipality_code or region.ibge_code + '01'}0"
    return Authority(code, f"PREFEITURA MUNICIPAL DE {region.capital}", place)
