"""View models of issued dossiers and of the page that verifies them.

An issued dossier is a stored report about a vehicle. Everyone who has the link can read the report.
"""
