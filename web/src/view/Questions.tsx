// The form of ask_user: choices, several choices, or words.

import type { Question } from "#gen/agena/devtool/v1/tool_call_pb";
import type { Draft } from "../state/answer";
import { choose, chosen, write } from "./questions";

interface Props {
  questions: Question[];
  answers: string[];
  change: (more: Draft) => void;
}

export function Questions({ questions, answers, change }: Props) {
  const set = (at: number, answer: string) => change({ answers: answers.map((old, i) => (i === at ? answer : old)) });
  return (
    <form class="questions" aria-label="Questions" onSubmit={(event) => event.preventDefault()}>
      {questions.map((question, at) => (
        <One key={at} at={at} question={question} answer={answers[at] ?? ""} set={(answer) => set(at, answer)} />
      ))}
    </form>
  );
}

interface OneProps {
  at: number;
  question: Question;
  answer: string;
  set: (answer: string) => void;
}

function One({ at, question, answer, set }: OneProps) {
  if (question.choices.length === 0) {
    return (
      <label class="field question">
        {question.question}
        <input type="text" value={answer} onInput={(event) => set(event.currentTarget.value)} />
      </label>
    );
  }
  const now = chosen(question, answer);
  return (
    <fieldset class="question">
      <legend>{question.question}</legend>
      {question.choices.map(({ label, description }) => (
        <label key={label} class="choice">
          <input
            type={question.several ? "checkbox" : "radio"}
            name={`question-${at}`}
            checked={now.labels.includes(label)}
            onChange={(event) => set(choose(question, answer, label, event.currentTarget.checked))}
          />
          <span>
            {label} {description && <span class="dim">{description}</span>}
          </span>
        </label>
      ))}
      <label class="choice choice-other">
        <span class="dim">Something else</span>
        <input
          type="text"
          aria-label={`Something else: ${question.question}`}
          value={now.other}
          onInput={(event) => set(write(question, answer, event.currentTarget.value))}
        />
      </label>
    </fieldset>
  );
}
