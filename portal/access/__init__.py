"""Authenticates callers by token or upstream credential, and stores each visitor's history."""
