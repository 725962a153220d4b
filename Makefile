# Everything a newcomer needs: `make demo`, then `make test`. `make help` lists the rest.
SHELL := /bin/bash
CARGO ?= cargo
PREFIX ?= /usr/local
OUT ?= out/demo
FUZZ_SECONDS ?= 600
FUZZ_TARGETS ?=

.PHONY: help demo test check test-long fuzz bench derived build install clean tools

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

test: check ## formatting, lints and all tests
	$(CARGO) test --locked --lib --test '*' -- --show-output
	$(CARGO) test --locked --doc

check: tools
	$(call need,bash,on Debian: apt-get install bash)
	$(call need,zcat,on Debian: apt-get install gzip)
	$(CARGO) fmt --check
	$(CARGO) clippy --locked --all-targets -- -D warnings
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --locked --no-deps --lib

# Property tests of records, parsers and texts with a million cases; of joins and shuffles, and of whole runs, with fewer.
PARSERS = cluster::keep:: join::tau:: text::
JOINS = cluster::groups:: cluster::star:: cluster::union_find:: engine:: index:: join::doc_split:: join::kernel:: join::prefix::

test-long: tools ## property tests with many cases, the matrix on whole corpora, plain PCP with a hot feature: hours
	PROPTEST_CASES=1000000 $(CARGO) test --locked --release --test records
	PROPTEST_CASES=1000000 $(CARGO) test --locked --release --lib -- $(PARSERS)
	PROPTEST_CASES=20000 $(CARGO) test --locked --release --lib -- $(JOINS)
	PROPTEST_CASES=2000 $(CARGO) test --locked --release --test properties
	$(CARGO) test --locked --release --test '*' -- --ignored

fuzz: build ## coverage-guided fuzzing of every record and reader, FUZZ_SECONDS each (FUZZ_TARGETS: only these)
	@[ -x .tools/bin/cargo-fuzz ] || $(CARGO) install cargo-fuzz --locked --root .tools
	fuzz/run.sh $(FUZZ_SECONDS) $(CURDIR)/target/release $(FUZZ_TARGETS)

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
