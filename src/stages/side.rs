//! Side files as the stages load them.

use super::options::OrderOpts;
use crate::error::Result;
use crate::index::order::{Filter, Listed, Order, OrderLine};
use crate::sealed::{self, broken};
use crate::stages::feature_order::ORDER;

/// Loads the ranks of an order file; a file that is not there leaves the order by hash.
pub fn load_order(opts: &OrderOpts) -> Result<Order> {
    let mut order = Order::default();
    if opts.order.exists() {
        read_order(opts, |_, line| {
            if let OrderLine::Ranked(feature) = line {
                order.push(feature);
            }
        })?;
    }
    Ok(order)
}

/// Loads the IDF list of an order file, which must be there.
pub fn load_filter(opts: &OrderOpts) -> Result<Filter> {
    let mut filter: Option<Filter> = None;
    let head = read_order(opts, |listed, line| {
        let filter = filter.get_or_insert_with(|| Filter::new(listed));
        if let OrderLine::Listed(feature) = line {
            filter.push(feature);
        }
    })?;
    Ok(filter.unwrap_or_else(|| Filter::new(head)))
}

fn read_order(opts: &OrderOpts, mut see: impl FnMut(Listed, OrderLine)) -> Result<Listed> {
    let path = &opts.order;
    let listed_of = |head: &sealed::Head| {
        let name = head.get("listed");
        Listed::from_name(name).ok_or_else(|| broken(path, &format!("it lists {name:?}, which is not known")))
    };
    let head = sealed::read(path, ORDER, |head, line| {
        let line = OrderLine::decode(line).ok_or_else(|| broken(path, "a line is neither rank nor list"))?;
        see(listed_of(head)?, line);
        Ok(())
    })?;
    head.must_have(&opts.features.parameters()?, path)?;
    listed_of(&head)
}
