const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

/** Escapes text for HTML, in an element or in a quoted attribute. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (sign) => entities[sign] ?? '');
}

/** Content security policy of pages that have only our own styles and forms. */
export const pagePolicy =
  "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

/** A small HTML page. `title` is text, `body` and `head` are HTML. */
export function page(title: string, body: string, head = ''): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${escapeHtml(title)} · Exchange gateway</title>
<link rel="icon" href="/sign-in/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="/sign-in/page.css">
${head}</head>
<body>
<main>
${body}
</main>
</body>
</html>
`;
}

/** Served at /sign-in/icon.svg, so that browsers do not ask for a /favicon.ico. */
export const icon = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#1d4ed8"/><path d="M8 13h13l-4-4M24 19H11l4 4" fill="none" stroke="#fff" stroke-width="2.5" stroke-linecap="round" stroke-linejoin="round"/></svg>`;

/** Served at /sign-in/page.css. */
export const pageStyle = `:root { color-scheme: light dark; font: 1rem/1.5 system-ui, sans-serif;
  --ground: light-dark(#f5f6f8, #0c0f14); --surface: light-dark(#fff, #14181f); --line: light-dark(#e1e4ea, #262d39);
  --strong: light-dark(#8a93a3, #667085); --text: light-dark(#12161d, #e8ebf0); --muted: light-dark(#566070, #9aa5b5);
  --fill: light-dark(#3f43dd, #5a60f0); --bad: light-dark(#b0201c, #ff9a92); --bad-wash: light-dark(#fdeceb, #3a1a1b);
  --warn: light-dark(#8a4b05, #f3b95f); --warn-wash: light-dark(#fdf1dc, #35280f); }
* { box-sizing: border-box; }
body { margin: 0; min-height: 100vh; display: grid; place-items: center; background: var(--ground); color: var(--text); }
main { width: min(26rem, calc(100vw - 1.75rem)); margin: 1rem 0; padding: 1.75rem; background: var(--surface); border: 1px solid var(--line); border-radius: 12px; }
h1 { font-size: 1.35rem; line-height: 1.25; margin: 0 0 1.1rem; }
label { display: block; font-weight: 600; margin-bottom: .3rem; }
input { width: 100%; padding: .6rem .7rem; font: inherit; color: inherit; background: var(--ground); border: 1px solid var(--strong); border-radius: 8px; }
.hint { margin: .4rem 0 1.1rem; font-size: .875rem; color: var(--muted); }
button, .button { display: block; width: 100%; padding: .65rem; font: inherit; font-weight: 600; text-align: center; text-decoration: none; border: 1px solid var(--fill); border-radius: 8px; background: var(--fill); color: #fff; cursor: pointer; }
.button { margin-bottom: 1rem; }
button.quiet { background: transparent; color: inherit; border-color: var(--strong); }
:focus-visible { outline: 3px solid var(--fill); outline-offset: 2px; }
.mark { margin: -1.75rem -1.75rem 1.5rem; padding: .35rem 1.75rem; font-size: .8rem; text-align: center; border-radius: 11px 11px 0 0; background: var(--warn-wash); color: var(--warn); }
.mark.live { background: var(--bad-wash); color: var(--bad); }
.mark strong { margin-right: .4rem; letter-spacing: .06em; text-transform: uppercase; }
.alert { padding: .7rem .9rem; margin: 0 0 1rem; background: var(--bad-wash); color: var(--bad); border-radius: 8px; }
.or { margin: 1rem 0; text-align: center; color: var(--muted); }
code { overflow-wrap: anywhere; }
`;

/**
 * A page that moves on at once to a path of this host. For the browser the next request then comes
 * from this host, so it sends SameSite=Strict cookies. After a redirect from another host it would
 * not.
 */
export function continuePage(path: string): string {
  const target = escapeHtml(path);
  const head = `<meta http-equiv="refresh" content="0;url=${target}">\n`;
  return page(
    'Going on',
    `<h1>Exchange gateway: staff</h1>\n<p><a class="button" href="${target}">Continue</a></p>`,
    head,
  );
}
