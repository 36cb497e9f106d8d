"""What operators type: flask --app app token, purge, ledger."""

from flask import Flask

from portal.access import History, Tokens
from portal.commands.ledger import ledger_command
from portal.commands.purge import purge_command
from portal.commands.token import token_commands
from portal.gateway import Ledger, Store, Tally


def register_commands(
    app: Flask, tokens: Tokens, ledger: Ledger, tally: Tally, store: Store, history: History
) -> None:
    app.cli.add_command(token_commands(tokens))
    app.cli.add_command(purge_command(store, ledger, history))
    app.cli.add_command(ledger_command(ledger, tally))


__all__ = ["register_commands"]
