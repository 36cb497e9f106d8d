"""Helpers without knowledge of vehicles: process limits, shared files, time zone, text formats."""
