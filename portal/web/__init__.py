"""The web layer: JSON API, HTML pages, health checks and metrics."""
