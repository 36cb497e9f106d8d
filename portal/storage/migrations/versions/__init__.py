"""The migrations, one file per revision. A file is never edited after its release."""
