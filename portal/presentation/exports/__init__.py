"""Exports of the pages' data as JSON with explanations, CSV, JSON Lines and XLSX."""
