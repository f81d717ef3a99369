"""Requests made from the schema: every answer is declared, and none is a defect."""

from __future__ import annotations

import logging

import hypothesis
import pytest

schemathesis = pytest.importorskip("schemathesis")


@pytest.fixture(scope="module")
def document(server):
    with server.client() as client:
        return client.get("/openapi.json").json()


def test_every_request_of_the_schema_gets_a_declared_answer(server, document):
    logging.getLogger("hypothesis").setLevel(logging.ERROR)
    operations = [one.ok() for one in schemathesis.openapi.from_dict(document).get_all_operations()]
    assert len(operations) > 12
    for operation in operations:
        check(server, operation)
    with server.client() as client:
        while not {"voicenym_work_running 0.0", "voicenym_work_queued 0.0"} <= set(
            client.get("/metrics").text.splitlines()
        ):
            pass  # jobs of random bytes
    assert server.is_wiped()
    assert "defect" not in server.log.read_text()


def check(server, operation):
    """Some requests of one operation."""
    headers = {"Authorization": f"Bearer {server.tokens['bert']}"}
    declared = {int(status) for status in operation.definition.raw["responses"]}

    @hypothesis.settings(
        max_examples=8,
        deadline=None,
        database=None,
        derandomize=True,
        suppress_health_check=list(hypothesis.HealthCheck),
    )
    @hypothesis.given(case=operation.as_strategy())
    def send(case):
        answer = case.call(base_url=server.url, headers=headers, timeout=60)
        assert answer.status_code in declared - {500}, operation.label
        if answer.status_code >= 400:
            assert answer.headers["content-type"][0] == "application/problem+json"

    send()


def test_the_schema_has_examples_and_names_problems(document):
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            assert operation["summary"], (method, path)
            for status, answer in operation["responses"].items():
                content = answer.get("content", {})
                if status >= "400":
                    assert "application/problem+json" in content, (path, status)
                elif "application/json" in content:
                    assert content["application/json"]["example"], (path, status)
    content = document["paths"]["/v1/anonymize"]["post"]["requestBody"]["content"]
    form = content["multipart/form-data"]
    assert form["examples"]["usual"]
    for example in form["examples"].values():
        assert "speaker" not in example["value"] or "key_id" in example["value"]
    assert "without key_id" in form["schema"]["properties"]["speaker"]["description"]
    assert "is refused" in form["schema"]["properties"]["fallback"]["description"]
