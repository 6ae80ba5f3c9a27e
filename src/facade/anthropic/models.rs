//! The list of models in the vendor's words, and in pages.

use crate::domain::error::Error;
use crate::proto::anthropic::{
    Capabilities, EffortSupport, ListModelsRequest, Model, ModelList, Support, ThinkingSupport, ThinkingTypes,
};
use crate::proto::gemini as hub;

const ANSWERS: &str = "generateContent";
/// When a model was made is not known.
const EPOCH: &str = "1970-01-01T00:00:00Z";
const USUAL: i32 = 20;
const MOST: i32 = 1000;

/// Those that answer, a page at a time.
pub fn list(models: Vec<hub::Model>, request: &ListModelsRequest) -> Result<ModelList, Error> {
    let all: Vec<Model> = models.into_iter().filter(answers).map(model).collect();
    let limit = match request.limit.unwrap_or(USUAL) {
        limit @ 1..=MOST => usize::try_from(limit).unwrap_or_default(),
        _ => return Err(Error::field("limit", format!("must be between 1 and {MOST}"))),
    };
    let place = |field: &str, id: &str| {
        let found = all.iter().position(|model| model.id == id);
        found.ok_or_else(|| Error::field(field, format!("there is no model {id:?}")))
    };
    let (from, to) = match (request.after_id.as_str(), request.before_id.as_str()) {
        ("", "") => (0, limit.min(all.len())),
        (after, "") => {
            let from = place("after_id", after)? + 1;
            (from, from.saturating_add(limit).min(all.len()))
        }
        ("", before) => {
            let to = place("before_id", before)?;
            (to.saturating_sub(limit), to)
        }
        _ => return Err(Error::field("before_id", "cannot be given together with after_id")),
    };
    let more = if request.before_id.is_empty() { to < all.len() } else { from > 0 };
    let data: Vec<Model> = all.into_iter().take(to).skip(from).collect();
    let id = |model: Option<&Model>| model.map(|model| model.id.clone());
    Ok(ModelList { has_more: more, first_id: id(data.first()), last_id: id(data.last()), data })
}

fn answers(model: &hub::Model) -> bool {
    let methods = &model.supported_generation_methods;
    methods.is_empty() || methods.iter().any(|method| method == ANSWERS)
}

pub fn model(model: hub::Model) -> Model {
    let known = |limit: i32| (limit > 0).then_some(i64::from(limit));
    let name = if model.display_name.is_empty() { &model.name } else { &model.display_name };
    Model {
        r#type: "model".to_owned(),
        display_name: name.clone(),
        created_at: EPOCH.to_owned(),
        max_input_tokens: known(model.input_token_limit),
        max_tokens: known(model.output_token_limit),
        capabilities: Some(capabilities(model.thinking != Some(false))),
        id: model.name,
    }
}

fn capabilities(thinks: bool) -> Capabilities {
    let can = |supported: bool| Some(Support { supported });
    Capabilities {
        batch: can(false),
        citations: can(false),
        code_execution: can(true),
        image_input: can(true),
        pdf_input: can(true),
        structured_outputs: can(true),
        thinking: Some(ThinkingSupport {
            supported: thinks,
            types: Some(ThinkingTypes { adaptive: can(thinks), enabled: can(thinks) }),
        }),
        effort: Some(EffortSupport {
            supported: thinks,
            low: can(thinks),
            medium: can(thinks),
            high: can(thinks),
            max: can(thinks),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(after: &str, before: &str, limit: Option<i32>) -> Result<(Vec<String>, bool), String> {
        let named = |name: &str| hub::Model { name: name.to_owned(), ..hub::Model::default() };
        let mut models: Vec<_> = ["a", "b", "c", "d"].into_iter().map(named).collect();
        let embeds = vec!["embedContent".to_owned()];
        models.push(hub::Model { supported_generation_methods: embeds, ..named("e") });
        let request = ListModelsRequest { after_id: after.to_owned(), before_id: before.to_owned(), limit };
        let list = list(models, &request).map_err(|error| error.to_string())?;
        let ids: Vec<_> = list.data.iter().map(|model| model.id.clone()).collect();
        assert_eq!((list.first_id.as_ref(), list.last_id.as_ref()), (ids.first(), ids.last()));
        Ok((ids, list.has_more))
    }

    #[test]
    fn models_come_in_pages() {
        let ids = |ids: &[&str]| ids.iter().map(|id| (*id).to_owned()).collect::<Vec<_>>();
        for (after, before, limit, found, more) in [
            ("", "", None, &["a", "b", "c", "d"][..], false),
            ("", "", Some(2), &["a", "b"], true),
            ("b", "", Some(2), &["c", "d"], false),
            ("a", "", Some(2), &["b", "c"], true),
            ("d", "", None, &[], false),
            ("", "d", Some(2), &["b", "c"], true),
            ("", "b", Some(2), &["a"], false),
        ] {
            assert_eq!(page(after, before, limit), Ok((ids(found), more)), "{after} {before} {limit:?}");
        }
        for (after, before, limit) in [("x", "", None), ("", "e", None), ("a", "b", None), ("", "", Some(0))]
        {
            assert!(page(after, before, limit).is_err(), "{after} {before} {limit:?}");
        }
    }
}
