"""The child process that renders dossiers, which use the portal's static files, as PDF."""

from portal.pdf import File, PdfProcess
from portal.web.http.assets import Assets


def pdf_process(assets: Assets) -> PdfProcess:
    def files() -> dict[str, File]:
        return {name: (each.content_type, each.body) for name, each in assets.items()}

    return PdfProcess(files)
