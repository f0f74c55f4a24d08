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
export const pageStyle = `:root { color-scheme: light dark; font: 1rem/1.5 system-ui, sans-serif; }
body { margin: 0; min-height: 100vh; display: grid; place-items: center; background: Canvas; color: CanvasText; }
main { width: min(24rem, calc(100vw - 3rem)); padding: 2rem 0; }
h1 { font-size: 1.4rem; margin: 0 0 1rem; }
label { display: block; font-weight: 600; margin-bottom: .25rem; }
input { box-sizing: border-box; width: 100%; padding: .6rem .7rem; font: inherit; border: 1px solid GrayText; border-radius: .4rem; }
.hint { margin: .25rem 0 1rem; font-size: .9rem; color: GrayText; }
button, .button { display: block; box-sizing: border-box; width: 100%; padding: .65rem; font: inherit; font-weight: 600; text-align: center; text-decoration: none; border: 1px solid #1d4ed8; border-radius: .4rem; background: #1d4ed8; color: #fff; cursor: pointer; }
.button { margin-bottom: 1rem; }
button.quiet { background: transparent; color: inherit; border-color: GrayText; }
:focus-visible { outline: 3px solid #60a5fa; outline-offset: 2px; }
.alert { padding: .7rem .9rem; margin: 0 0 1rem; border: 1px solid #b91c1c; border-left-width: .4rem; border-radius: .3rem; }
.or { margin: 1rem 0; text-align: center; color: GrayText; }
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
