# Two commands matter: `make run` and `make test`. Both do all the set-up they need on Debian 12 with Rust and
# Node.js, as root or with sudo, and say clearly what is missing.
.DEFAULT_GOAL := help
.PHONY: help run test check bench crash release tools

help:
	@echo "make run      build and start the server with embedded defaults"
	@echo "make test     install and start what the tests need, run every test"
	@echo "make check    formatting, clippy, documentation"
	@echo "make crash    the crash harness, 300 kills (make test does 30)"
	@echo "make bench    measure, print a table with targets"
	@echo "make release  the optimised binary, target/release/frontdesk"

run: tools
	@cargo build --quiet --package frontdesk --bin frontdesk
	@exec target/debug/frontdesk serve

test: tools
	@scripts/with-services scripts/test

check: tools
	cargo fmt --all --check
	cargo clippy --workspace --all-targets -- -D warnings
	cargo clippy --package testkit --features ai-test,crash-points --all-targets -- -D warnings
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --document-private-items --quiet

crash: tools
	@CRASH_KILLS=$${CRASH_KILLS:-300} scripts/with-services scripts/crash

bench: tools
	@scripts/with-services scripts/bench

release: tools
	cargo build --release --package frontdesk --bin frontdesk
	@ls -l target/release/frontdesk

tools:
	@scripts/need cargo cc
