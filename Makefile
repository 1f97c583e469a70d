# The commands of the project. They set up the machine and call CMake, which builds.
.DEFAULT_GOAL := help
.PHONY: help mnli test check check-long check-platforms check-systems chaos build bench image check-image package \
  check-package wheel check-wheel reference format check-format setup packages test-packages develop-packages package-packages clean

# Flags of the program that is run: make mnli ARGS="--epochs 1 --batch-size 16". make mnli TORCH=cuda fetches a LibTorch
# for GPUs and TORCH=cpu one for processors: tools/make_venv.sh.
ARGS ?=
ifneq ($(filter-out cpu cuda,$(TORCH)),)
$(error TORCH is '$(TORCH)'; it must be cpu or cuda)
endif
export CCACHE_DIR ?= $(CURDIR)/.cache/ccache

help:  ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-16s %s\n", $$1, $$2 }' Makefile

mnli: setup  ## fine-tune the default checkpoint on the bundled pairs; ARGS="…" passes flags
	@tools/get_checkpoint.sh
	@tools/build.sh release mnli
	build/release/examples/mnli $(ARGS)

test: setup test-packages  ## build and run the tests: every room, the programs, the code in the documentation
	@tools/get_checkpoint.sh
	@tools/test.sh dev

check: setup develop-packages  ## the rest for maintainers: GCC, headers, mistakes, sanitizers, fuzzing
	@tools/get_checkpoint.sh
	@tools/check.sh

check-long: setup develop-packages  ## what is long: slow tests, kills, tutorials, benchmarks, all rooms with GCC
	@tools/get_checkpoint.sh
	@tools/check_long.sh

check-platforms: setup develop-packages  ## narrower vectors, arm64, the newest LibTorch, clang-tidy; long
	@tools/install_packages.sh platforms
	@tools/get_checkpoint.sh
	@tools/platforms.sh

check-systems:  ## the first two commands on clean systems, with each LibTorch; hours; ARGS="…" chooses some
	@tools/systems.sh $(ARGS)

chaos: setup develop-packages  ## kill runs 100 times each way, and at every call of the file system
	@tools/get_checkpoint.sh
	@tools/build.sh dev examples_test checkpoint_test crash_program
	SEQTRAIN_CHAOS_KILLS=100 build/dev/tests/examples/examples_test --gtest_filter='Chaos*'
	SEQTRAIN_SIMULATED_HISTORIES=1000000 build/dev/tests/checkpoint_test \
	  --gtest_filter='CheckpointSimulation*'
	python3 tests/chaos/put_back.py
	python3 tests/chaos/crash_points.py build/dev/tests/chaos/crash_program \
	  --program build/dev/examples/mnli

build: setup  ## build everything for use, into build/release
	@tools/build.sh release

bench: setup  ## build and run the benchmarks, and the peers if they are installed
	@tools/bench.sh $(ARGS)

image:  ## build an image of the programs; ARGS="…" goes to docker, podman or buildah
	@tools/image.sh $(ARGS)

emulator_python = $(firstword $(wildcard build/emulator/bin/python) python3)
check-image:  ## build the image, and train in it
	@tools/get_checkpoint.sh
	@$(emulator_python) tests/jobs/image_test.py $(ARGS) || [ $$? = 77 ]

package: setup package-packages  ## build a .deb and a .tar.gz of the programs and headers
	@tools/package.sh

wheel: setup package-packages  ## build a wheel of the programs and headers, for pip
	@tools/wheel.sh

check-package: package  ## try the packages on a Debian that has nothing of them
	@tools/get_checkpoint.sh
	@tests/jobs/package_test.sh || [ $$? = 77 ]

check-wheel: wheel  ## try the wheel in a new environment
	@tools/get_checkpoint.sh
	@tests/jobs/wheel_test.sh

reference: develop-packages  ## write the API reference, from the docstrings, into build/reference
	@tools/reference.py

format: develop-packages  ## format the sources in place
	@tools/clang_format.sh -i

check-format: develop-packages  ## fail where a source is not formatted, or a script is not one
	@tools/clang_format.sh --dry-run -Werror
	@git ls-files '*.sh' | xargs -n 1 bash -n

setup: packages  ## install what is missing: Debian packages, and LibTorch in .venv
	@tools/make_venv.sh

packages:
	@tools/install_packages.sh build

test-packages:
	@tools/install_packages.sh build test

develop-packages:
	@tools/install_packages.sh build test develop

package-packages:
	@tools/install_packages.sh build package

clean:  ## remove what was built; .venv, checkpoints and runs stay
	rm -rf build .cache
