//! `agentctl token list`.

use std::time::Duration;

use agentd_proto::v1;
use agentd_shared::client_ids::now_ms;
use agentd_shared::text::{human_duration, relative_time};
use unicode_width::UnicodeWidthStr as _;

use super::TokenView;
use crate::app::{App, rpc_failure};
use crate::cli::JsonArgs;
use crate::exit::{Exit, Failure};

/// Lists tokens without their texts.
pub(super) async fn run(args: &JsonArgs, app: &App) -> Result<Exit, Failure> {
    let client = app.client().await?;
    let answer = client.access().list_tokens(v1::ListTokensRequest {}).await;
    let answer = answer.map_err(|status| rpc_failure("cannot list the tokens", status))?;
    let tokens = answer.into_inner().tokens;
    if args.json {
        app.output.json(&tokens.iter().map(TokenView::from).collect::<Vec<_>>())?;
    } else if tokens.is_empty() {
        app.output.note("no tokens; `agentctl token create NAME` makes one");
    } else {
        let now = i64::try_from(now_ms()).unwrap_or(i64::MAX);
        for line in table(&tokens, now) {
            app.output.foreign_line(&line)?;
        }
    }
    Ok(Exit::Ok)
}

fn table(tokens: &[v1::Token], now: i64) -> Vec<String> {
    let heading = ["ID", "SCOPE", "EXPIRES", "LAST USED", "NAME"].map(str::to_owned);
    let rows: Vec<[String; 5]> = std::iter::once(heading)
        .chain(tokens.iter().map(|token| {
            let used = match token.last_used_at_ms {
                0 => "never".to_owned(),
                at => relative_time(at, now),
            };
            [
                token.token_id.clone(),
                crate::json::token_scope(token.scope),
                expiry(token.expires_at_ms, now),
                used,
                token.name.clone(),
            ]
        }))
        .collect();
    let mut widths = [0; 5];
    for row in &rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = cell.width().max(*width);
        }
    }
    let padded = |row: &[String; 5]| {
        let cells = row.iter().zip(widths);
        let cells =
            cells.map(|(cell, width)| format!("{cell}{}", " ".repeat(width - cell.width())));
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    rows.iter().map(padded).collect()
}

fn expiry(at: i64, now: i64) -> String {
    match at {
        0 => "never".to_owned(),
        at if at <= now => "expired".to_owned(),
        at => {
            let left = u64::try_from(at - now).unwrap_or(0);
            format!("in {}", human_duration(Duration::from_millis(left)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_tells_what_is_good_for_how_long() {
        let now = 1_700_000_000_000;
        let token = |id: &str, name: &str, expires_at_ms, last_used_at_ms| v1::Token {
            token_id: id.to_owned(),
            name: name.to_owned(),
            scope: v1::TokenScope::Chat.into(),
            created_at_ms: now,
            expires_at_ms,
            last_used_at_ms,
        };
        let tokens = [
            token("aa", "phone", 0, 0),
            token("b", "世界", now + 90_000_000, now - 300_000),
            token("c", "old", now, 0),
        ];
        assert_eq!(
            table(&tokens, now),
            [
                "ID  SCOPE  EXPIRES      LAST USED  NAME",
                "aa  chat   never        never      phone",
                "b   chat   in 1 d 01 h  5 min ago  世界",
                "c   chat   expired      never      old",
            ]
        );
    }
}
