//! The item that is in the making: a thought, a message, or code that the model runs.

use super::grounding;
use super::write::{Out, Writer, message};
use crate::proto::openai::item::Item as Kind;
use crate::proto::openai::item_part::Part as PartKind;
use crate::proto::openai::response_event::Event;
use crate::proto::openai::{
    AnnotationAdded, CodeDone, CodeInterpreterCallItem, ContentPartEvent, ItemDelta, ItemPart, ItemProgress,
    OutputTextPart, ReasoningItem, SummaryDelta, SummaryDone, SummaryPartEvent, TextDelta, TextDone,
    TextPart,
};

#[derive(Debug)]
pub(super) enum Open {
    Nothing,
    Reasoning { id: String, text: String },
    Message { id: String, text: String },
    Code(CodeInterpreterCallItem),
}

fn summary(text: String) -> ItemPart {
    let text = TextPart { text, ..TextPart::default() };
    ItemPart { part: Some(PartKind::SummaryText(text)), ..ItemPart::default() }
}

fn output(text: String, annotations: Vec<String>) -> ItemPart {
    let text = OutputTextPart { text, annotations, ..OutputTextPart::default() };
    ItemPart { part: Some(PartKind::OutputText(text)), ..ItemPart::default() }
}

impl Open {
    pub(super) fn reasoning(writer: &mut Writer, out: &mut Out) -> Self {
        let (id, output_index, summary_index) = (writer.id("rs"), writer.index(), 0);
        writer.added(Kind::Reasoning(ReasoningItem { id: id.clone(), ..ReasoningItem::default() }), out);
        let part = Some(summary(String::new()));
        let added = SummaryPartEvent { item_id: id.clone(), output_index, summary_index, part };
        writer.event(Event::ReasoningSummaryPartAdded(added), out);
        Self::Reasoning { id, text: String::new() }
    }

    pub(super) fn message(writer: &mut Writer, out: &mut Out) -> Self {
        let (id, output_index, content_index) = (writer.id("msg"), writer.index(), 0);
        writer.added(Kind::Message(message(&id, "in_progress", Vec::new())), out);
        let part = Some(output(String::new(), Vec::new()));
        let added = ContentPartEvent { item_id: id.clone(), output_index, content_index, part };
        writer.event(Event::ContentPartAdded(added), out);
        Self::Message { id, text: String::new() }
    }

    pub(super) fn code(writer: &mut Writer, code: String, out: &mut Out) -> Self {
        let (id, output_index) = (writer.id("ci"), writer.index());
        let mut item = CodeInterpreterCallItem {
            id: id.clone(),
            status: "in_progress".to_owned(),
            // The model has one of its own.
            container_id: "auto".to_owned(),
            ..CodeInterpreterCallItem::default()
        };
        let progress = || ItemProgress { item_id: id.clone(), output_index };
        writer.added(Kind::CodeInterpreterCall(item.clone()), out);
        writer.event(Event::CodeInterpreterCallInProgress(progress()), out);
        let delta = ItemDelta { item_id: id.clone(), output_index, delta: code.clone() };
        writer.event(Event::CodeInterpreterCallCodeDelta(delta), out);
        let done = CodeDone { item_id: id.clone(), output_index, code: code.clone() };
        writer.event(Event::CodeInterpreterCallCodeDone(done), out);
        writer.event(Event::CodeInterpreterCallInterpreting(progress()), out);
        item.code = code;
        Self::Code(item)
    }

    /// What code gave.
    pub(super) fn logs(&mut self, logs: String) {
        if let Self::Code(item) = self {
            item.outputs.push(serde_json::json!({"type": "logs", "logs": logs}).to_string());
        }
    }

    pub(super) fn grow(&mut self, delta: &str, writer: &mut Writer, out: &mut Out) {
        let output_index = writer.index();
        let event = match self {
            Self::Reasoning { id, text } => {
                text.push_str(delta);
                let (item_id, delta) = (id.clone(), delta.to_owned());
                Event::ReasoningSummaryTextDelta(SummaryDelta {
                    item_id,
                    output_index,
                    summary_index: 0,
                    delta,
                })
            }
            Self::Message { id, text } => {
                text.push_str(delta);
                let (item_id, delta) = (id.clone(), delta.to_owned());
                let logprobs = Vec::new();
                Event::OutputTextDelta(TextDelta { item_id, output_index, content_index: 0, delta, logprobs })
            }
            Self::Nothing | Self::Code(_) => return,
        };
        writer.event(event, out);
    }

    pub(super) fn close(self, seal: Option<String>, grounding: &str, writer: &mut Writer, out: &mut Out) {
        match self {
            Self::Nothing => {}
            Self::Reasoning { id, text } => close_reasoning(id, text, seal, writer, out),
            Self::Message { id, text } => close_message(&id, text, grounding, writer, out),
            Self::Code(mut item) => {
                let progress = ItemProgress { item_id: item.id.clone(), output_index: writer.index() };
                writer.event(Event::CodeInterpreterCallCompleted(progress), out);
                item.status = writer.status();
                writer.done(Kind::CodeInterpreterCall(item), out);
            }
        }
    }
}

fn close_reasoning(id: String, text: String, seal: Option<String>, writer: &mut Writer, out: &mut Out) {
    let (item_id, output_index, summary_index) = (id.clone(), writer.index(), 0);
    let done = SummaryDone { item_id: item_id.clone(), output_index, summary_index, text: text.clone() };
    writer.event(Event::ReasoningSummaryTextDone(done), out);
    let part = summary(text);
    let ended = SummaryPartEvent { item_id, output_index, summary_index, part: Some(part.clone()) };
    writer.event(Event::ReasoningSummaryPartDone(ended), out);
    let item = ReasoningItem { id, summary: vec![part], encrypted_content: seal, ..ReasoningItem::default() };
    writer.done(Kind::Reasoning(item), out);
}

fn close_message(id: &str, text: String, grounding: &str, writer: &mut Writer, out: &mut Out) {
    let (output_index, content_index) = (writer.index(), 0);
    let item_id = || id.to_owned();
    let annotations = grounding::citations(grounding, &text);
    for (annotation, annotation_index) in annotations.iter().cloned().zip(0..) {
        let added =
            AnnotationAdded { item_id: item_id(), output_index, content_index, annotation_index, annotation };
        writer.event(Event::OutputTextAnnotationAdded(added), out);
    }
    let (whole, logprobs) = (text.clone(), Vec::new());
    let done = TextDone { item_id: item_id(), output_index, content_index, text: whole, logprobs };
    writer.event(Event::OutputTextDone(done), out);
    let part = output(text, annotations);
    let ended =
        ContentPartEvent { item_id: item_id(), output_index, content_index, part: Some(part.clone()) };
    writer.event(Event::ContentPartDone(ended), out);
    let status = writer.status();
    writer.done(Kind::Message(message(id, &status, vec![part])), out);
}
