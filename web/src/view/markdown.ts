// Markdown as safe HTML: no HTML of the writer's own, no pictures from elsewhere, no style attributes.

import MarkdownIt from "markdown-it";

// A line break is meant as one: commands and tools answer in lines.
const markdown = new MarkdownIt({ html: false, linkify: true, breaks: true });

// A picture would be a request to whoever the writer names. What is left is a link to it.
markdown.disable("image");

markdown.renderer.rules.link_open = (tokens, index, options, _env, self) => {
  tokens[index]?.attrSet("rel", "noopener noreferrer");
  tokens[index]?.attrSet("target", "_blank");
  return self.renderToken(tokens, index, options);
};

for (const rule of ["th_open", "td_open"] as const) {
  markdown.renderer.rules[rule] = (tokens, index, options, _env, self) => {
    const token = tokens[index];
    const align = /text-align:(\w+)/.exec(String(token?.attrGet("style") ?? ""))?.[1];
    if (token !== undefined) token.attrs = align === undefined ? null : [["class", `align-${align}`]];
    return self.renderToken(tokens, index, options);
  };
}

// A wide table scrolls by itself.
markdown.renderer.rules.table_open = () => '<div class="scroll-x" tabindex="0" role="group" aria-label="Table"><table>\n';
markdown.renderer.rules.table_close = () => "</table></div>\n";

export function render(text: string): string {
  return markdown.render(text);
}
