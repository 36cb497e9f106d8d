"""Dossiê Veicular ("vehicle dossier"): a portal in front of a Brazilian vehicle-data service."""

VERSION = "0.1.0"  # as in pyproject.toml
