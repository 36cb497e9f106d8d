"""compose.yaml, the Kubernetes manifests and their settings are valid and agree."""

import os
import re
import shutil
import stat
import subprocess
import sys
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
import yaml

from portal.factory import SPARE_S
from portal.settings import Settings
from portal.system.webhook_signature import new_secret
from tests.deploy.fronts import installed, read
from tests.fakes.databases import PostgresProcess
from tests.fakes.ports import accepts_connections, free_port, wait_until
from tests.fakes.preloaded import CHECKOUT
from tests.fakes.processes import RedisProcess

LONGEST_STOP_S = Settings().deadline + SPARE_S
KUBERNETES = CHECKOUT / "deploy/kubernetes"
MANIFESTS = sorted(
    each.name for each in KUBERNETES.glob("*.yaml") if each.name != "kustomization.yaml"
)
# A cluster without the Prometheus operator knows no PodMonitor.
OPTIONAL = sorted(each.name for each in (KUBERNETES / "optional").glob("*.yaml"))
COMPOSE: dict[str, Any] = yaml.safe_load(read("deploy/compose.yaml"))
PORTALS = {name: each for name, each in COMPOSE["services"].items() if name.startswith("portal-")}


def manifest(name: str) -> Any:
    return yaml.safe_load((KUBERNETES / name).read_text("utf-8"))


def container() -> Any:
    return manifest("deployment.yaml")["spec"]["template"]["spec"]["containers"][0]


def environment(path: str, with_examples: bool = True) -> dict[str, str]:
    """Return the variables of an environment file; examples are commented out."""
    pattern = r"^#?([A-Z_]+)=(.*)$" if with_examples else r"^([A-Z_]+)=(.*)$"
    return dict(re.findall(pattern, read(path), re.MULTILINE))


def with_secrets(variables: Mapping[str, str], folder: Path) -> dict[str, str]:
    """Generate secret files; return the variables with their paths."""
    subprocess.run(
        ["sh", str(CHECKOUT / "deploy/make_secrets.sh"), str(folder)],
        check=True,
        capture_output=True,
    )
    (folder / "upstream_token").write_text("an-upstream-token\n")
    return {
        name: str(folder / Path(value).name) if name.endswith("_FILE") else value
        for name, value in variables.items()
    }


def test_example_settings_are_settings_of_the_portal() -> None:
    assert Settings.from_environment(environment("deploy/portal.env", False)).trusted_proxies == 1
    secrets = {  # which the file leaves to PORTAL_…_FILE
        "UPSTREAM_TOKEN": "operator",
        "OIDC_CLIENT_SECRET": "of the provider",
        "SMTP_URL": "smtps://user:password@mail.example:465",
        "WEBHOOK_SECRET": new_secret(),
    }
    examples = environment("deploy/portal.env", True)
    settings = Settings.from_environment(
        examples | {f"PORTAL_{name}": text for name, text in secrets.items()}
    )
    assert settings.upstream_url == "https://dados.example/base"
    assert settings.monthly_budget == 800
    assert settings.person_monthly_budget == 60
    assert settings.purposes == ("Compra de veículo", "Cobrança")


def test_compose_declares_each_secret_that_it_proposes() -> None:
    text = read("deploy/compose.yaml")
    proposed = set(re.findall(r"PORTAL_\w+_FILE: /run/secrets/(\w+)", text))
    assert "oidc_client_secret" in proposed
    for name in proposed:
        assert re.search(rf"^    #?- {name}$", text, re.MULTILINE), name
        assert f"{name}: {{file: secrets/{name}}}" in text


@pytest.mark.slow
def test_portals_of_compose_start_with_these_secrets(tmp_path: Path) -> None:
    for portal in PORTALS.values():
        variables = environment("deploy/portal.env", False) | portal["environment"]
        settings = Settings.from_environment(with_secrets(variables, tmp_path / "secrets"))
        assert settings.secret_key and len(settings.secret_key) == 64
        assert settings.redis_url and settings.redis_url.endswith("@valkey")
        assert settings.database_url and settings.database_url.endswith("@postgres/portal")
        mounted = {f"/run/secrets/{name}" for name in portal["secrets"]}
        used = {text for name, text in portal["environment"].items() if name.endswith("_FILE")}
        assert mounted == used


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("unit", ["compose", "systemd"])
def test_doctor_raises_no_alarm_with_the_shipped_files(
    unit: str, tmp_path: Path, postgres: PostgresProcess
) -> None:
    """The settings of compose with their database and store, and those of the systemd unit."""
    variables = environment("deploy/portal.env", False)
    with RedisProcess(appendonly="yes") as store:
        if unit == "compose":
            variables |= PORTALS["portal-a"]["environment"]
            variables = with_secrets(variables, tmp_path / "secrets")
            (tmp_path / "secrets/redis_url").write_text(store.url)
            (tmp_path / "secrets/database_url").write_text(postgres.new_database())
        else:
            service = read("deploy/systemd/dossie-veicular.service")
            assert "EnvironmentFile=/etc/dossie-veicular/portal.env" in service
            for line in re.findall(r"^Environment=(.*)$", service, re.MULTILINE):
                variables |= dict(each.split("=", 1) for each in line.split())
        # Of the unit, all but the folder of what is stored.
        variables["PORTAL_DATA_DIR"] = str(tmp_path / "data")
        for command in (*([["db", "upgrade"]] if unit == "compose" else []), ["doctor"]):
            done = subprocess.run(
                [sys.executable, "-m", "flask", "--app", "app", *command],
                cwd=CHECKOUT,
                env=os.environ | variables,
                capture_output=True,
                text=True,
                check=False,
            )
            assert (done.returncode, "WRONG" in done.stdout) == (0, False), done
    assert "ok" in done.stdout.lower()


@pytest.mark.slow
def test_pods_start_with_these_secrets(tmp_path: Path) -> None:
    variables = environment("deploy/kubernetes/portal.env", False)
    settings = Settings.from_environment(with_secrets(variables, tmp_path / "secrets"))
    assert settings.mode == "managed"
    [generated] = manifest("kustomization.yaml")["secretGenerator"]
    files = {Path(text).name for name, text in variables.items() if name.endswith("_FILE")}
    assert {Path(each).name for each in generated["files"]} == files
    [mount] = [each for each in container()["volumeMounts"] if each["name"] == "secrets"]
    assert variables["PORTAL_SECRET_KEY_FILE"] == f"{mount['mountPath']}/secret_key"


@pytest.mark.slow
def test_secrets_are_made_once_and_closed_to_others(tmp_path: Path) -> None:
    with_secrets({}, tmp_path / "secrets")
    first = {each.name: each.read_text() for each in (tmp_path / "secrets").iterdir()}
    (tmp_path / "secrets/metrics_token").unlink()
    with_secrets({}, tmp_path / "secrets")
    second = {each.name: each.read_text() for each in (tmp_path / "secrets").iterdir()}
    changed = {name for name in first if first[name] != second[name]}
    assert changed == {"metrics_token"}
    assert stat.S_IMODE((tmp_path / "secrets").stat().st_mode) == 0o700


@pytest.mark.slow
def test_secrets_are_neither_committed_nor_built_in() -> None:
    for path in ("deploy/secrets/secret_key", "deploy/kubernetes/secrets/secret_key"):
        ignored = subprocess.run(["git", "check-ignore", "-q", path], cwd=CHECKOUT, check=False)
        assert ignored.returncode == 0, path
    allowed = {line for line in read(".dockerignore").splitlines() if line.startswith("!")}
    copied = re.findall(r"^COPY (?!--from)(.+) \S+$", read("deploy/Dockerfile"), re.MULTILINE)
    assert allowed == {f"!{name}" for names in copied for name in names.split()}


def test_image_and_manifests_agree() -> None:
    dockerfile = read("deploy/Dockerfile")
    pod = manifest("deployment.yaml")["spec"]["template"]["spec"]
    user = pod["securityContext"]
    assert f"USER {user['runAsUser']}:{user['runAsGroup']}" in dockerfile
    assert f"EXPOSE {container()['ports'][0]['containerPort']}\n" in dockerfile
    assert {each["mountPath"] for each in container()["volumeMounts"]} >= {"/data", "/tmp"}
    assert COMPOSE["services"]["caddy"]["environment"]["PORTALS"].split() == [
        f"{name}:8000" for name in PORTALS
    ]


def test_portals_of_compose_are_confined() -> None:
    assert len(PORTALS) == 2
    for portal in PORTALS.values():
        assert portal["read_only"] is True
        assert portal["cap_drop"] == ["ALL"]
        assert int(portal["stop_grace_period"].removesuffix("s")) > LONGEST_STOP_S
        assert "ports" not in portal  # only Caddy may reach the portal (TRUSTED_PROXIES)
    for name in ("valkey", "postgres"):
        assert COMPOSE["services"][name]["networks"] == ["inside"]
    assert COMPOSE["networks"]["inside"]["internal"] is True


@pytest.mark.slow
def test_store_of_compose_has_a_password_and_keeps_answers(tmp_path: Path) -> None:
    """The test starts Redis, which accepts the same options as Valkey."""
    redis = pytest.importorskip("redis", reason="redis-py is not installed")
    with_secrets({}, tmp_path / "secrets")
    program, _, *options = COMPOSE["services"]["valkey"]["command"]
    assert program == "valkey-server"
    options[options.index("/data")] = str(tmp_path)
    file, port = str(tmp_path / "secrets/valkey_password"), str(free_port())
    command = [installed("redis-server"), file, *options, "--port", port, "--bind", "127.0.0.1"]
    url = (tmp_path / "secrets/redis_url").read_text().strip()
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    try:
        wait_until(lambda: accepts_connections(int(port)), "the start", 30)
        with redis.Redis(port=int(port)) as other, pytest.raises(redis.AuthenticationError):
            other.ping()
        with redis.Redis.from_url(url.replace("@valkey", f"@127.0.0.1:{port}")) as client:
            assert client.config_get("appendonly") == {"appendonly": "yes"}
            assert client.config_get("maxmemory-policy") == {"maxmemory-policy": "noeviction"}
            assert client.config_get("dir") == {"dir": str(tmp_path)}
    finally:
        server.terminate()
        server.wait(30)


def test_every_service_of_compose_has_a_health_check() -> None:
    for name, service in COMPOSE["services"].items():
        assert "healthcheck" in service or name in PORTALS, name
    assert "HEALTHCHECK" in read("deploy/Dockerfile")


def test_pods_are_confined() -> None:
    pod = manifest("deployment.yaml")["spec"]["template"]["spec"]
    [migration] = pod["initContainers"]
    context = container()["securityContext"]
    assert migration["securityContext"] == context
    assert migration["volumeMounts"] == container()["volumeMounts"]
    assert migration["envFrom"] == container()["envFrom"]
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert context["readOnlyRootFilesystem"] is True
    assert context["allowPrivilegeEscalation"] is False
    assert context["capabilities"] == {"drop": ["ALL"]}
    assert pod["automountServiceAccountToken"] is False


def test_pods_stop_without_losing_requests() -> None:
    spec = manifest("deployment.yaml")["spec"]
    pod = spec["template"]["spec"]
    pause = int(container()["lifecycle"]["preStop"]["exec"]["command"][1])
    assert pod["terminationGracePeriodSeconds"] > pause + LONGEST_STOP_S
    assert spec["strategy"]["rollingUpdate"]["maxUnavailable"] == 0
    assert spec["replicas"] > manifest("disruption-budget.yaml")["spec"]["minAvailable"]
    ready = container()["readinessProbe"]
    assert ready["periodSeconds"] * ready["failureThreshold"] <= pause
    assert ready["httpGet"]["path"] == "/readyz"
    # A restart would not help while the database or Redis is down.
    assert container()["livenessProbe"]["httpGet"]["path"] == "/healthz"


def test_selectors_of_kubernetes_find_the_pods() -> None:
    deployment = manifest("deployment.yaml")["spec"]
    labels = deployment["template"]["metadata"]["labels"]
    assert deployment["selector"]["matchLabels"] == labels
    assert manifest("service.yaml")["spec"]["selector"] == labels
    assert manifest("disruption-budget.yaml")["spec"]["selector"]["matchLabels"] == labels
    assert manifest("network-policy.yaml")["spec"]["podSelector"]["matchLabels"] == labels
    ports = {each["name"] for each in container()["ports"]}
    assert manifest("service.yaml")["spec"]["ports"][0]["targetPort"] in ports
    assert set(manifest("kustomization.yaml")["resources"]) == set(MANIFESTS)


def test_optional_manifests_name_what_the_others_have() -> None:
    monitor, ingress, backup = (
        manifest(f"optional/{name}.yaml") for name in ("pod-monitor", "ingress", "backup")
    )
    wanted = manifest("deployment.yaml")["spec"]["template"]["metadata"]["labels"]
    assert monitor["spec"]["selector"]["matchLabels"].items() <= wanted.items()
    ports = {each["name"] for each in container()["ports"]}
    assert monitor["spec"]["podMetricsEndpoints"][0]["port"] in ports
    service = ingress["spec"]["rules"][0]["http"]["paths"][0]["backend"]["service"]
    assert service["name"] == manifest("service.yaml")["metadata"]["name"]
    pod = backup["spec"]["jobTemplate"]["spec"]["template"]["spec"]
    generated = manifest("kustomization.yaml")["secretGenerator"][0]
    assert pod["volumes"][0]["secret"]["secretName"] == generated["name"]
    assert "secrets/database_url" in generated["files"]
    assert {f"optional/{name}" for name in OPTIONAL} == set(
        re.findall(r"# - (optional/\S+)", read("deploy/kubernetes/kustomization.yaml"))
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", [*MANIFESTS, *(f"optional/{name}" for name in OPTIONAL if name != "pod-monitor.yaml")]
)
def test_manifest_has_the_schema_of_kubernetes(name: str) -> None:
    path = str(KUBERNETES / name)
    if shutil.which("kubeconform"):
        command = ["kubeconform", "-strict", path]
    elif find_spec("kubernetes_validate"):
        command = [sys.executable, "-m", "kubernetes_validate", "--strict", path]
    else:
        pytest.skip("neither kubeconform nor kubernetes-validate is installed")
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
def test_compose_accepts_its_file(tmp_path: Path) -> None:
    plugin = (
        subprocess.run(["docker", "compose", "version"], capture_output=True, check=False)
        if (shutil.which("docker"))
        else None
    )
    if plugin is None or plugin.returncode != 0:
        pytest.skip("docker compose is not installed")
    done = subprocess.run(
        ["docker", "compose", "-f", "deploy/compose.yaml", "config", "--quiet"],
        cwd=CHECKOUT,
        env={**os.environ, "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
