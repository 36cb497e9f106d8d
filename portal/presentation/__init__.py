"""The view models of the pages: frozen dataclasses, each with the path of its template."""
