// Which language a file is in, by the end of its name. Each is loaded when a file needs it.

import { StreamLanguage, type StreamParser } from "@codemirror/language";
import type { Extension } from "@codemirror/state";

type Load = () => Promise<StreamParser<unknown>>;

const javascript: Load = () => import("@codemirror/legacy-modes/mode/javascript").then((mode) => mode.javascript);
const typescript: Load = () => import("@codemirror/legacy-modes/mode/javascript").then((mode) => mode.typescript);
const json: Load = () => import("@codemirror/legacy-modes/mode/javascript").then((mode) => mode.json);
const python: Load = () => import("@codemirror/legacy-modes/mode/python").then((mode) => mode.python);
const rust: Load = () => import("@codemirror/legacy-modes/mode/rust").then((mode) => mode.rust);
const go: Load = () => import("@codemirror/legacy-modes/mode/go").then((mode) => mode.go);
const shell: Load = () => import("@codemirror/legacy-modes/mode/shell").then((mode) => mode.shell);
const yaml: Load = () => import("@codemirror/legacy-modes/mode/yaml").then((mode) => mode.yaml);
const toml: Load = () => import("@codemirror/legacy-modes/mode/toml").then((mode) => mode.toml);
const css: Load = () => import("@codemirror/legacy-modes/mode/css").then((mode) => mode.css);
const html: Load = () => import("@codemirror/legacy-modes/mode/xml").then((mode) => mode.html);
const clike = (name: "c" | "cpp" | "java" | "kotlin" | "csharp"): Load => {
  return () => import("@codemirror/legacy-modes/mode/clike").then((mode) => mode[name]);
};

const BY_ENDING: Record<string, Load> = {
  js: javascript, mjs: javascript, cjs: javascript, jsx: javascript, ts: typescript, tsx: typescript, json,
  py: python, rs: rust, go, sh: shell, bash: shell, yaml, yml: yaml, toml, css, html, xml: html, svg: html,
  c: clike("c"), h: clike("c"), cc: clike("cpp"), cpp: clike("cpp"), hpp: clike("cpp"), java: clike("java"),
  kt: clike("kotlin"), cs: clike("csharp"),
};

/** Nothing for a language that is not known, or that could not be loaded: the text is readable all the same. */
export async function languageOf(name: string): Promise<Extension> {
  const load = BY_ENDING[name.split(".").pop()?.toLowerCase() ?? ""];
  try {
    return load === undefined ? [] : StreamLanguage.define(await load());
  } catch {
    return [];
  }
}
