"""Issued dossiers: vehicle reports that are stored unchanged and shared by a link."""
