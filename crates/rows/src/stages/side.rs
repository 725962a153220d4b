//! Side files as the stages load them.

use super::options::OrderOpts;
use crate::stages::feature_order::ORDER;
use crate::stages::order::{Filter, Listed, OrderLine};
use rustc_hash::FxHashSet;
use std::ops::RangeInclusive;
use std::path::Path;
use twinsplit_core::join::order::Order;
use twinsplit_io::checked_file::{self, broken};
use twinsplit_io::error::Result;

/// Loads the ranks of an order file; a file that is not there leaves the order by hash.
pub fn load_order(opts: &OrderOpts) -> Result<Order> {
    let mut order = Order::default();
    if opts.order.exists() {
        read_order(opts, |line| {
            if let OrderLine::Ranked(feature) = line {
                order.push(feature);
            }
        })?;
    }
    Ok(order)
}

/// Loads the IDF list of an order file, which must be there.
pub fn load_filter(opts: &OrderOpts) -> Result<Filter> {
    let mut features = FxHashSet::default();
    let head = read_order(opts, |line| {
        if let OrderLine::Listed(feature) = line {
            features.insert(feature);
        }
    })?;
    Ok(Filter::new(listed(&head, &opts.order)?, features))
}

/// The document frequencies in the IDF range of an order file, which must be there.
pub fn kept_frequencies(opts: &OrderOpts) -> Result<RangeInclusive<u64>> {
    let head = read_order(opts, |_| ())?;
    Ok(head.number("df_min", &opts.order)?..=head.number("df_max", &opts.order)?)
}

/// Reads an order file and gives its first line.
fn read_order(opts: &OrderOpts, mut visit: impl FnMut(OrderLine)) -> Result<checked_file::Head> {
    let path = &opts.order;
    let head = checked_file::read(path, ORDER, |_, line| {
        let line = OrderLine::decode(line).ok_or_else(|| broken(path, "a line is neither rank nor list"))?;
        visit(line);
        Ok(())
    })?;
    head.must_have(&opts.features.parameters()?, path)?;
    Ok(head)
}

/// What an order file lists for `idf-filter`.
fn listed(head: &checked_file::Head, path: &Path) -> Result<Listed> {
    let name = head.get("listed");
    match Listed::from_name(name) {
        Some(Listed::Elsewhere) => {
            Err(broken(path, "it lists no features: it was written with --idf-lookup shuffle, for idf-left"))
        }
        Some(listed) => Ok(listed),
        None => Err(broken(path, &format!("it lists {name:?}, which is not known"))),
    }
}
