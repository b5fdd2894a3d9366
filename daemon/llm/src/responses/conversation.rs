//! From well-formed messages to the input items of a request.

use serde::Serialize;

use super::native::{self, NativeItem, NativeKind};
use super::request::ReasoningItems;
use crate::{Image, Message};

/// An item of the input.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(super) enum InputItem<'a> {
    Own(OwnItem<'a>),
    Native(NativeItem<'a>),
}

/// An item in our words.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum OwnItem<'a> {
    Message { role: &'static str, content: Content<'a> },
    FunctionCall { call_id: &'a str, name: &'a str, arguments: &'a str },
    FunctionCallOutput { call_id: String, output: &'a str },
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(super) enum Content<'a> {
    /// What the model said.
    Text(&'a str),
    /// What the user said and shows.
    Parts(Vec<ContentPart<'a>>),
}

#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum ContentPart<'a> {
    InputText { text: &'a str },
    InputImage { image_url: String, detail: &'static str },
}

/// The items of a conversation for this model.
pub(super) fn items<'a>(
    messages: &'a [Message],
    model: &str,
    reasoning: ReasoningItems,
) -> Vec<InputItem<'a>> {
    let mut items = Vec::with_capacity(messages.len());
    // Ids of the newest answer's calls: ours, and the provider's where it is sent in its own form.
    let mut ids: Vec<(&str, String)> = Vec::new();
    for message in messages {
        match message {
            // It is the instructions.
            Message::System(_) => {}
            Message::User { text, images } => items.push(InputItem::Own(user(text, images))),
            Message::Assistant { reasoning: _, text, tool_calls, native } => {
                let native = native
                    .as_deref()
                    .filter(|_| reasoning == ReasoningItems::Both)
                    .and_then(|native| native::usable(native, model, tool_calls.len()));
                let ours = tool_calls.iter().map(|call| call.call_id.as_str());
                if let Some(native) = native {
                    let theirs = native::call_ids(&native).map(str::to_owned);
                    ids = ours.zip(theirs).collect();
                    items.extend(native.into_iter().map(InputItem::Native));
                    continue;
                }
                ids.clear();
                if !text.is_empty() {
                    let content = Content::Text(text);
                    items.push(InputItem::Own(OwnItem::Message { role: "assistant", content }));
                }
                items.extend(tool_calls.iter().map(|call| {
                    InputItem::Own(OwnItem::FunctionCall {
                        call_id: call.call_id.as_str(),
                        name: &call.name,
                        arguments: &call.arguments_json,
                    })
                }));
            }
            Message::Tool { call_id, name: _, output } => {
                let theirs = ids.iter().find(|(ours, _)| *ours == call_id.as_str());
                let id = theirs.map_or_else(|| call_id.to_string(), |(_, theirs)| theirs.clone());
                items.push(InputItem::Own(OwnItem::FunctionCallOutput { call_id: id, output }));
            }
        }
    }
    items
}

/// Some item is reasoning.
pub(super) fn has_reasoning(items: &[InputItem<'_>]) -> bool {
    let is_reasoning = |item: &InputItem<'_>| match item {
        InputItem::Native(item) => item.kind == NativeKind::Reasoning,
        InputItem::Own(_) => false,
    };
    items.iter().any(is_reasoning)
}

fn user<'a>(text: &'a str, images: &[Image]) -> OwnItem<'a> {
    let picture = |Image { media_type, data_base64 }: &Image| ContentPart::InputImage {
        image_url: format!("data:{media_type};base64,{data_base64}"),
        detail: "auto",
    };
    let mut parts: Vec<ContentPart<'a>> = images.iter().map(picture).collect();
    if !text.is_empty() {
        parts.push(ContentPart::InputText { text });
    }
    OwnItem::Message { role: "user", content: Content::Parts(parts) }
}
