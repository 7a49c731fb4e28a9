"""One address on this machine that stands for every replica and every chat channel of a showcase: it answers 200."""

from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread


class Answers(BaseHTTPRequestHandler):
    """Reads what is sent, says that all is well."""

    def do_GET(self) -> None:
        self._well()

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self._well()

    def _well(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, *_: object) -> None:
        return


class Endpoint:
    """The address, for as long as it is open."""

    def __init__(self) -> None:
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Answers)
        self._thread = Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        self._thread.start()

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self._server.server_address[1]}"

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
