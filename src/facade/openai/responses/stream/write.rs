//! Events in their order, with their numbers; and the items that are complete.

use super::Told;
use super::hide;
use crate::proto::openai::item::Item as Kind;
use crate::proto::openai::item_part::Part as PartKind;
use crate::proto::openai::response_event::Event;
use crate::proto::openai::{
    ArgumentsDone, ContentPartEvent, InputDone, Item, ItemContent, ItemDelta, ItemPart, ItemParts,
    ItemProgress, MessageItem, OutputItemEvent, ReasoningItem, RefusalDelta, RefusalDone, RefusalPart,
    ResponseEvent, item_content,
};

pub(super) type Out = Vec<Told<ResponseEvent>>;

const GOING_ON: &str = "in_progress";

#[derive(Debug)]
pub(super) struct Writer {
    /// Of the request; ids are made of it.
    request: String,
    sequence: i64,
    items: Vec<Item>,
    encrypted: bool,
    /// How messages end from now on.
    status: &'static str,
}

impl Writer {
    pub(super) fn new(request: &str, encrypted: bool) -> Self {
        Self { request: request.to_owned(), sequence: 0, items: Vec::new(), encrypted, status: "completed" }
    }

    /// Of the next item.
    pub(super) fn id(&self, prefix: &str) -> String {
        format!("{prefix}_{}{:02}", self.request, self.items.len())
    }

    pub(super) fn index(&self) -> i32 {
        i32::try_from(self.items.len()).unwrap_or(i32::MAX)
    }

    pub(super) fn status(&self) -> String {
        self.status.to_owned()
    }

    /// What is still open ends like this.
    pub(super) fn ends(&mut self, status: &'static str) {
        self.status = status;
    }

    pub(super) fn is_silent(&self) -> bool {
        let thought = |item: &Item| matches!(item.item, Some(Kind::Reasoning(_)));
        self.items.iter().all(thought)
    }

    pub(super) fn items(&mut self) -> Vec<Item> {
        std::mem::take(&mut self.items)
    }

    pub(super) fn event(&mut self, event: Event, out: &mut Out) {
        let told = ResponseEvent { sequence_number: self.sequence, event: Some(event) };
        self.sequence += 1;
        out.push(Told { told, keep: None });
    }

    pub(super) fn added(&mut self, item: Kind, out: &mut Out) {
        let item = Some(Item { item: Some(item), ..Item::default() });
        self.event(Event::OutputItemAdded(OutputItemEvent { output_index: self.index(), item }), out);
    }

    pub(super) fn done(&mut self, item: Kind, out: &mut Out) {
        let item = Item { item: Some(item), ..Item::default() };
        let mut shown = item.clone();
        if !self.encrypted {
            hide(&mut shown);
        }
        let event = OutputItemEvent { output_index: self.index(), item: Some(shown) };
        self.event(Event::OutputItemDone(event), out);
        self.items.push(item);
    }

    /// A thought that was not thought aloud.
    pub(super) fn thought(&mut self, encrypted_content: Option<String>, out: &mut Out) {
        let item = ReasoningItem { id: self.id("rs"), ..ReasoningItem::default() };
        self.added(Kind::Reasoning(item.clone()), out);
        self.done(Kind::Reasoning(ReasoningItem { encrypted_content, ..item }), out);
    }

    /// A call comes as a whole.
    pub(super) fn call(&mut self, prefix: &str, item: Kind, out: &mut Out) {
        let (item_id, output_index) = (self.id(prefix), self.index());
        match item {
            Kind::FunctionCall(mut call) => {
                call.id = item_id.clone();
                let (arguments, name) = (std::mem::take(&mut call.arguments), call.name.clone());
                let status = std::mem::replace(&mut call.status, GOING_ON.to_owned());
                self.added(Kind::FunctionCall(call.clone()), out);
                let delta = ItemDelta { item_id: item_id.clone(), output_index, delta: arguments.clone() };
                self.event(Event::FunctionCallArgumentsDelta(delta), out);
                let done = ArgumentsDone { item_id, output_index, name, arguments: arguments.clone() };
                self.event(Event::FunctionCallArgumentsDone(done), out);
                (call.arguments, call.status) = (arguments, status);
                self.done(Kind::FunctionCall(call), out);
            }
            Kind::CustomToolCall(mut call) => {
                call.id = item_id.clone();
                let input = std::mem::take(&mut call.input);
                let status = std::mem::replace(&mut call.status, GOING_ON.to_owned());
                self.added(Kind::CustomToolCall(call.clone()), out);
                let delta = ItemDelta { item_id: item_id.clone(), output_index, delta: input.clone() };
                self.event(Event::CustomToolCallInputDelta(delta), out);
                let done = InputDone { item_id, output_index, input: input.clone() };
                self.event(Event::CustomToolCallInputDone(done), out);
                (call.input, call.status) = (input, status);
                self.done(Kind::CustomToolCall(call), out);
            }
            other => {
                let item = with_id(other, item_id);
                self.added(item.clone(), out);
                self.done(item, out);
            }
        }
    }

    /// An item that is there at once, and only tells how it came.
    pub(super) fn progress<const N: usize>(
        &mut self,
        item: Kind,
        steps: [fn(ItemProgress) -> Event; N],
        out: &mut Out,
    ) {
        let item_id = match &item {
            Kind::WebSearchCall(item) => item.id.clone(),
            Kind::ImageGenerationCall(item) => item.id.clone(),
            Kind::CodeInterpreterCall(item) => item.id.clone(),
            _ => String::new(),
        };
        self.added(begun(item.clone()), out);
        for step in steps {
            let progress = ItemProgress { item_id: item_id.clone(), output_index: self.index() };
            self.event(step(progress), out);
        }
        self.done(item, out);
    }

    /// Nothing was said, and this is why.
    pub(super) fn refusal(&mut self, words: String, out: &mut Out) {
        let (item_id, output_index, content_index) = (self.id("msg"), self.index(), 0);
        let part = |refusal: String| ItemPart {
            part: Some(PartKind::Refusal(RefusalPart { refusal })),
            ..ItemPart::default()
        };
        self.added(Kind::Message(message(&item_id, GOING_ON, Vec::new())), out);
        let (of, empty) = (item_id.clone(), Some(part(String::new())));
        let begun = ContentPartEvent { item_id: of, output_index, content_index, part: empty };
        self.event(Event::ContentPartAdded(begun), out);
        let delta =
            RefusalDelta { item_id: item_id.clone(), output_index, content_index, delta: words.clone() };
        self.event(Event::RefusalDelta(delta), out);
        let done =
            RefusalDone { item_id: item_id.clone(), output_index, content_index, refusal: words.clone() };
        self.event(Event::RefusalDone(done), out);
        let whole = part(words);
        let ended = ContentPartEvent {
            item_id: item_id.clone(),
            output_index,
            content_index,
            part: Some(whole.clone()),
        };
        self.event(Event::ContentPartDone(ended), out);
        self.done(Kind::Message(message(&item_id, self.status, vec![whole])), out);
    }
}

/// What the model says.
pub(super) fn message(id: &str, status: &str, parts: Vec<ItemPart>) -> MessageItem {
    MessageItem {
        id: id.to_owned(),
        status: status.to_owned(),
        role: "assistant".to_owned(),
        content: Some(ItemContent { content: Some(item_content::Content::Parts(ItemParts { parts })) }),
        ..MessageItem::default()
    }
}

fn with_id(mut item: Kind, id: String) -> Kind {
    match &mut item {
        Kind::LocalShellCall(call) | Kind::ShellCall(call) => call.id = id,
        Kind::ApplyPatchCall(call) => call.id = id,
        _ => {}
    }
    item
}

/// Before it is done.
fn begun(mut item: Kind) -> Kind {
    match &mut item {
        Kind::WebSearchCall(item) => item.status = GOING_ON.to_owned(),
        Kind::ImageGenerationCall(item) => {
            item.status = GOING_ON.to_owned();
            item.result.clear();
        }
        _ => {}
    }
    item
}
