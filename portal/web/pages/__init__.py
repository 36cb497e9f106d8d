"""The HTML pages: routes, sessions, lookups and the PDF."""
