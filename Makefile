# Everything a newcomer needs: `make demo`, then `make test`. `make help` lists the rest.
SHELL := /bin/bash
CARGO ?= cargo
PREFIX ?= /usr/local
OUT ?= out/demo

# What the tests run beside Rust, as COMMAND:PACKAGE with the package that has it on Debian.
TEST_PACKAGES = chromium:chromium chromedriver:chromium-driver

.PHONY: help demo test test-tools check test-long bench derived build install clean tools

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1\t\2/p' $(MAKEFILE_LIST) | column -t -s "$$(printf '\t')"

# need NAME HOW: stops with a word on how to install what is missing
define need
	@command -v $(1) > /dev/null || { echo "error: $(1) is missing: $(2)" >&2; exit 1; }
endef

tools:
	$(call need,$(CARGO),install Rust with rustup: see https://www.rust-lang.org/tools/install)
	$(call need,cc,install a C compiler and linker, on Debian: apt-get install gcc libc6-dev)

build: tools ## release binaries in target/release
	$(CARGO) build --release --locked --bins

demo: build ## near-duplicates of the real documents in hdfs-fixtures
	@PATH="$(CURDIR)/target/release:$$PATH" jobs/demo.sh $(OUT)

test: test-tools check ## formatting, lints and all tests
	$(CARGO) test --locked --lib --test '*' -- --show-output
	$(CARGO) test --locked --doc

test-tools: ## what the tests run: installed by apt-get where it is missing and this is root
	@missing=; \
	for each in $(TEST_PACKAGES); do \
		command -v "$${each%%:*}" > /dev/null || missing="$$missing $${each#*:}"; \
	done; \
	[ -n "$$missing" ] || exit 0; \
	if [ "$$(id -u)" = 0 ] && command -v apt-get > /dev/null; then \
		apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $$missing; \
	else \
		echo "error: the tests need more programs, on Debian: apt-get install$$missing" >&2; exit 1; \
	fi

check: tools
	$(call need,bash,on Debian: apt-get install bash)
	$(call need,zcat,on Debian: apt-get install gzip)
	$(CARGO) fmt --check
	$(CARGO) clippy --locked --all-targets -- -D warnings
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --locked --no-deps --lib

test-long: tools ## the matrix on whole corpora, and plain PCP with a hot feature: hours
	$(CARGO) test --locked --release --test '*' -- --ignored

bench: build ## beside SetSimilaritySearch on reuters21578 (needs Python 3)
	benches/compare.sh

derived: tools ## renew the files that follow from the stages' declarations
	$(CARGO) run --locked --bin twinsplit -- stages --write .
	$(CARGO) fmt

install: build ## all binaries into $(PREFIX)/bin
	install -d $(DESTDIR)$(PREFIX)/bin
	find target/release -maxdepth 1 -type f -executable -exec install -m 755 {} $(DESTDIR)$(PREFIX)/bin/ \;

clean: ## removes what was built
	$(CARGO) clean
	rm -rf out .tools
