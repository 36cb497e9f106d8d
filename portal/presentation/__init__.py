"""The view models of the pages: frozen dataclasses that the templates render."""
