//! What there is to tell of one session.

use agentd_proto::v1;
use agentd_shared::Transcript;
use agentd_shared::client_ids::now_ms;
use agentd_shared::format::Role;
use agentd_shared::text::{grouped, human_usd, one_line, relative_time};

use crate::state::overlay::TextLine;

/// Columns of a label.
const LABEL: usize = 12;

/// Turns and tokens.
pub(in crate::state) fn stats(detail: &v1::GetSessionResponse) -> Vec<TextLine> {
    let session = detail.session.clone().unwrap_or_default();
    let usage = session.usage.unwrap_or_default();
    let cost = session.cost.unwrap_or_default();
    let now = i64::try_from(now_ms()).unwrap_or(i64::MAX);
    let or_default = |text: &str| {
        if text.is_empty() { "the daemon's default".to_owned() } else { text.to_owned() }
    };
    let pair = |label: &str, text: &str| TextLine::pair(label, LABEL, text);
    vec![
        pair("session", &session.session_id),
        pair("title", &session.title),
        pair("workspace", &session.workspace),
        pair("model", &or_default(&session.model)),
        pair("created", &relative_time(session.created_at_ms, now)),
        pair("used", &relative_time(session.updated_at_ms, now)),
        pair("turns", &grouped(session.turns)),
        pair("events", &grouped(session.last_seq)),
        pair(
            "tokens",
            &format!(
                "{} prompt, of which {} from caches; {} completion, of which {} reasoning",
                grouped(usage.prompt_tokens),
                grouped(usage.cached_prompt_tokens),
                grouped(usage.completion_tokens),
                grouped(usage.reasoning_tokens)
            ),
        ),
        pair("cost", &human_usd(cost.nano_usd)),
        pair("queued", &grouped(session.queued_messages.into())),
        pair("terminals", &grouped(session.attached_clients.into())),
    ]
}

/// What the session has set out to do.
pub(in crate::state) fn todo(list: &v1::TodoList) -> Vec<TextLine> {
    if list.items.is_empty() {
        return vec![TextLine::of(Role::Dim, "nothing is on the list")];
    }
    let is_done = |item: &&v1::TodoItem| item.status() == v1::TodoStatus::Completed;
    let done = list.items.iter().filter(is_done).count();
    let title = if list.title.is_empty() { "to do" } else { &list.title };
    let heading = format!("{title}: {done} of {} done", list.items.len());
    let item = |item: &v1::TodoItem| match item.status() {
        v1::TodoStatus::Completed => TextLine::of(Role::Dim, format!("✓ {}", item.label)),
        v1::TodoStatus::Running => TextLine::of(Role::Accent, format!("▸ {}", item.label)),
        v1::TodoStatus::Pending | v1::TodoStatus::Unspecified => {
            TextLine::plain(format!("· {}", item.label))
        }
    };
    std::iter::once(TextLine::of(Role::Heading, heading))
        .chain(list.items.iter().map(item))
        .collect()
}

/// The plan, a line for each step and one for what is said of it.
pub(in crate::state) fn plan(plan: &v1::Plan) -> Vec<TextLine> {
    if plan.steps.is_empty() {
        return vec![TextLine::of(Role::Dim, "there is no plan")];
    }
    let is_done = |step: &&v1::PlanStep| step.status() == v1::PlanStepStatus::Done;
    let done = plan.steps.iter().filter(is_done).count();
    let anew = match plan.replans {
        0 => String::new(),
        many => format!(", planned anew {many} of {} times", plan.replans_limit),
    };
    let heading = format!("{}: {done} of {} done{anew}", plan.goal, plan.steps.len());
    let mut lines = vec![TextLine::of(Role::Heading, heading)];
    for step in &plan.steps {
        let proof = step.proof.clone().unwrap_or_default();
        let verify = step.verify.clone().unwrap_or_default();
        let (mark, role, more) = match step.status() {
            v1::PlanStepStatus::Done => {
                ('✓', Role::Good, format!("{}: {}", proof.tool, proof.summary))
            }
            v1::PlanStepStatus::Running => {
                let wanted = format!("to be proven by {} {}", verify.tool, verify.text);
                ('▸', Role::Accent, wanted.trim_end().to_owned())
            }
            v1::PlanStepStatus::Failed => ('✗', Role::Error, step.note.clone()),
            v1::PlanStepStatus::Interrupted => ('‖', Role::Warn, "interrupted".to_owned()),
            v1::PlanStepStatus::Pending | v1::PlanStepStatus::Unspecified => {
                let after = if step.waits_for.is_empty() {
                    String::new()
                } else {
                    format!("after {}", step.waits_for.join(", "))
                };
                ('·', Role::Plain, after)
            }
        };
        lines.push(TextLine::of(role, format!("{mark} {}: {}", step.id, step.objective)));
        if !more.is_empty() {
            lines.push(TextLine::of(Role::Dim, format!("  {more}")));
        }
    }
    lines
}

/// Messages that wait, with the numbers that `/withdraw` takes.
pub(in crate::state) fn queue(transcript: &Transcript) -> Vec<TextLine> {
    let waiting = transcript.queue().enumerate().map(|(at, message)| {
        let how = match message.delivery {
            v1::Delivery::Steer => " (to the running turn)",
            v1::Delivery::Interrupt => " (cancels the running turn)",
            v1::Delivery::Queue | v1::Delivery::Unspecified => "",
        };
        let text = format!("{}{how}", one_line(&message.text, 500));
        TextLine::pair(&(at + 1).to_string(), 3, &text)
    });
    let lines: Vec<TextLine> = waiting.collect();
    if lines.is_empty() { vec![TextLine::of(Role::Dim, "no message waits")] } else { lines }
}

/// The newest events, a line each.
pub(in crate::state) fn trace(events: &[v1::Event]) -> Vec<TextLine> {
    let line = |event: &v1::Event| {
        let body = event.body.as_ref().map_or("unknown".to_owned(), |body| format!("{body:?}"));
        // A body names its kind twice: once for itself, once for what it holds.
        let (kind, rest) = body.split_once('(').unwrap_or((&body, ""));
        let rest = rest.strip_prefix(kind).unwrap_or(rest).trim_start();
        let rest = one_line(rest.strip_suffix(')').unwrap_or(rest), 2_000);
        TextLine::pair(&format!("{:>6}  {kind}", event.seq), 30, &rest)
    };
    events.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(lines: &[TextLine]) -> Vec<&str> {
        lines.iter().map(|line| line.text.as_str()).collect()
    }

    #[test]
    fn lists_say_how_far_they_are() {
        let item = |label: &str, status: v1::TodoStatus| v1::TodoItem {
            label: label.into(),
            status: status.into(),
        };
        let list = v1::TodoList {
            items: vec![
                item("read", v1::TodoStatus::Completed),
                item("write", v1::TodoStatus::Running),
                item("test", v1::TodoStatus::Pending),
            ],
            ..Default::default()
        };
        assert_eq!(texts(&todo(&list)), ["to do: 1 of 3 done", "✓ read", "▸ write", "· test"]);
        assert_eq!(texts(&todo(&v1::TodoList::default())), ["nothing is on the list"]);
        let step = v1::PlanStep {
            id: "b".into(),
            objective: "build".into(),
            waits_for: vec!["a".into()],
            ..Default::default()
        };
        let one = v1::Plan { goal: "ship".into(), steps: vec![step], ..Default::default() };
        assert_eq!(texts(&plan(&one)), ["ship: 0 of 1 done", "· b: build", "  after a"]);
    }

    #[test]
    fn an_event_is_a_line_with_its_kind_once() {
        let renamed = v1::SessionRenamed { title: "tax".into(), ..Default::default() };
        let body = Some(v1::event::Body::SessionRenamed(renamed));
        let event = v1::Event { seq: 7, body, ..Default::default() };
        let told = trace(&[event]);
        let told = told[0].whole();
        assert!(told.starts_with("     7  SessionRenamed"), "{told:?}");
        assert_eq!(told.matches("SessionRenamed").count(), 1, "{told:?}");
        assert!(told.contains("title: \"tax\""), "{told:?}");
    }
}
