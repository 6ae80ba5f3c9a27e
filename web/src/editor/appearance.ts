// How code looks. Colours are the page's own: custom properties reach into the shadow root.

import { HighlightStyle, syntaxHighlighting } from "@codemirror/language";
import { Compartment, type Extension } from "@codemirror/state";
import { EditorView } from "@codemirror/view";
import { tags } from "@lezer/highlight";

const theme = EditorView.theme({
  "&": { color: "var(--text)", backgroundColor: "var(--raised)", fontSize: "var(--size-code)" },
  "&.cm-focused": { outline: "2px solid var(--focus)", outlineOffset: "-2px" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.5" },
  ".cm-content": { caretColor: "var(--text)" },
  ".cm-cursor": { borderLeftColor: "var(--text)" },
  ".cm-gutters": { backgroundColor: "var(--raised)", color: "var(--muted)", border: "none" },
  "&.cm-focused .cm-selectionBackground, .cm-selectionBackground": { backgroundColor: "var(--selection) !important" },
  "&.cm-merge-b .cm-changedText, .cm-insertedLine .cm-changedText": { background: "var(--add-strong)" },
  "&.cm-merge-a .cm-changedText, .cm-deletedChunk .cm-deletedText": { background: "var(--del-strong)" },
  "&.cm-merge-b .cm-changedLine, .cm-changedLine, .cm-insertedLine": { backgroundColor: "var(--add)" },
  "&.cm-merge-a .cm-changedLine, .cm-deletedChunk": { backgroundColor: "var(--del)" },
  "&.cm-merge-b .cm-changedLineGutter, .cm-changedLineGutter": { background: "var(--good)" },
  "&.cm-merge-a .cm-changedLineGutter, .cm-deletedLineGutter": { background: "var(--bad)" },
  "&.new-file .cm-line": { backgroundColor: "var(--add)" },
  ".cm-collapsedLines": {
    background: "var(--sunken)",
    color: "var(--muted)",
    fontFamily: "var(--sans)",
    padding: "2px 8px",
  },
  // Its own sign is in few fonts.
  ".cm-collapsedLines:before, .cm-collapsedLines:after": { content: '"…" !important' },
});

const highlight = HighlightStyle.define([
  { tag: [tags.keyword, tags.modifier, tags.operatorKeyword], color: "var(--code-keyword)" },
  { tag: [tags.string, tags.special(tags.string), tags.regexp], color: "var(--code-string)" },
  { tag: [tags.comment, tags.meta], color: "var(--code-comment)", fontStyle: "italic" },
  { tag: [tags.number, tags.bool, tags.null, tags.atom], color: "var(--code-number)" },
  { tag: [tags.definition(tags.name), tags.function(tags.name), tags.heading], color: "var(--code-name)" },
]);

/** The look of one editor, whose language may come later. */
export function appearance(): { extension: Extension; language: (view: EditorView, extension: Extension) => void } {
  const language = new Compartment();
  return {
    extension: [theme, syntaxHighlighting(highlight), language.of([])],
    language: (view, extension) => view.dispatch({ effects: language.reconfigure(extension) }),
  };
}

let sheet: CSSStyleSheet | undefined;

/** For the merge view's own box, which no editor's theme reaches. */
export function hostSheet(): CSSStyleSheet {
  if (sheet === undefined) {
    sheet = new CSSStyleSheet();
    sheet.replaceSync(`
      :host { display: block; overflow: auto; }
      .cm-mergeView, .cm-mergeViewEditors { min-height: 100%; }
      .cm-mergeViewEditor + .cm-mergeViewEditor { border-left: 1px solid var(--line); }
      @media (prefers-reduced-motion: reduce) { * { animation: none !important; transition: none !important; } }
    `);
  }
  return sheet;
}
