"""JSON, CSV, JSON Lines, XLSX and ZIP exports of vehicle records and batch results."""
