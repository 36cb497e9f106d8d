"""Dossiê Veicular ("vehicle dossier"): a portal in front of a Brazilian vehicle-data service."""
