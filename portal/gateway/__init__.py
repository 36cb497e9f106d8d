"""Looks up vehicles upstream, with a cache and a ledger of upstream calls."""
