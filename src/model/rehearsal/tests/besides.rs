//! What a model is asked besides answers.

use futures::executor::block_on;

use super::*;
use crate::domain::model::ModelCause;
use crate::proto::gemini::{BatchEmbedContentsRequest, CountTokensRequest, EmbedContentRequest};

fn embed(texts: &[&str], size: Option<i32>) -> Result<Vec<Vec<f32>>, ModelCause> {
    let one = |text: &&str| EmbedContentRequest {
        content: Some(user(text)),
        output_dimensionality: size,
        ..EmbedContentRequest::default()
    };
    let request =
        BatchEmbedContentsRequest { model: "rehearsal".into(), requests: texts.iter().map(one).collect() };
    let answer = block_on(Rehearsal::built_in().unwrap().embed(request)).map_err(|error| error.cause)?;
    Ok(answer.embeddings.into_iter().map(|embedding| embedding.values).collect())
}

fn product(one: &[f32], other: &[f32]) -> f32 {
    one.iter().zip(other).map(|(a, b)| a * b).sum()
}

#[test]
fn texts_with_the_same_words_lie_near_each_other() {
    let texts = ["a red boat", "a red boat", "A red ship!", "quite something else", ""];
    let found = embed(&texts, None).unwrap();
    assert_eq!(found[0], found[1]);
    assert!(found.iter().all(|vector| vector.len() == 768 && (product(vector, vector) - 1.0).abs() < 1e-5));
    let (near, far) = (product(&found[0], &found[2]), product(&found[0], &found[3]));
    assert!(near > 0.5 && far.abs() < 0.3, "{near} {far}");
    assert_eq!(found, embed(&texts, Some(768)).unwrap());
}

#[test]
fn vectors_are_as_long_as_they_are_asked_for() {
    for (size, length) in
        [(1, Ok(1)), (8, Ok(8)), (3072, Ok(3072)), (0, Err(())), (3073, Err(())), (-1, Err(()))]
    {
        let found = embed(&["a"], Some(size));
        assert_eq!(found.as_ref().map(|vectors| vectors[0].len()).map_err(|_| ()), length);
        if let Err(cause) = found {
            assert_eq!(cause, ModelCause::Invalid);
        }
    }
}

#[test]
fn tokens_are_counted_as_they_are_told() {
    let rehearsal = Rehearsal::built_in().unwrap();
    let contents = vec![user("twelve chars")];
    let count = |request| block_on(rehearsal.count_tokens(request)).unwrap().total_tokens;
    assert_eq!(count(CountTokensRequest { contents: contents.clone(), ..CountTokensRequest::default() }), 3);
    let whole = GenerateContentRequest { system_instruction: Some(user("four")), ..request(&contents) };
    let whole = CountTokensRequest { generate_content_request: Some(whole), ..CountTokensRequest::default() };
    assert_eq!(count(whole), 4);
}

#[test]
fn it_says_what_it_is() {
    let models = block_on(Backend::models(&Rehearsal::built_in().unwrap())).unwrap();
    let names: Vec<_> = models.iter().map(|model| model.name.as_str()).collect();
    assert_eq!(names, ["rehearsal"]);
    assert!(models[0].input_token_limit > 0 && models[0].output_token_limit > 0);
}
