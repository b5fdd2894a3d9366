use proptest::prelude::*;

use super::*;

fn usd(usd: f64) -> Price {
    Price::from_usd_per_million(usd).unwrap()
}

fn prices(prompt: f64, completion: f64) -> Prices {
    Prices {
        prompt: usd(prompt),
        completion: usd(completion),
        cache_read: None,
        cache_write: None,
        long: None,
    }
}

#[test]
fn each_part_of_a_request_has_its_own_price() {
    let usage = Usage {
        prompt_tokens: 1_000_000,
        completion_tokens: 100_000,
        reasoning_tokens: 90_000,
        cached_prompt_tokens: 700_000,
        cache_write_tokens: 200_000,
        estimated: false,
    };
    let with_cache =
        Prices { cache_read: Some(usd(0.3)), cache_write: Some(usd(3.75)), ..prices(3.0, 15.0) };
    // 0.1 fresh at 3, 0.7 read at 0.3, 0.2 written at 3.75, 0.1 completion at 15: 2.76 dollars.
    let expect = Cost { nano_usd: 2_760_000_000, ..Cost::default() };
    assert_eq!(cost_of(&usage, Some(&with_cache)), expect);
    // Without prices of its own the cache costs what the prompt costs: 3 + 1.5.
    let expect = Cost { nano_usd: 4_500_000_000, ..Cost::default() };
    assert_eq!(cost_of(&usage, Some(&prices(3.0, 15.0))), expect);
}

#[test]
fn estimates_and_unknown_prices_are_kept_apart() {
    let usage = Usage { prompt_tokens: 10, estimated: true, ..Usage::default() };
    let expect = Cost { nano_usd: 20_000, estimated_nano_usd: 20_000, unpriced_requests: 0 };
    assert_eq!(cost_of(&usage, Some(&prices(2.0, 0.0))), expect);
    let expect = Cost { unpriced_requests: 1, ..Cost::default() };
    assert_eq!(cost_of(&usage, None), expect);
}

#[test]
fn a_long_request_pays_the_long_price_on_all_its_tokens() {
    let long = LongPrices {
        above_tokens: 100,
        prompt: usd(10.0),
        completion: usd(20.0),
        cache_read: None,
        cache_write: None,
    };
    let prices = Prices { long: Some(long), ..prices(1.0, 2.0) };
    let cost = |prompt_tokens| {
        let usage = Usage { prompt_tokens, completion_tokens: 10, ..Usage::default() };
        cost_of(&usage, Some(&prices)).nano_usd
    };
    assert_eq!(cost(100), 100 * 1_000 + 10 * 2_000);
    assert_eq!(cost(101), 101 * 10_000 + 10 * 20_000);
}

#[test]
fn fractions_of_a_billionth_are_rounded() {
    let usage = Usage { prompt_tokens: 1, ..Usage::default() };
    assert_eq!(cost_of(&usage, Some(&prices(0.0028, 0.0))).nano_usd, 3);
    assert_eq!(cost_of(&usage, Some(&prices(0.0004, 0.0))).nano_usd, 0);
}

#[test]
fn only_prices_are_prices() {
    for wrong in [-0.01, f64::NAN, f64::INFINITY, 100_001.0] {
        assert_eq!(Price::from_usd_per_million(wrong), Err(PriceError), "{wrong}");
    }
    assert_eq!(usd(0.003_625).usd_per_million().to_string(), "0.003625");
}

prop_compose! {
    fn any_price()(usd in 0.0..=100_000.0_f64) -> Price {
        Price::from_usd_per_million(usd).unwrap()
    }
}

prop_compose! {
    fn any_prices()(
        prompt in any_price(),
        completion in any_price(),
        cache_read in proptest::option::of(any_price()),
        cache_write in proptest::option::of(any_price()),
    ) -> Prices {
        Prices { prompt, completion, cache_read, cache_write, long: None }
    }
}

prop_compose! {
    fn any_usage()(
        prompt_tokens: u64,
        completion_tokens: u64,
        cached_prompt_tokens: u64,
        cache_write_tokens: u64,
        estimated: bool,
    ) -> Usage {
        Usage {
            prompt_tokens,
            completion_tokens,
            reasoning_tokens: completion_tokens / 2,
            cached_prompt_tokens,
            cache_write_tokens,
            estimated,
        }
    }
}

proptest! {
    #[test]
    fn more_tokens_never_cost_less_and_no_count_overflows(
        usage in any_usage(),
        prices in any_prices(),
        more_prompt: u64,
        more_completion: u64,
    ) {
        let cost = cost_of(&usage, Some(&prices));
        prop_assert_eq!(cost.unpriced_requests, 0);
        prop_assert!(cost.estimated_nano_usd <= cost.nano_usd);
        let more = Usage {
            prompt_tokens: usage.prompt_tokens.saturating_add(more_prompt),
            completion_tokens: usage.completion_tokens.saturating_add(more_completion),
            ..usage
        };
        prop_assert!(cost_of(&more, Some(&prices)).nano_usd >= cost.nano_usd);
    }

    #[test]
    fn a_request_costs_at_most_its_tokens_at_the_highest_price(
        prompt_tokens in 0..10_000_000_u64,
        completion_tokens in 0..10_000_000_u64,
        cached_prompt_tokens: u64,
        cache_write_tokens: u64,
        prices in any_prices(),
    ) {
        let usage = Usage {
            prompt_tokens,
            completion_tokens,
            cached_prompt_tokens,
            cache_write_tokens,
            ..Usage::default()
        };
        let Prices { prompt, completion, cache_read, cache_write, long: _ } = prices;
        let all = [Some(prompt), Some(completion), cache_read, cache_write];
        let highest = all.into_iter().flatten().max().unwrap();
        let most = highest.of(prompt_tokens + completion_tokens) / 1_000 + 1;
        prop_assert!(u128::from(cost_of(&usage, Some(&prices)).nano_usd) <= most);
    }
}
