import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
import yaml

from server.cli.check import check
from server.settings import Settings
from tests.documentation import ROOT

FOLDER = ROOT / "deploy" / "kubernetes"
VERSION = "1.34"
OWN = {"Kustomization", "ServiceMonitor"}
"""Kinds that are no part of Kubernetes itself."""
RESTRICTED = {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}
KUSTOMIZED = [
    pytest.param(name, marks=pytest.mark.skipif(shutil.which("kubectl") is None, reason="no kubectl"))
    for name in ("aws", "local")
]


def documents(text: str) -> list[dict[str, Any]]:
    return [document for document in yaml.safe_load_all(text) if document]


def validate(document: dict[str, Any]) -> None:
    if document["kind"] not in OWN:
        kubernetes_validate.validate(document, VERSION, strict=True)


@pytest.mark.parametrize(
    "path", [path for path in FOLDER.rglob("*.yaml") if path.name != "trial.yaml"], ids=lambda path: path.name
)
def test_every_file_is_valid(path: Path) -> None:
    for document in documents(path.read_text()):
        validate(document)


@pytest.fixture(params=KUSTOMIZED)
def overlay(request: pytest.FixtureRequest) -> list[dict[str, Any]]:
    """All objects of an overlay."""
    built = subprocess.run(
        ["kubectl", "kustomize", FOLDER / "overlays" / request.param], capture_output=True, text=True, check=True
    )
    return documents(built.stdout)


def test_an_overlay_is_valid_and_whole(overlay: list[dict[str, Any]]) -> None:
    for document in overlay:
        validate(document)
    named = {(document["kind"], document["metadata"]["name"]): document for document in overlay}
    server = named["Deployment", "smartlocker"]["spec"]
    labels = server["template"]["metadata"]["labels"]
    assert server["selector"]["matchLabels"] == labels == named["Service", "smartlocker"]["spec"]["selector"]
    assert named["PodDisruptionBudget", "smartlocker"]["spec"]["selector"]["matchLabels"] == labels


def test_pods_fulfill_the_restricted_standard(overlay: list[dict[str, Any]]) -> None:
    for deployment in (document for document in overlay if document["kind"] == "Deployment"):
        pod = deployment["spec"]["template"]["spec"]
        assert pod["securityContext"]["runAsNonRoot"]
        assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
        for container in (*pod.get("initContainers", ()), *pod["containers"]):
            assert container["securityContext"].items() >= RESTRICTED.items()


def test_a_server_starts_with_the_settings_of_the_overlay_and_has_the_time_to_stop(
    overlay: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    (pod,) = [
        one["spec"]["template"]["spec"]
        for one in overlay
        if (one["kind"], one["metadata"]["name"]) == ("Deployment", "smartlocker")
    ]
    (container,) = [one for one in pod["containers"] if one["name"] == "server"]
    (config,) = [document["data"] for document in overlay if document["kind"] == "ConfigMap"]
    image = {"SMARTLOCKER_PROFILE": "production", "SMARTLOCKER_CODE_KEYS": f"k1:{'A' * 44}"}
    for name, value in (image | config | {one["name"]: one["value"] for one in container["env"]}).items():
        monkeypatch.setenv(name, value)
    check()
    settings = Settings()
    assert pod["terminationGracePeriodSeconds"] >= settings.drain_seconds + settings.request_seconds + 5
    assert not pod["enableServiceLinks"]
    probes = {name: container[f"{name}Probe"]["httpGet"]["path"] for name in ("liveness", "readiness", "startup")}
    assert probes == {"liveness": "/health", "readiness": "/ready", "startup": "/health"}


def test_the_compose_file_names_files_and_services_that_exist() -> None:
    compose = yaml.safe_load((ROOT / "compose.yaml").read_text())
    services = compose["services"]
    for service in services.values():
        for source in (volume.split(":")[0] for volume in service.get("volumes", ())):
            assert (ROOT / source).exists()
        assert set(service.get("depends_on", ())) <= services.keys()
        assert all(port.startswith("127.0.0.1:") for port in service.get("ports", ()))
    assert services["front"]["network_mode"] == "service:server"
    assert services["server"]["stop_grace_period"] == "20s"
    scraped = yaml.safe_load((ROOT / "deploy" / "monitoring" / "prometheus.yaml").read_text())
    assert json.dumps(scraped["scrape_configs"][0]["static_configs"]) == '[{"targets": ["server:8080"]}]'
