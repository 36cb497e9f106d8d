"""Secrets from files: an invalid file gives a one-line message without the secret."""

from pathlib import Path

import pytest

from portal.settings import Settings, SettingsError

UPSTREAM = {"PORTAL_UPSTREAM_URL": "http://dados.example"}
SECRETS = {
    "UPSTREAM_TOKEN": "the-operators",
    "ACCESS_TOKENS": "one,two",
    "REDIS_URL": "redis://:hush@host/1",
    "DATABASE_URL": "sqlite:////kept.sqlite",
    "SECRET_KEY": "k" * 20,
    "METRICS_TOKEN": "measuring",
}


def test_every_secret_can_be_read_from_a_file(tmp_path: Path) -> None:
    environ = dict(UPSTREAM)
    for name, text in SECRETS.items():
        (tmp_path / name).write_text(text.replace(",", "\n") + "\n")
        environ[f"PORTAL_{name}_FILE"] = name
    given = UPSTREAM | {f"PORTAL_{name}": text for name, text in SECRETS.items()}
    assert Settings.from_environment(environ, tmp_path) == Settings.from_environment(
        given, tmp_path
    )


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (None, "No such file"),
        (b" \n", "the file is empty"),
        (b"\xff\xfe", "not UTF-8"),
        (b"two words", "a token is"),
    ],
)
def test_invalid_secret_file_is_rejected_by_name(
    tmp_path: Path, content: bytes | None, reason: str
) -> None:
    """With an empty UPSTREAM_TOKEN, the portal would forward callers' credentials."""
    if content is not None:
        (tmp_path / "token").write_bytes(content)
    environ = {**UPSTREAM, "PORTAL_UPSTREAM_TOKEN_FILE": str(tmp_path / "token")}
    with pytest.raises(SettingsError, match=f"^PORTAL_UPSTREAM_TOKEN.*{reason}.*$") as caught:
        Settings.from_environment(environ)
    assert "two words" not in str(caught.value)


def test_secret_set_twice_is_rejected(tmp_path: Path) -> None:
    (tmp_path / "key").write_text("from the file")
    environ = {"PORTAL_SECRET_KEY": "x", "PORTAL_SECRET_KEY_FILE": str(tmp_path / "key")}
    with pytest.raises(SettingsError, match="are both set"):
        Settings.from_environment(environ)


def test_file_variable_of_other_setting_is_rejected() -> None:
    with pytest.raises(SettingsError, match="PORTAL_WORKERS_FILE is not a setting"):
        Settings.from_environment({"PORTAL_WORKERS_FILE": "/dev/null"})


def test_value_that_is_not_utf8_is_rejected() -> None:
    with pytest.raises(SettingsError, match=r"^PORTAL_SECRET_KEY makes no sense: it is not UTF-8$"):
        Settings.from_environment({"PORTAL_SECRET_KEY": "\udcff"})
