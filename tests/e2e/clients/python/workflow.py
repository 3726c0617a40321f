"""Workflows of the package upstash-workflow, unmodified, behind Python's own server. Its port is the first line that it prints;
GET / answers what it was asked and what its steps have done."""

import json
import os
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

from upstash_workflow import serve
from upstash_workflow.workflow_types import _Response, _SyncRequest

lock = threading.Lock()
deliveries = []
done = []


def did(what):
    with lock:
        done.append(what)
    return what


def sequence(context):
    # The package also runs this with the answer of a call as payload, before it records that answer: the name may be missing.
    name = context.request_payload.get("name")
    first = context.run("first", lambda: did(f"hello {name}"))
    context.sleep("nap", 1)
    context.sleep_until("until", time.time() + 1)
    answer = context.call("call", url=os.environ["THIRD_URL"], method="POST", body={"asked": first})
    context.run("last", lambda: did([answer.status, answer.body, context.headers.get("my-own")]))


def fails(context):
    context.run("first", lambda: did("once"))

    def broken():
        did("tried")
        raise RuntimeError("broken")

    context.run("broken", broken)


def failed(context, status, response, headers):
    did(f"failed with {status}: {response}")


handlers = {
    "/sequence": serve(sequence)["handler"],
    "/fails": serve(fails, retries=0, failure_function=failed)["handler"],
}


def length_of(body):
    try:
        history = json.loads(body)
        return len(history) if isinstance(history, list) else 0
    except ValueError:
        return 0


class Endpoint(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("content-length", 0))).decode()
        path = urlsplit(self.path).path
        with lock:
            deliveries.append({"path": path, "length": length_of(body)})
        url = f"http://{self.headers['host']}{self.path}"
        response: _Response = handlers[path](
            _SyncRequest(body=body, headers=self.headers, method="POST", url=url, query={})
        )
        self.answer(response.status, response.body or "", response.headers or {})

    def do_GET(self):
        with lock:
            self.answer(200, json.dumps({"deliveries": deliveries, "done": done}), {})

    def answer(self, status, body, headers):
        data = body.encode() if isinstance(body, str) else body
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass


server = ThreadingHTTPServer(("127.0.0.1", 0), Endpoint)
print(server.server_port, flush=True)
server.serve_forever()
