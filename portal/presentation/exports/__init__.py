"""Exports of what the pages show: explained JSON, CSV, JSON Lines and XLSX."""
