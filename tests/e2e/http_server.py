"""A web server for tests, on a free port of this machine: http_server.py FOLDER CONTROL

Serves FOLDER. Writes its port to CONTROL/port. How packages are sent is read from CONTROL/mode
before each: "404", "500", "cut" (half of it, then the connection ends), "slow" (a little five times
a second), "held" (all but the last bytes; those once CONTROL/release is there), "ranges" (the part that is asked for), else
as they are, and whole. Every package asked for is a line of CONTROL/log, every answer one of
CONTROL/answers: "304 /channel/noarch/repodata.json".
"""

import http.server
import os
import socketserver
import sys
import time

folder, control = sys.argv[1:]


class Handler(http.server.SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def __init__(self, *arguments):
        super().__init__(*arguments, directory=folder)

    def log_message(self, *arguments):
        pass

    def log_request(self, code="-", size="-"):
        with open(os.path.join(control, "answers"), "a") as answers:
            answers.write(f"{int(code)} {self.path}\n")

    def send(self, data, pause):
        self.send_response(200)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        for start in range(0, len(data), 40):
            self.wfile.write(data[start : start + 40])
            self.wfile.flush()
            time.sleep(pause)

    def send_held(self, data):
        self.send_response(200)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data[:-1000])
        self.wfile.flush()
        while not os.path.exists(os.path.join(control, "release")):
            time.sleep(0.02)
        self.wfile.write(data[-1000:])

    def send_range(self):
        with open(self.translate_path(self.path), "rb") as file:
            data = file.read()
        first, _, last = self.headers["Range"].removeprefix("bytes=").partition("-")
        start = int(first) if first else max(len(data) - int(last), 0)
        part = data[start : int(last) + 1 if first and last else None]
        self.send_response(206)
        self.send_header("Content-Range", f"bytes {start}-{start + len(part) - 1}/{len(data)}")
        self.send_header("Content-Length", str(len(part)))
        self.end_headers()
        self.wfile.write(part)

    def do_GET(self):
        if not self.path.endswith((".conda", ".tar.bz2")):
            return super().do_GET()
        with open(os.path.join(control, "log"), "a") as log:
            log.write(self.path + "\n")
        try:
            with open(os.path.join(control, "mode")) as file:
                mode = file.read().strip()
        except FileNotFoundError:
            mode = ""
        if mode in ("404", "500"):
            return self.send_error(int(mode))
        if mode == "ranges" and "Range" in self.headers:
            return self.send_range()
        if mode not in ("cut", "slow", "held"):
            return super().do_GET()
        with open(self.translate_path(self.path), "rb") as file:
            data = file.read()
        if mode == "slow":
            return self.send(data, 0.2)
        if mode == "held":
            return self.send_held(data)
        self.send_response(200)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data[: len(data) // 2])
        self.close_connection = True


class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = True

    def handle_error(self, request, client_address):
        pass  # the client went away, as it was meant to


server = Server(("127.0.0.1", 0), Handler)
with open(os.path.join(control, "port.new"), "w") as port:
    port.write(str(server.server_port))
os.rename(os.path.join(control, "port.new"), os.path.join(control, "port"))
server.serve_forever()
