"""Renders HTML pages as PDF with WeasyPrint, in a child process."""

from portal.pdf.process import PAGE_WITHIN_S, PdfProcess, RenderingFailed, RenderingInterrupted
from portal.pdf.renderer import File, PdfRenderer, PDFUnavailable

__all__ = [
    "PAGE_WITHIN_S",
    "File",
    "PDFUnavailable",
    "PdfProcess",
    "PdfRenderer",
    "RenderingFailed",
    "RenderingInterrupted",
]
