"""One file per revision. A revision is applied once and never edited after its release."""
