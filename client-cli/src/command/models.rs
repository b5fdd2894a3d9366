//! `agentctl models`.

use agentd_proto::v1;
use agentd_shared::Client;
use agentd_shared::text::one_line;
use unicode_width::UnicodeWidthStr as _;

use crate::app::{App, rpc_failure};
use crate::cli::JsonArgs;
use crate::exit::{Exit, Failure};
use crate::json::ModelsView;
use crate::style;

/// Columns of a name.
const NAME_WIDTH: usize = 48;

/// Lists models and roles.
pub(super) async fn run(args: &JsonArgs, app: &App) -> Result<Exit, Failure> {
    let client = app.client().await?;
    let list = fetch(&client).await?;
    if args.json {
        app.output.json(&ModelsView::from(&list))?;
        return Ok(Exit::Ok);
    }
    let mut rows = table(&list.models).into_iter();
    if let Some(titles) = rows.next() {
        app.output.line(&app.output.paint(style::HEADING, &titles))?;
    }
    for row in rows.chain([String::new()]).chain(list.roles.iter().map(role)) {
        app.output.line(&row)?;
    }
    Ok(Exit::Ok)
}

/// Asks the daemon.
///
/// # Errors
/// A report when it refuses.
pub(crate) async fn fetch(client: &Client) -> Result<v1::ListModelsResponse, Failure> {
    let answer = client.model().list_models(v1::ListModelsRequest {}).await;
    answer
        .map(tonic::Response::into_inner)
        .map_err(|status| rpc_failure("cannot list the models", status))
}

/// The levels of effort that a model offers, for people.
pub(crate) fn efforts(model: &v1::Model) -> String {
    let levels: Vec<String> =
        model.efforts.iter().map(|level| crate::json::effort(*level)).collect();
    levels.join(" ")
}

/// Models as an inert table, its column titles first.
fn table(models: &[v1::Model]) -> Vec<String> {
    let titles = ["MODEL", "OFFERED", "CONTEXT", "OUTPUT", "PRICES", "EFFORTS", "CAN", "SOURCE"];
    let mut rows = vec![titles.map(str::to_owned)];
    rows.extend(models.iter().map(|model| {
        let can = [(model.tools, "tools"), (model.vision, "vision")];
        let can = can.iter().filter(|(can, _)| *can).map(|(_, what)| *what);
        [
            one_line(&model.name, NAME_WIDTH),
            if model.available { "yes" } else { "-" }.to_owned(),
            tokens(model.context_tokens),
            tokens(model.max_output_tokens),
            model.prices.map_or_else(
                || "-".to_owned(),
                |costs| format!("{}/{}", costs.prompt, costs.completion),
            ),
            or_dash(efforts(model)),
            or_dash(can.collect::<Vec<_>>().join(" ")),
            one_line(&model.source, NAME_WIDTH),
        ]
    }));
    let width = |column: usize| {
        rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.width()).max().unwrap_or(0)
    };
    let widths: [usize; 8] = std::array::from_fn(width);
    let padded = rows.iter().map(|row| {
        let cells: Vec<String> = row
            .iter()
            .zip(widths)
            .map(|(cell, width)| {
                format!("{cell}{}", " ".repeat(width.saturating_sub(cell.width())))
            })
            .collect();
        cells.join("  ").trim_end().to_owned()
    });
    padded.collect()
}

/// A role as an inert line.
fn role(role: &v1::RoleAssignment) -> String {
    let v1::RoleAssignment { role, base_url, model, fallbacks } = role;
    let model = if model.is_empty() { "no model" } else { model };
    let place = match base_url.as_str() {
        "" => String::new(),
        url => format!(" at {}", one_line(url, 80)),
    };
    let others = match fallbacks.join(", ") {
        none if none.is_empty() => none,
        others => format!(", else {}", one_line(&others, 200)),
    };
    format!("{:<10} {}{place}{others}", one_line(role, 10), one_line(model, NAME_WIDTH))
}

/// A number of tokens, short; a dash for what is not known.
fn tokens(tokens: u64) -> String {
    match tokens {
        0 => "-".to_owned(),
        1..1_000 => tokens.to_string(),
        1_000..1_000_000 => format!("{}k", tokens / 1_000),
        _ => format!("{}.{}M", tokens / 1_000_000, tokens % 1_000_000 / 100_000),
    }
}

fn or_dash(text: String) -> String {
    if text.is_empty() { "-".to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_aligned_and_inert() {
        let known = v1::Model {
            name: "gpt-5".into(),
            available: true,
            context_tokens: 400_000,
            max_output_tokens: 128_000,
            vision: true,
            tools: true,
            efforts: vec![v1::Effort::Low.into(), v1::Effort::High.into()],
            prices: Some(v1::Prices {
                prompt: 1.25,
                completion: 10.0,
                cache_read: 0.125,
                cache_write: 1.25,
            }),
            source: "catalogue".into(),
        };
        let odd =
            v1::Model { name: "x\u{1b}[2J".into(), source: "default".into(), ..Default::default() };
        assert_eq!(
            table(&[known, odd]),
            [
                "MODEL       OFFERED  CONTEXT  OUTPUT  PRICES   EFFORTS   CAN           SOURCE",
                "gpt-5       yes      400k     128k    1.25/10  low high  tools vision  catalogue",
                "x\\u{1b}[2J  -        -        -       -        -         -             default",
            ]
        );
    }

    #[test]
    fn a_role_says_where_and_who_else() {
        let cheap = v1::RoleAssignment {
            role: "cheap".into(),
            base_url: "http://h/v1".into(),
            model: "m".into(),
            fallbacks: vec!["a".into(), "home/b".into()],
        };
        assert_eq!(role(&cheap), "cheap      m at http://h/v1, else a, home/b");
        let none = v1::RoleAssignment { role: "embedding".into(), ..Default::default() };
        assert_eq!(role(&none), "embedding  no model");
    }

    #[test]
    fn tokens_are_short() {
        let shown = [0, 999, 16_385, 1_050_000].map(tokens);
        assert_eq!(shown, ["-", "999", "16k", "1.0M"]);
    }
}
