"""A fake hub in this process for fetching: listings, files, redirects, ranges and errors.

Its answers follow the hub's documentation and the package huggingface_hub. A second port serves
large files, at addresses that only the hub gives.
"""

import contextlib
import hashlib
import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import unquote, urlsplit


def git_hash(content):
    return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()


class Repository:
    def __init__(self, files, gated=False):
        self.files = files
        self.gated = gated
        self.commit = hashlib.sha1(repr(sorted(files.items())).encode()).hexdigest()

    def is_large(self, path):
        return path.endswith((".safetensors", ".bin", ".parquet"))

    def hash(self, path):
        content = self.files[path]
        return hashlib.sha256(content).hexdigest() if self.is_large(path) else git_hash(content)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_HEAD(self):
        self.answer_request()

    def do_GET(self):
        self.answer_request()

    def answer_request(self):
        self.server.requests.append((self.command, self.path, self.headers.get("Authorization")))
        self.server.answer(self, unquote(urlsplit(self.path).path))

    def reply(self, status, body=b"", **headers):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def reply_content(self, content, **headers):
        wanted = self.headers.get("Range")
        if not wanted:
            return self.reply(200, content, **headers)
        begin = int(wanted.removeprefix("bytes=").split("-")[0])
        span = f"bytes {begin}-{len(content) - 1}/{len(content)}"
        self.reply(206, content[begin:], Content_Range=span, **headers)

    def refuse(self, status, code):
        self.reply(status, b"{}", X_Error_Code=code, X_Error_Message=code)


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.requests = []
        self.address = f"http://127.0.0.1:{self.server_port}"
        threading.Thread(target=self.serve_forever, daemon=True).start()


class FileServer(Server):
    """Serves contents by their hash, after `delay` seconds."""

    def __init__(self):
        self.contents = {}
        self.delay = 0
        super().__init__()

    def answer(self, request, path):
        time.sleep(self.delay)
        content = self.contents.get(path[1:])
        request.reply(403) if content is None else request.reply_content(content)


class Hub(Server):
    def __init__(self, files):
        self.file_server = files
        self.repositories = {}
        self.renamed = {}
        super().__init__()

    def add(self, name, files, **more):
        """Adds a model, or a data set if the name begins with `datasets/`."""
        self.repositories[name] = repository = Repository(files, **more)
        for path, content in files.items():
            if repository.is_large(path):
                self.file_server.contents[repository.hash(path)] = content
        return repository

    def answer(self, request, path):
        for what in ("/revision/", "/tree/", "/resolve/"):
            name, found, rest = path.removeprefix("/api/models").removeprefix("/api").partition(what)
            if found:
                break
        name = name.strip("/")
        if name in self.renamed:
            moved = path.replace(f"/{name}/", f"/{self.renamed[name]}/", 1)
            return request.reply(307, Location=moved)
        repository = self.repositories.get(name)
        if repository is None:
            return request.refuse(401, "RepoNotFound")
        if what == "/resolve/":
            return self.answer_file(request, repository, *rest.split("/", 1))
        if rest not in ("main", repository.commit):
            return request.refuse(404, "RevisionNotFound")
        found = self.tree(repository) if what == "/tree/" else self.info(name, repository)
        request.reply(200, json.dumps(found).encode(), Content_Type="application/json")

    def info(self, name, repository):
        siblings = [{"rfilename": path} for path in repository.files]
        return {"id": name, "modelId": name, "sha": repository.commit, "private": False,
                "gated": "manual" if repository.gated else False, "disabled": False, "tags": [],
                "downloads": 1, "siblings": siblings}

    def tree(self, repository):
        entries = []
        for path, content in repository.files.items():
            entry = {"type": "file", "path": path, "size": len(content), "oid": git_hash(content)}
            if repository.is_large(path):
                entry["lfs"] = {"oid": repository.hash(path), "size": len(content),
                                "pointerSize": 135}
            entries.append(entry)
        return entries

    def answer_file(self, request, repository, revision, path):
        commit = {"X_Repo_Commit": repository.commit}
        if repository.gated:
            return request.refuse(403, "GatedRepo")
        if revision not in ("main", repository.commit):
            return request.refuse(404, "RevisionNotFound")
        if path not in repository.files:
            return request.reply(404, X_Error_Code="EntryNotFound", **commit)
        content, etag = repository.files[path], f'"{repository.hash(path)}"'
        if not repository.is_large(path):
            return request.reply_content(content, ETag=etag, **commit)
        request.reply(302, X_Linked_Etag=etag, X_Linked_Size=str(len(content)),
                      Location=f"{self.file_server.address}/{repository.hash(path)}", **commit)


@contextlib.contextmanager
def fake_hub():
    """Yields a hub whose `file_server` serves the large files."""
    files = FileServer()
    hub = Hub(files)
    try:
        yield hub
    finally:
        for server in (hub, files):
            server.shutdown()
            server.server_close()
