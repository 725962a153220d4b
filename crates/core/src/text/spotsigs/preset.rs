//! The settings that come with the program.

use super::{Antecedent, SpotSigs};

/// The authors' released antecedents, `word` or `word=distance`, distance 1 unless given.
pub(super) const RELEASED: &str = "that in the be is=2 are was will would shall should can could has have had do did \
    does done un une le la el al";

/// The stop words of the authors' released program: the classic English list of the SMART system cut down,
/// with fragments of HTML and of other languages that crawled pages left behind.
pub(super) const RELEASED_STOP_WORDS: &str = "\
    a a's able about above according accordingly across actually after afterwards again against ain't al all \
    allow allows almost alone along already also although always am among amongst amp an and another any \
    anybody anyhow anyone anything anyway anyways anywhere are aren't around as aside at awfully be because \
    been before behind being below beside besides between br but by c'mon c's came can can't cannot cant \
    cause causes certainly clearly co com come comes could couldn't course currently de despite did didn't \
    different do does doesn't doing don't done down during each ed edu eg either el else elsewhere er es et \
    etc even ever few font for from further furthermore get gets getting given gives go goes going gone got \
    gotten had hadn't happens has hasn't have haven't having he he's hence her here here's hereafter hereby \
    herein hereupon hers herself hi him himself his hither hopefully how howbeit however href html i'd i'll \
    i'm i've ie if in inasmuch indeed indicate indicated indicates insofar instead into inward is isn't it \
    it'd it'll it's its itself just last lately later latter latterly least less lest let let's li like liked \
    likely mainly many may maybe me mean merely might more moreover most mostly much must my myself namely \
    nbsp near nearly necessary need needs neither never nevertheless new next nine no non none nor not novel \
    now of off often oh old on once one ones only onto or other otherwise ought our ours ourselves out over \
    overall own per quot self selves several shall she should shouldn't since so some soon still such t's th \
    than that that's thats the their theirs them themselves then thence there there's thereafter thereby \
    therefore therein theres thereupon these they they'd they'll they're they've this those though thus to \
    together too under unless unlikely until unto up upon us very vs want wants was wasn't way we we'd we'll \
    we're we've went were weren't what what's whatever when whence whenever where where's whereafter whereas \
    whereby wherein whereupon wherever whether which while who who's whoever whom whose why will with within \
    without won't would wouldn't yet you you'd you'll you're you've your yours yourself yourselves";

/// Frequent function words of written Chinese, as jieba cuts them.
pub(super) const CHINESE: &str = "的 了 是 在 和 有 将 被 把 与 对 从 为 以 于 向 由 并 也 都 就 而 又 还 但 及 或 等 \
    这 那 该 其 之 所 着 过 会 能 可 要 说 到 上 中";

/// Besides the antecedents: pronouns, particles, conjunctions, adverbs and measure words without content.
pub(super) const CHINESE_STOP_WORDS: &str = "\
    我 你 您 他 她 它 我们 你们 他们 她们 它们 自己 大家 谁 什么 怎么 怎样 哪 哪里 多少 几 \
    这个 那个 这些 那些 这样 那样 这里 那里 这种 那种 此 各 每 某 本 \
    地 得 吗 呢 吧 啊 呀 嘛 哦 么 似的 \
    不 没 没有 很 更 最 太 再 才 只 却 便 仍 已 已经 正在 正 曾 曾经 非常 十分 比较 \
    因 因为 所以 因此 由于 虽然 但是 不过 然而 如果 假如 则 即 既 而且 并且 或者 以及 于是 那么 \
    给 让 使 叫 用 按 按照 根据 通过 关于 对于 随着 作为 除了 当 比 跟 同 至 自 往 \
    下 里 内 外 前 后 左右 之间 以上 以下 以前 以后 之后 之前 时 \
    一 一个 一些 一种 一样 个 种 次 些 第 \
    来 去 可以 可能 应该 应 需要 必须 能够 成为 进行 就是 还是 不是 只是 而是 还有 也是 都是";

/// Puts a preset together; antecedents of the Chinese one are stop words too.
pub(super) fn build(name: &str, antecedents: &str, stop_words: &str, min: u32) -> SpotSigs {
    let antecedents: Vec<Antecedent> = antecedents
        .split_whitespace()
        .map(|item| {
            let (word, distance) = item.split_once('=').unwrap_or((item, "1"));
            Antecedent { word: word.to_string(), distance: distance.parse().unwrap_or(1) }
        })
        .collect();
    let mut stops: Vec<String> = Vec::new();
    if name == "zh" {
        stops.extend(antecedents.iter().map(|a| a.word.clone()));
    }
    stops.extend(stop_words.split_whitespace().map(str::to_string));
    SpotSigs { name: name.to_string(), antecedents, stop_words: stops, chain: 1, min }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_released_settings() {
        let s = SpotSigs::released();
        assert_eq!((s.antecedents().len(), s.chain(), s.min_features()), (26, 1, 4));
        let far: Vec<_> = s.antecedents().iter().filter(|a| a.distance != 1).collect();
        assert_eq!(far.len(), 1);
        assert_eq!((far[0].word.as_str(), far[0].distance), ("is", 2));
        assert!(s.stop_words().iter().any(|w| w == "the") && !s.stop_words().iter().any(|w| w == "la"));
    }

    #[test]
    fn no_stop_word_twice() {
        for s in [SpotSigs::released(), SpotSigs::chinese()] {
            let mut words = s.stop_words().to_vec();
            words.sort();
            let n = words.len();
            words.dedup();
            assert_eq!(words.len(), n);
        }
    }
}
