"""What the pages say, for programs and spreadsheets: explained JSON, CSV, JSON Lines, XLSX."""
