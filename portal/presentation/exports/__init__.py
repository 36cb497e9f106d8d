"""Exports of the data that pages show, as JSON, CSV, JSON Lines, XLSX and ZIP files."""
