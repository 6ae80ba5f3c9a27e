use super::*;

fn parsed(text: &str) -> Template {
    Template::parse(text).unwrap()
}

#[test]
fn templates_flatten_to_segments_variables_and_a_verb() {
    for (text, flat, variables) in [
        ("/message:send", "/message:send", vec![]),
        ("/tasks/{id=*}", "/tasks/*", vec![("id", 1..2, false)]),
        ("/tasks/{id}:cancel", "/tasks/*:cancel", vec![("id", 1..2, false)]),
        ("/v1/{name=tasks/*}:cancel", "/v1/tasks/*:cancel", vec![("name", 1..3, true)]),
        ("/{tenant}/tasks/{id=*}", "/*/tasks/*", vec![("tenant", 0..1, false), ("id", 2..3, false)]),
        ("/p/{name=rooms/*/items/**}", "/p/rooms/*/items/**", vec![("name", 1..5, true)]),
        ("/p/{rest=**}", "/p/**", vec![("rest", 1..2, true)]),
        ("/p/{a.b.c}", "/p/*", vec![("a.b.c", 1..2, false)]),
        ("/p/*/q", "/p/*/q", vec![]),
        ("/a.b/c-d_e~f", "/a.b/c-d_e~f", vec![]),
    ] {
        let template = parsed(text);
        assert_eq!(template.to_string(), flat, "{text}");
        let seen: Vec<_> =
            template.variables.iter().map(|v| (v.field.join("."), v.start..v.end, v.multi)).collect();
        let expected: Vec<_> = variables.into_iter().map(|(f, r, m)| (f.to_owned(), r, m)).collect();
        assert_eq!(seen, expected, "{text}");
    }
}

#[test]
fn bad_templates_say_what_is_wrong() {
    for (text, problem) in [
        ("tasks", "must begin with /"),
        ("/tasks/", "a segment is empty"),
        ("/tasks:", "the verb is empty"),
        ("/{id", "a brace is not closed"),
        ("/{a{b}}", "variables cannot be nested"),
        ("/x{id}", "a segment is a literal, * or **"),
        ("/{id}x", "a variable must fill its segment"),
        ("/{}", "a variable has no name"),
        ("/{a.}", "a variable has no name"),
        ("/{a}/{a}", "a variable stands twice"),
        ("/**/x", "** must be the last segment"),
        ("/{a=**}/{b}", "** must be the last segment"),
    ] {
        let error = Template::parse(text).unwrap_err();
        assert_eq!(error.problem, problem, "{text}");
        assert!(error.to_string().contains(text));
    }
}

#[test]
fn the_more_specific_template_ranks_first() {
    let mut templates =
        ["/**", "/*/tasks", "/tasks/*", "/tasks/special", "/tasks/*:cancel", "/tasks"].map(parsed).to_vec();
    templates.sort_by(Template::rank);
    let order: Vec<_> = templates.iter().map(ToString::to_string).collect();
    assert_eq!(order, ["/tasks/*:cancel", "/tasks", "/tasks/special", "/tasks/*", "/*/tasks", "/**"]);
}

#[test]
fn equal_rank_means_the_same_shape_whatever_the_variables_are_called() {
    assert_eq!(parsed("/a/{x}").rank(&parsed("/a/{y.z}")), Ordering::Equal);
    assert_ne!(parsed("/a/{x}").rank(&parsed("/a/{x}:verb")), Ordering::Equal);
}

#[test]
fn a_prefix_moves_the_variables_along() {
    let template = parsed("/tasks/{id}").below(&["a2a"]);
    assert_eq!(template.to_string(), "/a2a/tasks/*");
    assert_eq!((template.variables[0].start, template.variables[0].end), (2, 3));
}
