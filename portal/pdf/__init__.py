"""PDFs of HTML pages, rendered by WeasyPrint in the worker or in a child process."""

from portal.pdf.process import PdfProcess, RenderingFailed
from portal.pdf.renderer import File, PdfRenderer, PDFUnavailable, UnknownFile

__all__ = [
    "File",
    "PDFUnavailable",
    "PdfProcess",
    "PdfRenderer",
    "RenderingFailed",
    "UnknownFile",
]
