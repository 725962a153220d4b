"""Three thousand Chinese pages of ten sites, and which of them are copies.

Articles are those of zh-revisions-iotdb (with their real revisions), iotdb-docs-zh and fudan-gbk. A page is an article between the
head, links and foot of a site; some articles stand on several sites, some are revised there, of some only a part is quoted. All of it
follows from a seed.

Truth is a rule that reads the articles without their templates and knows nothing of sentence ends or signatures: a page copies
another when four fifths of the characters of the shorter article lie in runs of ten characters that the longer one has too. It is a
containment when the shorter article is less than half as long, else a duplicate.
"""

import gzip
import json
import random
import re
import tarfile
from collections import defaultdict
from urllib.parse import urlsplit

import numpy

import corpora
from result import CORPORA, SEED, WORK, progress

PAGES = 3000
RUN = 10
LEAST_SENTENCES, MOST_SENTENCES = 6, 60
SECTIONS = "首页 新闻 国内 国际 财经 股票 科技 数码 汽车 房产 体育 足球 娱乐 影视 教育 考试 健康 旅游 美食 文化 读书 军事 历史 环保 农业 法治 公益 博客 论坛 视频 图片 专题 招聘 天气".split()
LINKS = "关于我们 联系方式 广告服务 网站地图 法律声明 隐私政策 意见反馈 友情链接 设为首页 加入收藏 手机版 订阅 分享到微信 打印本页 返回顶部 字号 大 中 小".split()
# The sentences that sites put below each article: half of the sites have some. Most end in the site's name.
NAMES = "晨光新闻网 江海在线 北方日报网 云岭资讯 东湖论坛 长风网 时代观察 金桥财经 青禾科技 远山人文网".split()
NOTICES = [
    "本站所载内容的版权归原作者所有，转载时请注明来自{}。",
    "本站刊登的文章仅代表作者个人的观点，不代表{}。",
    "未经书面授权，任何单位和个人不得复制或者镜像{}。",
    "投资有风险，文中的内容不构成对任何人的建议。",
    "登录以后才能发表评论，请自觉遵守互联网的有关规定。",
]
MARKUP = re.compile(r"(?s:<!--.*?-->|```.*?```)|<[^>]+>|^[#|>*-].*$|!?\[[^\]]*\]\([^)]*\)", re.M)
SENTENCE = re.compile(r"[^。]*。")


def sentences(text):
    return [sentence.strip() for sentence in SENTENCE.findall(text) if len(sentence.strip()) > 1]


def documentation(corpus):
    """{what a document is a version of: its versions}, as running text."""
    versions = defaultdict(list)
    for line in gzip.open(CORPORA / corpus / "docs.jsonl.gz", "rt", encoding="utf-8"):
        document = json.loads(line)
        text = re.sub(MARKUP, "", document["text"])
        versions[document["id"].split("@")[0]].append(sentences(re.sub(r"\s+", " ", text)))
    return versions


def articles():
    """Lists of versions, each a list of sentences; no version stands twice."""
    found = []
    with tarfile.open(CORPORA / "fudan-gbk" / "raw-gbk.tar.gz") as archive:
        for member in sorted(archive.getmembers(), key=lambda member: member.name):
            if not member.isfile():
                continue
            try:
                # The bytes are UTF-8, whatever the folder is called; what is not is left out.
                text = archive.extractfile(member).read().decode("utf-8")
            except UnicodeDecodeError:
                continue
            found.append([sentences(re.sub(r"\s+", "", text))])
    for corpus in ("zh-revisions-iotdb", "iotdb-docs-zh"):
        found += [versions for _, versions in sorted(documentation(corpus).items())]
    known, left = set(), []
    for versions in found:
        new = []
        for version in versions:
            version = tuple(version[:MOST_SENTENCES])
            if len(version) >= LEAST_SENTENCES and version not in known:
                known.add(version)
                new.append(list(version))
        if new:
            left.append(new)
    return left


class Site:
    """A name, and what stands around its articles."""

    def __init__(self, number, chance):
        self.name = f"site{number}.example"
        self.head = chance.sample(SECTIONS, 18)
        self.foot = chance.sample(LINKS, 8)
        notices = chance.sample(NOTICES, 3) if number % 2 else []
        # Of more than ten sites some have one name, and a number.
        name = f"{NAMES[number % len(NAMES)]}{number // len(NAMES) or ''}"
        self.notices = [notice.format(name) for notice in notices]

    def page(self, title, body, related):
        return "\n".join([" | ".join(self.head), title, "".join(body), "相关阅读", *related, " ".join(self.foot), "".join(self.notices)])


def revised(body, others, chance):
    """A sentence in sixteen goes, one in sixteen is rewritten, before one in twenty-five comes one of another article."""
    new = []
    for sentence in body:
        draw = chance.random()
        if draw < 1 / 25:
            new.append(chance.choice(chance.choice(others)[0]))
        if chance.random() < 1 / 16:
            continue
        if chance.random() < 1 / 16:
            half = len(sentence) // 2
            sentence = f"据了解，{sentence[half:]}" if half > 3 else f"另外，{sentence}"
        new.append(sentence)
    return new or body


def quoted(body, chance):
    """From a sixth to four tenths of the sentences, in a row."""
    length = max(3, round(len(body) * chance.uniform(1 / 6, 0.4)))
    start = chance.randrange(len(body) - length + 1)
    return body[start:start + length]


def made():
    """[(id, site, page, article)], always the same."""
    chance = random.Random(SEED)
    sites = [Site(number, chance) for number in range(10)]
    found = articles()
    bodies = []
    for versions in found:
        bodies.extend(versions[:2])
        for _ in range(chance.choice([0, 0, 1, 2])):
            bodies.append(chance.choice(versions))
        for _ in range(chance.choice([0, 1, 1])):
            bodies.append(revised(chance.choice(versions), found, chance))
        for _ in range(chance.choice([0, 0, 1, 2])):
            bodies.append(quoted(chance.choice(versions), chance))
    progress(f"{len(found)} articles, {len(bodies)} pages, of which {PAGES} are drawn")
    chance.shuffle(bodies)
    pages = []
    for number, body in enumerate(bodies[:PAGES]):
        site = chance.choice(sites)
        related = [versions[0][0].rstrip("。")[:18] for versions in chance.sample(found, 6)]
        pages.append((f"p{number:04}", site.name, site.page(body[0].rstrip("。")[:24], body, related), "".join(body)))
    return pages


def of(path):
    """The same of a user's JSON lines: each page is all article; a site is the host of the field url, or nothing."""
    return [(f"p{number:04}", urlsplit(str(document.get("url") or "")).hostname or "", document["text"], document["text"])
            for number, document in enumerate(corpora.checked(path))]


def written(pages, folder="ccdet"):
    """The pages as JSON lines."""
    path = WORK / folder / "pages.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "w", encoding="utf-8") as out:
        for page, site, text, _ in pages:
            out.write(json.dumps({"id": page, "url": f"https://{site}/{page}", "text": text}, ensure_ascii=False) + "\n")
    return path


def candidates(having):
    """{longer: shorter pages that share something with it}, of {what: the pages that have it, shortest first}."""
    shorter = defaultdict(set)
    for numbers in having.values():
        for at in range(1, len(numbers)):
            shorter[numbers[at]].update(numbers[:at])
    return shorter


def covered(common):
    """How many characters lie in common runs, of a truth value for the run at each place."""
    ends = numpy.zeros(len(common) + RUN, dtype=numpy.int32)
    ends[:len(common)] += common
    ends[RUN:] -= common
    return int((ends[:-1].cumsum() > 0).sum())


def likeness(pages):
    """{(i, j): (covered, length)}, i < j: of the shorter article's characters those in common runs, and all of them. Every pair with
    a run in common is looked at; those with less than three tenths are left out."""
    order = sorted(range(len(pages)), key=lambda number: (len(pages[number][3]), number))
    numbers, having, runs = {}, defaultdict(list), {}
    for page in order:
        article = pages[page][3]
        own = [numbers.setdefault(article[at:at + RUN], len(numbers)) for at in range(len(article) - RUN + 1)]
        runs[page] = numpy.array(own, dtype=numpy.int32)
        for run in set(own):
            having[run].append(page)
    pairs, looked_at, is_in_longer = {}, 0, numpy.zeros(len(numbers), dtype=bool)
    for longer, shorter in sorted(candidates(having).items()):
        is_in_longer[runs[longer]] = True
        for page in shorter:
            common, length = covered(is_in_longer[runs[page]]), len(pages[page][3])
            if 10 * common >= 3 * length:
                pairs[min(page, longer), max(page, longer)] = common, length
        is_in_longer[runs[longer]] = False
        looked_at += len(shorter)
    progress(f"{looked_at} pairs have a run of {RUN} characters in common")
    return pairs


def truth(pages, likenesses):
    """{(i, j): "duplicate" or "containment"}, i < j: pairs by the rule."""
    def kind(i, j):
        longer = max(len(pages[i][3]), len(pages[j][3]))
        return "containment" if 2 * likenesses[i, j][1] < longer else "duplicate"
    return {pair: kind(*pair) for pair, (common, length) in likenesses.items() if 5 * common >= 4 * length}
