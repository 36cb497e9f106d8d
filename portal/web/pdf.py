"""The dossier's own HTML as a tagged PDF, by WeasyPrint where its libraries are at hand."""

from typing import Any

from portal.web.assets import Assets, UnknownAsset


class PDFUnavailable(Exception):
    """WeasyPrint or a library that it loads is missing on this machine."""


def render_pdf(html: str, assets: Assets) -> bytes:
    """PDF/UA-1 of a page; only our own ``/static/`` files and ``data:`` are ever loaded."""
    try:
        import weasyprint  # late, and only here: it loads pango
    except (ImportError, OSError) as error:
        raise PDFUnavailable(type(error).__name__) from None

    class OwnFiles(weasyprint.urls.URLFetcher):  # type: ignore[misc]
        def fetch(self, url: str, headers: Any = None) -> Any:
            if url.startswith("data:"):
                return super().fetch(url, headers)
            _, _, path = url.partition("/static/")
            asset = assets.find(path)
            if asset is None:
                raise UnknownAsset(path)
            return weasyprint.urls.URLFetcherResponse(
                url, asset.body, {"Content-Type": asset.content_type}
            )

    document = weasyprint.HTML(
        string=html,
        base_url="http://portal.invalid/",
        url_fetcher=OwnFiles(allowed_protocols=("data",)),
    )
    return bytes(document.write_pdf(pdf_variant="pdf/ua-1"))
