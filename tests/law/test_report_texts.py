"""Texts as report writers write them: what they affirm is alerted, what they deny is not."""

import re
import time
from dataclasses import replace
from decimal import Decimal
from string import ascii_uppercase

import pytest
from hypothesis import given
from hypothesis import strategies as st

from portal.law.adverse import _ADVICE, _FRAGMENTS, _OF_SUBJECT
from portal.law.assessment import totals
from portal.law.orders import AssessedOrder
from portal.law.report_check import alerts_of
from portal.vehicle.report import Report, read_report
from portal.wording import bare
from tests.factories import HIDDEN
from tests.law.records import TODAY, restriction

ADVERSE: list[tuple[str, str, set[str]]] = [
    # "EM ORDEM" and "EM DIA" say that all is well, these do not.
    ("multas", "Débito vencido no dia 10/10/2024", {"debts"}),
    ("multas", "IPVA devido desde o dia 10/10/2024", {"debts"}),
    ("restricoes", "Penhora por ordem da 2a vara", {"court"}),
    ("restricoes", "Bloqueio de ordem administrativa", {"block"}),
    (
        "restricoes",
        "Conforme consulta de hoje na base do Detran, o gravame não foi ainda baixado.",
        {"lien"},
    ),
    # A sentence that names nothing is of the topic's subject.
    ("rouboFurto", "Não há queixa de furto. Consta 1 registro.", {"theft"}),
    # Behind a comma, a subject is affirmed anew.
    ("rouboFurto", "Leilão não consta, furto consta ativo", {"theft"}),
    ("restricoes", "Roubo não há, gravame ativo", {"lien"}),
    ("restricoes", "Sem registros, gravame ativo.", {"lien"}),
    ("resumo", "Sem multas, financiamento ativo.", {"lien"}),
    ("resumo", "Sem registro de leilão, gravame ativo em nome do banco.", {"lien"}),
    # What is missing is why something is so, and denies nothing.
    ("restricoes", "Bloqueio administrativo do Detran por ausência de vistoria.", {"block"}),
    ("restricoes", "Bloqueio do Detran por não comunicação de venda.", {"block", "sale_notice"}),
    ("restricoes", "Bloqueio em razão da ausência de pagamento do IPVA.", {"block", "debts"}),
    ("restricoes", "Gravame ativo por não quitação do contrato.", {"lien"}),
    ("proprietarios", "Último dono falecido; bem em inventário.", {"court"}),
    ("proprietarios", "O veículo integra espólio.", {"court"}),
    ("multas", "Multas não constam, débitos constam", {"debts"}),
    (
        "rouboFurto",
        "✅ Veículo c/ registro de furto em 12/03/2019, recuperado em 20/03/2019.",
        {"theft"},
    ),
    ("rouboFurto", "CONSTA OCORRENCIA DE ROUBO ATIVA - BO 4521/2023 - DP VILA MARIANA", {"theft"}),
    (
        "rouboFurto",
        "Não há queixa de furto. Há, porém, um boletim de roubo de 2021 ainda não baixado.",
        {"theft"},
    ),
    (
        "rouboFurto",
        "Histórico: roubado em São Paulo em 2018; devolvido ao proprietário no mesmo ano.",
        {"theft"},
    ),
    (
        "rouboFurto",
        "O alerta de subtração do automóvel segue em aberto na base da Polícia Civil.",
        {"theft"},
    ),
    (
        "leilao",
        "Sim, o carro foi arrematado em leilão da Copart em 08/2020, lote 1123.",
        {"auction"},
    ),
    (
        "leilao",
        "⚠️ 1 (um) registro em base de leilões: comitente seguradora, condição 'média monta'.",
        {"auction", "damage"},
    ),
    ("leilao", "- Leilão: SIM\n- Leiloeiro: Sodré Santos\n- Ano: 2017", {"auction"}),
    (
        "leilao",
        "Passagem por leilão? Positivo. Score de leilão: 80%.",
        {"auction"},
    ),
    (
        "fipe",
        "Valor de tabela R$ 48.900,00; deságio de 30% recomendado por ser salvado de seguradora.",
        {"damage", "scrap", "auction"},
    ),
    (
        "fipe",
        "O hodômetro marca 42.000 km, mas a vistoria de 2021 registrou 97.300 km, "
        "o que sugere quilometragem adulterada.",
        {"mileage"},
    ),
    ("chassiMotor", "Nº DO MOTOR DIVERGENTE DO CADASTRO (BIN)", {"chassis"}),
    ("chassiMotor", "Chassi remarcado (REM) conforme CRLV.", {"chassis"}),
    (
        "chassiMotor",
        "Gravação do chassi com sinais de lixamento e puncionamento fora do padrão de fábrica.",
        {"chassis"},
    ),
    (
        "chassiMotor",
        "Etiquetas ETA ausentes e numeração do câmbio raspada. Demais itens sem alterações.",
        {"chassis"},
    ),
    (
        "chassiMotor",
        "Tudo original, exceto o motor, que foi trocado e não está regularizado.",
        {"chassis"},
    ),
    ("restricoes", "Nada consta, exceto alienação fiduciária ao Banco Itaú S.A.", {"lien"}),
    ("restricoes", "RENAJUD: 2 (duas) ordens - circulação e transferência.", {"court", "block"}),
    (
        "restricoes",
        "Veículo financiado. Gravame ativo (BV Financeira), contrato de 60x.",
        {"lien"},
    ),
    (
        "restricoes",
        "Sem restrições administrativas; há penhora determinada pela 3ª Vara Cível de Campinas.",
        {"court"},
    ),
    ("restricoes", "Bloqueio adm. do DETRAN/SP por falta de transferência", {"block"}),
    (
        "restricoes",
        "Comunicação de venda registrada em 03/05/2024, s/ transferência pelo comprador.",
        {"sale_notice"},
    ),
    (
        "restricoes",
        "* Roubo/furto: não\n* Judicial: não\n* Arrendamento mercantil (leasing): sim",
        {"lien"},
    ),
    (
        "restricoes",
        "Não é verdade que o veículo esteja livre de ônus: pesa sobre ele busca e apreensão.",
        {"court", "seizure", "lien"},
    ),
    (
        "restricoes",
        "A restrição tributária inserida pela SEFAZ impede a transferência.",
        {"block", "debts", "other"},
    ),
    (
        "restricoes",
        "Recall pendente: airbag Takata, campanha 2019/0432, não atendida.",
        {"recall"},
    ),
    (
        "restricoes",
        "Reserva de domínio em favor de Auto Center Lima Ltda.",
        {"lien"},
    ),
    ("multas", "🔴 **Débitos**: R$ 3.412,77 (IPVA 2023 e 2024 + licenciamento)", {"debts"}),
    ("multas", "Foram localizadas 3 autuações: R$ 195,23; R$ 130,16; R$ 880,41.", {"fines"}),
    ("multas", "Multas: nenhuma. IPVA: em atraso desde 2022, inscrito em dívida ativa.", {"debts"}),
    ("multas", "IPVA 2025 EM ABERTO. LICENC. VENCIDO.", {"debts"}),
    (
        "multas",
        "Não constam multas, mas o licenciamento de 2024 não foi pago.",
        {"debts"},
    ),
    (
        "documentacao",
        "Situação: BAIXADO. Motivo: sucata / irrecuperável.",
        {"scrap"},
    ),
    (
        "documentacao",
        "Carro teve perda total (PT) em 2022 e foi indenizado pela seguradora.",
        {"damage", "scrap"},
    ),
    (
        "documentacao",
        "Documento em ordem; contudo o veículo encontra-se recolhido ao pátio do Detran desde "
        "maio.",
        {"seizure"},
    ),
    (
        "documentacao",
        "CRV com anotação de sinistro recuperado - média monta. CSV 123456.",
        {"damage"},
    ),
    (
        "proprietarios",
        "Quatro donos em 5 anos; o atual figura em ação de execução com bloqueio judicial do bem.",
        {"court", "block"},
    ),
    (
        "proprietarios",
        "Consta intenção de venda e comunicado de venda p/ terceiro (CPF ***.123.***-**).",
        {"sale_notice"},
    ),
    (
        "resumo",
        "Gol 1.0 2014, bom preço. Só um porém: bateu forte na dianteira, longarina soldada.",
        {"damage"},
    ),
    (
        "resumo",
        "Apesar do bom estado geral, o KM foi voltado — não confie no painel.",
        {"mileage"},
    ),
    (
        "resumo",
        "Carro clonado: há outra unidade circulando com a mesma placa no Paraná.",
        {"chassis", "theft", "other"},
    ),
    ("laudoFinal", "Reprovado. Sugerimos procurar outro veículo.", {"advice"}),
    (
        "laudoFinal",
        "Em nossa opinião, fuja desse negócio: o risco jurídico é alto demais.",
        {"advice"},
    ),
    ("laudoFinal", "NAO RECOMENDAMOS A AQUISICAO.", {"advice"}),
    (
        "laudoFinal",
        "Red flag! O carro é ex-salvage, com airbags deflagrados e teto amassado por capotamento.",
        {"damage", "scrap", "advice"},
    ),
    # Texts of a second round.
    ("rouboFurto", "Registro de roubo: positivo. Data: 04/05/2021.", {"theft"}),
    ("rouboFurto", "Foi objeto de roubo, já tendo sido devolvido à seguradora.", {"theft"}),
    ("rouboFurto", "Sem furto. Roubado em 2018.", {"theft"}),
    ("rouboFurto", "❗Ocorrência em aberto na PCSP (art. 157 CP).", {"theft"}),
    ("rouboFurto", "Constatou-se que a placa figura como furtada no Paraguai.", {"theft"}),
    ("leilao", "Embora não conste sinistro, há passagem por leilão em 2019.", {"auction"}),
    ("leilao", "Carro adquirido pelo atual dono em leilão do Detran.", {"auction"}),
    ("leilao", "✅ Leilão confirmado em 2 bases.", {"auction"}),
    (
        "leilao",
        "Este item requer atenção, pois o veículo foi leiloado em 15/07/2021 como recuperado de "
        "financiamento.",
        {"auction", "lien"},
    ),
    (
        "chassiMotor",
        "As plaquetas não são originais e o motor pertence a outro veículo.",
        {"chassis"},
    ),
    ("chassiMotor", "Chassi não original.", {"chassis"}),
    ("chassiMotor", "Não há dúvidas de que houve adulteração.", {"chassis"}),
    ("chassiMotor", "Possível remarcação de motor não informada no documento.", {"chassis"}),
    ("chassiMotor", "Chassi íntegro, porém motor sem numeração visível.", {"chassis"}),
    ("restricoes", "Gravame: ATIVO / Judicial: NADA CONSTA", {"lien"}),
    ("restricoes", "Financiamento em dia, 12 parcelas restantes.", {"lien"}),
    (
        "restricoes",
        "O bem responde por dívida trabalhista (penhora registrada).",
        {"court", "debts"},
    ),
    ("restricoes", "Judicial? Sim, uma.", {"court"}),
    (
        "restricoes",
        "Restrição à venda imposta pelo juízo da 2ª Vara de Família.",
        {"block", "court"},
    ),
    (
        "restricoes",
        "Veículo com impedimento: comunicado de venda não concluído.",
        {"block", "court", "sale_notice"},
    ),
    ("restricoes", "Bloqueio por furto de documento, baixa pendente.", {"block", "court", "theft"}),
    ("restricoes", "Restrições ativas: 2. Ver anexo.", {"block", "court"}),
    ("restricoes", "Salvo a alienação ao Bradesco, nada consta.", {"lien"}),
    ("restricoes", "Alienado ao Banco do Brasil, sem outras restrições.", {"lien"}),
    ("restricoes", "À exceção de um bloqueio judicial, está tudo certo.", {"block", "court"}),
    ("multas", "Multas vencidas: 5. Valor: R$ 1.020,00.", {"fines"}),
    ("multas", "Dívida ativa: sim (R$ 700).", {"debts"}),
    ("multas", "O IPVA não foi pago em 2024.", {"debts"}),
    ("multas", "Consta débito de licenciamento (R$ 160,22).", {"debts"}),
    ("multas", "Existem 2 multas por excesso de velocidade a vencer.", {"fines"}),
    ("documentacao", "Documento com indícios de falsificação.", {"chassis"}),
    (
        "documentacao",
        "Veículo sinistrado (laudo de média monta), liberado para circular após CSV.",
        {"damage"},
    ),
    ("documentacao", "Veículo encontra-se apreendido.", {"seizure"}),
    ("documentacao", "Situação no Detran: BAIXADO", {"scrap"}),
    (
        "proprietarios",
        "Último dono é locadora; há queixa de apropriação indébita contra o locatário.",
        {"theft"},
    ),
    ("resumo", "Trata-se de veículo recuperado de sinistro.", {"damage"}),
    ("resumo", "O carro já capotou.", {"damage"}),
    ("resumo", "Atenção: teto e colunas com massa e solda.", {"chassis", "damage"}),
    ("resumo", "A quilometragem foi reduzida em 60.000 km.", {"mileage"}),
    ("resumo", "Painel adulterado, segundo histórico de revisões.", {"chassis", "mileage"}),
    ("laudoFinal", "Não recomendável.", {"advice"}),
    ("laudoFinal", "Sugere-se não prosseguir com a compra.", {"advice"}),
    ("laudoFinal", "Compra não recomendada em razão do gravame.", {"advice", "lien"}),
    ("laudoFinal", "Contraindicamos o negócio.", {"advice"}),
    ("laudoFinal", "O risco é elevado; desista.", {"advice"}),
    (
        "laudoFinal",
        "Bom carro, mas com leilão e sinistro: só compre com 30% de desconto.",
        {"auction", "damage"},
    ),
    (
        "rouboFurto",
        "Existe B.O. de furto (nº 889/22). Situação: veículo não localizado.",
        {"theft"},
    ),
    ("rouboFurto", "Furtado? Sim. Recuperado? Não.", {"damage", "theft"}),
    ("rouboFurto", "Roubo: SIM | Furto: NÃO", {"theft"}),
    (
        "rouboFurto",
        "Sem ocorrência de furto; com ocorrência de roubo (baixada em 2020).",
        {"theft"},
    ),
    ("rouboFurto", "Não se descarta que o veículo tenha sido objeto de furto.", {"theft"}),
    ("leilao", "Consta oferta em leilão, porém sem comprovação de arremate.", {"auction"}),
    ("leilao", "Chance de leilão: alta (75%).", {"auction"}),
    ("chassiMotor", "Motor não consta na base BIN; possível troca sem regularização.", {"chassis"}),
    ("chassiMotor", "O número gravado no bloco difere daquele do documento.", {"chassis"}),
    ("chassiMotor", "Não confere com o original a tipografia da gravação do chassi.", {"chassis"}),
    ("chassiMotor", "Chassi: OK. Motor: numeração suprimida.", {"chassis"}),
    ("restricoes", "Possui alienação, mas a financeira já foi paga (falta a baixa).", {"lien"}),
    ("restricoes", "Embora livre de multas, o veículo não está livre de gravame.", {"lien"}),
    ("restricoes", "Restrições: 1) judicial: sim; 2) administrativa: não.", {"court"}),
    ("restricoes", "Financ.: SIM (Banco Pan). Judicial: NÃO.", {"lien"}),
    ("restricoes", "Nenhuma restrição administrativa. Restrição judicial: 01.", {"court"}),
    ("multas", "Nada consta de IPVA, exceto 2 multas da PRF.", {"fines"}),
    ("documentacao", "CRLV não emitido por bloqueio do Detran.", {"block"}),
    ("resumo", "Nem tudo são flores: há gravame.", {"lien"}),
    ("resumo", "A estrutura apresenta reparos na longarina dianteira esquerda.", {"damage"}),
    ("laudoFinal", "Diante do exposto, a aquisição não é recomendável.", {"advice"}),
    ("laudoFinal", "Recomendamos cautela: histórico de sinistro grave.", {"damage"}),
    (
        "proprietarios",
        "CONSTA INTENCAO DE VENDA E COMUNICADO DE VENDA P/ TERCEIRO",
        {"sale_notice"},
    ),
    ("chassiMotor", "NUMERO DO MOTOR DIVERGENTE DO CADASTRO NACIONAL", {"chassis"}),
    # Denied by halves.
    ("rouboFurto", "Roubo não, furto sim.", {"theft"}),
    ("restricoes", "Judicial não, financeira sim.", {"lien"}),
    ("rouboFurto", "Nenhum roubo, exceto o de 2021.", {"theft"}),
    ("resumo", "Nenhum leilão, fora um em 2019.", {"auction"}),
    ("restricoes", "Sem restrições, apenas uma alienação.", {"lien"}),
    ("restricoes", "Sem restrições além de gravame do Itaú.", {"lien"}),
    ("restricoes", "Nada além de um gravame.", {"lien"}),
    ("restricoes", "Não há restrições, somente alienação fiduciária ao Itaú.", {"lien"}),
    ("rouboFurto", "Nada consta fora um furto em 2022.", {"theft"}),
    ("rouboFurto", "Não consta roubo, só furto.", {"theft"}),
    ("restricoes", "Não consta baixa do gravame.", {"lien"}),
    ("restricoes", "Não consta a quitação do financiamento.", {"lien"}),
    ("rouboFurto", "Não consta como recuperado após o roubo.", {"theft"}),
    ("restricoes", "Gravame quitado mas não baixado.", {"lien"}),
    ("restricoes", "Sem comprovação de que o gravame foi baixado.", {"lien"}),
    ("rouboFurto", "Sem prova de que não foi furtado.", {"theft"}),
    ("rouboFurto", "Não é verdade que o carro nunca foi furtado.", {"theft"}),
    ("rouboFurto", "Não há como dizer que nunca foi roubado.", {"theft"}),
    ("restricoes", "Banco retomou o veículo.", {"seizure"}),
    ("resumo", "Carro com passagem policial.", {"theft"}),
    ("chassiMotor", "Motor de outro carro.", {"chassis"}),
    ("restricoes", "Car is financed with Bank X", {"lien"}),
    ("laudoFinal", "Não é seguro comprar este carro.", {"advice"}),
    ("documentacao", "Registro cancelado.", {"scrap"}),
    ("documentacao", "Não transfere.", {"block"}),
    ("multas", "Livre de débitos, mas o licenciamento venceu em 2022.", {"debts"}),
    # Nothing in these reads as clean.
    ("rouboFurto", "1 registro", {"theft"}),
    ("rouboFurto", "✅ 1 registro", {"theft"}),
    ("rouboFurto", "⚠️", {"theft"}),
    ("documentacao", "⚠️", {"other"}),
    ("leilao", "Lote 45, Sodré Santoro, 12/03/2021", {"auction"}),
    ("restricoes", "Banco Itaú, contrato 123", {"court"}),
    ("rouboFurto", "Proprietário: declarou FURTADO em 2020", {"theft"}),
    ("rouboFurto", "Situação: FURTADO", {"theft"}),
    ("proprietarios", "Sr. Furtado teve o veículo furtado", {"theft"}),
    ("documentacao", "Baixado em Baixada Santista", {"scrap"}),
    ("documentacao", "Alerta de colisão em 12/2020", {"damage"}),
    ("documentacao", "IPVA de R$ 3.000,00 não incluso no preço", {"debts"}),
    ("multas", "Sem multas, exceto as ainda não pagas.", {"fines"}),
    ("rouboFurto", "Nenhum roubo, exceto o de 2021, já baixado.", {"theft"}),
    ("restricoes", "Exceto a alienação, tudo baixado.", {"lien"}),
    ("multas", "Nenhuma multa, exceto uma a ser paga.", {"fines"}),
    ("rouboFurto", "❌ Nada consta.", {"other"}),
    ("documentacao", "⚠️ Nada consta.", {"other"}),
]

HARMLESS: list[tuple[str, str]] = [
    (
        "resumo",
        "Não há registro de sinistro, leilão, recall pendente ou adulteração de hodômetro.",
    ),
    ("resumo", "Não há restrições, gravames ativos ou multas."),
    ("resumo", "Sem furto, leilão registrado ou sinistro."),
    ("restricoes", "Bloqueio por furto: não consta."),
    ("proprietarios", "Não há inventário."),
    ("restricoes", "Houve restrição judicial em 2019, já baixada."),
    ("restricoes", "Consta gravame, baixado em 10/2021."),
    ("rouboFurto", "Nenhum leilão, roubo ou furto consta."),
    ("rouboFurto", "Leilão não consta, furto não consta."),
    ("rouboFurto", "⚠️ Não foram encontrados registros de roubo ou furto."),
    ("rouboFurto", "NADA CONSTA P/ ROUBO, FURTO, SEQUESTRO OU APROPRIACAO INDEBITA"),
    ("rouboFurto", "Há queixa de roubo? Não. Há queixa de furto? Também não."),
    ("rouboFurto", "Inexistem ocorrências policiais vinculadas à placa ou ao chassi."),
    ("rouboFurto", "Em momento algum este automóvel foi furtado, roubado ou clonado."),
    ("rouboFurto", "Roubo/furto: negativo (100% das bases consultadas)."),
    ("leilao", "Sem passagem por leilão."),
    ("leilao", "Leilão: 0 registros encontrados em 14 leiloeiros pesquisados."),
    ("leilao", "❌ Leilão - não consta"),
    (
        "leilao",
        "O veículo nunca foi ofertado, vendido ou arrematado em leilão, seja de banco, "
        "seja de seguradora ou do Detran.",
    ),
    ("leilao", "Score: 0% de indício de leilão."),
    ("fipe", "FIPE R$ 61.350,00 (ref. 04/2025). Preço pedido 2% abaixo: ótima oportunidade."),
    ("fipe", "Quilometragem compatível com a idade; nenhum sinal de hodômetro adulterado."),
    ("fipe", "Desvalorização de 8% a.a., dentro do esperado para o modelo."),
    ("chassiMotor", "Sem indícios de adulteração, remarcação ou lixamento no chassi e no motor."),
    ("chassiMotor", "Chassi e motor originais, numeração íntegra, etiquetas presentes."),
    ("chassiMotor", "CHASSI: NAO REMARCADO. MOTOR: CONFERE C/ A BIN."),
    ("chassiMotor", "Confira pessoalmente se o número do motor não foi raspado ou trocado."),
    (
        "chassiMotor",
        "Não se constatou divergência entre o nº gravado e o cadastro, nem solda ou corte.",
    ),
    ("restricoes", "Livre de alienação fiduciária, arrendamento, reserva de domínio e penhora."),
    ("restricoes", "Gravame baixado em 10/2021 - financiamento quitado."),
    (
        "restricoes",
        "- RENAJUD: nada consta\n- Alienação: nada consta\n- Bloqueio administrativo: nada consta",
    ),
    ("restricoes", "| Restrição | Status |\n| Judicial | Não |\n| Tributária | Não |"),
    ("restricoes", "Não há nenhum tipo de bloqueio que impeça a transferência do bem."),
    ("restricoes", "Nenhuma restrição judicial, administrativa, tributária ou financeira."),
    ("restricoes", "Consulte o Detran para saber se existe comunicação de venda."),
    ("restricoes", "Todos os recalls convocados pelo fabricante já foram atendidos."),
    ("restricoes", "Antes de pagar, verifique eventual gravame ou ordem judicial no Renajud."),
    ("restricoes", "Zero pendências. O bem encontra-se desembaraçado de quaisquer ônus."),
    ("multas", "Multas: R$ 0,00. Débitos: R$ 0,00. IPVA 2025: pago."),
    ("multas", "IPVA quitado, licenciamento em dia e s/ autuações em aberto."),
    ("multas", "Tem multa? Nenhuma! Tem dívida? Nenhuma!"),
    ("multas", "A consulta de débitos não retornou resultados."),
    ("multas", "É prudente pedir ao vendedor a certidão negativa de multas e débitos."),
    ("documentacao", "CRLV-e 2025 emitido; situação: em circulação. Não é sucata nem baixado."),
    ("documentacao", "Nenhum registro de sinistro, perda total, enchente ou capotamento."),
    ("documentacao", "✅ Documentação 100% regular, sem ressalvas."),
    ("proprietarios", "Único dono desde zero-quilômetro, manual e chave reserva."),
    ("proprietarios", "Segundo proprietário, pessoa física; sem processos ou execuções."),
    ("resumo", "Histórico limpo: não houve roubo, leilão, batida nem adulteração de KM."),
    ("resumo", "Carro muito conservado, lataria sem retoques e pintura de fábrica."),
    (
        "resumo",
        "Nada desabona o veículo. Se houver dúvida sobre sinistros, contrate vistoria cautelar.",
    ),
    ("laudoFinal", "Aprovado sem apontamentos. Boa compra!"),
    ("laudoFinal", "Não vemos motivo para não recomendar a compra."),
    ("laudoFinal", "Clean title, no red flags: pode fechar negócio com tranquilidade."),
    # Texts of a second round.
    ("rouboFurto", "Roubo: não há registro; furto: não há registro."),
    ("rouboFurto", "Nenhum boletim de ocorrência vinculado."),
    ("rouboFurto", "Veículo limpo, sem queixas."),
    ("rouboFurto", "Roubo/Furto ✅"),
    ("rouboFurto", "✅ Não consta\n✅ Sem alertas"),
    ("rouboFurto", "Não se verificou, nas consultas realizadas, restrição de roubo/furto."),
    ("rouboFurto", "O histórico está limpo de roubo e furto."),
    (
        "rouboFurto",
        "Conforme a Polícia Civil, o veículo não possui registro ativo de roubo, furto ou "
        "clonagem.",
    ),
    ("leilao", "Nada consta em leilão (bases: Copart, Sodré, Superbid)."),
    ("leilao", "Não passou por leilão, tampouco por seguradora."),
    ("leilao", "Sem registro de leilão ou de oferta em leilão nos últimos dez anos."),
    ("leilao", "Probabilidade de leilão: muito baixa."),
    ("leilao", "Não veio de leilão."),
    ("chassiMotor", "Sem adulterações; chassi e motor sem remarcação."),
    ("chassiMotor", "Numerações de chassi e motor batem com o documento."),
    ("chassiMotor", "Chassi e motor: sem divergências."),
    ("chassiMotor", "Não há indício de que o motor tenha sido trocado."),
    ("chassiMotor", "Câmbio e motor funcionando perfeitamente, sem ruídos."),
    (
        "chassiMotor",
        "Recomenda-se conferir se a numeração do chassi corresponde ao CRLV e se não há sinais "
        "de adulteração.",
    ),
    ("restricoes", "Alienação fiduciária: não. Reserva de domínio: não. Leasing: não."),
    ("restricoes", "Não há gravame ativo."),
    ("restricoes", "Gravame baixado."),
    ("restricoes", "Restrições: 0"),
    ("restricoes", "Situação: livre para transferência, sem ônus e sem impedimentos."),
    ("restricoes", "Não consta RENAJUD, não consta alienação, não consta bloqueio."),
    ("restricoes", "Não está alienado, bloqueado, penhorado ou arrendado."),
    ("restricoes", "O veículo não foi objeto de busca e apreensão."),
    ("restricoes", "As restrições anteriores foram todas baixadas."),
    ("restricoes", "Pode haver restrição não registrada; consulte o Detran."),
    ("restricoes", "Este relatório não substitui a consulta a débitos e restrições no Detran."),
    ("multas", "Não tem multas nem IPVA atrasado."),
    ("multas", "IPVA 2026 quitado; licenciamento 2026 pago; multas: zero."),
    ("multas", "Todas as taxas e impostos estão pagos."),
    ("multas", "Débitos: R$ 0"),
    ("multas", "Nenhum valor em aberto."),
    ("multas", "Sem débitos pendentes, multas vencidas ou restrições ativas."),
    ("documentacao", "Nunca sofreu perda total nem foi recuperado de sinistro."),
    ("documentacao", "Não foi atingido por enchente."),
    ("documentacao", "Veículo ativo, em circulação, apto ao licenciamento."),
    ("fipe", "Valor FIPE: R$ 71.200. A taxa de desvalorização é baixa."),
    ("fipe", "A quilometragem não apresenta inconsistências."),
    ("proprietarios", "Um único dono; nenhuma comunicação de venda."),
    ("resumo", "Sem batidas, sem leilão, sem passagem por enchente, sem restrições."),
    (
        "resumo",
        "O veículo não apresenta histórico de acidentes, leilões, roubos ou pendências "
        "financeiras.",
    ),
    ("resumo", "Não há nada que desabone o veículo."),
    ("resumo", "Tudo indica um carro íntegro, livre de sinistros."),
    ("laudoFinal", "Compra recomendada: sem pendências."),
    ("laudoFinal", "Risco baixo. Pode comprar."),
    ("laudoFinal", "Antes de fechar, faça vistoria cautelar e consulte débitos."),
    ("laudoFinal", "Não identificamos fraude, golpe ou risco elevado."),
    ("rouboFurto", "Pesquisa de roubo e furto realizada em 03/2025: nada encontrado."),
    ("rouboFurto", "Veículo com alarme e seguro contra roubo."),
    ("rouboFurto", "Dados atualizados há 2 dias. Nada consta."),
    ("rouboFurto", "Possui algum B.O. de furto? Negativo."),
    ("rouboFurto", "❌ Roubo ❌ Furto - nenhuma ocorrência"),
    ("chassiMotor", "Motor não foi trocado nem retificado."),
    ("chassiMotor", "Não é possível afirmar, sem vistoria, se o chassi foi remarcado."),
    ("chassiMotor", "Motor revisado com troca de óleo e filtros em dia."),
    ("restricoes", "Judicial: não; administrativa: não; financeira: não; tributária: não."),
    ("restricoes", "Roubo: não, leilão: não, judicial: não."),
    ("restricoes", "Aceita financiamento em até 60 vezes."),
    ("restricoes", "Restrições\nNada consta"),
    ("restricoes", "Restrições:\n- Judicial: não\n- Financeira: não\n- Administrativa: não"),
    ("restricoes", "Nenhuma ordem judicial consta do Renajud até esta data."),
    ("restricoes", "Não recai sobre o bem qualquer gravame, penhora, arresto ou outro ônus."),
    ("restricoes", "Garantia de fábrica vigente até 2027."),
    ("restricoes", "Caso exista alienação, exija a carta de quitação."),
    ("multas", "As multas existentes já foram pagas."),
    ("multas", "IPVA: isento (mais de 20 anos)."),
    ("multas", "Está em dia com IPVA e licenciamento."),
    ("proprietarios", "Proprietário atual: José Furtado da Silva."),
    ("resumo", "É recomendável uma vistoria cautelar para afastar qualquer dúvida sobre colisões."),
    ("laudoFinal", "Nenhum motivo para evitar a compra."),
    ("laudoFinal", "Veículo aprovado; pode comprar sem medo de golpe."),
    # Names of people, places and parts.
    ("resumo", "Leila Maria da Silva, de Colíder/MT"),
    ("resumo", "Município: COLIDER"),
    ("resumo", "Município: QUEIMADOS"),
    ("resumo", "Com capota marítima."),
    # Exceptions of another thing, and denials of an end that is itself adverse.
    ("rouboFurto", "Nenhum roubo, salvo engano."),
    ("resumo", "Sem batidas, apenas desgaste natural."),
    ("resumo", "Sem roubo, só um risco na porta."),
    ("documentacao", "Não consta baixa definitiva."),
    ("resumo", "Não consta recuperado de sinistro."),
    ("restricoes", "Penhora: registro cancelado."),
    ("restricoes", "Livre de ônus: sim."),
    ("rouboFurto", "Situação regular."),
    ("leilao", "Histórico limpo"),
    ("leilao", "✅ Aprovado"),
    ("rouboFurto", "oculto pela fonte"),
    ("proprietarios", "Proprietária atual: LEILA FURTADO."),
    ("proprietarios", "Proprietário: JOSÉ FURTADO DA SILVA, Rua do Furtado, 12"),
    ("documentacao", "Endereço: Rua do Furtado, 120"),
    ("proprietarios", "Vendido pelo Sr. Furtado em 2020"),
    ("documentacao", "Município: BAIXADA SANTISTA"),
    ("documentacao", "Registrado na Baixada Fluminense"),
    ("fipe", "Opcionais: ALERTA DE COLISAO frontal, piloto automático"),
    ("fipe", "Desvalorização: impostos e taxas não inclusos"),
    ("multas", "Sem multas, apenas as já pagas."),
    ("multas", "Nenhuma multa, salvo uma já paga em 2020."),
    ("restricoes", "Sem restrições, exceto gravame já baixado."),
]


def report_of(part: str, text: str) -> Report:
    """Return a report with a text in one part, and nothing of note in the others."""
    result: dict[str, object] = {"resumo": "Texto.", "topicos": {part: text}, "laudoFinal": "Fim."}
    return read_report(result | {part: text}, HIDDEN)


def subjects_of(part: str, text: str) -> set[str]:
    return {
        one.subject.value
        for one in alerts_of(report_of(part, text), orders=None, fines=None, today=TODAY)
    }


@pytest.mark.parametrize(("part", "text", "subjects"), ADVERSE)
def test_affirmed_is_alerted(part: str, text: str, subjects: set[str]) -> None:
    for written in (text, bare(text)):
        found = subjects_of(part, written)
        assert found and found <= subjects, written


@pytest.mark.parametrize(("part", "text"), HARMLESS)
def test_denied_praised_or_advised_is_not_alerted(part: str, text: str) -> None:
    assert subjects_of(part, text) == set()
    assert subjects_of(part, bare(text)) == set()


@pytest.mark.parametrize(
    "pattern",
    [*(each for _, each in _OF_SUBJECT), _ADVICE],
    ids=[*(each for each, _ in _OF_SUBJECT), "advice"],
)
def test_search_of_fragments_spares_no_stem(pattern: re.Pattern[str]) -> None:
    @given(st.from_regex(pattern, alphabet=st.sampled_from(ascii_uppercase + " ./-0")))
    def check(text: str) -> None:
        found = pattern.search(text)
        assert found is None or _FRAGMENTS.search(found[0])

    check()


def test_warning_mark_beside_more_than_a_denial_is_an_alert() -> None:
    assert subjects_of("documentacao", "⚠️ Não consta sinistro. Veja o anexo.") == {"other"}
    assert subjects_of("documentacao", "⚠️ Não circula.") == {"other"}


@pytest.mark.parametrize(
    "result",
    [
        {"topicos": {"rouboFurto": ["Consta furto em 2022."]}},
        {"topicos": {"rouboFurto": {"texto": "Consta furto em 2022."}}},
        {"topicos": {"rouboFurto": True}},
        {"topicos": {"rouboFurto": {"consta": True}}},
        {"topicos": [{"titulo": "Furto", "texto": "Consta furto em 2022."}]},
        {"topicos": [{"rouboFurto": "Consta."}]},
        {"topicos": ["Consta furto em 2022."]},
        {"topicos": "Consta furto em 2022."},
        {"topicos": {str(each): "Texto." for each in range(24)} | {"x": "Consta furto."}},
        {"resumo": ["Consta furto em 2022."]},
        {"laudoFinal": {"texto": ["Consta furto em 2022."]}},
        {"resumo": "Texto.", "alertas": ["Consta furto em 2022."]},
        {"resumo": "Texto.", "observacoes": "Consta furto em 2022."},
        {"resumo": "Texto. " * 4_000 + "Consta furto."},
        {"topicos": {"documentacao": "Texto. " * 4_000 + "Consta furto."}},
    ],
)
def test_shape_and_length_of_a_report_hide_no_alert(result: object) -> None:
    found = alerts_of(read_report(result, HIDDEN), orders=None, fines=None, today=TODAY)
    assert [one.subject for one in found] == ["theft"]


@pytest.mark.parametrize(
    ("topics", "amount"),
    [
        (
            {
                "multas": "IPVA 2023 em aberto: R$ 1.000,00. IPVA 2024 em aberto: R$ 2.000,00. "
                "Licenciamento atrasado: R$ 200,00."
            },
            3200,
        ),
        ({"multas": "Débitos:\n- IPVA: R$ 2.000\n- IPVA: R$ 2.100\n- Licenciamento: R$ 180"}, 4280),
        ({"multas": "IPVA em aberto: R$ 1.000.", "documentacao": "Débitos: R$ 5.000."}, 6000),
        ({"multas": "IPVA em aberto: R$ 1.000.", "documentacao": "Débitos: R$ 1.000."}, 1000),
        ({"multas": "Débitos de IPVA: R$ 3.400,00; licenciamento R$ 230,50"}, "3630.50"),
        ({"multas": "IPVA: R$ 1.000,00. IPVA: R$ 1.000,00."}, 2000),
        ({"multas": "IPVA: R$ 1.000,00. Taxas: R$ 200,00. Débitos no total de R$ 1.200,00."}, 1200),
        ({"multas": "Débitos: R$ 1.200,00 (IPVA R$ 1.000,00, taxas R$ 200,00)."}, 1200),
        ({"multas": "Débitos: R$ 500,00. Preço FIPE: R$ 40.000,00."}, 500),
        # The largest is the sum of the others, in two parts or in two equal ones.
        ({"multas": "Débitos: R$ 100,00 (IPVA R$ 50,00, taxas R$ 50,00)."}, 100),
        ({"multas": "IPVA: R$ 100,00. Taxas: R$ 50,00."}, 150),
    ],
)
def test_amounts_of_debts_are_summed(topics: dict[str, str], amount: int | str) -> None:
    found = alerts_of(
        read_report({"topicos": topics}, HIDDEN), orders=None, fines=None, today=TODAY
    )
    assert [one.amount for one in found if one.subject == "debts"] == [Decimal(amount)]


@pytest.mark.parametrize(
    ("concluded", "amount"),
    [
        ("Há débitos de R$ 1.532,10.", "1532.10"),
        ("Há pendências de R$ 1.662,26.", "1532.10"),  # with the fine of the records
        ("Débitos de R$ 2.000,00 ao todo.", "2000"),
        ("Débitos de R$ 2.000,00.", "2000"),
        ("Licenciamento vencido: R$ 180,00 a pagar.", "1712.10"),
    ],
)
def test_conclusion_that_sums_up_the_topics_is_no_further_debt(concluded: str, amount: str) -> None:
    sent = {"topicos": {"multas": "IPVA 2026 em aberto: R$ 1.532,10."}, "laudoFinal": concluded}
    fines = replace(totals([]), open_count=1, amount=Decimal("130.16"))
    found = alerts_of(read_report(sent, HIDDEN), orders=(), fines=fines, today=TODAY)
    assert [one.amount for one in found if one.subject == "debts"] == [Decimal(amount)]


@pytest.mark.parametrize(
    ("text", "subjects"),
    [
        ("12 multas em aberto, total R$ 4.500,00", {"fines"}),
        ("Multas em aberto: R$ 4.500,00", {"fines"}),
        ("2 autuações.", {"fines"}),
        ("1 multa em aberto, R$ 130,16", set()),
        ("Multa de R$ 130,16 em aberto, R$ 104,13 com desconto.", set()),
        ("3 ordens judiciais de transferência.", {"court"}),
        ("1 ordem judicial de transferência.", set()),
    ],
)
def test_record_silences_no_report_of_more(text: str, subjects: set[str]) -> None:
    fine = replace(totals([]), open_count=1, amount=Decimal("130.16"))
    order = AssessedOrder(restriction("TRANSFERENCIA"), TODAY)
    found = alerts_of(report_of("multas", text), orders=[order], fines=fine, today=TODAY)
    assert {one.subject.value for one in found} == subjects


@pytest.mark.parametrize(
    ("recorded", "text", "kinds"),
    [
        ("TRANSFERENCIA", "RENAJUD: restrição de circulação total - 2ª Vara.", ["circulacao"]),
        ("TRANSFERENCIA", "Consta restrição judicial total.", ["circulacao"]),
        ("TRANSFERENCIA", "Busca e apreensão deferida.", ["busca_e_apreensao"]),
        ("TRANSFERENCIA", "Restrição judicial: não pode circular.", ["circulacao"]),
        (
            "TRANSFERENCIA",
            "Restrição judicial ativa. Não é possível transferir nem licenciar.",
            ["transferencia", "licenciamento"],
        ),
        ("TRANSFERENCIA", "Restrição judicial de licenciamento.", ["licenciamento"]),
        (
            "PENHORA",
            "Bloqueio Renajud de licenciamento e circulação.",
            ["licenciamento", "circulacao"],
        ),
        ("TRANSFERENCIA", "Consta restrição judicial de transferência.", None),
        (
            "TRANSFERENCIA",
            "Licenciamento em dia, consta restrição judicial de transferência.",
            None,
        ),
        ("TRANSFERENCIA", "Em circulação, com restrição judicial de transferência.", None),
        ("TRANSFERENCIA", "No total, 1 restrição judicial de transferência.", None),
        (
            "TRANSFERENCIA",
            "Restrição judicial de transferência, sem restrição de circulação.",
            None,
        ),
        ("TRANSFERENCIA", "Restrição judicial de transferência, circulação permitida.", None),
        ("CIRCULACAO", "Restrição judicial de transferência e licenciamento.", None),
        ("BUSCA E APREENSAO", "Busca e apreensão deferida.", None),
    ],
)
def test_graver_order_of_the_report_is_alerted(
    recorded: str, text: str, kinds: list[str] | None
) -> None:
    """A report of the same number of orders may name a worse one than the record."""
    order = AssessedOrder(restriction(recorded), TODAY)
    for topic in ("restricoes", "documentacao"):
        found = list(alerts_of(report_of(topic, text), [order], fines=None, today=TODAY))
        assert [list(one.kinds) for one in found] == ([kinds] if kinds else []), topic


def test_words_that_are_read_are_not_shown() -> None:
    report = report_of("restricoes", "GRAVAME ATIVO DE FULANO BELTRANO SICRANO")
    assert "BELTRANO" not in str(report) + repr(report)


@pytest.mark.parametrize(
    "unit",
    [
        *("ROUBO ", "NAO SE ", "SEM ROUBO ", "ROUBO, ", "LEILAO: NAO ", "MOTOR ", "KM ", "FUJA, "),
        *("ROUBO:\n", "a\n", "E COM ", "LICENC ", "ESTRUTURA ", "SE O ", "- ", "0", "(", "A. "),
    ],
)
def test_time_to_read_alerts_grows_with_the_length(unit: str) -> None:
    def seconds(length: int) -> float:
        text = unit * (length // len(unit))
        before = time.process_time()
        subjects_of("rouboFurto", text)
        return time.process_time() - before

    assert seconds(10_000) < 10 * seconds(2_000) + 0.1
