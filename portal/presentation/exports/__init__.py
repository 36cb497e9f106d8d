"""The data of the pages as JSON with explanations, CSV, JSON Lines and XLSX."""
