"""View models of issued dossiers and of the page that verifies them.

An issued dossier is a report about a vehicle that the portal stores under a link.
"""
