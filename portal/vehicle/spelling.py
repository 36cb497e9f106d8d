"""Converts the registers' texts, which lack accents, to readable Portuguese.

The registers write "POLICIA RODOVIARIA FEDERAL" and "Alcool / Gasolina". _ACCENTED_WORDS lists the
words whose accents are restored. It leaves out ambiguous words such as "A", which may stand for "a"
or "à".
"""

import re

from portal.vehicle.field import fold
from portal.wording import bare

_ACCENTED_WORDS = """
ação acessório adaptações advertência aérea aglomeração água álcool alienação amapá amazônia
ambulância andré antecedência antônio anuência após apreensão aproximação araçatuba área áreas
assunção até atenção audição automática automático automóveis automóvel autônomo autorização
autuação autuações avaliação avançar averbação bancária bancário belém braço braços brasília calçada
calçadas calçado calço câmara câmbio caminhão caminhões canalização característica características
cartório ceará cerração circulação cíveis cível clínico cobrança combustíveis combustível compatível
competência competição comunicação conceição concessão conciliação concluído condição condições
condução cônjuge conservação contínua contramão conversão coração crédito criança crianças critério
cuiabá decisão declaração deficiência demonstração dependência depósito dimensões direção disponível
distância divisão doméstica domicílio domínio duração edificação elétrica elétrico elétricos
eletrônica eletrônico emergência emissão escrituração específica especificação especificações
específicos estação exceção execução execuções exibição exigíveis exigível experiência explosão
extensão fabricação falência falências família famílias faróis férrea fiduciária fiscalização física
físico flexível florianópolis forçar formação frequência frequências fumaça gás getúlio goiânia
goiás grão habilitação híbrida híbrido hipótese horário horários identificação ilhéus iluminação
iminência imobilizações importação impossível inalterável incêndio incompatível indicação
indispensáveis indisponível inexigíveis inexigível infância influência informação informações
infração infrações início inscrição inspeção instalações instantâneo interdição interseção
interseções irrecuperável itajaí joão josé judiciária judiciárias judiciário juízes juízo jundiaí
júri jurídica justiça lâmpadas lançando licença limitação lotação luís macapá maceió manutenção mãos
máquina maranhão marília maringá máxima máximo mecânica mecânico mediação mínima mínimo ministério
mossoró movimentação mudança município municípios nacionalização não necessária necessárias niterói
nível notificação núcleo número obrigatória obrigatório obrigatórios observância obstáculo
ocorrência óculos ofício óleo ondulação ônibus operação órfãos órgão órgãos padrão padrões painéis
paraíba paraná paranaguá partículas pedágio película perícia perímetro periódico permissão pés
petrópolis piauí polícia posição posições prática precatórias precaução preferência prejuízo
previdenciária prisão procuração proibição própria proprietária proprietário próprio propulsão
proteção prótese providências psíquico pública públicas público públicos rápida rápido razão ré
realização recuperação recuperações refúgio refúgios região regulamentação regularização relação
relações remoção renovação residência responsável restrição restrições ribeirão rodízio rodoviária
rodoviário rondônia rotatória ruído saída santarém são seção segurança semáforo sequência serviço
serviços símbolo sinalização situação situações sócio solicitação subseção substância substâncias
subterrânea sucessões superintendência suspensão taubaté táxi temporária teresópolis título títulos
toxicológico tração transferência trânsito transmissão tributária tributário túneis túnel uberlândia
única único urgência utilitário utilização veículo veículos versão vestuário viária viário vigência
violência visão visível vítima vitória
"""
_ACCENTED = {bare(word): word for word in _ACCENTED_WORDS.split()}
# The list above cannot convert "MICROONIBUS", because it only restores accents. The modern spelling
# also needs a hyphen.
_ACCENTED |= {"MICROONIBUS": "micro-ônibus"}

# Names and acronyms, which have capitals even inside a sentence. The codes of the states PA, AM, RO
# and SE are missing, because these letters are more often a word ("se") or the name of a road.
_PROPER_WORDS = """
ACC ANTT BIN CET Ciretran CMT CNH CNPJ Contran CPF CRLV CRV CTB CVT DER Detran DNIT DPVAT FIPE GLP
GNV IPVA JARI PBT PBTC PPD PRF Renach Renainf Renajud Renavam Senatran STF STJ TRF TRT
AC AL AP BA CE DF ES GO MA MG MS MT PB PE PI PR RJ RN RR RS SC SP TO
Acre Alagoas Amapá Bahia Brasil Brasília Ceará Goiás Maranhão Paraná Paraíba Pernambuco Piauí
Rondônia Roraima Sergipe Tocantins
"""
_PROPER = {bare(word): word for word in _PROPER_WORDS.split()}
# Words that are in lower case inside a name ("Rio de Janeiro").
_SMALL = frozenset(("A", "AO", "COM", "DA", "DAS", "DE", "DO", "DOS", "E", "EM", "NA", "NO"))
_UNITS = {"KM": "km", "M": "m", "CM": "cm", "CV": "cv", "KG": "kg"}
# Short words that have only their first letter in upper case in names of places ("Rua"). Most other
# words of up to three letters are acronyms, and stay in upper case.
_SHORT_WORDS_TEXT = """
AV ALA ANA BOA BOM CEL CIA DR DRA EST GAL LUZ LUA MAR MAL PAZ RIO ROD RUA SOL SUL STA STO TV VIA VL
"""
_SHORT_WORDS = frozenset(_SHORT_WORDS_TEXT.split())
_WORD = re.compile(r"[^\W\d_]+")
_VOWEL = re.compile(r"[AEIOUY]")


def sentence_case(text: str) -> str:
    """Spell an upper-case text as a sentence: "NAO EXIGIVEL" → "Não exigível".

    A text that has lower-case letters keeps its case, and only gets missing accents.
    """
    if _is_mixed(text):
        return accented(text)
    spelled = _WORD.sub(lambda match: _in_sentence(match, text), text)
    start = next((i for i, char in enumerate(spelled) if char.isalnum()), 0)
    return spelled[:start] + spelled[start : start + 1].upper() + spelled[start + 1 :]


def name_case(text: str) -> str:
    """Spell the name of an authority or place: "AV SAO JOAO" → "Av São João"."""
    if _is_mixed(text):
        return accented(text)
    return _WORD.sub(lambda match: _in_name(match, text), text)


def accented(text: str) -> str:
    """Add missing accents, and keep each word's case: "Alcool" → "Álcool"."""
    return _WORD.sub(lambda match: _with_accents(match[0]), text)


def spelled_like(text: str, model: str) -> str:
    """Return ``text`` in sentence case, with its first words spelled as in ``model``.

    The first words are those before the first word that differs from ``model`` in more than case
    and accents. ``model`` supplies the accents of ambiguous words, which _ACCENTED_WORDS leaves
    out. For example, the "A" of "SUPERIOR A MAXIMA" becomes "à" only if ``model`` begins with
    "superior à".
    """
    if fold(text) == fold(model):
        return model
    words, models = sentence_case(text).split(" "), model.split(" ")
    for position, (word, better) in enumerate(zip(words, models, strict=False)):
        if fold(word) != fold(better):
            break
        words[position] = better
    return " ".join(words)


def _is_mixed(text: str) -> bool:
    return any(char.islower() for char in text.replace("ª", "").replace("º", ""))


def _is_code(match: re.Match[str], text: str) -> bool:
    """Return whether the word is part of a code such as "A3" or "BR-040"."""
    before, after = text[: match.start()], text[match.end() :]
    if before[-1:].isdigit() or after[:1].isdigit():
        return True
    return len(match[0]) <= 3 and bool(re.match(r"-[0-9]", after))


def _in_sentence(match: re.Match[str], text: str) -> str:
    word = match[0]
    if _is_code(match, text):
        return _unit_after_number(match, text)
    folded = bare(word)
    if folded in _PROPER:
        return _PROPER[folded]
    return _ACCENTED.get(folded, word.lower())


def _unit_after_number(match: re.Match[str], text: str) -> str:
    is_alone = not text[match.end() : match.end() + 1].isdigit()
    return _UNITS.get(match[0], match[0]) if is_alone else match[0]


def _in_name(match: re.Match[str], text: str) -> str:
    word = match[0]
    if _is_code(match, text):
        return _unit_after_number(match, text)
    folded = bare(word)
    if folded == "KM":
        return "km"
    if folded in _SMALL and match.start() > 0:
        return word.lower()
    if folded in _PROPER:
        return _PROPER[folded]
    if folded in _ACCENTED:
        return _ACCENTED[folded].capitalize()
    is_acronym = (len(word) <= 3 and folded not in _SHORT_WORDS) or not _VOWEL.search(folded)
    return word if is_acronym else word.capitalize()


def _with_accents(word: str) -> str:
    spelling = _ACCENTED.get(bare(word))
    if spelling is None or len(spelling) != len(word) or not word.isascii():
        return word
    return "".join(
        good.upper() if sent.isupper() else good for sent, good in zip(word, spelling, strict=True)
    )
