"""compile_kernels.py --place DIR [--library FILE...]: compiles each kernel of include/seqtrain/cuda by NVRTC for all
architectures that seqtrain knows, and prints the registers, the spilled bytes, the stack and the shared memory that ptxas
reports. It needs neither a GPU nor a driver. NVRTC comes from PyPI into DIR, one for CUDA 12 and one for CUDA 13, unless
libraries are given. Ends with 77 where pip cannot install them, and with 1 if a kernel does not compile, spills registers
or has a stack."""

import argparse
import ctypes
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
HEADERS = sorted((ROOT / "include/seqtrain/cuda").glob("*_kernel.hpp"))
NVRTC = (ROOT / "include/seqtrain/cuda/nvrtc.hpp").read_text()
PACKAGES = ("nvidia-cuda-nvrtc-cu12==12.9.86", "nvidia-cuda-nvrtc==13.5.37")
ARCHITECTURES = (70, 75, 80, 86, 89, 90, 100, 120)


def options():
    """Returns the options that the library gives NVRTC."""
    return re.findall(r'"(--[^"]+)"', re.search(r"> options\{(.*?)\};", NVRTC).group(1))


def kernels():
    """Returns the texts of the kernels by the names of their headers."""
    return {header.stem: re.search(r'R"\((.*)\)"', header.read_text(), re.S).group(1) for header in HEADERS}


def install(place):
    """Returns NVRTC's libraries in a folder, where pip installs them if they are missing."""
    for package in PACKAGES:
        target = place / package
        if not list(target.rglob("libnvrtc.so.*")):
            ended = subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", target,
                                    package], capture_output=True, text=True, check=False)
            if ended.returncode != 0:
                print(f"skipped: pip cannot install {package}: {ended.stderr.strip().splitlines()[-1:]}")
                sys.exit(77)
    return [str(file) for package in PACKAGES for file in (place / package).rglob("libnvrtc.so.*")]


class Nvrtc:
    """NVRTC's library."""

    def __init__(self, file):
        self.library = ctypes.CDLL(file)
        self.library.nvrtcGetErrorString.restype = ctypes.c_char_p
        major, minor = ctypes.c_int(), ctypes.c_int()
        self.check(self.library.nvrtcVersion(ctypes.byref(major), ctypes.byref(minor)))
        self.version = f"{major.value}.{minor.value}"

    def check(self, result):
        if result != 0:
            raise RuntimeError(self.library.nvrtcGetErrorString(result).decode())

    def architectures(self):
        count = ctypes.c_int()
        self.check(self.library.nvrtcGetNumSupportedArchs(ctypes.byref(count)))
        numbers = (ctypes.c_int * count.value)()
        self.check(self.library.nvrtcGetSupportedArchs(numbers))
        return set(numbers)

    def text(self, program, size_of, get):
        size = ctypes.c_size_t()
        self.check(size_of(program, ctypes.byref(size)))
        text = ctypes.create_string_buffer(size.value)
        self.check(get(program, text))
        return text.raw

    def compile(self, name, text, architecture):
        """Returns the cubin, and ptxas' report."""
        program = ctypes.c_void_p()
        self.check(self.library.nvrtcCreateProgram(ctypes.byref(program), text.encode(), f"{name}.cu".encode(), 0, None,
                                                   None))
        flags = [f"--gpu-architecture=sm_{architecture}", *options(), "--ptxas-options=-v"]
        result = self.library.nvrtcCompileProgram(program, len(flags),
                                                  (ctypes.c_char_p * len(flags))(*(flag.encode() for flag in flags)))
        log = self.text(program, self.library.nvrtcGetProgramLogSize, self.library.nvrtcGetProgramLog)
        log = log.rstrip(b"\0").decode()
        if result != 0:
            raise RuntimeError(f"{self.library.nvrtcGetErrorString(result).decode()}\n{log}")
        cubin = self.text(program, self.library.nvrtcGetCUBINSize, self.library.nvrtcGetCUBIN)
        self.library.nvrtcDestroyProgram(ctypes.byref(program))
        return cubin, log


def figure(pattern, log):
    found = re.search(pattern, log)
    return int(found.group(1)) if found else 0


def figures(log):
    """Yields the name of each kernel in ptxas' report, with its registers, spilled bytes, stack and shared memory."""
    parts = re.split(r"Compiling entry function '(\w+)'", log)
    for name, part in zip(parts[1::2], parts[2::2]):
        spilled = figure(r"(\d+) bytes spill stores", part) + figure(r"(\d+) bytes spill loads", part)
        yield (name, figure(r"Used (\d+) registers", part), spilled, figure(r"(\d+) bytes stack frame", part),
               figure(r"(\d+) bytes smem", part))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--place", type=pathlib.Path, required=True)
    parser.add_argument("--library", nargs="*")
    arguments = parser.parse_args()
    problems = 0
    print("kernel | NVRTC | sm | registers | spilled bytes | stack | shared memory | bytes of cubin")
    for file in arguments.library or install(arguments.place):
        nvrtc = Nvrtc(file)
        for name, text in kernels().items():
            for architecture in ARCHITECTURES:
                if architecture not in nvrtc.architectures():
                    print(f"{name} | {nvrtc.version} | {architecture} | this NVRTC does not know it")
                    continue
                try:
                    cubin, log = nvrtc.compile(name, text, architecture)
                except RuntimeError as error:
                    print(f"{name} | {nvrtc.version} | {architecture} | fails: {error}")
                    problems += 1
                    continue
                found = list(figures(log))
                for kernel, registers, spilled, stack, shared in found:
                    print(f"{kernel} | {nvrtc.version} | {architecture} | {registers} | {spilled} | {stack} | {shared} | "
                          f"{len(cubin)}")
                    problems += registers == 0 or spilled > 0 or stack > 0
                problems += not found
    sys.exit(problems > 0)


if __name__ == "__main__":
    main()
