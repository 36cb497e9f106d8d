"""Dossiê Veicular: a portal in front of a Brazilian vehicle-data service."""
