"""The Prometheus rules and the Grafana dashboard read existing metrics and work.

A test that runs promtool or Prometheus is skipped if the program is missing.
"""

import json
import re
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import requests
import yaml

from portal import VERSION
from tests.conftest import PortalFactory
from tests.fakes import FaultUpstream, odd_bodies, wait_until
from tests.fakes.answers import path_of
from tests.fakes.in_process import PORTAL_TOKEN, managed
from tests.fakes.ports import free_port
from tests.fakes.processes import PortalProcess
from tests.fakes.signing import PASSWORD, chain

CHECKOUT = Path(__file__).resolve().parents[2]
PROMETHEUS = CHECKOUT / "deploy/prometheus"
DASHBOARD = CHECKOUT / "deploy/grafana/dossie-veicular.json"
RULES = yaml.safe_load((PROMETHEUS / "rules.yml").read_text())["groups"][0]["rules"]
REHEARSALS = sorted(PROMETHEUS.glob("*_test.yml"))
WORDS = re.compile(r'(?<!")\bportal_\w+')  # no value of a label


def panels() -> list[dict[str, Any]]:
    return [each for each in json.loads(DASHBOARD.read_text())["panels"] if each["type"] != "row"]


def queries() -> list[str]:
    """Return every query of the dashboard, with Grafana's variables replaced."""
    found = [target["expr"] for panel in panels() for target in panel["targets"]]
    for name, value in (("$__rate_interval", "5m"), ("$__range", "1h")):
        found = [each.replace(name, value) for each in found]
    return found


def headings() -> set[str]:
    """Return the anchors of the operator's manual, as GitHub makes them."""
    lines = (CHECKOUT / "docs/operating.md").read_text().splitlines()
    titles = [line.lstrip("#").strip().lower() for line in lines if line.startswith("#")]
    return {re.sub(r"[^\w -]", "", title).replace(" ", "-") for title in titles}


def promtool(*words: str, folder: Path = PROMETHEUS) -> str:
    binary = shutil.which("promtool")
    if binary is None:
        pytest.skip("promtool is not installed (Debian's package prometheus)")
    done = subprocess.run(
        [binary, *words], cwd=folder, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture
def exposed(portal: PortalFactory, upstream: FaultUpstream, tmp_path: Path) -> set[str]:
    """Return the metric names of a portal with limits, a spent budget and a signing key."""
    prices = {f"PRICE_{name}": "0.30" for name in ("DECODE", "RENAINF", "RENAJUD", "REPORT")}
    key = {"SIGNING_KEY_FILE": str(chain().write(tmp_path)), "SIGNING_KEY_PASSWORD": PASSWORD}
    here = portal(DAILY_CALL_LIMIT="10", MONTHLY_BUDGET="0.30", **prices, **key)
    upstream.default(odd_bodies.new_field())
    here.get(path_of("decode"))
    here.parts.scheduler.run_all()
    text = here.client.get("/metrics").get_data(as_text=True)
    return {re.split(r"[{ ]", line)[0] for line in text.splitlines() if not line.startswith("#")}


def test_rules_and_dashboard_read_series_that_exist(exposed: set[str]) -> None:
    read = {name for rule in RULES for name in WORDS.findall(rule["expr"])}
    read |= {name for query in queries() for name in WORDS.findall(query)}
    assert "portal_spent_brl_total" in read
    assert read <= exposed


def test_dashboard_shows_every_kind_of_series(exposed: set[str]) -> None:
    shown = {name for query in queries() for name in WORDS.findall(query)}
    families = {re.sub(r"_(bucket|sum|count|created|total)$", "", name) for name in shown}
    unshown = {name for name in exposed if name.startswith("portal_")} - shown
    assert {
        each
        for each in unshown
        if re.sub(r"_(bucket|sum|count|created|total)$", "", each) not in families
    } == {"portal_daily_call_limit"}


@pytest.mark.parametrize("rule", RULES, ids=[each["alert"] for each in RULES])
def test_alert_names_its_section_of_the_manual(rule: dict[str, Any]) -> None:
    page, _, anchor = rule["annotations"]["runbook"].partition("#")
    assert page == "docs/operating.md"
    assert anchor in headings()
    assert rule["labels"]["severity"] in ("critical", "warning", "info")


def test_every_alert_is_rehearsed() -> None:
    cases = [
        (check["alertname"], bool(check["exp_alerts"]))
        for file in REHEARSALS
        for test in yaml.safe_load(file.read_text())["tests"]
        for check in test["alert_rule_test"]
    ]
    alerts = {each["alert"] for each in RULES}
    assert {name for name, fires in cases if fires} == alerts
    assert {name for name, fires in cases if not fires} == alerts


def test_panels_do_not_overlap() -> None:
    cells = [
        (x, y)
        for place in (panel["gridPos"] for panel in json.loads(DASHBOARD.read_text())["panels"])
        for x in range(place["x"], place["x"] + place["w"])
        for y in range(place["y"], place["y"] + place["h"])
    ]
    assert len(cells) == len(set(cells))
    assert max(x for x, _ in cells) < 24


@pytest.mark.slow
def test_promtool_accepts_rules_and_configuration() -> None:
    assert f"{len(RULES)} rules found" in promtool("check", "rules", "rules.yml")
    promtool("check", "config", "prometheus.yml")


@pytest.mark.slow
@pytest.mark.long
def test_each_alert_fires_on_its_incident_alone() -> None:
    promtool("test", "rules", *(file.name for file in REHEARSALS))


@pytest.mark.slow
@pytest.mark.long
def test_promtool_reads_every_query_of_the_dashboard(tmp_path: Path) -> None:
    rules = [{"record": f"panel:{n}", "expr": query} for n, query in enumerate(queries())]
    (tmp_path / "panels.yml").write_text(
        yaml.safe_dump({"groups": [{"name": "panels", "rules": rules}]})
    )
    found = promtool("check", "rules", "panels.yml", folder=tmp_path)
    assert f"{len(rules)} rules found" in found


class PrometheusServer:
    """A Prometheus that scrapes one target each second, with the shipped configuration."""

    def __init__(self, binary: str, folder: Path, target: str) -> None:
        config = yaml.safe_load((PROMETHEUS / "prometheus.yml").read_text())
        config["global"] = {"scrape_interval": "1s", "evaluation_interval": "1s"}
        config["rule_files"] = [str(PROMETHEUS / "rules.yml")]
        (job,) = config["scrape_configs"]
        job["static_configs"][0]["targets"] = [target]
        (folder / "prometheus.yml").write_text(yaml.safe_dump(config))
        self._url = f"127.0.0.1:{free_port()}"
        self._process = subprocess.Popen(
            [
                binary,
                f"--config.file={folder / 'prometheus.yml'}",
                f"--storage.tsdb.path={folder / 'data'}",
                f"--web.listen-address={self._url}",
            ],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def ask(self, path: str, **parameters: str) -> Any:
        try:
            url = f"http://{self._url}/api/v1/{path}"
            return requests.get(url, params=parameters, timeout=10).json()["data"]
        except (requests.RequestException, ValueError, KeyError):
            return None

    def value(self, query: str) -> float | None:
        data = self.ask("query", query=query)
        return float(data["result"][0]["value"][1]) if data and data["result"] else None

    def stop(self) -> None:
        self._process.terminate()
        self._process.wait(30)


@pytest.fixture
def priced_portal(upstream: FaultUpstream) -> Iterator[PortalProcess]:
    prices = {"PORTAL_PRICE_DECODE": "0.30", "PORTAL_DAILY_CALL_LIMIT": "4"}
    with PortalProcess(managed(upstream.url) | prices) as server:
        yield server


@pytest.mark.slow
@pytest.mark.long
def test_prometheus_scrapes_the_portal_and_evaluates_the_rules(
    priced_portal: PortalProcess, tmp_path: Path
) -> None:
    binary = shutil.which("prometheus")
    if binary is None:
        pytest.skip("Prometheus is not installed (Debian's package prometheus)")
    server = PrometheusServer(binary, tmp_path, f"127.0.0.1:{priced_portal.port}")
    try:
        wait_until(lambda: server.value("up") == 1, "a scrape", 60)
        for number in range(4):
            path = path_of("decode", f"ABC1D2{number}")
            header = {"Authorization": PORTAL_TOKEN}
            assert priced_portal.get(path, headers=header).status_code == 200
        wait_until(
            lambda: server.value("sum(portal_spent_brl_total)") == pytest.approx(1.20), "R$ 1.20"
        )

        def firing() -> set[str]:
            alerts = (server.ask("alerts") or {"alerts": []})["alerts"]
            return {each["labels"]["alertname"] for each in alerts if each["state"] == "firing"}

        wait_until(lambda: firing() == {"DailyLimitNear", "DailyLimitReached"}, "the alerts", 60)
        time.sleep(1.5)  # so that each rule has been evaluated with the scraped series
        rules = [rule for group in server.ask("rules")["groups"] for rule in group["rules"]]
        assert {rule["health"] for rule in rules} == {"ok"}
        assert len(rules) == len(RULES)
    finally:
        server.stop()


def test_alerts_reach_a_receiver() -> None:
    """The routes of the example match labels that the rules set, and name its receivers."""
    config = yaml.safe_load((PROMETHEUS / "alertmanager.yml").read_text())
    receivers = {each["name"] for each in config["receivers"]}
    routes = [config["route"], *config["route"]["routes"]]
    assert {each["receiver"] for each in routes} <= receivers
    severities = {f'severity="{rule["labels"]["severity"]}"' for rule in RULES if "alert" in rule}
    for each in routes[1:]:
        assert set(each["matchers"]) <= severities
    prometheus = yaml.safe_load((PROMETHEUS / "prometheus.yml").read_text())
    assert prometheus["alerting"]["alertmanagers"][0]["static_configs"][0]["targets"]


def test_version_is_told(portal: PortalFactory) -> None:
    here = portal()
    assert here.client.get("/healthz").get_json() == {"status": "ok", "version": VERSION}
    assert f'portal_build_info{{version="{VERSION}"}} 1.0' in here.client.get("/metrics").text
