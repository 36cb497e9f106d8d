"""Two hundred strings that are harmful if unescaped, and records that contain them."""

from typing import Any

from tests import factories
from tests.fakes.answers import Operation

_SCRIPT = "window.pwned=1"
_AWAY = "//evil.invalid/x"
_CORES = (
    f"<script>{_SCRIPT}</script>",
    f"<img src=x onerror={_SCRIPT}>",
    f"<svg onload={_SCRIPT}>",
    f"<svg><script>{_SCRIPT}</script></svg>",
    f"<iframe srcdoc='<script>{_SCRIPT}</script>'></iframe>",
    f"<img src={_AWAY}>",
    f"<link rel=stylesheet href={_AWAY}>",
    f"<style>@import '{_AWAY}';body{{background:url({_AWAY})}}</style>",
    f"<base href={_AWAY}>",
    f"<meta http-equiv=refresh content='0;url={_AWAY}'>",
    f"<form action={_AWAY}><input name=token></form>",
    f"<object data={_AWAY}></object>",
    f"<a href=javascript:{_SCRIPT}>x</a>",
    f"<math><mi xlink:href='javascript:{_SCRIPT}'>x</mi></math>",
    f"<details open ontoggle={_SCRIPT}>",
    f"<audio src=x onerror={_SCRIPT}>",
    "<!--",
    "<![CDATA[",
    "</title></style></script></textarea></svg></main></body></html>",
    "<plaintext>",
    "{{ 7*7 }}{% raw %}",
    "${7*7}#{7*7}<%= 7*7 %>",
    f"javascript:{_SCRIPT}",
    "data:text/html,<script>1</script>",
    f"https:{_AWAY}",
)
_WRAPS = (
    "{}",
    '"{}',
    "'{}",
    '">{}',
    "'>{}",
    "]]>{}",
    "\u202e{}\u202c",
    "\u0000{}\ufeff\u2028",
)
STRINGS = tuple(wrap.replace("{}", core) for core in _CORES for wrap in _WRAPS)


def _filled(value: Any, strings: Any) -> Any:
    """Return the value with every text replaced by the next of ``strings``."""
    match value:
        case str():
            return next(strings)
        case dict():
            return {name: _filled(member, strings) for name, member in value.items()}
        case list() | tuple():
            return [_filled(member, strings) for member in value]
        case _:
            return value


def hostile_bodies(plate: str, strings: Any) -> dict[Operation, bytes]:
    """Return each operation's answer with hostile texts in every field but the plate."""
    months = {"historicoPreco": factories.price_history(24)}
    entry = {**_filled(factories.fipe_entry(), strings), **months}
    vehicle = _filled(factories.decoded(plate), strings) | {
        "placa": plate,
        "informacoesFipe": [entry, {**entry, "versao": next(strings)}],
    }
    # In each list, the first record is hostile in every field. The second has valid dates and
    # codes, so that more of the portal's code handles it.
    sound = {name: factories.fine()[name] for name in ("codigoInfracao", "dataInfracao", "valor")}
    fines = [_filled(factories.fine(), strings), _filled(factories.fine(), strings) | sound]
    known = {"placa": plate, "dataInclusao": "23/10/2025 14:05:37"}
    restrictions = [
        _filled(factories.restriction(), strings) | {"placa": plate},
        _filled(factories.restriction(), strings) | known,
    ]
    report = {
        "resumo": next(strings),
        "topicos": {**_filled(factories.topics(), strings), next(strings): next(strings)},
        "laudoFinal": next(strings),
    }
    return {
        "decode": factories.encode({"status": "DONE", "result": vehicle}),
        "renainf": factories.encode({"status": "SUCCESS", "result": fines}),
        "renajud": factories.encode({"status": "SUCCESS", "result": restrictions}),
        "report": factories.encode({"status": "DONE", "result": report}),
    }
