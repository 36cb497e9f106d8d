"""The command ``dossie``."""

from __future__ import annotations

import argparse
import getpass
import io
import os
import secrets
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final, NoReturn

from dossie_veicular_client import configuration, text
from dossie_veicular_client.answers import Batch, Explained, LookupName
from dossie_veicular_client.client import LOOKUPS, Client, FileEnding, FileName, lookup_names
from dossie_veicular_client.configuration import Configuration
from dossie_veicular_client.errors import (
    CostsTooMuch,
    InvalidRequest,
    NotAllowed,
    NotFound,
    NotStored,
    PortalError,
)
from dossie_veicular_client.lists import ListRun, Outcome, read_file
from dossie_veicular_client.money import reais
from dossie_veicular_client.printable import printable, printable_json
from dossie_veicular_client.spending import look_up, quote, total

DONE, FAILED, USAGE, TOO_EXPENSIVE, NOT_ALLOWED = range(5)
_FILES: Final[tuple[FileName, ...]] = ("results", "fines", "restrictions", "prices")
_MOST_NAMED: Final = 20
_ENDINGS: Final[tuple[FileEnding, ...]] = ("csv", "jsonl", "xlsx", "zip")
_PARTS: Final[dict[str, LookupName]] = {
    "decode": "decode",
    "fines": "renainf",
    "restrictions": "renajud",
}
_MEMBERS: Final[dict[LookupName, tuple[str, ...]]] = {
    "decode": ("vehicle", "prices"),
    "renainf": ("fines",),
    "renajud": ("restrictions",),
}
_REASONS: Final = {
    "price": "o limite de gasto foi atingido",
    "owner": "o lote foi pausado por quem o criou",
    "day_limit": "o limite diário do portal foi atingido",
    "token_limit": "o limite diário do token foi atingido",
    "budget": "o orçamento do mês acabou",
    "no_credit": "a fonte de dados exige pagamento ou saldo",
    "access": "o token já não vale para o lote",
}


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        self.exit(USAGE, printable(f"{self.format_usage()}dossie: {message}\n"))


def main(argv: Sequence[str] | None = None) -> int:
    _use_utf_8()
    words = list(sys.argv[1:] if argv is None else argv)
    if words and words[0] not in (*_COMMANDS, "-h", "--help"):
        words.insert(0, "show")  # dossie ABC1D23
    options = _parser().parse_args(words)
    try:
        return _COMMANDS[options.command](options)
    except PortalError as error:
        _say(f"dossie: {error.message}" + (f" [{error.code}]" if error.code else ""))
        return _exit_status(error)
    except BrokenPipeError:  # the reader of a pipe has ended
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED
    except OSError as error:
        _say(f"dossie: {error.strerror or error}: {error.filename or ''}".rstrip(": "))
        return FAILED
    except KeyboardInterrupt:
        _say("dossie: interrompido; a mesma linha de comando continua de onde parou")
        return FAILED


def _use_utf_8() -> None:
    """Write UTF-8 into pipes and files, and what a terminal cannot show as escapes.

    On Windows a pipe has the encoding of the system, which lacks most characters.
    """
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            is_terminal = stream.isatty()
            stream.reconfigure(
                encoding=stream.encoding if is_terminal else "utf-8",
                errors="replace" if stream is sys.stdin else "backslashreplace",
            )


def _exit_status(error: PortalError) -> int:
    match error:
        case CostsTooMuch():
            return TOO_EXPENSIVE
        case NotAllowed():
            return NOT_ALLOWED
        case InvalidRequest():
            return USAGE
        case _:
            return FAILED


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="dossie",
        description="Consulta um portal Dossiê Veicular. O que está guardado não é pago de novo.",
        epilog="DOSSIE_URL e DOSSIE_TOKEN valem mais que o que “dossie login” guardou. Saída: 0 "
        "feito, 1 não encontrado ou falhou, 2 uso, 3 custaria mais que o permitido, 4 sem acesso.",
    )
    commands = parser.add_subparsers(dest="command", metavar="comando", required=True)
    lookups = {
        "show": "o veículo (é o que faz “dossie PLACA”)",
        "decode": "atributos e preços FIPE",
        "fines": "multas",
        "restrictions": "restrições judiciais",
        "report": "laudo escrito a partir do que há",
        "price": "o que está guardado e quanto custaria o resto; nada é consultado",
    }
    for name, meaning in lookups.items():
        command = commands.add_parser(name, help=meaning, description=meaning)
        command.add_argument("plate", metavar="PLACA")
        _add_json(command)
        if name != "price":
            _add_limits(command)
        if name in ("show", "price"):
            _add_ask(command)
    batch = commands.add_parser("batch", help="uma lista de placas, com o resultado num arquivo")
    batch.add_argument("file", metavar="ARQUIVO", help="uma placa por linha, ou CSV; - é a entrada")
    batch.add_argument("--out", metavar="SAÍDA", required=True, help=".csv, .jsonl, .xlsx ou .zip")
    batch.add_argument(
        "--table", choices=_FILES, default="results", help="results: uma linha por placa"
    )
    batch.add_argument(
        "--retry-failed", action="store_true", help="consulta de novo o que falhou antes"
    )
    _add_ask(batch)
    _add_limits(batch)
    issued = commands.add_parser("issued", help="confere o número de um dossiê emitido")
    issued.add_argument("number", metavar="NÚMERO")
    _add_json(issued)
    verify = commands.add_parser("verify", help="confere o arquivo PDF de um dossiê")
    verify.add_argument("file", metavar="ARQUIVO", help="o PDF, até 5 MB; - é a entrada")
    _add_json(verify)
    moment = commands.add_parser(
        "moment", help="“vou pagar agora”: consulta de novo, compara e emite um dossiê"
    )
    moment.add_argument("plate", metavar="PLACA")
    moment.add_argument("--number", metavar="NÚMERO", help="o dossiê a comparar; senão o mais novo")
    moment.add_argument("--max-reais", type=_amount, metavar="N", help="gasta no máximo N reais")
    _add_ask(moment)
    _add_json(moment)
    declare = commands.add_parser(
        "declare", help="o que alguém conferiu de uma linha da lista; sem a linha, mostra todas"
    )
    declare.add_argument("plate", metavar="PLACA")
    declare.add_argument("line", metavar="LINHA", nargs="?", help="como roubo-e-furto ou gravame")
    declare.add_argument("state", nargs="?", choices=("nothing", "something", "unchecked"))
    declare.add_argument("--amount", type=_amount, metavar="N", help="quanto falta pagar, em reais")
    declare.add_argument("--what", metavar="TEXTO", help="o que foi encontrado")
    declare.add_argument("--source", metavar="FONTE", help="onde foi conferido")
    declare.add_argument("--on", metavar="DIA", help="o dia, como 2026-11-28; por padrão hoje")
    _add_json(declare)
    login = commands.add_parser("login", help="guarda o endereço e o token do portal")
    login.add_argument("--url", metavar="ENDEREÇO")
    mcp = commands.add_parser("mcp", help="servidor de ferramentas para agentes, em stdio")
    mcp.add_argument("--max-reais", type=_amount, default=0.0, metavar="N")
    return parser


def _add_json(command: argparse.ArgumentParser) -> None:
    command.add_argument("--json", action="store_true", help="JSON também num terminal")


def _add_ask(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--ask", type=_lookups, metavar="CONSULTAS", help="como decode,renainf,renajud"
    )


def _add_limits(command: argparse.ArgumentParser) -> None:
    limits = command.add_mutually_exclusive_group()
    limits.add_argument("--max-reais", type=_amount, metavar="N", help="gasta no máximo N reais")
    limits.add_argument("--cached", action="store_true", help="só o que está guardado; é grátis")


def _amount(word: str) -> float:
    amount = float(word.replace(",", "."))
    if not 0 <= amount < 1e9:
        raise ValueError
    return amount


_amount.__name__ = "valor"  # argparse names the type in its message


def _lookups(word: str) -> tuple[LookupName, ...]:
    try:
        return lookup_names(word)
    except InvalidRequest as error:
        raise argparse.ArgumentTypeError(error.message) from None


def _client() -> Client:
    configured = configuration.read()
    if configured is None:
        raise InvalidRequest("falta o portal: “dossie login”, ou DOSSIE_URL e DOSSIE_TOKEN")
    return _opened(configured)


def _opened(configured: Configuration) -> Client:
    client = Client(*configured)
    if client.is_exposed:
        _say("aviso: o endereço é http, e não https: o token vai sem cifra pela rede")
    return client


def _show(options: argparse.Namespace) -> int:
    document = _found(_client(), options, options.ask or LOOKUPS)
    _print(options, document, text.vehicle_text(document))
    return _status(document, options.ask or LOOKUPS)


def _part(options: argparse.Namespace) -> int:
    name = _PARTS[options.command]
    document = _found(_client(), options, (name,))
    narrowed = {key: document[key] for key in ("plate", *_MEMBERS[name])}  # type: ignore[literal-required]
    lookup = document["lookups"][name]
    _print(options, {**narrowed, "lookup": lookup}, text.part_text(document, name))
    return _status(document, (name,))


def _found(client: Client, options: argparse.Namespace, ask: Sequence[LookupName]) -> Explained:
    """Return the vehicle after saying what is stored and what the rest costs."""
    priced = quote(client, options.plate, ask)
    _say(text.quote_text(priced))
    if options.cached:
        return priced.document
    document, spent = look_up(client, priced, options.max_reais)
    if spent is None:
        _say("Gasto: desconhecido, porque o portal não informa o preço.")
    elif spent:
        _say(f"Gasto: até {reais(spent)}.")
    return document


def _status(document: Explained, ask: Sequence[LookupName]) -> int:
    states = [document["lookups"][name]["state"] for name in ask]
    return DONE if all(state in ("fresh", "stale") for state in states) else FAILED


def _report(options: argparse.Namespace) -> int:
    """Have a report written from what is stored of the vehicle, as the portal's page does."""
    client = _client()
    data: dict[str, Any] = {}
    for name in LOOKUPS:
        try:
            answer = getattr(client, name)(options.plate, reuse="stored")
            data[name] = answer.value["result"]
        except (NotStored, NotFound):
            data.setdefault("indisponiveis", []).append(name)
    if not any(name in data for name in LOOKUPS):
        raise NotStored("nada guardado deste veículo: consulte-o antes com “dossie PLACA”")
    try:
        written = client.report(options.plate, data, reuse="stored")
    except NotStored:
        if options.cached:
            raise
        price = total([client.usage()["prices"].get("report")])
        _say("O preço do laudo não é informado." if price is None else f"Laudo: {reais(price)}.")
        limit = options.max_reais
        if limit is not None and (price is None or price > limit):
            raise CostsTooMuch.beyond(price, limit) from None
        written = client.report(options.plate, data)
    result = written.value["result"]
    _print(options, result, text.report_text(result))
    return DONE


def _price(options: argparse.Namespace) -> int:
    priced = quote(_client(), options.plate, options.ask)
    document = {
        "plate": priced.plate,
        "stored": list(priced.stored),
        "missing": list(priced.missing),
        "price": priced.price,
    }
    _print(options, document, text.quote_text(priced))
    return DONE


def _batch(options: argparse.Namespace) -> int:
    output = Path(options.out)
    ending = output.suffix.removeprefix(".").lower()
    if ending not in _ENDINGS:
        raise InvalidRequest("a saída termina em .csv, .jsonl, .xlsx ou .zip")
    client = _client()
    raw = sys.stdin.buffer.read() if options.file == "-" else Path(options.file).read_bytes()
    plates = read_file(raw)
    progress = _ProgressLine(len(plates))
    run = ListRun(client, plates, options.ask, output, progress.show)
    batches = run.prepare()
    at_most = total(batch["cost"]["at_most"] for batch in batches)
    stored = sum(batch["counts"]["stored"] for batch in batches)
    cost = "Preço não informado" if at_most is None else f"Custa até {reais(at_most)}"
    _say(f"{len(plates)} na lista, {stored} com tudo guardado. {cost}.")
    if at_most is None and not options.cached:
        _confirm_unpriced(options)
    elif options.max_reais is not None and at_most is not None and at_most > options.max_reais:
        _say(f"Para antes de passar de {reais(options.max_reais)}; cada placa é comprada inteira.")
    reason = None
    if not options.cached:
        reason = run.run(options.max_reais, retry_failed=options.retry_failed)
    progress.end()
    run.write(options.table, ending)
    outcome = run.outcome(reason)
    _say_outcome(outcome, output)
    if failed := run.failed():
        shown = ", ".join(failed[:_MOST_NAMED]) + (" …" if len(failed) > _MOST_NAMED else "")
        _say(
            f"Falhou, e pode ter sido cobrado: {shown}. “--retry-failed” consulta de novo, e pode "
            "ser cobrado outra vez."
        )
    if outcome.reason == "price":
        return TOO_EXPENSIVE
    if outcome.reason == "access":
        return NOT_ALLOWED
    if not outcome.is_complete:
        return FAILED
    run.forget()
    return DONE


def _confirm_unpriced(options: argparse.Namespace) -> None:
    """Raise CostsTooMuch if a list must not be asked at an unknown price, which is not free.

    It is above any limit. Without a limit, a person at a terminal is asked. A script that gives no
    limit has none.
    """
    if options.max_reais is not None:
        raise CostsTooMuch.beyond(None, options.max_reais)
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return
    print("Consultar sem saber quanto custa? [s/N] ", end="", file=sys.stderr, flush=True)
    if sys.stdin.readline().strip().lower() not in ("s", "sim"):
        raise CostsTooMuch("o portal não informa quanto custaria, e nada foi consultado")


def _say_outcome(outcome: Outcome, output: Path) -> None:
    for entry in outcome.wrong:
        _say(f"fora da lista: {entry['value']!r}: {entry['message']}")
    _say(
        f"{outcome.done} de {outcome.total} em {output}; {outcome.failed} sem resposta. "
        f"Gasto: {reais(outcome.spent)}."
    )
    left_out = outcome.total - outcome.done - outcome.failed
    if outcome.reason == "price" and left_out:
        _say(f"Ficaram de fora, sem nenhuma consulta: {left_out}.")
    if outcome.reason:
        why = _REASONS.get(outcome.reason, f"o lote parou ({outcome.reason})")
        _say(f"Parou: {why}. A mesma linha de comando continua de onde parou.")


class _ProgressLine:
    """Shows a batch's progress on one line of a terminal, and nothing elsewhere."""

    def __init__(self, total: int) -> None:
        self._total = total
        self._done: dict[str, int] = {}
        self._is_shown = sys.stderr.isatty()

    def show(self, batch: Batch) -> None:
        counts = batch["counts"]
        self._done[batch["id"]] = counts["done"] + counts["failed"]
        if self._is_shown:
            done = sum(self._done.values())
            sys.stderr.write(f"\r\033[K{done} de {self._total}")
            sys.stderr.flush()

    def end(self) -> None:
        if self._is_shown and self._done:
            sys.stderr.write("\r\033[K")


def _issued(options: argparse.Namespace) -> int:
    dossier = _client().issued(options.number)
    _print(options, dossier, text.issued_text(dossier))
    return DONE if dossier["state"] == "valid" else FAILED


def _verify(options: argparse.Namespace) -> int:
    """Verify a file. Only a file that is the issued one, and is valid, gives exit status 0."""
    is_input = options.file == "-"
    content = sys.stdin.buffer.read() if is_input else Path(options.file).read_bytes()
    verification = _client().verify(content)
    _print(options, verification, text.verification_text(verification))
    return DONE if verification["result"] == "same" else FAILED


def _moment(options: argparse.Namespace) -> int:
    moment = _client().moment(
        options.plate,
        options.ask,
        number=options.number,
        max_cost=options.max_reais,
        idempotency_key=secrets.token_hex(16),
    )
    _print(options, moment, text.moment_text(moment))
    return DONE


def _declare(options: argparse.Namespace) -> int:
    """Declare a line, or show all lines. Nothing is asked, so nothing is paid."""
    if options.line is None:
        declared = _client().declared(options.plate)
    elif options.state is None:
        raise InvalidRequest("falta dizer nothing, something ou unchecked")
    else:
        given = {name: getattr(options, name) for name in ("amount", "what", "source", "on")}
        declared = _client().declare(options.plate, options.line, options.state, **given)
    _print(options, declared, text.declared_text(declared))
    return DONE


def _login(options: argparse.Namespace) -> int:
    url = options.url or input("Endereço do portal: ").strip()
    is_terminal = sys.stdin.isatty()
    token = getpass.getpass("Token: ") if is_terminal else sys.stdin.readline()
    entered = Configuration(url.rstrip("/"), token.strip())
    usage = _opened(entered).usage()  # raises NotAllowed for a wrong token
    file = configuration.write(entered)
    _say(f"Guardado em {file}. Consultas do mês: {usage['calls']}.")
    return DONE


def _mcp(options: argparse.Namespace) -> int:
    try:
        from dossie_veicular_client.tool_server import serve
    except ModuleNotFoundError as error:
        if not (error.name or "").startswith("mcp"):
            raise
        raise InvalidRequest("falta um extra: pip install 'dossie-veicular-client[mcp]'") from None
    serve(_client(), options.max_reais)
    return DONE


_COMMANDS: Final[dict[str, Callable[[argparse.Namespace], int]]] = {
    "show": _show,
    "decode": _part,
    "fines": _part,
    "restrictions": _part,
    "report": _report,
    "price": _price,
    "batch": _batch,
    "issued": _issued,
    "verify": _verify,
    "moment": _moment,
    "declare": _declare,
    "login": _login,
    "mcp": _mcp,
}


def _print(options: argparse.Namespace, document: object, shown: str) -> None:
    """Print text on a terminal, and JSON into a pipe or where it is wanted."""
    if options.json or not sys.stdout.isatty():
        shown = printable_json(document)
    print(printable(shown))
    sys.stdout.flush()


def _say(line: str) -> None:
    print(printable(line), file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
