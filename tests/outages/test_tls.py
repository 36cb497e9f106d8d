"""The portal with https base addresses, one of them with an untrusted certificate."""

import csv
import io
import ssl
from pathlib import Path

import trustme

from tests.fakes import FaultUpstream
from tests.fakes.answers import path_of
from tests.fakes.in_process import PORTAL_TOKEN, managed
from tests.fakes.processes import PortalProcess
from tests.fakes.tls import authority, certified, trusting_environment

HEADERS = {"Authorization": PORTAL_TOKEN}


def test_primary_with_an_untrusted_certificate_gets_no_calls(tmp_path: Path) -> None:
    distrusted, trusted = certified(by=trustme.CA()), certified()
    with FaultUpstream(tls=distrusted) as primary, FaultUpstream(tls=trusted) as secondary:
        settings = managed(primary.url, secondary.url) | trusting_environment(tmp_path)
        with PortalProcess(settings, workers=1) as portal:
            for number in range(9):
                answer = portal.get(path_of("decode", f"ABC1D2{number}"), headers=HEADERS)
                assert answer.status_code == 200, answer.text
            printed = portal.command_line("ledger", "--csv").stdout
            output = portal.output
        assert (primary.count(), secondary.count()) == (0, 9)
    rows = list(csv.DictReader(io.StringIO(printed)))
    assert [(row["origin"], row["outcome"]) for row in rows] == [("secondary", "answered")] * 9
    assert "Traceback" not in output


def test_primary_that_demands_a_client_certificate_gets_no_paid_call(tmp_path: Path) -> None:
    """With TLS 1.3 the server rejects a client only after the request was sent."""
    demanding = certified()
    demanding.verify_mode = ssl.CERT_REQUIRED
    authority().configure_trust(demanding)
    with FaultUpstream(tls=demanding) as primary, FaultUpstream(tls=certified()) as secondary:
        settings = managed(primary.url, secondary.url) | trusting_environment(tmp_path)
        with PortalProcess(settings, workers=1) as portal:
            for number in range(3):
                answer = portal.get(path_of("decode", f"ABC1D2{number}"), headers=HEADERS)
                assert answer.status_code == 200, answer.text
            printed = portal.command_line("ledger", "--csv").stdout
            assert "SSLError, TLSV13_ALERT_CERTIFICATE_REQUIRED" in portal.output
    rows = list(csv.DictReader(io.StringIO(printed)))
    assert [(row["origin"], row["outcome"]) for row in rows] == [("secondary", "answered")] * 3
