"""Renders HTML pages as PDF with WeasyPrint, in this process or in a child process."""

from portal.pdf.process import PdfProcess, RenderingFailed
from portal.pdf.renderer import File, PdfRenderer, PDFUnavailable

__all__ = [
    "File",
    "PDFUnavailable",
    "PdfProcess",
    "PdfRenderer",
    "RenderingFailed",
]
