// A file before and after, in CodeMirror. It lives in a shadow root: there CodeMirror uses constructed style sheets, which
// a strict content security policy allows, instead of style elements, which it does not.

import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { MergeView, unifiedMergeView } from "@codemirror/merge";
import { EditorState, type Extension } from "@codemirror/state";
import { EditorView, highlightSpecialChars, keymap, lineNumbers } from "@codemirror/view";
import { appearance, hostSheet } from "./appearance";
import { languageOf } from "./languages";

export interface Editor {
  destroy(): void;
}

export interface Shown {
  name: string;
  before: string;
  after: string;
  onEdit?: (content: string) => void;
}

// Side by side needs about this much.
const WIDE = 720;

export function mergeEditor(host: HTMLElement, shown: Shown): Editor {
  const root = host.shadowRoot ?? host.attachShadow({ mode: "open" });
  root.adoptedStyleSheets = [hostSheet()];
  const view = made(root, shown, host.clientWidth >= WIDE);
  void languageOf(shown.name).then((language) => view.language(language));
  return { destroy: () => view.destroy() };
}

interface Made extends Editor {
  language(extension: Extension): void;
}

function made(root: ShadowRoot, shown: Shown, wide: boolean): Made {
  if (shown.before === "") return single(root, shown, EditorView.editorAttributes.of({ class: "new-file" }));
  return wide ? sideBySide(root, shown) : unified(root, shown);
}

function sideBySide(root: ShadowRoot, shown: Shown): Made {
  const { left, right } = { left: appearance(), right: appearance() };
  const view = new MergeView({
    root,
    parent: root,
    gutter: true,
    highlightChanges: true,
    collapseUnchanged: { margin: 3, minSize: 6 },
    a: { doc: shown.before, extensions: [basics(`${shown.name}, before`), left.extension, fixed()] },
    b: { doc: shown.after, extensions: [basics(nameOf(shown)), right.extension, editing(shown)] },
  });
  return {
    destroy: () => view.destroy(),
    language: (extension) => {
      left.language(view.a, extension);
      right.language(view.b, extension);
    },
  };
}

function unified(root: ShadowRoot, shown: Shown): Made {
  const merge = unifiedMergeView({
    original: shown.before,
    mergeControls: false,
    gutter: true,
    collapseUnchanged: { margin: 3, minSize: 6 },
  });
  return single(root, shown, merge);
}

function single(root: ShadowRoot, shown: Shown, more: Extension): Made {
  const look = appearance();
  const extensions = [basics(nameOf(shown)), look.extension, editing(shown), more];
  const view = new EditorView({ root, parent: root, doc: shown.after, extensions });
  return { destroy: () => view.destroy(), language: (extension) => look.language(view, extension) };
}

function nameOf(shown: Shown): string {
  return shown.onEdit === undefined ? `${shown.name}, after` : `Proposed ${shown.name}`;
}

function basics(name: string): Extension {
  return [
    lineNumbers(),
    // A proposal reads as it is written: what turns a line around or hides in it is shown.
    highlightSpecialChars(),
    EditorView.lineWrapping,
    EditorView.contentAttributes.of({ "aria-label": name }),
  ];
}

function fixed(): Extension {
  return [EditorState.readOnly.of(true), EditorView.editable.of(false), EditorView.contentAttributes.of({ tabindex: "0" })];
}

function editing({ onEdit }: Shown): Extension {
  if (onEdit === undefined) return fixed();
  return [
    history(),
    // Tab is left to the page, so that the keyboard is not caught in here.
    keymap.of([...defaultKeymap, ...historyKeymap]),
    EditorView.updateListener.of((update) => {
      if (update.docChanged) onEdit(update.state.doc.toString());
    }),
  ];
}
