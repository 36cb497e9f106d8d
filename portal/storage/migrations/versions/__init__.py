"""The migrations, with one file for each revision. A released file is never edited."""
