"""Dossiê Veicular ("vehicle dossier"): a portal in front of a Brazilian vehicle-data service."""

VERSION = "1.0.0"
