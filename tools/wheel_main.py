"""Starts the command seqtrain."""

import os
import ssl
import sys
from pathlib import Path


def main():
    # OpenSSL in this wheel looks for certificate authorities where Debian has them. Elsewhere Python knows the place.
    authorities = ssl.get_default_verify_paths().cafile
    if authorities and not os.path.exists("/usr/lib/ssl/certs"):
        os.environ.setdefault("SSL_CERT_FILE", authorities)
    os.execv(Path(__file__).parent / "bin/seqtrain", ["seqtrain", *sys.argv[1:]])


if __name__ == "__main__":
    main()
