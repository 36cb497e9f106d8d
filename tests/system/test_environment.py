"""Secrets may come from files; what cannot be read is refused in one line that tells no secret."""

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


def test_every_secret_may_come_from_a_file(tmp_path):
    environ = dict(UPSTREAM)
    for name, text in SECRETS.items():
        (tmp_path / name).write_text(text.replace(",", "\n") + "\n")
        environ[f"PORTAL_{name}_FILE"] = name
    given = UPSTREAM | {f"PORTAL_{name}": text for name, text in SECRETS.items()}
    assert Settings.from_environment(environ, tmp_path) == Settings.from_environment(
        given, tmp_path
    )


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (None, "No such file"),
        (b" \n", "the file is empty"),
        (b"\xff\xfe", "not UTF-8"),
        (b"two words", "a token is"),
    ],
)
def test_a_secret_file_that_holds_no_secret_is_refused_by_name(tmp_path, content, told):
    """An empty UPSTREAM_TOKEN would turn a managed portal into pass-through."""
    if content is not None:
        (tmp_path / "token").write_bytes(content)
    environ = {**UPSTREAM, "PORTAL_UPSTREAM_TOKEN_FILE": str(tmp_path / "token")}
    with pytest.raises(SettingsError, match=f"^PORTAL_UPSTREAM_TOKEN.*{told}.*$") as caught:
        Settings.from_environment(environ)
    assert "two words" not in str(caught.value)


def test_a_secret_from_two_places_is_refused(tmp_path):
    (tmp_path / "key").write_text("from the file")
    environ = {"PORTAL_SECRET_KEY": "x", "PORTAL_SECRET_KEY_FILE": str(tmp_path / "key")}
    with pytest.raises(SettingsError, match="are both set"):
        Settings.from_environment(environ)


def test_only_secrets_have_a_file():
    with pytest.raises(SettingsError, match="PORTAL_WORKERS_FILE is not a setting"):
        Settings.from_environment({"PORTAL_WORKERS_FILE": "/dev/null"})


def test_a_value_that_is_not_utf_8_is_refused():
    with pytest.raises(SettingsError, match=r"^PORTAL_SECRET_KEY makes no sense: it is not UTF-8$"):
        Settings.from_environment({"PORTAL_SECRET_KEY": "\udcff"})
