"""View models of issued dossiers and of the verification page."""
