//! `agentctl models`.

use agentd_proto::v1;
use agentd_shared::Client;
use agentd_shared::format::Role;
use agentd_shared::text::one_line;
use clap::Args;
use unicode_width::UnicodeWidthStr as _;

use crate::app::{App, rpc_failure};
use crate::exit::{Exit, Failure};
use crate::json::ModelsView;

/// Columns of a name.
const NAME_WIDTH: usize = 48;

/// Options of `models`.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct ModelsArgs {
    /// Also those of the catalogue that no endpoint offers
    #[arg(long)]
    pub(crate) all: bool,
    /// Print JSON, with all of them
    #[arg(long)]
    pub(crate) json: bool,
}

/// Lists models and roles.
pub(super) async fn run(args: &ModelsArgs, app: &App) -> Result<Exit, Failure> {
    let client = app.client().await?;
    let list = fetch(&client).await?;
    if args.json {
        app.output.json(&ModelsView::from(&list))?;
        return Ok(Exit::Ok);
    }
    let shown = if args.all { list.models.clone() } else { of_interest(&list) };
    let left_out = list.models.len() - shown.len();
    let mut rows = table(&shown).into_iter();
    if let Some(titles) = rows.next() {
        app.output.line(&app.output.paint(Role::Heading, &titles))?;
    }
    for row in rows.chain([String::new()]).chain(list.roles.iter().map(role)) {
        app.output.line(&row)?;
    }
    if left_out > 0 {
        app.output.dim_note(&format!("{left_out} more are in the catalogue: --all shows them"));
    }
    Ok(Exit::Ok)
}

/// Models that can be asked, have a role or stand in the configuration; where there are none, all, to
/// choose one from.
fn of_interest(list: &v1::ListModelsResponse) -> Vec<v1::Model> {
    // A role names its model "model" or "endpoint/model".
    let has_role = |name: &str| {
        let names = list.roles.iter().map(|role| role.model.as_str());
        let mut names = names.flat_map(|role| [Some(role), role.split_once('/').map(|it| it.1)]);
        names.any(|role| role == Some(name))
    };
    let is_of_interest = |model: &&v1::Model| {
        model.available || model.source != "catalogue" || has_role(&model.name)
    };
    let shown: Vec<v1::Model> = list.models.iter().filter(is_of_interest).cloned().collect();
    if shown.is_empty() { list.models.clone() } else { shown }
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
    fn the_catalogue_is_left_out_where_there_is_something_to_ask() {
        let model = |name: &str, available, source: &str| v1::Model {
            name: name.into(),
            available,
            source: source.into(),
            ..v1::Model::default()
        };
        let role = |model: &str| v1::RoleAssignment {
            role: "main".into(),
            model: model.into(),
            ..v1::RoleAssignment::default()
        };
        let check = |models: &[v1::Model], roles: &[v1::RoleAssignment], expect: &[&str]| {
            let list = v1::ListModelsResponse { models: models.to_vec(), roles: roles.to_vec() };
            let shown = of_interest(&list);
            let names: Vec<&str> = shown.iter().map(|model| model.name.as_str()).collect();
            assert_eq!(names, expect);
        };
        let catalogue = [
            model("a", false, "catalogue"),
            model("b", false, "catalogue"),
            model("x/c", false, "catalogue"),
        ];
        let offered = [model("mine", true, "default"), model("set", false, "config")];
        let both = [&offered[..], &catalogue].concat();
        check(&both, &[role("mine")], &["mine", "set"]);
        check(&both, &[role("home/b"), role("x/c")], &["mine", "set", "b", "x/c"]);
        check(&catalogue, &[role("offline")], &["a", "b", "x/c"]);
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
