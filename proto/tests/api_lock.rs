//! Keeps `api.lock`, the text of the wire contract, equal to the compiled descriptors.
//!
//! Within v1 the contract grows by addition only: a line of the lock may be added, never changed or
//! removed. `UPDATE_API_LOCK=1` writes the lock anew.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "helpers of tests")]

use std::fmt::Write as _;
use std::path::Path;

use prost::Message as _;
use prost_types::field_descriptor_proto::{Label, Type};
use prost_types::{
    DescriptorProto, EnumDescriptorProto, FieldDescriptorProto, FileDescriptorSet,
    ServiceDescriptorProto,
};

#[test]
fn the_wire_contract_is_as_locked() {
    let current = render(agentd_proto::FILE_DESCRIPTOR_SET);
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("api.lock");
    if std::env::var_os("UPDATE_API_LOCK").is_some() {
        std::fs::write(&path, &current).unwrap();
    }
    let locked = std::fs::read_to_string(&path).unwrap_or_default();
    let missing: Vec<&str> = difference(&locked, &current);
    let added: Vec<&str> = difference(&current, &locked);
    assert!(
        locked == current,
        "the wire contract changed\nno longer there (breaks clients): {missing:#?}\nnew: {added:#?}\n\
         run `UPDATE_API_LOCK=1 cargo test -p agentd-proto` and review the diff"
    );
}

#[test]
fn every_enum_begins_with_an_unspecified_zero() {
    let set = FileDescriptorSet::decode(agentd_proto::FILE_DESCRIPTOR_SET).unwrap();
    for enumeration in set.file.iter().flat_map(|file| &file.enum_type) {
        let first = enumeration.value.first().unwrap();
        assert!(first.number() == 0 && first.name().ends_with("_UNSPECIFIED"), "{first:?}");
    }
}

/// Blocks of `left` that `right` has not.
fn difference<'a>(left: &'a str, right: &str) -> Vec<&'a str> {
    let blocks: Vec<&str> = right.split("\n\n").collect();
    left.split("\n\n").filter(|block| !blocks.contains(block)).collect()
}

fn render(encoded: &[u8]) -> String {
    let set = FileDescriptorSet::decode(encoded).unwrap();
    let mut blocks = Vec::new();
    for file in &set.file {
        let scope = format!(".{}", file.package());
        for service in &file.service {
            blocks.push(render_service(&scope, service));
        }
        for message in &file.message_type {
            render_message(&scope, message, &mut blocks);
        }
        for enumeration in &file.enum_type {
            blocks.push(render_enum(&scope, enumeration));
        }
    }
    blocks.sort();
    blocks.join("\n")
}

fn render_service(scope: &str, service: &ServiceDescriptorProto) -> String {
    let mut text = format!("service {}\n", full_name(scope, service.name()));
    let mut methods: Vec<_> = service.method.iter().collect();
    methods.sort_by_key(|method| method.name());
    for method in methods {
        let stream = |streams: bool| if streams { "stream " } else { "" };
        writeln!(
            text,
            "  {}({}{}) returns ({}{})",
            method.name(),
            stream(method.client_streaming()),
            absolute(method.input_type()),
            stream(method.server_streaming()),
            absolute(method.output_type()),
        )
        .unwrap();
    }
    text
}

fn render_message(scope: &str, message: &DescriptorProto, blocks: &mut Vec<String>) {
    let name = full_name(scope, message.name());
    let mut text = format!("message {name}\n");
    let mut fields: Vec<_> = message.field.iter().collect();
    fields.sort_by_key(|field| field.number());
    for field in fields {
        writeln!(text, "  {}", render_field(message, field)).unwrap();
    }
    for range in &message.reserved_range {
        writeln!(text, "  reserved {} to {}", range.start(), range.end() - 1).unwrap();
    }
    for reserved in &message.reserved_name {
        writeln!(text, "  reserved {reserved}").unwrap();
    }
    blocks.push(text);
    let inner = format!(".{name}");
    for nested in &message.nested_type {
        render_message(&inner, nested, blocks);
    }
    for enumeration in &message.enum_type {
        blocks.push(render_enum(&inner, enumeration));
    }
}

fn render_field(message: &DescriptorProto, field: &FieldDescriptorProto) -> String {
    let label = if field.label() == Label::Repeated {
        "repeated "
    } else if field.proto3_optional() {
        "optional "
    } else {
        ""
    };
    let mut text = format!("{} {}: {label}{}", field.number(), field.name(), type_name(field));
    let choice = field.oneof_index.and_then(|index| usize::try_from(index).ok());
    if let Some(index) = choice
        && !field.proto3_optional()
    {
        write!(text, " (oneof {})", message.oneof_decl[index].name()).unwrap();
    }
    text
}

fn render_enum(scope: &str, enumeration: &EnumDescriptorProto) -> String {
    let mut text = format!("enum {}\n", full_name(scope, enumeration.name()));
    let mut values: Vec<_> = enumeration.value.iter().collect();
    values.sort_by_key(|value| value.number());
    for value in values {
        writeln!(text, "  {} {}", value.number(), value.name()).unwrap();
    }
    for range in &enumeration.reserved_range {
        writeln!(text, "  reserved {} to {}", range.start(), range.end()).unwrap();
    }
    text
}

fn type_name(field: &FieldDescriptorProto) -> String {
    match field.r#type() {
        Type::Message | Type::Enum | Type::Group => absolute(field.type_name()),
        scalar => scalar.as_str_name().trim_start_matches("TYPE_").to_lowercase(),
    }
}

fn full_name(scope: &str, name: &str) -> String {
    absolute(&format!("{scope}.{name}"))
}

fn absolute(name: &str) -> String {
    name.trim_start_matches('.').to_owned()
}
