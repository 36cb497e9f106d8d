"""Renders HTML pages as PDF with WeasyPrint, in a child process."""
