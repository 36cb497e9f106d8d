"""Reads what a free text says against a vehicle: theft, a lien, a write-off, a block, debts.

The texts are those that a person or a program wrote into an answer: the written report, the
vehicle's own data. A text warns of a subject if it names it, and neither denies it ("SEM ROUBO",
"LEILAO: NADA CONSTA") nor only sends the reader elsewhere ("CONSULTE O DETRAN"). Where a text can
be read in two ways, it warns: a warning only makes a verdict more careful.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from portal.fragments import any_of
from portal.law.act_answers import Act
from portal.law.denials import After, Reading
from portal.wording import bare


class Subject(StrEnum):
    """What a text warns of. The first subjects weigh most."""

    THEFT = "theft"
    SEIZURE = "seizure"
    SCRAP = "scrap"
    CHASSIS = "chassis"
    COURT = "court"
    LIEN = "lien"
    BLOCK = "block"
    SALE_NOTICE = "sale_notice"
    DAMAGE = "damage"
    AUCTION = "auction"
    DEBTS = "debts"
    FINES = "fines"
    MILEAGE = "mileage"
    RECALL = "recall"
    ADVICE = "advice"
    OTHER = "other"


# Without these, no price may be suggested to a buyer.
ENDS_CEILING: Final = frozenset(
    {
        *(Subject.THEFT, Subject.SEIZURE, Subject.SCRAP, Subject.CHASSIS),
        *(Subject.COURT, Subject.LIEN, Subject.BLOCK, Subject.SALE_NOTICE, Subject.ADVICE),
    }
)

# A text that warns of these may say which kind of order it means.
MAY_NAME_KINDS: Final = frozenset((Subject.COURT, Subject.SEIZURE, Subject.BLOCK))

# The acts that each subject makes doubtful.
REACH: Final[Mapping[Subject, frozenset[Act]]] = {
    Subject.THEFT: frozenset(("transfer", "licence", "drive", "removal")),
    Subject.SEIZURE: frozenset(("transfer", "licence", "drive", "removal")),
    Subject.SCRAP: frozenset(("transfer", "licence", "drive")),
    Subject.CHASSIS: frozenset(("transfer",)),
    Subject.COURT: frozenset(("transfer", "licence", "drive", "removal")),
    Subject.LIEN: frozenset(("transfer",)),
    Subject.BLOCK: frozenset(("transfer", "licence")),
    Subject.SALE_NOTICE: frozenset(("transfer", "licence")),
    Subject.DAMAGE: frozenset(("transfer", "licence")),
    Subject.AUCTION: frozenset(),
    Subject.DEBTS: frozenset(("transfer", "licence")),
    Subject.FINES: frozenset(("transfer", "licence")),
    Subject.MILEAGE: frozenset(),
    Subject.RECALL: frozenset(),
    Subject.ADVICE: frozenset(),
    Subject.OTHER: frozenset(),
}

# Stems, as sources abbreviate at will ("AL. FIDUC.", "ROUB/FURT", "ARREND MERC"). The subjects are
# tried in this order, so that "BLOQUEIO JUDICIAL" is an order and "BUSCA E APREENSAO" a seizure. In
# "MOTOR NAO FOI TROCADO", the group "ill" is what may be denied.
_STEMS: Final = (
    (
        Subject.SEIZURE,
        r"BUSCA (E|/) ?APREENS\w*|\bBUSCA/APREENS\w*|\bAPREEN[DS]\w*|\bGUINCHAD\w*|\bCONFISC\w*"
        r"|\bPERDIMENTO|\bREINTEGRACAO DE POSSE|\bRETOMAD[OA] (PEL|JUDIC)\w*"
        r"|\bRETOM(OU|ARAM) (O|ESTE|ESSE) (VEIC|CARR|AUTO|BEM)\w*"
        r"|\b(RECOLH|REMO[VC]|RETID|DETID|LEVAD|ENCAMINHAD)\w* (A|AO|EM|N[OA]|PARA O?|P/) ?(PATIO"
        r"|DEPOSITO)\b"
        r"|\b(N[OA]|EM) (PATIO|DEPOSITO) (D[OE] )?(DETRAN|CET|DER|PRF|POLICIA|ORGAO)",
    ),
    (
        Subject.THEFT,
        r"(?<!ANTI)(?<!ANTI[ -])\b(ROUB|FURT)\w*|\bQUEIXA\w*|\bAPROPRIACAO INDEB\w*"
        r"|\bESTELIONAT\w*|\bPRODUTO DE (CRIME|ILICITO)|\bSUBTRA(I|C)\w*|\bRECEPTAC\w*"
        r"|\bLATROCINI\w*"
        r"|\bASSALT\w*|\b(OCORRENCIAS?|PASSAGE(M|NS)|REGISTROS?) (PELA )?POLICIA(L|IS)?\b"
        r"|\bSTOLEN\b|\bTHEFT\b|\bPROCURADO PEL[AO]\b",
    ),
    (
        Subject.SCRAP,
        r"\bSUCAT\w*|\bIRRECUPER\w*|\bDES(MANCH|MONT)\w*|\bINSERVIV\w*|\bPERDA TOTAL|\bP\. ?T\."
        r"|\bPT\b(?!-)|\bFERRO[ -]VELHO|\bSCRAP\w*|\bTOTALED\b"
        r"|\b(BAIXA|BX\.?) (DEFINIT|PERMANEN|TEMPOR|DO VEIC|DE VEIC)\w*|\bVEIC\w* BAIXAD\w*"
        r"|\b(GRANDE|GRD\.?|GDE\.?|GR\.?|G\.?) MONTA|\bMONTA GRANDE"
        r"|\bSEM DIREITO A DOC\w*"
        r"|\bBAIXAD[OA]\b(?<!NAO \w{7})(?<!NEM \w{7})(?<!NAO ESTA \w{7})(?<!NAO FOI \w{7})"
        r"|\bFORA DE CIRCULACAO|\b(REGISTRO|CADASTRO) (DO VEIC\w* )?CANCELADO",
    ),
    (
        Subject.MILEAGE,
        r"\b(H?ODOMETRO|QUILOMETRAGEM|KM|KMS|PAINEL)\b[^;.!?\n]{0,40}?\b(?P<ill>ADULTER\w*"
        r"|DIVERG\w*"
        r"|INCONSIST\w*|REDU[ZC]\w*|INCOMPATIV\w*|VOLTAD\w*|VOLTOU|FRAUD\w*|IRREGULAR\w*|ALTERAD\w*"
        r"|MANIPUL\w*|SUSPEIT\w*|RETROCE\w*|REGREDI\w*|REBAIXAD\w*|BAIXAD\w*|INFERIOR|MENOR DO QUE"
        r"|NAO (E )?(CONFERE|CORRESPON|REAL|CONDIZ|BATE)\w*)"
        r"|\b(?:ADULTER|FRAUD|MANIPUL|REDUC|ALTERAC|REGRESS|INCONSIST|DIVERG|VOLTA|RETROCES)\w*"
        r" (?:(?:D|N|EM|ENTRE)[EOA]?S? )?(?:H?ODOMETRO|QUILOMETRAGEM|KMS?)\b|\bROLLBACK",
    ),
    (
        Subject.CHASSIS,
        r"\bREMARC\w*|(?<=[0-9])[ (*/-]*\(?REM\b\)?|^REM (?=[0-9A-Z]{6})"
        r"|\bADULTER\w*|\bCLON(E|AD|AG)\w*|\bDUBLE\w*|\bRASPA[DG]\w*|\bRASUR\w*|\bSUPRIMID\w*"
        r"|\bLIXA[DM]\w*|\bFALSIFIC\w*|\bFALS[AO]S?\b|\b(RE)?PUNCIONA\w*|\bREGRAVA[DC]\w*"
        r"|\bPINA(GE|D)\w*"
        r"|\bRENUMERA\w*|\bENXERT\w*|\bTRANSPLANT\w*"
        r"|\b(CHASSI|MOTOR|CAMBIO|BLOCO|PLACA|PLAQUETA|NUMERACAO|GRAVACAO|ETIQUETA|VIDRO|NIV\b"
        r"|VIN\b)\w*"
        r"(?:(?! (?:OLEO|CORREIA|FILTRO|VELA|PNEU)|[;.!?\n]).){0,40}?"
        r"\b(?P<ill>DIVERG\w*|DIFERE\w*|DESTOA\w*|TROCAD\w*|SUBSTITUID\w*|ALTERAD\w*|VIOLAD\w*"
        r"|IRREGULAR\w*"
        r"|SOLDA\w*|CORTAD\w*|ILEGIVE\w*|APAGAD\w*|CORROID\w*|SUSPEIT\w*|FORA D[OE] PADRAO"
        r"|AUSENTES?\b"
        r"|PERTENC\w* A OUTR|SEM (NUMERACAO|GRAVACAO|PLAQUETA)( VISIVEL| LEGIVEL)?(?=\W*$|[,(])"
        r"|NAO (SAO |E |ESTA |FOI )?(CONFERE|CORRESPOND|CADASTRAD|ORIGINA|PERTENC|BATE|CONDIZ"
        r"|REGISTRAD)\w*"
        r"|NAO CONSTAM? (N|D)[AO]S? (BASE|BIN|CADASTR|SISTEM|RENAVAM)\w*|POSSIVEL TROCA)"
        r"|\b(?:DIFERE|DESTOA|NAO (?:CONFERE|CORRESPON|BATE|CONDIZ))\w*[^;.!?\n]{0,40}?"
        r"\b(?:CHASSI|MOTOR|NUMERACAO|GRAVACAO|PLACA)\b"
        r"|\b(CHASSI|MOTOR|CAMBIO|PLACA) (E |SAO )?D[EO] OUTR[OA]S? (VEIC|CARR|AUTO|MODEL|UNID)\w*"
        r"|\b(DIVERG\w*|ALTERACAO|TROCA|SUBSTITUICAO|IRREGULARIDADE\w*|VIOLACAO) (N[OA]S?"
        r"|D[OAE]S?|DE)"
        r" (NUMERACAO D[OE] )?(CHASSI|MOTOR|PLACA|NUMERACAO)",
    ),
    (
        Subject.COURT,
        r"\bJUDICIA\w*|\bJUD\b|\bRENAJUD\b|\bPENHORA\w*|\bARREST[OA]\w*|\bSEQUESTR\w*"
        r"|\bINDISPONIB\w*"
        r"|\bEXECUCAO\b|\bORDEM D[OE] JUI[ZS]\w*|\bPREMONITORI\w*|\bSENTENCA\b|\bLIMINAR\b"
        r"|\bSUB JUDICE|\bLITIG\w*|\bCONSTRICAO|\bBACENJUD|\bSISBAJUD|\bMANDADO\b|\bCOURT ORDER\w*"
        r"|\bESPOLIO\b|\bEM INVENTARIO\b|\bINVENTARIO (ABERT|EM CURSO|PENDENTE)\w*"
        r"|\b(PROPRIETARI|DON)[OA] FALECID[OA]\b|\bALVARA JUDICIAL\b"
        r"|\bVARA (CIV|D[OAE]|FED|CRIM|FAM|UNICA|TRAB)\w*"
        r"|\bPROCESSOS? (N|JUDIC|TRABALH|CIV|CRIM|FISC|D[EO] EXEC|MOVID|EM CURSO)\w*",
    ),
    (
        Subject.LIEN,
        r"\bALIEN\w*|\bAL\.? ?FID\w*|\bFIDUC\w*|\bGRAVAM\w*"
        r"|(?<!ACEITA )(?<!ACEITO )(?<!FACILITA )(?<!PODE SER )\bFINANC(I\w*|ED\b|\.)"
        r"|\bFINANCEIRA\b|\bLEASING\b"
        r"|\bARREND\w*|\bRES(ERVA|\.)? (DE )?DOMI\w*|\bPENHOR\b|\bONUS\b|\bCONSORCI\w*|\bLIENS?\b"
        r"|\bGARANTIA (REAL|D[EO] (BANCO|CONTRAT|CREDIT|DIVIDA|EMPREST|FINANC|PAGAM))\w*"
        r"|\bEM GARANTIA\b|\bSALDO DEVEDOR|\bCREDOR FID\w*|\bPARCELAS? (EM ABERTO|ATRAS|VENCID"
        r"|A VENCER|REST)\w*",
    ),
    (
        Subject.SALE_NOTICE,
        r"\b(COM(UNIC\w*|\.)?|INTENC\w*|AVISO|NOTICIA) (DE |DA |A )?VENDA\w*|\bCOMUNICADA A VENDA"
        r"|\bVENDA (JA )?(FOI )?(COMUNICADA|INFORMADA|NOTIFICADA)|\bVENDIDO E NAO TRANSFERIDO"
        r"|\bATPV(-?E)?\b",
    ),
    (
        Subject.AUCTION,
        r"\bLEIL(?!A\b|AS?\b|ANE\b)\w*|\bARREMAT\w*|\bPATIO LEGAL|\bHASTA PUBLICA"
        r"|\bAUCTION\w*|\bCOPART\b",
    ),
    (
        Subject.DAMAGE,
        r"\bSINIST\w*|\b(PEQ\w*|MED\w*)\.? MONTA|\bMONTA (PEQ|MED)\w*|\bDANOS?\b"
        r"|\bCOLI(S\w*|DI(U|D[OA]S?|RAM|R)\b)"
        r"|\bDANIFICAD\w*|\bACIDENT\w*|\bALAGA\w*|\bENCHENTE\w*|\bINUNDA\w*|\bINCEND\w*"
        r"|\bQUEIMAD(O|A|AS)?\b"
        r"|\bSALVADOS?\b|\bSALVAGE\b|\bINDENIZ\w*|\bAVARI\w*|\bBATID[AO]\w*|\bBAT(EU|ERAM)\b"
        r"|\bCAPOT(A\b(?! MARIT)|A\w+|O\w*)|\bTOMB(OU|AD|AM)\w*|\bRECUPERAD[OA]\b"
        r"|\bSUBMERS\w*|\bAMASSAD\w*"
        r"|\bABALRO\w*"
        r"|\bEMPENAD\w*|\bDEFORMA\w*|\bENGAVET\w*|\bCRASH\w*|\bACCIDENT\w*|\bREPAROS? ESTRUTURA\w*"
        r"|\bAIR ?BAGS?\b[^;,.!?\n]{0,20}\b(DEFLAGR|ACIONAD|ESTOURAD|DISPAR)\w*"
        r"|\b(LONGARINA|COLUNA|ESTRUTURA|MONOBLOCO)\w*[^;,.!?\n]{0,30}?"
        r"\b(?P<ill>SOLDA|TORT|REPARAD|CORTAD|TROCAD|COMPROMET|AFETAD|ABALAD|REFEIT)\w*"
        r"|\b(?:REPARO|REPINTURA|SOLDA|EMENDA|CORTE)\w* (?:N|D)[AO]S? (?:LONGARIN|COLUN|ESTRUTUR"
        r"|TETO"
        r"|MONOBLOCO|ASSOALHO)\w*",
    ),
    (
        Subject.BLOCK,
        r"\bBLOQ(?!UEIO (DE |DO )?DIF)\w*|\bIMPEDI\w*|\bPROIBI\w*|\bRESTRIC\w*|\bRESTR\.?\b"
        r"|\bNAO (SE )?TRANSFERE\b(?! (MULTA|DEBIT|DIVID|RESPONS))"
        r"|\bABANDONAD\w*|\bVISTORIA REPROVAD\w*|\bINTERDI\w*"
        r"|\bNAO (E|SERA) POSSIVEL (TRANSFERI|LICENCIA|EMPLACA|CIRCULA)\w*"
        r"|\bNAO PODE SER (TRANSFERI|LICENCIA|EMPLACA)\w*|\bTRANSFERENCIA \w*\W?(VEDADA|NEGADA"
        r"|SUSPENSA)",
    ),
    (
        Subject.DEBTS,
        r"\bIPVA\w*|\bDEBITO\w*|\bDIVIDA\w*|\bDPVAT\b"
        r"|\bLIC(ENC\w*|\.)(?:(?! E |EM DIA)[^;,.!?\n]){0,30}?"
        r"\b(ATRAS\w*|VENC(EU|ID\w*)|ABERTO|PENDENT\w*|DEVID\w*"
        r"|NAO (FOI |ESTA )?(PAG|QUIT|RECOLH|EFETU|REALIZ|RENOV|REGULARIZ)\w*)"
        r"|\bTAXAS?\b(?! DE (JURO|DESVAL|DEPREC|VALOR|INFLA|CONSUM))(?!( E \w{1,20})? NAO INCLU)"
        r"|\bINADIMPL\w*|\bPROTEST\w*"
        r"|\bPENDENC\w*|\bDEVE R\$|\bEM ATRASO\b|\bSEGURO OBRIGATORIO",
    ),
    (Subject.FINES, r"\bMULTA(S|DO|DA)?\b|\bAUTUAC\w*|\bINFRAC\w*"),
    (Subject.RECALL, r"\bRECALL\w*|\bCHAMAMENTO\b"),
)
_OF_SUBJECT: Final = tuple((subject, re.compile(pattern)) for subject, pattern in _STEMS)
_ADVICE: Final = re.compile(
    r"\bNAO (SE |E |O )?(ACONSELH|ADQUIR|APROV|APTO|APTA|COMPR(?!OV|OM)|FECH|INDIC|INVIST|LEVE"
    r"|MERECE|NEGOCI|PROSSEG|PAGUE|RECOMEND|SUGER|VALE)\w*"
    r"|\bNAO (E )?(UM )?BO[MA] (NEGOCI|COMPR|OPC)\w*"
    r"|\bDESACONSELH\w*|\bREPROV(AD|AMO|O|A)\w*|\bDESIST\w*|\bAFASTE-SE|\bPASSE LONGE|\bINAPT[OA]\b"
    r"|\bEVIT(E|AR|EM)( D?ESS[AE]S?| EST[AE]S?)?( [AO])? (AQUISI|COMPR|NEGOCI|VEIC|CARR)\w*"
    r"|\bPROCUR\w+ (UM )?OUTR[OA]\b|\bFUJA\b|\bINVIAVEL|\bDESFAVORAVEL|\bTEMERARI\w*|\bCILADA"
    r"|\bFURADA\b|\bNAO (E |SERIA )?(SEGUR[OA]|PRUDENTE|ACONSELHAVEL) (A )?"
    r"(COMPR|NEGOCI|ADQUIR|FECH)\w*"
    r"|\bCONTRAINDIC\w*|\b(ALTO|ELEVADO) RISCO|\bRISCO (\w{3,9} )?(E )?(ALTO|ELEVADO|GRAVE)"
    r"|\bGOLPE\b"
    r"|\bFRAUDE\b|\bRED FLAGS?\b|\bNOT RECOMMENDED|\bMELHOR (NAO|PROCURAR|DEIXAR|DESISTIR)"
    r"|\b(NEGOCIO|COMPRA) (DE RISCO|ARRISCAD\w*|PERIGOS\w*)|\bPARECER (E )?(NEGATIVO|CONTRARIO)"
    r"|\b(PESSIM|MA) (COMPRA|NEGOCIO|OPCAO)"
)
# Most texts name no subject. One search of these fragments spares them all patterns: each match of
# a stem has one of them.
_FRAGMENTS: Final = any_of(
    "ROUB|FURT|QUEIX|INDEB|ESTELION|CRIME|ILICITO|SUBTRA|RECEPTA|LATROC|ASSALT|OCORRENCIA|STOLEN"
    "|THEFT|PROCURAD|BUSCA|APREE|RECOLHI|PASSAGE|REGISTRO|CADASTRO|GUINCHAD|CONFISC|PERDIMENTO|REINTEGRA|RETOM|DEPOSITO"
    "|PATIO|SUCAT|IRRECUP|DESMA|DESMO|INSERV|PERDA|PT|BAIXA|BX|MONTA|FERRO|SCRAP|TOTALED"
    "|CIRCULACAO|DIREITO|ODOM|QUILOM|KM|PAINEL|ROLLBACK|REM|ADULT|CLON|DUBLE|RASP|RASUR|SUPRIM"
    "|LIXA|FALS|PUNCION|REGRAV|PINA|RENUMER|ENXERT|TRANSPLANT|DIVERG|DIFERE|DESTOA|TROC|SUBSTITU"
    "|ALTER|VIOL|IRREG|SOLDA|CORTAD|ILEG|APAGAD|CORROID|SUSPEIT|PADRAO|AUSENTE|PERTENC|POSSIVEL"
    "|JUD|PENHOR|ARREST|SEQUEST|INDISPON|EXECUCAO|JUIS|JUIZ|PREMON|SENTEN|LIMINAR|LITIG|CONSTRI"
    "|MANDADO|COURT|VARA|PROCESSO|LIEN|FID|GRAVAM|FINANC|LEASING|ARREND|DOMI|ONUS|CONSORC"
    "|GARANTIA|SALDO|PARCELA|VEND|ATPV|LEIL|ARREMAT|HASTA|AUCTION|COPART|SINIS|DANO|DANIF|COLIS"
    "|COLID|ACIDEN|ACCIDEN|ALAGA|ENCHEN|INUNDA|INCEND|QUEIMA|SALVA|INDENIZ|AVARI|BATID|BATEU"
    "|BATERAM|CAPOT|TOMB|RECUPERAD|SUBMERS|AMASSA|ABALRO|EMPENA|DEFORMA|ENGAVET|CRASH|REPARO"
    "|REPARAD|BAG|TORT|COMPROMET|AFETAD|ABALAD|REFEIT|REPINTURA|EMENDA|CORTE|BLOQ|IMPEDI|PROIB"
    "|RESTR|ABANDON|REPROV|INTERDI|VEDADA|NEGADA|SUSPENS|IPVA|DEBITO|DIVIDA|DPVAT|LIC|TAXA"
    "|INADIMP|PROTEST|PENDENC|DEVE|ATRASO|OBRIGATORIO|MULTA|AUTUA|INFRA|RECALL|CHAMAMENTO"
    "|DESACONS|DESIST|AFASTE|LONGE|INAPT|EVIT|OUTR|FUJA|INVIAV|DESFAV|TEMERAR|CILADA|FURADA"
    "|CONTRAIND|RISCO|ARRISC|PERIG|GOLPE|FRAUD|FLAG|RECOMMEND|MELHOR|COMPRA|NEGOCI|OPCAO"
    "|PARECER|P.|INVENTARI|ESPOLI|FALECID|ALVARA|NAO |SEM "
)
# A region, and a car's equipment. A day behind it makes an event of an "alerta de colisão".
_NO_WARNING: Final = re.compile(
    r"\bBAIXADA (?:SANTISTA|FLUMINENSE|CUIABANA|MARANHENSE|DO GLICERIO)\b"
    r"|\b(?:ALERTAS?|AVISOS?|ASSISTENTES?|SENSOR(?:ES)?|DETECTOR(?:ES)?|SISTEMA|PREVENCAO|MITIGACAO)"
    r" (?:DE |CONTRA |ANTI-?|PRE-?)*COLIS(?:AO|OES)\b(?: (?:FRONTAL|TRASEIRA|LATERAL|IMINENTE))*"
    r"(?!\W+(?:\w+ )?(?:EM|NO|NA|DE|DIA) \d)(?! (?:REGISTR|ATIV|CONST|ENCONTR|GRAVE))"
)
# The dot of an abbreviation ends no sentence.
_SENTENCE: Final = re.compile(
    r"[;!\n]"
    r"|(?<!\bAL)(?<!\bRES)(?<!\bMED)(?<!\bPEQ)(?<!\bGDE)(?<!\bGRD)(?<!\bGR)(?<!\bCOM)(?<!\bBX)"
    r"(?<!\bRESTR)(?<!\bARREND)(?<!\b[A-Z])(?<!\bFINANC)(?<!\bLIC)(?<!\bLICENC)(?<!\bADM)"
    r"(?<!\bJUD)(?<!\bTRIB)(?<!\bTRANSF)(?<!\bCIRC)(?<!\bREG)(?<!\bSR)(?<!\bREF)(?<!\bOBS)\.(?=\s"
    r"|$)|\b(?:MAS|POREM|CONTUDO|ENTRETANTO|TODAVIA)\b"
    # "Quitado mas não baixado" says two things of one subject.
    r"(?!,? (?:AINDA )?(?:NAO|SEM) (?:(?:FOI|ESTA|AINDA) )?(?:A )?"
    r"(?:BAIX|QUIT|LIBERA|CANCEL|PAG)\w*)"
)
_ENDABLE: Final = frozenset(
    {
        *(Subject.COURT, Subject.LIEN, Subject.BLOCK, Subject.SALE_NOTICE, Subject.SEIZURE),
        *(Subject.DEBTS, Subject.FINES, Subject.RECALL),
    }
)
# Behind a subject, these only send elsewhere, or say that it was not looked for.
_VAGUE: Final = re.compile(
    r"\b(CONSULT(E|EM|AR|AS?)|CONFIR(A|AM|ME|MEM|MAR)|CONFERIR|VERIFI(QUE|QUEM|CAR)|PESQUIS(E|EM"
    r"|AR)"
    r"|CHE(QUE|CAR)|INDISPON(?!IBILIDADE DE BENS)\w*)\b"
    r"|\bNAO (FOI|FORAM|E) (POSSIVEL|INCLU|CONSULTA|VERIFICA|PESQUISA)\w*"
    r"|\bNAO (INFORMAD|DISPONIV|COBERT|CONSTANTE)\w*\b(?! (NO (DOC|CRLV)|AO (DETRAN|ORGAO)"
    r"|PELO (VEND|PROP|DONO)))|\b(DEVE|PRECISA)M? SER\b"
)
# An offer is no record, and an approval or a hidden text warns of nothing.
_ELSEWHERE: Final = re.compile(
    r"\bACEITA \w|\bGARANTIA DE FABRICA|\b(APROVAD|VERIFICAD)[AO]\b|\bOCULT[AO] PELA"
)
_STATES: Final = re.compile(
    r"CONSTAM?|CONSTOU|CONSTATAD\w*|HA|HOUVE|POSSUI|EXISTEM?|ATIV[OA]S?|IDENTIFICAD\w*"
    r"|ENCONTRAD\w*|APONTA\w*|ACUSA\w*|SIM|POSITIV[OA]|REGISTRAD[OA]S?|VIGENTES?"
)
_MOST_AMOUNTS: Final = 40
_PRICE: Final = re.compile(r"\b(FIPE|PRECO|TABELA|MERCADO|VENDA|VALE|AVALIAD\w*|PAG[OA]S?)\b")
_FOR: Final = re.compile(r"\b(PARA|DE|A|QUE)\s*$")
_PAYABLE: Final = frozenset((Subject.DEBTS, Subject.FINES, Subject.RECALL))
_CONDITION: Final = re.compile(r"\b(ANTES|ATE|CASO|ENQUANTO|SE|SEM (A|UMA)? ?VISTORIA)\b")
# What belongs to the words that name a subject.
_BEFORE: Final = re.compile(r"\b(?:CHASSI|MOTOR|VEICULO|NAO) $")
_AFTER: Final = re.compile(r" FIDUCIARIA\b| DE (?:FURTO|LEILAO|ROUBO|SINISTRO)\b")
# What may stand between subjects of one list: "ROUBO, FURTO E PASSAGEM POR LEILAO".
_LISTED: Final = re.compile(
    r"[^\w.;!?]*(?:(?:A|AO|AS|COM|DA|DAS|DE|DO|DOS|E|EM|HISTORICO|INDICIOS?|NO|O|OCORRENCIAS?|OS|OU"
    r"|PASSAGEM|POR|QUALQUER|REGISTROS?|TIPO)\b[^\w.;!?]*)*"
)
# A subject with one of these behind it answers for itself: "ROUBO: NAO LEILAO: SIM".
_LABEL: Final = re.compile(r"[ )*]{0,4}[:?=]")
_ANSWERED: Final = re.compile(r"[:?=]\W*\w")
_DENIAL_BEFORE: Final = re.compile(r"\b(NAO|SEM|NENHUMA?|NEM)\s*$")
# Words that head a column, and no finding.
_COLUMN: Final = re.compile(r"(STATUS|SITUACAO|RESULTADOS?|RESPOSTA|DETALHES?|VALOR|QTDE?|\W)+")
_HEADS: Final = re.compile(r"STATUS|SITUACAO|RESULTADO|RESPOSTA|DETALHE|VALOR|QTD")
_MARKED_FINE: Final = re.compile(r"[✅✔☑🟢]")
_BULLET: Final = re.compile(r"\s*([-*•·–—|]|\d+[.)])")
_LONGEST_HEADING: Final = 60
# Longer than the words of _BEFORE and _DENIAL_BEFORE.
_NEAR: Final = 12
# "BAIXADO" and "RECUPERADO" end these, and say nothing of the vehicle beside them.
_MAY_END: Final = _ENDABLE | {Subject.THEFT}
_END_WORD: Final = re.compile(
    r"((REGISTRO|CADASTRO) )?(BAIXAD|RECUPERAD|PAG|QUITAD|LIBERAD|CANCELAD)[AO]S?"
)
_NOTHING: Final = re.compile(
    r"\bNADA CONSTA|\bNADA (FOI )?(ENCONTRAD|LOCALIZAD)O|\bNAO (CONSTA|HA\b|HOUVE|EXISTE)"
    r"|\bNENHUM(A|AS)? (REGISTR|OCORR|APONT|ANOT|RESULT|INDIC|PROBL|PENDEN|ALERT)"
    r"|\bNEGATIV[AO]S?\b|^\W*(NAO|NADA|NENHUM|NENHUMA|N/?C|ZERO|0)\W*$|\bSEM (REGISTR|APONT|ANOT"
    r"|OCORR)"
)


# A list goes on behind one of its names and a word for it: "SEM MULTAS, GRAVAMES ATIVOS OU FURTO".
_GOES_ON: Final = re.compile(r" \w+ (?:OU|NEM)\b")
# The last name of a list may be of what there is: "SEM MULTAS, FINANCIAMENTO ATIVO".
_IN_FORCE: Final = re.compile(r" (?:ATIV[OA]|VIGENTE|EM ABERTO)\b(?! (?:OU|NEM|E)\b|,)")
_GOES_ON_AT_ONCE: Final = re.compile(r" \w+(?: (?:OU|NEM|E)\b|,)")


@dataclass(frozen=True, slots=True)
class Adverse:
    """A subject that a text warns of, with the words that name it, as sent.

    ``sentence`` is the sentence around them, in capitals and without accents.
    """

    subject: Subject
    words: str
    sentence: str


@dataclass(frozen=True, slots=True)
class _Named:
    """Where a sentence names a subject, and from where on the words before may deny it."""

    subject: Subject
    first: int
    last: int
    ill: int


def adverse_in(text: str) -> Iterator[Adverse]:
    """Yield each subject that a text warns of, once, in the text's order."""
    seen: set[Subject] = set()
    for one in each_adverse_in(text):
        if one.subject not in seen:
            seen.add(one.subject)
            yield one


def may_warn(text: str) -> bool:
    """Return whether a text has a part of a word that warns. Most texts have none."""
    return bool(_FRAGMENTS.search(bare(text)))


def each_adverse_in(text: str) -> Iterator[Adverse]:
    """Yield the subjects that each sentence of a text warns of.

    A sentence that names no subject and states an amount goes on with the one before it:
    "DEBITOS: R$ 3.400,00; SEGUNDA COTA R$ 230,50".
    """
    read = bare(text)
    if not _FRAGMENTS.search(read):
        return
    read = _without_names(read)
    as_sent = text if len(text) == len(read) else read
    sentences = list(_sentences(read))
    for number, (start, sentence) in enumerate(sentences):
        whole = sentence + _rest(sentences, number)
        seen: set[Subject] = set()
        for offset, part in _parts(sentence):
            for one in _affirmed(part):
                if one.subject not in seen:
                    seen.add(one.subject)
                    first, last = (start + offset + position for position in _whole(part, one))
                    yield Adverse(one.subject, as_sent[first:last].strip(" ,;:"), whole)


def _without_names(read: str) -> str:
    """Return a text of the same length without places and equipment that look like warnings."""
    return _NO_WARNING.sub(lambda match: "_" * len(match[0]), read)


def _rest(sentences: Sequence[tuple[int, str]], number: int) -> str:
    """Return the sentences that only go on with amounts of the one before."""
    behind = []
    for _, sentence in sentences[number + 1 : number + 1 + _MOST_AMOUNTS]:
        is_amount = "R$" in sentence and not _PRICE.search(sentence)
        if not is_amount or _named(sentence) or Reading(sentence).says_fine():
            break
        behind.append(sentence)
    return "".join(f"; {clause}" for clause in behind)


def states_something(text: str) -> bool:
    """Return whether a sentence of a text says that something is on record, without naming what.

    "Houve restrição, já baixada" names what has ended.
    """
    unnamed = (sentence for _, sentence in _sentences(bare(text)) if not _named(sentence))
    readings = map(Reading, unnamed)
    return any(reading.states(_STATES) and reading.is_about_records() for reading in readings)


def reads_clean(text: str) -> bool:
    """Return whether a text denies something, says that all is well, or sends elsewhere.

    A text that names a subject is judged by ``adverse_in``, and reads as clean here.
    """
    read = bare(text)
    reading = Reading(read)
    return (
        reading.has_denial()
        or reading.says_fine()
        or bool(_named(read))
        or bool(_VAGUE.search(read) or _ELSEWHERE.search(read) or _MARKED_FINE.search(read))
    )


def names_subject(text: str) -> bool:
    """Return whether a text names what it is about, be it denied or not."""
    return any(one.subject is not Subject.ADVICE for one in _named(bare(text)))


def denies(text: str) -> bool:
    """Return whether a text has a word of denial."""
    return Reading(bare(text)).has_denial()


def denied_in(text: str) -> Iterator[tuple[Subject, str]]:
    """Yield each subject that a text denies or says has ended, with the words that name it."""
    for _, sentence in _sentences(_without_names(bare(text))):
        for _, part in _parts(sentence):
            reading = Reading(part)
            if not (reading.has_denial() or reading.says_fine()):
                continue
            affirmed = set(_affirmed(part))
            for one in _named(part):
                if one not in affirmed:
                    yield one.subject, part[one.first : one.last]


def denies_record(text: str) -> bool:
    """Return whether a sentence denies that anything is on record, but for what it excepts."""
    return any(map(_denies_record, (sentence for _, sentence in _sentences(bare(text)))))


def _denies_record(sentence: str) -> bool:
    reading = Reading(sentence)
    excepted = (reading.is_excepted_at(one.first) for one in _named(sentence))
    return reading.has_denial() and bool(_NOTHING.search(sentence)) and all(excepted)


def leaves_standing(words: re.Pattern[str], text: str) -> bool:
    """Return whether a text has one of the words, and neither denies nor ends what it names."""
    for _, sentence in _sentences(bare(text)):
        reading = Reading(sentence)
        for match in words.finditer(sentence):
            comma = sentence.find(",", match.end())
            end = comma if comma >= 0 else len(sentence)
            is_open = reading.after(match.end(), end, is_last=True) is After.LEFT_OPEN
            if is_open and not reading.is_denied_at(match.start()):
                return True
    return False


def denies_all(text: str) -> bool:
    """Return whether each sentence of a text denies that something is on record."""
    sentences = [sentence for _, sentence in _sentences(bare(text))]
    filled = [sentence for sentence in sentences if any(map(str.isalnum, sentence))]
    return bool(filled) and all(map(_is_denial, filled))


def _is_denial(sentence: str) -> bool:
    if not Reading(sentence).has_denial() or any(_affirmed(sentence)):
        return False
    is_named = any(one.subject is not Subject.ADVICE for one in _named(sentence))
    return is_named or bool(_NOTHING.search(sentence))


def _sentences(read: str) -> Iterator[tuple[int, str]]:
    """Yield where sentences begin, and the sentences. A heading belongs to the line below it."""
    start = 0
    for mark in _SENTENCE.finditer(read):
        if mark[0] == "\n" and _is_heading(read, start, mark.start()):
            continue
        yield start, read[start : mark.start()]
        start = mark.end()
    yield start, read[start:]


def _is_heading(read: str, start: int, end: int) -> bool:
    line = read[start:end].strip() if end - start <= _LONGEST_HEADING else ""
    if not line or _BULLET.match(line):
        return False
    if line.endswith(":"):
        return True
    below = read[end + 1 : end + 1 + _LONGEST_HEADING].partition("\n")[0]
    if not below.strip() or not _names_only(line, _named(line)):
        return False
    return bool(_BULLET.match(below)) or not _named(below)


def _names_only(text: str, named: Sequence[_Named]) -> bool:
    """Return whether a text has no other words than the names of subjects."""
    if not named:
        return False
    ends = [0, *(one.last for one in named)]
    starts = [*(one.first for one in named), len(text)]
    return all(_LISTED.fullmatch(text[end:start]) for end, start in zip(ends, starts, strict=True))


def _parts(sentence: str) -> Iterator[tuple[int, str]]:
    """Cut a sentence before each subject that has an answer of its own, but the first."""
    start = 0
    for group in _groups(sentence, _named(sentence)):
        first, last = group[0].first, group[-1].last
        if (
            _LABEL.match(sentence, last)
            and _ANSWERED.search(sentence, start, first)
            and not _DENIAL_BEFORE.search(sentence[max(first - _NEAR, 0) : first])
        ):
            yield start, sentence[start:first]
            start = first
    yield start, sentence[start:]


def _whole(part: str, one: _Named) -> tuple[int, int]:
    """Return where the words around a subject begin and end that belong to it."""
    near = max(one.first - _NEAR, 0)
    before, after = _BEFORE.search(part[near : one.first]), _AFTER.match(part, one.last)
    return near + before.start() if before else one.first, after.end() if after else one.last


def _affirmed(part: str) -> Iterator[_Named]:
    named = _named(part)
    if not named or _is_column(part, named) or _is_marked_fine(part, named):
        return
    groups, reading = _groups(part, named), Reading(part)
    states = reading.states(_STATES)
    condition = max((match.start() for match in _CONDITION.finditer(part)), default=-1)
    for number, group in enumerate(groups):
        last, is_last = group[-1].last, number + 1 == len(groups)
        end = len(part) if is_last else groups[number + 1][0].first
        after = reading.after(last, end, is_last=is_last)
        comma = part.find(",", last, end)
        is_vague = not states and _VAGUE.search(part, last, comma if comma >= 0 else end)
        if reading.is_excepted_at(group[0].first):
            # "Sem restrições, exceto gravame já baixado" excepts what has ended.
            own = reading.after(last, comma if comma >= 0 else end, is_last=is_last)
            after = own if own is After.ENDED else After.LEFT_OPEN
        is_confirmed = reading.is_confirmed(last)
        # "Leilão não consta, furto consta": behind a comma, a subject is denied or affirmed anew.
        # "Sem furto, leilão registrado ou sinistro" goes on with what is denied.
        is_new = part[: group[0].first].rstrip().endswith(",")
        goes_on = _GOES_ON.match(part, last) if number else _GOES_ON_AT_ONCE.match(part, last)
        is_confirmed |= is_new and not goes_on and reading.is_stated_behind(last)
        # "Nenhum roubo, exceto o de 2021": the exception names no subject of its own.
        is_confirmed |= after is After.ENDED and reading.is_disclaimed_at(last)
        excepts = is_last and reading.excepts_within(last, end)
        has_ended = excepts and reading.has_end_within(last, end)
        for one in group:
            is_last_of_list = one is group[-1] and part[: one.first].rstrip().endswith(",")
            is_in_force = is_last_of_list and bool(_IN_FORCE.match(part, one.last))
            if one.subject is Subject.ADVICE:
                is_denied = _is_advice_denied(part, one, group[0].first, reading)
                is_affirmed = condition < one.last and not is_denied
            else:
                is_held = (
                    is_confirmed
                    or is_in_force
                    or (excepts and not (has_ended and one.subject in _ENDABLE))
                )
                is_affirmed = not (
                    is_vague
                    or (reading.is_denied_at(one.ill) and not is_held)
                    or (not states and reading.is_advised_at(one.first))
                    or (_ends(after, one.subject) and not is_held)
                )
            if is_affirmed:
                yield one


def _ends(after: After, subject: Subject) -> bool:
    match after:
        case After.DENIED:
            return True
        case After.ENDED:
            return subject in _ENDABLE
        case After.UP_TO_DATE:
            return subject in _PAYABLE
        case After.LEFT_OPEN:
            return False


def _is_advice_denied(part: str, one: _Named, start: int, reading: Reading) -> bool:
    """Return whether the words right before a list, which starts there, deny an advice of it."""
    begun = max(part.rfind(sign, 0, start) for sign in ",:?")
    if begun >= 0 and not reading.is_denied_within(begun, start):
        return False
    # "Não há pendências e não recomendamos" denies the first, and advises against the vehicle.
    is_negation = part.startswith("NAO", one.first)
    return reading.is_denied_at(one.first) and (
        not is_negation or bool(_FOR.search(part[max(one.first - _NEAR, 0) : one.first]))
    )


def _is_column(part: str, named: Sequence[_Named]) -> bool:
    """Return whether a part only heads a table: "RESTRICAO | STATUS"."""
    rest = part[named[-1].last :]
    return (
        _names_only(part[: named[-1].last].replace("|", " "), named)
        and bool(_COLUMN.fullmatch(rest))
        and bool(_HEADS.search(rest))
    )


def _is_marked_fine(part: str, named: Sequence[_Named]) -> bool:
    """Return whether a part has no other words than names, with a mark that all is well."""
    marks = _MARKED_FINE.search(part)
    return bool(marks) and _names_only(_MARKED_FINE.sub(" ", part), named)


def _groups(part: str, named: Sequence[_Named]) -> list[list[_Named]]:
    """Return the subjects, those of one list together: "ROUBO, FURTO E LEILAO"."""
    groups: list[list[_Named]] = []
    for one in named:
        if groups and _LISTED.fullmatch(part[groups[-1][-1].last : one.first]):
            groups[-1].append(one)
        else:
            groups.append([one])
    return groups


def _named(part: str) -> list[_Named]:
    """Return the subjects that words name, none over another, in their order."""
    named: list[_Named] = []
    taken = bytearray(len(part))
    for subject, pattern in (*_OF_SUBJECT, (Subject.ADVICE, _ADVICE)):
        for match in pattern.finditer(part):
            first, last = match.span()
            if not any(taken[first:last]):
                taken[first:last] = b"\1" * (last - first)
                ill = match.start("ill") if "ill" in pattern.groupindex else -1
                named.append(_Named(subject, first, last, ill if ill >= 0 else first))
    subjects = {one.subject for one in named}
    if Subject.COURT in subjects:
        # "RENAJUD: CONSTA RESTRICAO" names one thing.
        named = [one for one in named if one.subject is not Subject.BLOCK]
    if subjects & _MAY_END:
        # A lien that is "BAIXADO" has ended. A vehicle that is "BAIXADO" was written off.
        named = [one for one in named if not _END_WORD.fullmatch(part, one.first, one.last)]
    return sorted(named, key=lambda one: one.first)
