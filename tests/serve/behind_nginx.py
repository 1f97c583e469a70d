"""behind_nginx.py --serve PATH: puts nginx in front of `serve` and sends both many forms of requests.

The body of each form is itself a request, to /smuggled. Each form is sent to `serve` directly and
through nginx, with a request to /next after it. `serve` must never take the body for a request, and
whenever both servers take a form they must give it the same number of answers. After each form,
another client's request through nginx must get its own answer. Prints the statuses by form."""

import argparse
import json
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import threading

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
import made_model  # noqa: E402

INNER = b"GET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n"
CHUNKED = b"%x\r\n%s\r\n0\r\n\r\n" % (len(INNER), INNER)
LENGTH = b"Content-Length: %d" % len(INNER)
CONFIGURATION = """
daemon off; master_process off; pid {folder}/pid; error_log {folder}/error;
events {{ worker_connections 512; }}
http {{
  access_log off; client_body_temp_path {folder}/a; proxy_temp_path {folder}/b;
  fastcgi_temp_path {folder}/c; uwsgi_temp_path {folder}/d; scgi_temp_path {folder}/e;
  underscores_in_headers on; ignore_invalid_headers off;
  upstream served {{ server 127.0.0.1:{upstream}; keepalive 1; }}
  server {{
    listen 127.0.0.1:{port};
    location / {{
      proxy_pass http://served; proxy_http_version 1.1; proxy_set_header Connection "";
      proxy_set_header Host $http_host; proxy_request_buffering off;
    }}
  }}
}}
"""


def forms():
    """Returns raw requests by their names."""
    made = {}

    def add(name, fields, body, line=b"POST /form HTTP/1.1", host=b"Host: x\r\n"):
        made[name] = line + b"\r\n" + host + (fields + b"\r\n" if fields else b"") + b"\r\n" + body

    codings = ["chunked", "Chunked", "chunked, identity", "identity", "xchunked", "gzip",
               '"chunked"', "", "chunked, chunked", "gzip, chunked", "identity, chunked",
               "chunked;a=b", ",chunked", "chunked,", "\x0bchunked", "chunked\x00"]
    for coding in codings:
        fields = b"Transfer-Encoding: " + coding.encode()
        add(f"coding {coding!r}", fields, CHUNKED)
        add(f"coding {coding!r}, no chunks", fields, INNER)
        add(f"coding {coding!r} and length", fields + b"\r\n" + LENGTH, INNER)
    lengths = ["{n}", "0{n}", "+{n}", "-{n}", "{n}, {n}", "{n},", "{n} ", "{n}\t", "0x{n}", "{n}.0",
               "{n}\r\nContent-Length: {n}", "{n}\r\nContent-Length: 0", "18446744073709551616",
               "", '"{n}"', "{n} 0"]
    for length in lengths:
        text = length.replace("{n}", str(len(INNER)))
        add(f"length {length!r}", b"Content-Length: " + text.encode(), INNER)
    names = ["Transfer-Encoding ", "Transfer-Encoding\t", " Transfer-Encoding", "Transfer_Encoding",
             "Transfer-Encoding\x00", "transfer-encoding", "Transfer-Encoding\r\n", "X: y\r\n "
             "Transfer-Encoding", "X: y\nTransfer-Encoding", "X: y\rTransfer-Encoding"]
    for name in names:
        add(f"name {name!r}", name.encode() + b": chunked", CHUNKED)
        add(f"name {name!r} and length", LENGTH + b"\r\n" + name.encode() + b": chunked", INNER)
    add("HTTP/1.0 and chunks", b"Transfer-Encoding: chunked\r\nConnection: keep-alive", CHUNKED,
        b"POST /form HTTP/1.0")
    add("two codings", b"Transfer-Encoding: chunked\r\nTransfer-Encoding: identity", CHUNKED)
    add("no Host", b"", b"", b"GET /form HTTP/1.1", b"")
    add("two Hosts", b"Host: y", b"", b"GET /form HTTP/1.1")
    for host in ("", "a b", "a@b", "a/b", "a, b", "a:b", "[::1]:80"):
        add(f"Host {host!r}", b"", b"", b"GET /form HTTP/1.1", b"Host: " + host.encode() + b"\r\n")
    for target in ("http://x/form", "http://y/form", "//form", "form", "*", "http:///form", "x:80"):
        add(f"target {target!r}", b"", b"", b"GET " + target.encode() + b" HTTP/1.1")
    add("upgrade", b"Connection: Upgrade\r\nUpgrade: h2c", b"", b"GET /form HTTP/1.1")
    add("a length that Connection names", b"Connection: Content-Length\r\n" + LENGTH, INNER)
    add("Expect", b"Expect: 100-continue\r\n" + LENGTH, INNER)
    add("TE and Trailer", b"TE: chunked\r\nTrailer: Content-Length\r\n" + LENGTH, INNER)
    size = b"%x" % len(INNER)
    for chunk in (b"0" + size, size + b" ", size + b";a=b", size + b";a=\"b\"", size + b";\n",
                  b"0x" + size, b"+" + size, b"-" + size, b" " + size, size + b"\n",
                  b"1" + b"0" * 16 + size, size + b"\r"):
        add(f"chunk {chunk!r}", b"Transfer-Encoding: chunked",
            chunk + b"\r\n" + INNER + b"\r\n0\r\n\r\n")
    for end in (b"0\r\nX: y\r\n\r\n", b"0\r\nContent-Length: 5\r\n\r\n", b"0\r\nbad\r\n\r\n",
                b"0\n\n", b"00\r\n\r\n"):
        add(f"last chunk {end!r}", b"Transfer-Encoding: chunked",
            size + b"\r\n" + INNER + b"\r\n" + end)
    return made


def exchange(port, request):
    """Sends bytes and ends. Returns the statuses of the answers."""
    with socket.create_connection(("127.0.0.1", port), timeout=1) as client:
        got = b""
        try:
            client.sendall(request)
            while part := client.recv(65536):
                got += part
        except OSError:
            pass
    words = got.replace(b"}HTTP/", b"}\nHTTP/").replace(b">HTTP/", b">\nHTTP/").split(b"\n")
    statuses = [int(w.split()[1]) for w in words if w.startswith(b"HTTP/1.1 ")]
    return [status for status in statuses if status != 100], got


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def serve(program, model, log):
    """Starts `serve`. Returns the process and its port."""
    process = subprocess.Popen(
        [program, "--model", str(model), "--host", "127.0.0.1", "--port", "0", "--threads", "1",
         "--precision", "fp32", "--device", "cpu", "--log-format", "json"],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    ready = threading.Event()

    def read():
        for line in process.stdout:
            log.append(line)
            if all(any(word in old for old in log) for word in ("Listening", '"Ready')):
                ready.set()

    threading.Thread(target=read, daemon=True).start()
    if not ready.wait(60):
        raise SystemExit("serve does not start: " + "".join(log))
    return process, next(json.loads(line)["port"] for line in log if "Listening" in line)


def faults_of(form, through, direct, probe_port, number):
    """Returns what is wrong about the answers to one form."""
    faults = []
    if b"smuggled" in direct[1] or b"smuggled" in through[1]:
        faults.append("the body was run")
    both = all(answer[0] and answer[0][0] < 400 or answer[0][:1] == [404]
               for answer in (direct, through))
    if both and len(direct[0]) != len(through[0]):
        faults.append(f"{len(direct[0])} and {len(through[0])} answers")
    mark = f"probe-{number}"
    probe = exchange(probe_port, f"GET /probe HTTP/1.1\r\nHost: x\r\nX-Request-Id: {mark}\r\n"
                                 "Connection: close\r\n\r\n".encode())[1]
    if mark.encode() not in probe:
        faults.append("the next client got another answer")
    return faults


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--serve", required=True)
    program = parser.parse_args().serve
    nginx = shutil.which("nginx") or shutil.which("/usr/sbin/nginx")
    if not nginx:
        print("nginx is missing: apt-get install nginx-light")
        return 77
    log, failed = [], 0
    with tempfile.TemporaryDirectory() as folder:
        model = pathlib.Path(folder) / "model"
        made_model.make(model, seed=1)
        server, upstream = serve(program, model, log)
        port = free_port()
        file = pathlib.Path(folder) / "nginx.conf"
        file.write_text(CONFIGURATION.format(folder=folder, upstream=upstream, port=port))
        proxy = subprocess.Popen([nginx, "-c", str(file), "-e", f"{folder}/error"])
        try:
            while True:
                try:
                    socket.create_connection(("127.0.0.1", port)).close()
                    break
                except OSError:
                    if proxy.poll() is not None:
                        raise
            for number, (name, form) in enumerate(forms().items()):
                after = b"GET /next HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
                direct = exchange(upstream, form + after)
                through = exchange(port, form + after)
                seen = len(log)
                faults = faults_of(form, through, direct, port, number)
                if any("GET /smuggled" in line for line in log[:seen]):
                    faults.append("serve has run the body")
                    log.clear()
                failed += bool(faults)
                print(f"{'FAILED' if faults else 'ok'}: {name}: serve {direct[0]}, nginx "
                      f"{through[0]} {'; '.join(faults)}", flush=True)
        finally:
            proxy.kill()
            server.kill()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
