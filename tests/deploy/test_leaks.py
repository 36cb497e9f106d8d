"""The search finds each planted leak, and no leak in a clean tree."""

from pathlib import Path

import pytest

from tests.deploy.leaks import find_leaks

KEY = "-----BEGIN EC PRIVATE KEY-----\n" + "A" * 64


@pytest.mark.parametrize(
    ("path", "content", "kind"),
    [
        ("app/.git/HEAD", "ref: main", "name"),
        ("etc/pip.conf", "[global]", "name"),
        ("root/.netrc", "", "name"),
        ("data/secret_key", "", "name"),
        ("data/portal.sqlite", "", "name"),
        ("etc/server.pem", KEY, "private key"),
        ("opt/notes", "token ghp_" + "a" * 36, "GitHub token"),
        ("opt/env.sh", "export AWS_ACCESS_KEY_ID=AKIA" + "Q" * 16, "AWS key"),
        ("opt/venv/direct_url.json", '{"url": "https://index.corp/x"}', "text 0 of the builder"),
    ],
)
def test_planted_secret_is_found(tmp_path: Path, path: str, content: str, kind: str) -> None:
    file = tmp_path / path
    file.parent.mkdir(parents=True)
    file.write_text(content)
    found = find_leaks(tmp_path, ["index.corp"])
    assert any(line.endswith(f": {kind}") for line in found), found
    assert not any(content and content in line for line in found)


def test_clean_tree_has_no_leak(tmp_path: Path) -> None:
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib/ssh.py").write_text('HEADER = b"-----BEGIN PRIVATE KEY-----"\n')
    (tmp_path / "lib/font.py").write_text("AAAkAKIA" + "Q" * 40)
    (tmp_path / "lib/link").symlink_to("/etc/passwd")
    assert find_leaks(tmp_path, ["index.corp"]) == []
