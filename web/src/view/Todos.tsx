// The agent's plan, as it wrote it with write_todos.

import type { JsonObject } from "@bufbuild/protobuf";

export interface Todo {
  description: string;
  status: string;
}

const MARKS: Record<string, string> = {
  completed: "done",
  in_progress: "now",
  pending: "to do",
  cancelled: "dropped",
  blocked: "blocked",
};

/** The list in a tool's structured data; nothing if it is something else. */
export function todosIn(data: JsonObject | undefined): Todo[] | undefined {
  const list = data?.todos;
  if (!Array.isArray(list)) return undefined;
  return list.map((one) => {
    const { description = "", status = "pending" } = (one ?? {}) as Record<string, unknown>;
    return { description: String(description), status: String(status) };
  });
}

export function Todos({ todos }: { todos: Todo[] }) {
  return (
    <ul class="todos" aria-label="Todos">
      {todos.map((todo, at) => (
        <li key={at} class={`todo todo-${todo.status}`}>
          <span class="todo-mark" aria-hidden="true" />
          <span class="todo-text">{todo.description}</span>
          <span class="todo-status">{MARKS[todo.status] ?? todo.status}</span>
        </li>
      ))}
    </ul>
  );
}
