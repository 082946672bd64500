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

# Compiles one kernel and shows the C++.
demo: build
	@mkdir -p $(OUT)/demo
	$(OUT)/release/ptoc examples/softmax.pto --arch=a3 -o $(OUT)/demo/softmax.cpp
	@echo
	@echo "== examples/softmax.pto for a3: $(OUT)/demo/softmax.cpp =="
	@echo "== each TASSIGN<address>(tile) is the place of a tile in on-chip memory, in bytes =="
	@echo
	@cat $(OUT)/demo/softmax.cpp

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
