"""View models of the printed dossier."""
