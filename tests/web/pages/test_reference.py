"""What programs and language models read: the reference as Markdown, llms.txt, sample plates."""

import re

from tests.conftest import PortalFactory
from tests.fakes.in_process import InProcessPortal
from tests.web.page_client import PageClient


def text_of(portal: InProcessPortal, path: str) -> str:
    response = portal.client.get(path)
    assert response.status_code == 200
    return str(response.get_data(as_text=True))


def test_markdown_says_what_the_page_says(portal: PortalFactory) -> None:
    here = portal()
    markdown = text_of(here, "/api.md")
    assert here.client.get("/api.md").content_type == "text/markdown; charset=utf-8"
    assert markdown.startswith("# Referência da API\n")
    page = PageClient(here.client).get("/api")
    for heading in page.all("h2"):
        assert f"## {heading.text}" in markdown
    for code in page.all("code"):
        words = code.text or ""
        if words.startswith("/api/v1/"):
            assert words in markdown
    assert "```python\nimport requests\n" in markdown
    assert "```sh\ncurl -H 'Authorization: SEU_TOKEN'" in markdown
    assert not re.search(r"</?(div|section|pre|table)", markdown)
    assert "portal.invalid" not in markdown
    assert "http://localhost/detran/v1/decode/ABC1D23" in markdown


def test_llms_txt_leads_to_pages_that_exist(portal: PortalFactory) -> None:
    here = portal(PRICE_DECODE="0.85", PRICE_RENAINF="0")
    text = text_of(here, "/llms.txt")
    assert text.startswith("# Dossiê Veicular\n\n> ")
    assert "decode R$\u00a00,85; renainf sem custo; renajud preço não informado" in text
    links = re.findall(r"\]\(http://localhost(/[^)]*)\)", text)
    assert {"/api.md", "/openapi.yaml", "/api/ensaio"} <= set(links)
    for path in links:
        text_of(here, path)
