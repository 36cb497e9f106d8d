"""Metrics: their contents without personal data, access to them, and the health checks."""

import errno
import os
import re
from http import HTTPStatus
from pathlib import Path
from typing import get_args

import pytest
from prometheus_client import values

from portal.gateway.lookup import CacheStatus, FailureKind
from portal.web.observability.metrics import BYTES_PER_WORKER, Metrics, enable_multiprocess
from portal.web.observability.request_log import request_fields
from tests.conftest import PortalFactory
from tests.fakes import FaultUpstream, faults, odd_bodies
from tests.fakes.answers import path_of
from tests.fakes.in_process import InProcessPortal

FAR = {"REMOTE_ADDR": "203.0.113.7"}


def numbers(portal: InProcessPortal) -> dict[str, float]:
    portal.parts.scheduler.run_all()
    lines = portal.client.get("/metrics").get_data(as_text=True).splitlines()
    parts = [line.rpartition(" ") for line in lines if not line.startswith("#")]
    return {name: float(value) for name, _, value in parts}


def test_lookup_results_are_counted(portal: PortalFactory, upstream: FaultUpstream) -> None:
    here = portal()
    here.get(path_of("decode"))
    here.get(path_of("decode"))
    upstream.default(faults.status(500))
    here.get(path_of("renajud"))
    counted = numbers(here)
    assert counted['portal_lookups_total{operation="decode",result="miss"}'] == 1
    assert counted['portal_lookups_total{operation="decode",result="hit"}'] == 1
    assert counted['portal_lookup_failures_total{operation="renajud",reason="bad_answer"}'] == 1
    attempts = 'portal_upstream_attempts_total{base="primary",operation="renajud",outcome='
    assert counted[attempts + '"failing"}'] == 1
    assert counted['portal_lookup_seconds_count{operation="decode",result="miss"}'] == 1


def test_observations_are_recorded_in_one_step(portal: PortalFactory) -> None:
    """Several hits at once count as the same hits one after another."""
    here = portal({})
    here.parts.metrics.served("decode", "hit", 0.02, 3)
    for _ in range(3):
        here.parts.metrics.served("decode", "stale", 0.02)
    lines = here.client.get("/metrics").get_data(as_text=True).splitlines()
    at_once, in_turn = (
        [line.replace(how, "") for line in lines if how in line and "_created" not in line]
        for how in ('result="hit"', 'result="stale"')
    )
    of_decode = [line for line in at_once if 'operation="decode"' in line]
    assert of_decode == [line for line in in_turn if 'operation="decode"' in line]
    assert len(of_decode) > 3 and of_decode[0].endswith(" 3.0")


def test_open_breaker_is_exposed(portal: PortalFactory, upstream: FaultUpstream) -> None:
    here = portal()
    upstream.default(faults.status(500))
    for number in range(5):
        here.get(path_of("decode", f"ABC1D2{number}"))
    counted = numbers(here)
    assert counted['portal_breaker_state{base="primary",state="open"}'] == 1
    assert counted['portal_breaker_state{base="primary",state="closed"}'] == 0


def test_drift_is_counted_by_field_name(portal: PortalFactory, upstream: FaultUpstream) -> None:
    here = portal()
    upstream.default(odd_bodies.new_field())
    here.get(path_of("decode"))
    here.get(path_of("decode"))
    assert numbers(here)['portal_drift_total{field="campoNovo",operation="decode"}'] == 1


def test_drift_fields_are_bounded(portal: PortalFactory, upstream: FaultUpstream) -> None:
    here = portal()
    pairs = [first + second for first in "abcdefgh" for second in "abcdefgh"][:60]
    for number in range(6):
        names = ",".join(f'"campo{"abcdef"[number]}_{pair}": 1' for pair in pairs).encode()
        upstream.default(odd_bodies.spliced("mad", names))
        here.get(path_of("decode", f"ABC1D2{number}"))
    counted = numbers(here)
    fields = [name for name in counted if name.startswith("portal_drift_total")]
    assert len(fields) <= 201
    assert counted['portal_drift_total{field="other",operation="decode"}'] > 0


def test_labels_contain_no_plate_token_or_path(
    portal: PortalFactory, upstream: FaultUpstream
) -> None:
    here = portal()
    for path in (path_of("decode"), "/placa/ABC1D23?completo=1", "/nowhere/ABC1D23"):
        here.get(path)
    here.client.open(path_of("decode"), method="ABC1D23")
    text = here.client.get("/metrics").get_data(as_text=True)
    assert "portal_requests_total" in text
    assert not re.search(r"ABC1D23|portal-token|nowhere", text)


@pytest.mark.parametrize(("method", "label"), [("TRACE", "TRACE"), ("PROPFIND", "other")])
def test_method_label_is_the_same_in_metrics_and_log(
    portal: PortalFactory, method: str, label: str
) -> None:
    here = portal()
    here.client.open("/healthz", method=method)
    assert request_fields(method, None, 405, None)["method"] == label
    counted = [name for name in numbers(here) if name.startswith("portal_requests_total")]
    assert [name for name in counted if f'method="{label}"' in name]


@pytest.mark.parametrize(
    ("address", "status"),
    [("::ffff:127.0.0.1", 200), ("::1", 200), ("::ffff:192.0.2.7", 403), ("unix", 403)],
)
def test_mapped_loopback_address_is_loopback(
    portal: PortalFactory, address: str, status: int
) -> None:
    """With HOST=:: the addresses of IPv4 clients are IPv4-mapped.

    Before Python 3.13, ``is_loopback`` is False for mapped addresses.
    """
    answer = portal().get("/metrics", environ_overrides={"REMOTE_ADDR": address})
    assert answer.status_code == status


def test_metrics_without_token_are_for_loopback_only(portal: PortalFactory) -> None:
    here = portal()
    assert here.client.get("/metrics").status_code == 200
    assert here.client.get("/metrics", environ_base=FAR).status_code == 403


@pytest.mark.parametrize("name", ["X-Forwarded-For", "Forwarded"])
def test_metrics_are_denied_behind_an_unconfigured_proxy(portal: PortalFactory, name: str) -> None:
    """Behind such a proxy, every client appears to be on the loopback address."""
    here = portal()
    assert here.client.get("/metrics", headers={name: "203.0.113.7"}).status_code == 403


def test_metrics_check_client_address_behind_a_trusted_proxy(portal: PortalFactory) -> None:
    here = portal(TRUSTED_PROXIES="1")
    answers = [
        here.client.get("/metrics", headers={"X-Forwarded-For": address}).status_code
        for address in ("127.0.0.1", "203.0.113.7")
    ]
    assert answers == [200, 403]


@pytest.mark.parametrize("form", ["{}", "Bearer {}"])
def test_metrics_token_allows_remote_access(portal: PortalFactory, form: str) -> None:
    here = portal(METRICS_TOKEN="s3cret")
    for token, status in (("s3cret", 200), ("wrong", 401), ("", 401)):
        headers = {"Authorization": form.format(token)}
        assert here.client.get("/metrics", headers=headers, environ_base=FAR).status_code == status
    assert here.client.get("/metrics").status_code == 200


def test_health_and_metrics_do_not_call_the_upstream(
    portal: PortalFactory, upstream: FaultUpstream
) -> None:
    here = portal()
    upstream.stop()
    for path in ("/healthz", "/readyz", "/metrics"):
        assert here.client.get(path).status_code == 200
    upstream.start()
    assert upstream.count() == 0


# Worker processes


@pytest.fixture
def shared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory for multiprocess metrics; restores prometheus_client afterwards."""
    monkeypatch.setattr(values, "ValueClass", values.ValueClass)
    monkeypatch.setenv("PROMETHEUS_MULTIPROC_DIR", str(tmp_path))
    return tmp_path


def metrics_in(directory: Path) -> Metrics:
    return Metrics((), directory, workers=1, priced=(), uses=list, is_worker=True)


def test_all_series_fit_into_the_preallocated_files(shared: Path, portal: PortalFactory) -> None:
    """A file that grows has holes, and on a full disk a write to a hole is fatal."""
    enable_multiprocess(shared, 0)
    metrics = metrics_in(shared)
    operations = ("decode", "renainf", "renajud", "report")
    for operation in operations:
        for how in get_args(CacheStatus):
            metrics.served(operation, how, 0.1)
        for kind in get_args(FailureKind):
            metrics.failed(operation, kind, 0.1)
        for base in ("primary", "secondary"):
            for end in ("answered", "maybe", "not_sent", "circuit_open", "timed_out", "broken"):
                metrics.asked(operation, base, end, 0.1, None)
        metrics.drifted(operation, [f"{letter * 40}[].{letter * 40}" for letter in "abcdefgh"] * 30)
    statuses = [status.value for status in HTTPStatus if status >= 200][:40]
    for rule in portal().app.url_map.iter_rules():
        for method in rule.methods or ():
            for status in statuses:
                metrics.count_responses(method, rule.rule, status, 0.1)
    for method in ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "other"):
        for status in statuses:
            metrics.count_responses(method, "none", status, 0.1)
    sizes = {file.name: file.stat() for file in shared.glob("*_0.db")}
    assert set(sizes) == {"counter_0.db", "histogram_0.db"}
    assert sum(each.st_size for each in sizes.values()) == BYTES_PER_WORKER
    assert all(each.st_blocks * 512 >= each.st_size for each in sizes.values())
    assert b"portal_requests_total" in metrics.text()


def test_reused_worker_number_continues_the_counters(shared: Path) -> None:
    for _ in range(3):
        enable_multiprocess(shared, 7)
        metrics = metrics_in(shared)
        metrics.store_failed("read")
    assert b'portal_store_faults_total{what="read"} 3.0' in metrics.text()
    assert len(list(shared.iterdir())) == 2


def test_full_disk_is_an_error_before_metrics_are_enabled(
    shared: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "full")

    monkeypatch.setattr(os, "pwrite", full)
    before = values.ValueClass
    with pytest.raises(OSError, match="full"):
        enable_multiprocess(shared, 0)
    assert values.ValueClass is before
