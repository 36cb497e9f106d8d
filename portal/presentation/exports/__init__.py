"""Exports of vehicle records and batch results: JSON, CSV, XLSX and ZIP."""
