// Answers to the agent's questions: one string each, in their order. Pure.

import type { Question } from "#gen/agena/devtool/v1/tool_call_pb";

export function blankAnswers(questions: Question[]): string[] {
  return questions.map(() => "");
}

const BETWEEN = ", ";

/** What is chosen of a question's choices, and what was written besides. */
export function chosen(question: Question, answer: string): { labels: string[]; other: string } {
  if (!question.several) {
    const known = question.choices.some((choice) => choice.label === answer);
    return known ? { labels: [answer], other: "" } : { labels: [], other: answer };
  }
  const labels: string[] = [];
  let rest = answer;
  for (const { label } of question.choices) {
    if (rest !== label && !rest.startsWith(label + BETWEEN)) continue;
    labels.push(label);
    rest = rest.slice(label.length + BETWEEN.length);
  }
  return { labels, other: rest };
}

/** The answer with a choice taken or given up. The order is that of the choices. */
export function choose(question: Question, answer: string, label: string, on: boolean): string {
  if (!question.several) return on ? label : "";
  const now = chosen(question, answer);
  const labels = new Set(on ? [...now.labels, label] : now.labels.filter((one) => one !== label));
  const ordered = question.choices.map((choice) => choice.label).filter((one) => labels.has(one));
  return [...ordered, ...(now.other === "" ? [] : [now.other])].join(BETWEEN);
}

/** The answer with other words. For a single choice they take its place. */
export function write(question: Question, answer: string, other: string): string {
  if (!question.several) return other;
  return [...chosen(question, answer).labels, ...(other === "" ? [] : [other])].join(BETWEEN);
}
