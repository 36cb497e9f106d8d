"""Contains the migrations, with one file for each revision.

A file is never edited after its release.
"""
