"""Runs a fake hub in this process: listings, files, redirects, ranges and errors; new repositories, LFS
transfers in one request or in parts, commits.

Its answers follow the hub's documentation and the package huggingface_hub. A second port serves
large files, at addresses that only the hub gives.
"""

import base64
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

    @staticmethod
    def is_large(path):
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

    do_POST = do_PUT = do_GET

    def read_body(self):
        return self.rfile.read(int(self.headers.get("Content-Length", 0)))

    def reply_json(self, content, status=200):
        self.reply(status, json.dumps(content).encode(), Content_Type="application/json")

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
    """Serves contents by their hash, after `delay` seconds, and takes them, whole or in parts."""

    def __init__(self):
        self.contents = {}
        self.parts = {}
        self.delay = 0
        super().__init__()

    def answer(self, request, path):
        if request.command == "PUT":
            return self.take(request, path[1:])
        time.sleep(self.delay)
        content = self.contents.get(path[1:])
        request.reply(403) if content is None else request.reply_content(content)


    def take(self, request, sha256):
        body = request.read_body()
        if request.headers.get("Authorization"):
            return request.reply(400, b"two ways to authenticate")
        tag = git_hash(body)
        if "part=" in request.path:
            self.parts[tag] = body
        elif hashlib.sha256(body).hexdigest() == sha256:
            self.contents[sha256] = body
        else:
            return request.reply(400, b"another content")
        request.reply(200, ETag=f'"{tag}"')

    def join(self, sha256, tags):
        content = b"".join(self.parts[tag.strip('"')] for tag in tags)
        if hashlib.sha256(content).hexdigest() == sha256:
            self.contents[sha256] = content
        return sha256 in self.contents


class Hub(Server):
    """A hub whose account `me` is a member of `org` and has the token `hf_write`."""

    refuses_commits = False
    part_from = 1 << 30  # larger contents are sent in parts of half that size

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
        signed = urlsplit(request.path).query == "signature=secret"
        if path.endswith("/whoami-v2") or (request.command == "POST" and not signed):
            if request.headers.get("Authorization") != "Bearer hf_write":
                request.read_body()
                return request.reply_json({"error": "Invalid username or password."}, 401)
        if path.endswith("/whoami-v2"):
            return request.reply_json({"name": "me", "type": "user", "orgs": [{"name": "org"}],
                                       "auth": {"accessToken": {"role": "write"}}})
        if request.command == "POST":
            return self.take(request, path, request.read_body())
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
        request.reply_json(found)

    def take(self, request, path, body):
        """Answers a request that writes."""
        if path == "/api/validate-yaml":
            return request.reply_json({"errors": [], "warnings": []})
        if path == "/api/repos/create":
            return self.create(request, json.loads(body))
        if path == "/api/complete":
            asked = json.loads(body)
            tags = [part["etag"] for part in asked["parts"]]
            return request.reply(200 if self.file_server.join(asked["oid"], tags) else 400, b"{}")
        path = path.removeprefix("/api/models").strip("/")
        for what, answer in (("/preupload/main", self.preupload), ("/commit/main", self.commit),
                             (".git/info/lfs/objects/batch", self.batch)):
            name, found, _ = path.partition(what)
            if found and name in self.repositories:
                return answer(request, name, body)
        request.refuse(404, "RepoNotFound")

    def create(self, request, asked):
        name = f"{asked['organization']}/{asked['name']}"
        if asked["organization"] not in ("me", "org"):
            return request.reply_json({"error": "You don't have the rights"}, 403)
        if name in self.repositories:
            return request.reply_json({"error": "You already created it",
                                       "url": f"{self.address}/{name}"}, 409)
        self.add(name, {".gitattributes": b"*.safetensors filter=lfs"})
        request.reply_json({"url": f"{self.address}/{name}", "name": name})

    def preupload(self, request, name, body):
        repository = self.repositories[name]
        request.reply_json({"files": [
            {"path": path, "uploadMode": "lfs" if repository.is_large(path) else "regular",
             "shouldIgnore": False,
             "oid": repository.hash(path) if path in repository.files else None}
            for path in (file["path"] for file in json.loads(body)["files"])]})

    def batch(self, request, name, body):
        objects = json.loads(body)["objects"]
        for one in objects:
            if one["oid"] in self.file_server.contents:
                continue
            address = f"{self.file_server.address}/{one['oid']}?signature=secret"
            upload = {"href": address}
            if one["size"] >= self.part_from:
                size = self.part_from // 2
                count = -(-one["size"] // size)
                upload = {"href": f"{self.address}/api/complete?signature=secret",
                          "header": {"chunk_size": str(size)} |
                          {str(i + 1): f"{address}&part={i + 1}" for i in range(count)}}
            one["actions"] = {"upload": upload}
        request.reply_json({"transfer": "basic", "objects": objects})

    def commit(self, request, name, body):
        if self.refuses_commits:
            return request.reply_json({"error": "Storage limit reached"}, 403)
        files = dict(self.repositories[name].files)
        for line in map(json.loads, body.splitlines()):
            value = line["value"]
            if line["key"] == "header":
                if value.get("parentCommit") not in (None, self.repositories[name].commit):
                    return request.reply_json({"error": "A commit has happened since"}, 412)
            elif line["key"] == "file":
                files[value["path"]] = base64.b64decode(value["content"], validate=True)
            elif line["key"] == "lfsFile":
                files[value["path"]] = self.file_server.contents[value["oid"]]
        commit = self.add(name, files).commit
        request.reply_json({"success": True, "commitOid": commit,
                            "commitUrl": f"{self.address}/{name}/commit/{commit}"})

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
