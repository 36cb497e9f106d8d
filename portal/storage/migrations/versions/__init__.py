"""One file a revision. Each is applied once and never edited after its release."""
