"""The HTML pages: routes, sessions, lookups, the PDF."""
