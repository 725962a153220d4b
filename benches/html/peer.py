"""Extracts the main content of pages with a library: peer.py LIBRARY ROUNDS FOLDER, as crates/html/examples/extract.rs does."""

import statistics
import sys
import time
from pathlib import Path


def trafilatura():
    from trafilatura import extract

    return lambda page: extract(page) or ""


def resiliparse():
    from resiliparse.extract.html2text import extract_plain_text

    return lambda page: extract_plain_text(page, main_content=True)


def rs_trafilatura():
    from rs_trafilatura import extract

    return lambda page: extract(page).main_content or ""


LIBRARIES = {"trafilatura": trafilatura, "Resiliparse": resiliparse, "rs-trafilatura": rs_trafilatura}


def main():
    library, rounds, folder = sys.argv[1], int(sys.argv[2]), Path(sys.argv[3])
    extract = LIBRARIES[library]()
    pages = {path: path.read_text(encoding="utf-8", errors="replace") for path in folder.glob("*.html")}
    seconds = []
    for _ in range(rounds):
        start = time.process_time()
        texts = {path: extract(page) for path, page in pages.items()}
        seconds.append(time.process_time() - start)
    for path, text in texts.items():
        path.with_suffix(".txt").write_text(text, encoding="utf-8", errors="surrogatepass")
    print(statistics.median(seconds))


if __name__ == "__main__":
    main()
