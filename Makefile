# Everything a newcomer needs: `make demo`, then `make test`. `make help` lists the rest.
SHELL := /bin/bash
CARGO ?= cargo
PREFIX ?= /usr/local
OUT ?= out/demo
FUZZ_SECONDS ?= 600
FUZZ_TARGETS ?=
REQUESTS ?= 1000000

# What `make install` installs; links to it have the names of the stages.
BINARY ?= target/release/twinsplit
# Debian packages of programs that tests alone run.
TEST_PACKAGES = bsdutils chromium chromium-driver curl fish mandoc maven openjdk-17-jdk-headless openssl redis-tools systemd zsh

.PHONY: help demo test test-build test-corpora check msrv test-long test-tools fuzz bench bench-minhash bench-hamming bench-hamming-layouts bench-html bench-serve bench-store bench-parts bench-cliffs bench-strategies bench-estimate bench-order engines approximations experiments \
  experiments-page fig8 feature-choice edge ccdet-accuracy ccdet-time simhash-curve minhash-vs-simhash minhash-scale recall table1 fig9a fig9b ccdet-scale experiments-full \
  derived build wheel test-python bench-python install uninstall clean tools \
  dist hadoop kafka spark cluster-up cluster-status cluster-down cluster-test cluster-test-full

help: ## this list
	@sed -n 's/^\([a-z0-9-]*\):.*## \(.*\)/\1\t\2/p' $(MAKEFILE_LIST) | column -t -s "$$(printf '\t')"

# need NAME HOW: stops with a word on how to install what is missing
define need
	@command -v $(1) > /dev/null || { echo "error: $(1) is missing: $(2)" >&2; exit 1; }
endef

# A Python environment of its own for each tool from PyPI, by version and hash: .tools/NAME, of the file of requirements.
define from_pypi
	$(call need,python3,on Debian: apt-get install python3 python3-venv)
	@[ -x .tools/$(1)/bin/$(1) ] || { python3 -m venv .tools/$(1) && \
	  .tools/$(1)/bin/pip install --quiet --require-hashes --no-deps -r $(2); }
endef

tools:
	$(call need,$(CARGO),install Rust with rustup: see https://www.rust-lang.org/tools/install)
	$(call need,cc,install a C compiler and linker, on Debian: apt-get install gcc libc6-dev)

# Few programs are linked. The other stages are links to twinsplit, which is the stage by whose name it is called.
build: tools ## twinsplit and the stages in target/release
	$(CARGO) build --release --locked --bins
	@for name in $$(target/release/twinsplit stages --names); do \
	  [[ -f src/bin/$$name.rs ]] || ln -sf twinsplit target/release/$$name; \
	done

# The target is named so that the flags reach the binary alone, not what runs while it is built.
HOST = $(shell rustc -vV | sed -n 's/^host: //p')
STATIC = -C target-feature=+crt-static
BUILD_DIST = RUSTFLAGS="$(STATIC)" $(CARGO) build --locked --profile dist --target $(HOST) --bin twinsplit
DIST = target/$(HOST)/dist
wheel: tools ## the Python package, target/wheels/twinsplit-*.whl (Python 3.11, PyPI)
	$(call from_pypi,maturin,python/requirements-build.txt)
	python/build.sh .tools/maturin/bin/maturin release target/wheels
	@ls target/wheels/*.whl

dist: tools ## one static binary for clusters, target/dist/twinsplit
	$(BUILD_DIST)
	@mkdir -p target/dist && cp -f $(DIST)/twinsplit target/dist/

demo: build ## near-duplicates of the real documents in hdfs-fixtures
	@PATH="$(CURDIR)/target/release:$$PATH" jobs/demo.sh $(OUT)

# One selection of tests for all that build them, so that they are built once.
TESTS = $(CARGO) test --locked --workspace --lib --test suite

# Many wait for what they started, a session of Spark for a minute and a half, so two more run than there are cores.
THREADS = $(shell expr $$(nproc) + 2)

test: check test-tools kafka spark ## formatting, lints and all tests that need nothing but this repository
	tests/with-tmpfs.sh $(TESTS) --no-fail-fast -- --show-output --test-threads=$(THREADS)
	$(CARGO) test --locked --workspace --doc
	$(MAKE) --no-print-directory test-python

# Beside the program that its answers are compared with.
test-python: tools ## the Python package in a fresh environment: its tests, types and the examples of docs/python.md (Python 3.11, PyPI, Java)
	$(TESTS) --no-run
	TWINSPLIT=$(CURDIR)/target/debug/twinsplit python/test.sh

test-corpora: tools ## the tests of tests/suite/corpora, on the larger corpora in CORPORA_DIR (../shared/corpora): fails without them
	tests/with-tmpfs.sh $(TESTS) --no-fail-fast -- --ignored --skip ::long_ corpora:: --show-output --test-threads=$(THREADS)

test-build: tools ## builds the tests, to run them later
	$(TESTS) --no-run

check: tools
	$(call need,bash,on Debian: apt-get install bash)
	$(call need,zcat,on Debian: apt-get install gzip)
	$(call from_pypi,typos,tests/requirements-spelling.txt)
	.tools/typos/bin/typos --format brief
	$(CARGO) fmt --all --check
	$(CARGO) fmt --check --manifest-path fuzz/Cargo.toml
	$(CARGO) fmt --check --manifest-path benches/parts/Cargo.toml
	$(CARGO) clippy --locked --workspace --all-targets -- -D warnings
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --locked --workspace --no-deps --lib --document-private-items
	# In the same folder and by the same profile, so that what both need is checked once.
	# Nothing is linked, so no libFuzzer is compiled.
	CUSTOM_LIBFUZZER_PATH=/dev/null $(CARGO) check --locked --manifest-path fuzz/Cargo.toml --bins --target-dir target
	$(CARGO) clippy --locked --manifest-path benches/parts/Cargo.toml --benches --target-dir target -- -D warnings

# Crates say of themselves from which version of Rust on they can be built; a test of the suite compares.
MSRV = $(shell sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)

msrv: tools ## checks all crates with the oldest Rust that Cargo.toml promises (rustup)
	$(call need,rustup,see https://www.rust-lang.org/tools/install)
	rustup toolchain install $(MSRV) --profile minimal
	$(CARGO) +$(MSRV) check --locked --workspace --target-dir target/msrv

test-tools: ## installs what tests run and the machine lacks, on Debian and as root; else says what to install
	@missing=(); for package in $(TEST_PACKAGES); do \
	  dpkg-query -W -f '$${Status}' "$$package" 2> /dev/null | grep -q ' installed$$' || missing+=("$$package"); \
	done; \
	((!$${#missing[@]})) || if [[ $$(id -u) == 0 ]] && command -v apt-get > /dev/null; then \
	  apt-get update -q && apt-get install -qy --no-install-recommends "$${missing[@]}"; \
	else \
	  echo "error: tests need more programs, on Debian: sudo apt-get install $${missing[*]}" >&2; exit 1; \
	fi

# Tests of clusters are ignored by `make test`; those whose names begin with full_ take longer than a change may wait.
CLUSTER_TESTS = $(CARGO) test --locked --test suite -- --ignored --test-threads=1 --show-output

cluster-test: dist test-tools ## the quick tests on a cluster of their own: minutes
	$(CLUSTER_TESTS) --skip full_ cluster::chains:: cluster::dist:: cluster::scripts:: hadoop::

cluster-test-full: dist test-tools spark ## parity of all ways, faults, memory and real text on clusters: hours
	$(CLUSTER_TESTS) full_

# Property tests of records, parsers and texts with a million cases; of joins and shuffles, and of whole runs, with fewer.
PARSERS = cluster::keep:: join::read:: similarity:: text::
JOINS = cluster::components:: cluster::groups:: cluster::star:: cluster::union_find:: idf:: join::

test-long: dist test-tools ## property tests with many cases, the matrix on whole corpora, plain PCP with a hot feature: hours
	PROPTEST_CASES=1000000 $(CARGO) test --locked --release --test suite records::any_
	PROPTEST_CASES=20000 $(CARGO) test --locked --release --test suite records::damaged_
	PROPTEST_CASES=1000000 $(CARGO) test --locked --release -p twinsplit-core -p twinsplit-cli --lib -- $(PARSERS)
	PROPTEST_CASES=20000 $(CARGO) test --locked --release -p twinsplit-core --lib -- $(JOINS)
	PROPTEST_CASES=20000 $(CARGO) test --locked --release -p twinsplit-engine -p twinsplit-hamming --lib
	PROPTEST_CASES=20000 $(CARGO) test --locked --release --test suite rounds::
	PROPTEST_CASES=2000 $(CARGO) test --locked --release --test suite properties::
	$(CARGO) test --locked --release -p twinsplit-store --lib -- --ignored
	$(CARGO) test --locked --release --test suite -- --ignored --skip full_

fuzz: build ## coverage-guided fuzzing of every record and reader, FUZZ_SECONDS each (FUZZ_TARGETS: only these)
	@[ -x .tools/bin/cargo-fuzz ] || $(CARGO) install cargo-fuzz --locked --root .tools
	fuzz/seeds.sh $(CURDIR)/target/release fuzz/corpus
	fuzz/run.sh $(FUZZ_SECONDS) $(FUZZ_TARGETS)

bench: build ## beside SetSimilaritySearch, datasketch, rensa, gaoya, FastSketchLSH and datatrove (Python 3.11, PyPI)
	benches/peers/run.py $(if $(SAVE),--save)

bench-minhash: build ## the chain minhash beside MinHash libraries: precision, recall, seconds, minutes (Python 3.11, PyPI)
	benches/peers/run.py --peers rensa,FastSketchLSH,gaoya,datasketch $(if $(SAVE),--save docs/performance/minhash-peers.md)

bench-python: build wheel ## the Python package beside the command line, datasketch and rensa: fails where it takes 1.15 times as long as the command line (PyPI, CORPORA_DIR)
	benches/python.py $(if $(SAVE),--save)

bench-hamming: tools ## Hamming search beside mih-rs, gaoya, faiss, pynear, hammingbird and simhash at 1, 10 and 50 million (Python 3.11, PyPI; 10 GB)
	RUSTFLAGS="-C target-cpu=native" \
	  $(CARGO) build --release --locked --manifest-path benches/hamming/Cargo.toml --target-dir target/bench-hamming
	benches/hamming/run.py $(if $(SAVE),--save)

bench-hamming-layouts: tools ## what each layout of a Hamming index takes, beside what its plan expects
	$(CARGO) bench --locked --bench hamming_layouts

bench-html: tools ## --html article and visible beside trafilatura, Resiliparse and rs-trafilatura on real pages: fails where an aim is missed (SAVE=1 writes docs/performance/html.md; Python 3.11, PyPI, the corpora)
	benches/html/run.py $(if $(SAVE),--save)

bench-serve: tools ## a service under load, fingerprints and texts, beside Redis with the same client (redis-server; REQUESTS=N: of a row; HOLD=N MINUTES=M: with N documents for M minutes instead)
	$(call need,redis-server,on Debian: apt-get install redis-server)
	$(CARGO) bench --locked -p twinsplit-serve --bench load -- $(if $(HOLD),--hold $(HOLD) $(or $(MINUTES),10),--requests $(REQUESTS))

bench-store: build ## batches against a store of 1.6 million documents, beside a run over all, datasketch with Redis, and DuckDB (redis-server, PyPI; DOCUMENTS=N: fewer; 30 GB)
	$(call need,redis-server,on Debian: apt-get install redis-server)
	benches/store.py --work out/store $(if $(DOCUMENTS),--documents $(DOCUMENTS)) $(if $(SAVE),--save)

bench-parts: tools ## what reading, counting, indexing, probing, verifying and signatures take, each on its own
	$(CARGO) bench --locked --manifest-path benches/parts/Cargo.toml --target-dir target

bench-cliffs: tools ## shapes that make joins slow, at N and 2N documents: fails where counts grow faster than input and pairs
	$(CARGO) bench --locked --bench cliffs -- --all

bench-estimate: build ## plan --estimate by a sixteenth of 100,000 documents beside runs over all: fails where a volume is out of its interval
	benches/estimate.py --work out/estimate $(if $(CORPUS),--corpus "$(CORPUS)")

bench-order: build ## prefix Term-Split by orders of features of samples and of all: shuffled bytes, largest task, candidates; GROWTH=1: at N, 2N, 4N documents
	benches/order.py --work out/order $(if $(GROWTH),--growth) $(if $(CORPUS),--corpus $(CORPUS))

bench-strategies: tools ## every way of the join on eight real collections beside the way it chooses: fails where that takes 1.3 times as long
	$(CARGO) bench --locked --bench strategies -- --all

# The papers' experiments: CSV, SVG and PNG below experiments/results, and one page of all of them.
experiments: fig8 feature-choice edge approximations ccdet-accuracy ccdet-time simhash-curve recall minhash-vs-simhash ## the papers' experiments, and experiments/results/index.html (needs Python 3.11, PyPI, the corpora)

# What is measured on a user's own documents, CORPUS=PATH, goes to a folder of its own, and leaves the committed results alone. They are
# JSON lines, or of another FORMAT of `twinsplit convert`; WT10G=FOLDER is such a folder of TREC files.
OWN_RESULTS ?= out/results
ifdef WT10G
CORPUS := $(WT10G)
FORMAT := trec
endif
EXPERIMENT = $(if $(CORPUS),RESULTS_DIR="$(OWN_RESULTS)") experiments/run.py
OWN = $(if $(CORPUS),--corpus "$(CORPUS)" $(if $(FORMAT),--format $(FORMAT)))
ENGINES = $(if $(ENGINE),--engines $(ENGINE))
SIZED = $(if $(SIZES),--sizes $(SIZES))

fig8: build ## zhang2011, figure 8: precision, recall and F1 against tau on labelled sets (CORPORA=a,b: only these; CORPUS=PATH FORMAT=trec|html, WT10G=FOLDER: yours)
	$(EXPERIMENT) fig8 $(if $(CORPUS),$(OWN),$(if $(CORPORA),--corpora $(CORPORA)))
	$(EXPERIMENT) page

feature-choice: build ## which features and tau: precision, recall and F1 on labelled sets, by which README and docs/choosing.md recommend (CORPORA=a,b: only these)
	experiments/run.py feature_choice $(if $(CORPORA),--corpora $(CORPORA))
	experiments/run.py page

edge: build ## pairs around the edge of figure 8's rule: what a reader says of each, beside the rule
	experiments/run.py edge
	experiments/run.py page

approximations: build ## lin2009: recall lost against bytes saved by --df-cut and --accumulators (CORPUS=PATH: on yours)
	$(EXPERIMENT) approximations $(OWN)
	$(EXPERIMENT) page

ccdet-accuracy: build ## wei2013: precision, recall and F1 of CCDet and its rivals on 3,000 Chinese pages (CORPUS=PATH: on yours)
	$(EXPERIMENT) ccdet_accuracy $(OWN)
	$(EXPERIMENT) page

ccdet-time: build ## wei2013: seconds of CCDet and its rivals on the same pages, side by side (CORPUS=PATH: yours)
	$(EXPERIMENT) ccdet_time $(OWN)
	$(EXPERIMENT) page

simhash-curve: build ## recall and precision of fingerprints against their distance on labelled sets (CORPORA=a,b: only these)
	experiments/run.py simhash_curve $(if $(CORPORA),--corpora $(CORPORA))
	experiments/run.py page

recall: build ## MinHash: the recall that --recall promises, and candidates beside the best bands, on five corpora and on five others held out
	experiments/run.py recall
	experiments/run.py recall --held-out
	experiments/run.py page

minhash-vs-simhash: build ## MinHash, SimHash and the exact similarity on labelled sets: F1, seconds, bytes, candidates
	experiments/run.py minhash_vs_simhash
	experiments/run.py page

minhash-scale: build ## where MinHash begins to win, and what --bloom saves, on generated collections of up to 3 million documents (10 GB of disk)
	experiments/run.py minhash_scale
	experiments/run.py page

table1: build ## zhang2011, table 1: Term-Split against Doc-Split in one process, by pipes and on Hadoop, 200,000 documents (ENGINE=a,b; CORPUS=PATH: yours)
	$(EXPERIMENT) table1 $(OWN) $(ENGINES)
	$(EXPERIMENT) page

fig9a: build ## zhang2011, figure 9a: time by documents up to 1.6 million, and where plain Term-Split fills a disk (ENGINE=a,b; SIZES=a,b; CORPUS=PATH: yours)
	$(EXPERIMENT) fig9a $(OWN) $(ENGINES) $(SIZED)
	$(EXPERIMENT) page

fig9b: build ## zhang2011, figure 9b: time by slots of a Hadoop cluster on this machine, and a model of more cores (CORPUS=PATH: yours)
	$(EXPERIMENT) fig9b $(OWN)
	$(EXPERIMENT) page

ccdet-scale: build ## wei2013, figure 10: CCDet by Chinese pages up to 2 million, in one process and on Hadoop, and by nodes (ENGINE=a,b; SIZES=a,b; CORPUS=PATH: yours)
	$(EXPERIMENT) ccdet_scale $(OWN) $(ENGINES) $(SIZED)
	$(EXPERIMENT) page

experiments-full: experiments minhash-scale table1 fig9a fig9b ccdet-scale ## all experiments, those that take long as well

experiments-page: ## experiments/results/index.html, of the results that are there
	experiments/run.py page

engines: build ## seconds and bytes in between of every engine and method on reuters21578, side by side
	@benches/engines.py --hadoop "$$(hdfs-fixtures/cluster/install.sh)" --spark "$$(tests/spark/install.sh)"

hadoop: ## Hadoop's commands and jars from Maven Central, below ~/.cache/twinsplit (needs Maven and Java)
	@hdfs-fixtures/cluster/install.sh > /dev/null

kafka: ## Kafka and its tools from Maven Central, below ~/.cache/twinsplit (needs Maven and Java)
	@hdfs-fixtures/kafka/install.sh > /dev/null

spark: ## PySpark from PyPI below ~/.cache/twinsplit, 480 MB, for the tests of jobs/spark (needs Python and Java)
	@tests/spark/install.sh > /dev/null

# A whole Hadoop on this machine's loopback, below $(CLUSTER_DIR); cluster.sh says what else can be set.
CLUSTER_DIR ?= out/cluster
CLUSTER = @CLUSTER_DIR=$(CLUSTER_DIR) hdfs-fixtures/cluster/cluster.sh

cluster-up: ## starts HDFS, YARN and the job history server on loopback, and says how to use them
	$(CLUSTER) up

cluster-status: ## the cluster's daemons, addresses and health
	$(CLUSTER) status

cluster-down: ## stops the cluster's daemons; HDFS and logs stay in out/cluster
	$(CLUSTER) down

derived: tools ## renew the files that follow from the stages' declarations
	$(CARGO) run --locked --bin twinsplit -- stages --write . --overwrite
	$(CARGO) fmt --all

install: ## twinsplit, the stages' names, manual pages, completions, jobs and documents below $(DESTDIR)$(PREFIX)
	@if [[ "$(BINARY)" == target/release/twinsplit ]] && command -v $(CARGO) > /dev/null; then \
	  $(CARGO) build --release --locked --bin twinsplit; \
	fi
	@DESTDIR="$(DESTDIR)" jobs/install.sh install "$(PREFIX)" "$(BINARY)"

uninstall: ## removes exactly what install put below $(DESTDIR)$(PREFIX)
	@DESTDIR="$(DESTDIR)" jobs/install.sh uninstall "$(PREFIX)"

clean: ## removes what was built; stops the cluster
	$(CLUSTER) down
	$(CARGO) clean
	rm -rf out .tools
