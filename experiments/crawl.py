"""Chinese pages of news sites, any number of them, always the same: the first of a large crawl are the small one.

Articles come from `generate-corpus`, whose model is made of the articles of pages.py. As there a page is an article between the head, links and
foot of a site; some articles stand on several sites, some are revised there, of some only a part is quoted. Copies come near their article,
as news do, and there is a new site for every 300 pages.
"""

import json
import random
import re
from collections import deque
from itertools import islice

from pages import LEAST_SENTENCES, MOST_SENTENCES, SEED, Site, articles, quoted, revised, sentences
from result import progress, twinsplit

# Pages that are drawn together, and how many of them have a site of their own.
BLOCK, OF_A_SITE = 3_000, 300
# Bytes of an article that is asked for.
LENGTH = 2_000
# Sentences at both ends that may be the head or foot of a site of generate-corpus.
ENDS = 2
# Articles whose sentences and titles others take up.
RECENT = 200


def texts(count, folder):
    """Articles, each a list of sentences, for so many pages."""
    model = folder / "model.jsonl"
    with open(model, "w", encoding="utf-8") as out:
        for number, versions in enumerate(articles()):
            out.write(json.dumps({"id": number, "text": "".join(versions[0])}, ensure_ascii=False) + "\n")
    # Two thirds have too few sentences, and of the others come three pages each.
    number = count * 5 // 4 + BLOCK
    twinsplit("generate-corpus", "--documents", number, "--bytes", number * LENGTH, "--seed", SEED, "--chinese", 1, "--copies", 0, "--model", model,
              "--output", folder / "articles", "--quiet")
    file = folder / "articles" / "documents.jsonl"
    with open(file, encoding="utf-8") as lines:
        for line in lines:
            text = sentences(re.sub(r"\s+", "", json.loads(line)["text"]))[ENDS:-ENDS]
            if len(text) >= LEAST_SENTENCES:
                yield text[:MOST_SENTENCES]
    file.unlink()


def bodies(found, chance):
    """(body, titles of others), those of an article near one another."""
    recent, block = deque(maxlen=RECENT), []
    for article in found:
        recent.append([article])
        own = [article]
        own += [article] * chance.choice([0, 0, 1, 2])
        own += [revised(article, recent, chance) for _ in range(chance.choice([0, 1, 1]))]
        own += [quoted(article, chance) for _ in range(chance.choice([0, 0, 1, 2]))]
        for body in own:
            block.append((body, [chance.choice(recent)[0][0].rstrip("。")[:18] for _ in range(6)]))
        if len(block) >= BLOCK:
            chance.shuffle(block)
            yield from block
            block = []


def written(count, folder):
    """documents.jsonl in a folder that does not exist."""
    folder.mkdir()
    chance, sites = random.Random(SEED), []
    with open(folder / "documents.jsonl", "w", encoding="utf-8") as out:
        for number, (body, related) in enumerate(islice(bodies(texts(count, folder), chance), count)):
            while len(sites) < 10 + number // OF_A_SITE:
                sites.append(Site(len(sites), random.Random(f"{SEED}-{len(sites)}")))
            site = chance.choice(sites)
            page = {"id": f"p{number:07}", "url": f"https://{site.name}/p{number:07}", "text": site.page(body[0].rstrip("。")[:24], body, related)}
            out.write(json.dumps(page, ensure_ascii=False) + "\n")
            if number and number % 250_000 == 0:
                progress(f"{number:,} of {count:,} pages")
    if number + 1 < count:
        raise SystemExit(f"there are articles for {number + 1:,} of {count:,} pages alone")
    progress(f"{count:,} pages of {len(sites):,} sites")
