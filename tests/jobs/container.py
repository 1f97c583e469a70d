"""Runs images by docker or podman, or by buildah and the tools of Linux alone."""

import json
import os
import subprocess
import sys
import tarfile
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]

# Enters the image at $1 as the user $2 in its directory $3: its files are read-only, /tmp is empty, and
# the pairs SOURCE TARGET up to `--` are bound to directories of the image.
ENTER = """
root=$1 user=$2 directory=$3; shift 3
mount --bind "$root" "$root"
mount -o remount,ro,bind "$root"
mount -t tmpfs tmpfs "$root/tmp"
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
while [ "$1" != -- ]; do mount --bind "$1" "$root$2"; shift 2; done
shift
exec chroot --userspec="$user" "$root" /usr/bin/env --ignore-environment --chdir="$directory" "$@"
"""


def output_of(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def find_engine():
    """Returns the engine that builds here. Ends with 77 ("skipped") if there is none."""
    found = subprocess.run([TOP / "tools/container_engine.sh"], capture_output=True, text=True)
    if found.returncode != 0:
        print("skipped: " + found.stderr.strip())
        sys.exit(77)
    return found.stdout.strip()


class Image:
    """An image in the store of docker or podman."""

    def __init__(self, engine, name):
        self._engine, self.name = engine, name
        [inspected] = json.loads(output_of(engine, "image", "inspect", name))
        self.config, self.layers = inspected["Config"], inspected["RootFS"]["Layers"]

    def files(self):
        """Returns the sizes of the regular files by their paths from the root."""
        container = output_of(self._engine, "create", self.name).strip()
        with subprocess.Popen([self._engine, "export", container], stdout=subprocess.PIPE) as export:
            with tarfile.open(fileobj=export.stdout, mode="r|") as files:
                sizes = {file.name: file.size for file in files if file.isreg()}
        output_of(self._engine, "rm", container)
        return sizes

    def command(self, *arguments, program=None, mounts=(), environment=(), network=False):
        """Returns the command that runs `arguments` in the read-only image. `mounts` are pairs (here, there)."""
        words = [self._engine, "run", "--rm", "--read-only", "--tmpfs", "/tmp"]
        words += ["--network", "host" if network else "none"]
        words += [f"--volume={here}:{there}" for here, there in mounts]
        words += [f"--env={name}={value}" for name, value in environment]
        words += [f"--entrypoint={program}"] if program else []
        return words + [self.name, *arguments]

    def close(self):
        pass


class BuildahImage:
    """An image in the store of buildah, mounted."""

    def __init__(self, name):
        inspected = json.loads(output_of("buildah", "inspect", "--type", "image", name))["OCIv1"]
        self.config, self.layers = inspected["config"], inspected["rootfs"]["diff_ids"]
        self._container = output_of("buildah", "from", name).strip()
        self._root = Path(output_of("buildah", "mount", self._container).strip())

    def files(self):
        found = [path for path in self._root.rglob("*") if path.is_file() and not path.is_symlink()]
        return {str(path.relative_to(self._root)): path.stat().st_size for path in found}

    def command(self, *arguments, program=None, mounts=(), environment=(), network=False):
        words = ["unshare", "--mount"] + ([] if network else ["--net"])
        words += ["sh", "-euc", ENTER, "sh", str(self._root), self.config["User"], self.config["WorkingDir"]]
        words += [str(word) for pair in mounts for word in pair] + ["--"]
        words += self.config["Env"] + [f"{name}={value}" for name, value in environment]
        words += [program] if program else self.config["Entrypoint"]
        return words + list(arguments)

    def close(self):
        output_of("buildah", "rm", self._container)


def build(engine, name, *arguments, **environment):
    """Builds the image, and opens it."""
    with_name = {**os.environ, "IMAGE_URI": name, **environment}
    subprocess.run([TOP / "tools/image.sh", *arguments], check=True, env=with_name)
    return BuildahImage(name) if engine == "buildah" else Image(engine, name)
