// Renders the guides for partners, docs/partners/*.md, as HTML.
import { readdirSync, readFileSync } from 'node:fs';
import { Marked } from 'marked';

/** The guides in the order of the navigation. */
const order = [
  'quick-start',
  'quotes',
  'order-page',
  'edge-states',
  'whole-flow',
  'sync',
  'webhooks',
  'commission',
  'sandbox',
  'conventions',
  'errors',
  'going-live',
  'changelog',
];

const folder = new URL('../docs/partners/', import.meta.url);
const escapes = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
const escapeHtml = (text) => text.replace(/[&<>"]/g, (sign) => escapes[sign]);
const slug = (text) =>
  text
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '');

const marked = new Marked({
  gfm: true,
  renderer: {
    heading({ tokens, depth, text }) {
      return `<h${depth} id="${slug(text)}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
    },
    code({ text }) {
      return `<pre><code>${escapeHtml(text)}</code></pre>\n`;
    },
    // The keyboard scrolls what is wider than the page.
    table(token) {
      const cells = (row, tag) =>
        row.map(({ tokens }) => `<${tag}>${this.parser.parseInline(tokens)}</${tag}>`).join('');
      const head = token.header.every(({ text }) => text === '')
        ? ''
        : `<thead><tr>${cells(token.header, 'th')}</tr></thead>`;
      const body = token.rows.map((row) => `<tr>${cells(row, 'td')}</tr>`).join('\n');
      return `<div class="table" tabindex="0"><table>${head}<tbody>\n${body}\n</tbody></table></div>\n`;
    },
    link({ href, tokens }) {
      const target = href.replace(/^([a-z-]+)\.md(#.*)?$/, '$1$2');
      return `<a href="${escapeHtml(target)}">${this.parser.parseInline(tokens)}</a>`;
    },
  },
});

/** Reads and renders the guides. Comments of the source are for tests, and are left out. */
export function guides() {
  const files = readdirSync(folder).map((name) => name.replace(/\.md$/, ''));
  const unlisted = [...files.filter((name) => !order.includes(name)), ...order.filter((name) => !files.includes(name))];
  if (unlisted.length > 0) throw new Error(`tools/guides.js and docs/partners differ: ${unlisted.join(', ')}`);
  return order.map((name) => {
    const markdown = readFileSync(new URL(`${name}.md`, folder), 'utf8').replace(/<!--[\s\S]*?-->\n*/g, '');
    const [, title = name] = /^# (.+)$/m.exec(markdown) ?? [];
    const [, about = ''] = /^# .+\n+([^\n#][\s\S]*?[.:])(?:\s|$)/m.exec(markdown) ?? [];
    return { name, title, about: about.replace(/\s+/g, ' '), markdown, html: marked.parse(markdown) };
  });
}
