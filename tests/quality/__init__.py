"""``make quality`` (Lighthouse, axe, HTML checker, weight, PDF) and ``make pictures``."""
