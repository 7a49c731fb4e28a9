"""The server's side of `docs/protocol.md` §3, just enough for agents to deliver to: all of it is durable at once."""

import json
import threading
import zlib
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit


class Recorder:
    """A server on a free port while the `with` block lasts; `reports` by attempt, in order of arrival."""

    def __init__(self, host: str = "127.0.0.1") -> None:
        self.reports: dict[str, list[dict[str, object]]] = {}
        self._first: dict[tuple[str, str], dict[str, object]] = {}
        recorder = self

        class Answers(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                parts = urlsplit(self.path)
                if parts.path.endswith("/report"):
                    answer = recorder.take_report(*parts.path.split("/")[4:7:2], json.loads(body))
                else:
                    raw = zlib.decompress(body) if self.headers["Content-Encoding"] == "deflate" else body
                    received = int(parse_qs(parts.query)["offset"][0]) + len(raw)
                    answer = {"received": received, "durable": received}
                content = json.dumps(answer).encode()
                self.send_response(200)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, format: str, *args: object) -> None:
                return

        self._server = ThreadingHTTPServer((host, 0), Answers)
        self._server.daemon_threads = True
        self.url = f"http://{host}:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05})

    def take_report(self, attempt: str, node: str, report: dict[str, object]) -> dict[str, object]:
        self.reports.setdefault(attempt, []).append(report)
        self._first.setdefault((attempt, node), report)
        events: dict[str, dict[str, object]] = report["events"]  # type: ignore[assignment]
        offsets = {rank: int(str(part["offset"])) + len(str(part["data"]).encode()) for rank, part in events.items()}
        return {"events": offsets, "stop": None, "kill": [], "over": report["ended"] is not None}

    def first_reports(self, attempt: str) -> list[tuple[str, dict[str, object]]]:
        """Each node's first report, which has its facts."""
        return [(node, report) for (of, node), report in self._first.items() if of == attempt]

    def __enter__(self) -> "Recorder":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()
