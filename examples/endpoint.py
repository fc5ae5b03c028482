"""A service on the table: starts a small one here, and posts the study's questions to it: `python endpoint.py`.

For a service of yours, the study alone is enough: its address, the body it takes, and where its answer stands.
"""

import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from function.app import answer

import shaketable


class Service(BaseHTTPRequestHandler):
    """Answers `{"query": …, "passages": […], "options": {"temperature": …, "seed": …}}`."""

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        told = answer(asked["query"], " ".join(asked["passages"]), **asked["options"])
        body = json.dumps({"result": {"text": told["text"]}}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *words: object) -> None:
        pass


TEMPLATE = """{"query": "{question}", "passages": "{contexts}",
               "options": {"temperature": "{temperature}", "seed": "{seed}"}}"""

if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", 0), Service)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{server.server_port}/ask"
    service = f"pipeline(name='service', http={address!r}, template={TEMPLATE!r}, answer='$.result.text')"
    study = shaketable.make_study(
        "endpoint",
        limit=int(sys.argv[1]) if sys.argv[1:] else 24,
        models=[service],
        perturbations=["unchanged", "sentence_removal"],
        temperatures=[0.0, 1.0],
        analyze={"n_resamples": 500},
    )
    print(shaketable.run(study, "runs/endpoint"))
    server.shutdown()
