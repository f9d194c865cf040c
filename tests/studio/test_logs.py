import json
import logging

import pytest

from accord.studio.logs import start_log


@pytest.fixture
def log(tmp_path):
    start_log(str(tmp_path / "log"))
    yield tmp_path / "log"
    for name in ("accord.requests", "accord", "uvicorn.error"):
        for handler in list(logging.getLogger(name).handlers):
            if isinstance(handler, logging.FileHandler):
                logging.getLogger(name).removeHandler(handler)
                handler.close()
    logging.getLogger("accord.requests").setLevel(logging.NOTSET)


def test_each_request_is_a_line_of_json_without_secrets(studio, log):
    client = studio.client()
    client.get("/health")
    client.get("/join/a-secret-token")
    client.get("/reset/a-secret-token")
    client.get("/api/label-studio/1/a-secret-token/health")
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    assert [(line["path"], line["status"]) for line in lines] == [
        ("/health", 200), ("/join/…", 200), ("/reset/…", 200), ("/api/label-studio/1/…/health", 401),
    ]  # fmt: skip
    assert all(line["ms"] >= 0 for line in lines)
    assert "a-secret-token" not in log.read_text()
