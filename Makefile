# `make demo` and `make test` are all that a fresh Debian 12 machine with Rust needs: both do the set-up first.
# One profile only, release, so that nothing is built twice.

CARGO ?= cargo
OUT := $(or $(CARGO_TARGET_DIR),target)

.DEFAULT_GOAL := build
.PHONY: setup build demo test check clean

# Installs LLVM 22 where it is missing (Debian, Ubuntu); elsewhere says what to install.
setup:
	@scripts/setup

build: setup
	$(CARGO) build --release

# Compiles one kernel, shows the C++, runs it on the simulated NPU and compares with the reference.
demo: build
	@mkdir -p $(OUT)/demo
	$(OUT)/release/ptoc examples/softmax.pto --arch=a3 -o $(OUT)/demo/softmax.cpp
	@echo
	@echo "== examples/softmax.pto for a3: $(OUT)/demo/softmax.cpp =="
	@echo "== each TASSIGN<address>(tile) is the place of a tile in on-chip memory, in bytes =="
	@echo
	@cat $(OUT)/demo/softmax.cpp
	@echo
	@echo "== the same kernel on the simulated NPU, 40 rows on 2 blocks, against examples/data/softmax_y.npy =="
	@echo
	$(OUT)/release/pto-run $(OUT)/demo/softmax.cpp --arg x=examples/data/softmax_x.npy --arg height=40 --blocks 2 \
	    --out y=$(OUT)/demo/softmax_y.npy --expect y=examples/data/softmax_y.npy

# The build comes first because some tests start the built programs.
test: build
	$(CARGO) test --release

check: setup
	$(CARGO) fmt --all --check
	$(CARGO) clippy --release --all-targets -- -D warnings
	$(CARGO) build --release
	$(CARGO) test --release
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --release --no-deps

clean:
	$(CARGO) clean
