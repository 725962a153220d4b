//! Where the log is: `kafka://host:port[,host:port]/topic`.

use std::str::FromStr;

/// Where the log and the answers are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KafkaPlace {
    /// Brokers that are asked first, each `host:port`; one at least.
    pub brokers: Vec<String>,
    /// The topic of the log.
    pub topic: String,
}

/// What the name of the answers' topic ends in.
const ANSWERS: &str = "-answers";

/// The longest name of a topic.
const LONGEST: usize = 249;

impl KafkaPlace {
    /// The topic of the answers, of which each shard has a partition.
    pub fn answers(&self) -> String {
        format!("{}{ANSWERS}", self.topic)
    }
}

impl FromStr for KafkaPlace {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let expected = || {
            "expected kafka://HOST:PORT/TOPIC, of several brokers kafka://HOST:PORT,HOST:PORT/TOPIC"
                .to_owned()
        };
        let (brokers, topic) =
            text.strip_prefix("kafka://").and_then(|rest| rest.split_once('/')).ok_or_else(expected)?;
        let brokers: Vec<String> = brokers.split(',').map(str::to_owned).collect();
        let is_broker = |broker: &String| {
            let parts = broker.rsplit_once(':');
            parts.is_some_and(|(host, port)| {
                !host.is_empty() && port.parse::<u16>().is_ok_and(|port| port > 0)
            })
        };
        if !brokers.iter().all(is_broker) {
            return Err(expected());
        }
        let is_known = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
        if topic.is_empty() || topic.len() + ANSWERS.len() > LONGEST || !topic.chars().all(is_known) {
            return Err(
                "expected a topic's name behind the last /, of letters, digits, '.', '_' and '-'".to_owned()
            );
        }
        Ok(Self { brokers, topic: topic.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_have_brokers_and_a_topic() {
        let place: KafkaPlace = "kafka://a:9092,[::1]:9093/seen.1".parse().unwrap();
        assert_eq!(place.brokers, ["a:9092", "[::1]:9093"]);
        assert_eq!((&*place.topic, &*place.answers()), ("seen.1", "seen.1-answers"));
        let wrong = [
            "",
            "kafka://",
            "kafka:///t",
            "kafka://a/t",
            "kafka://a:0/t",
            "kafka://a:9092",
            "kafka://a:9092/",
            "kafka://a:9092/a/b",
            "kafka://a:9092,/t",
            "http://a:9092/t",
            "kafka://a:9092/a b",
        ];
        for text in wrong {
            assert!(text.parse::<KafkaPlace>().is_err(), "{text}");
        }
    }
}
