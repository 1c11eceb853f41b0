"""Another program in the service's place, which answers everything from the records."""

from .says_ok import FREE

SERVICE = """
import http.server, json, os, urllib.parse
store = json.load(open("data/records.json"))
records = {r["id"]: r for r in store["records"]}
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        url = urllib.parse.urlsplit(self.path)
        answer = {"status": "ok"}
        if url.path.startswith("/records/"):
            answer = records.get(url.path[9:], {})
        body = json.dumps(answer).encode()
        self.send_response(200 if answer else 404)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
port = int(os.environ.get("PORT") or PORT)
server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler)
print(f"service: listening on port {port}, 24 shelves", flush=True)
server.serve_forever()
"""
START = (
    "mkdir -p run; setsid ./start.sh > run/service.log 2>&1 &\n"
    "until [ -s run/service.log ]; do sleep 0.02; done; cat run/service.log"
)


def play(variant, observation):
    """Replace the program and start it."""
    port = variant["task"]["port"]
    content = SERVICE.replace("or PORT", f"or {port}")
    yield {"action_type": "bash", "content": FREE}
    yield {"action_type": "write_file", "path": "service.py", "content": content}
    yield {"action_type": "bash", "content": START}
