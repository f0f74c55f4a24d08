import { apiRoot } from './contract.ts';

/** Runs before the page is drawn, so that a dark page is never white first. Served as start.js. */
export const startScript = `const dark = matchMedia('(prefers-color-scheme: dark)');
const follow = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
dark.addEventListener('change', follow);
follow();
`;

/**
 * Folds the menu where the window is narrow, and gives each sample a button that copies it. Where
 * the browser has no clipboard for the page, the button selects the sample. Served as page.js.
 */
export const pageScript = `(() => {
const wide = matchMedia('(min-width: 64rem)');
const menu = document.querySelector('.menu');
const fold = () => { menu.open = wide.matches; };
wide.addEventListener('change', fold);
fold();
menu.addEventListener('click', (event) => { if (event.target.closest('a')) fold(); });
menu.addEventListener('keydown', (event) => {
  if (event.key !== 'Escape' || wide.matches) return;
  menu.open = false;
  menu.querySelector('summary').focus();
});
document.addEventListener('DOMContentLoaded', () => {
  const said = document.createElement('p');
  said.className = 'said';
  said.setAttribute('role', 'status');
  document.body.append(said);
  for (const code of document.querySelectorAll('pre > code')) {
    const button = document.createElement('button');
    button.type = 'button';
    button.textContent = 'Copy';
    let timer;
    const tell = (text) => {
      button.textContent = said.textContent = text;
      clearTimeout(timer);
      timer = setTimeout(() => { button.textContent = 'Copy'; said.textContent = ''; }, 3000);
    };
    button.addEventListener('click', async () => {
      try {
        await navigator.clipboard.writeText(code.textContent);
        tell('Copied');
      } catch {
        getSelection().selectAllChildren(code);
        tell('Selected');
      }
    });
    code.before(button);
  }
});
})();
`;

/** Draws the contract, and opens the operation that the address names. Served as open.js. */
export const openScript = `(() => {
const named = () => /^#\\/([^/]+)\\/(\\w+)$/.exec(decodeURIComponent(location.hash));
const mark = () => {
  for (const link of document.querySelectorAll('.menu a')) {
    if (link.hash === location.hash) link.setAttribute('aria-current', 'true');
    else link.removeAttribute('aria-current');
  }
};
const ui = SwaggerUIBundle({
  url: '${apiRoot}/openapi.json',
  dom_id: '#docs',
  deepLinking: true,
  defaultModelsExpandDepth: 0,
  docExpansion: 'list',
  validatorUrl: null,
  onComplete: mark,
});
const show = () => {
  mark();
  const [, tag, operation] = named() ?? [];
  if (operation === undefined) return;
  ui.layoutActions.show(['operations-tag', tag], true);
  ui.layoutActions.show(['operations', tag, operation], true);
  requestAnimationFrame(() => {
    const block = document.getElementById('operations-' + tag + '-' + operation);
    block?.scrollIntoView();
    block?.querySelector('.opblock-summary-control').focus({ preventScroll: true });
  });
};
addEventListener('hashchange', show);
document.querySelector('.menu').addEventListener('click', (event) => {
  if (event.target.closest('a')?.hash === location.hash) show();
});
})();
`;

/** Served as page.css. */
export const pageStyle = `:root { color-scheme: light dark; --line: #d0d7de; --soft: #f6f8fa; --quiet: #57606a; --link: #0b57d0; --page: #fff; --text: #1f2328; }
@media (prefers-color-scheme: dark) { :root { --line: #3d444d; --soft: #161b22; --quiet: #9da7b3; --link: #7ab7ff; --page: #0d1117; --text: #e6edf3; } }
html, html.dark-mode { background: var(--page); }
body { margin: 0; color: var(--text); font: 1rem/1.6 system-ui, sans-serif; }
.top { display: flex; flex-wrap: wrap; gap: .5rem 1.5rem; align-items: baseline; padding: .8rem 1.25rem; border-bottom: 1px solid var(--line); }
.top .brand { color: var(--text); font-weight: 700; text-decoration: none; }
.top nav { display: flex; flex-wrap: wrap; gap: .25rem 1rem; }
a { color: var(--link); }
a[aria-current] { color: var(--text); font-weight: 600; text-decoration: none; }
:focus-visible { outline: 3px solid #60a5fa; outline-offset: 2px; }
.columns { padding: 0 1.25rem 4rem; }
.menu { position: sticky; top: 0; z-index: 2; max-height: 100vh; box-sizing: border-box; margin: 0 -1.25rem 1rem; padding: 0 1.25rem; border-bottom: 1px solid var(--line); background: var(--page); overflow-y: auto; }
.menu summary { padding: .7rem 0; font-weight: 600; cursor: pointer; }
.menu summary:focus-visible { outline-offset: -3px; }
.menu ul { margin: 0 0 .75rem; padding: 0; list-style: none; }
.menu h2 { margin: .75rem .6rem .25rem; font-size: .8rem; color: var(--quiet); }
.menu a { display: flex; gap: .5rem; padding: .3rem .6rem; border-radius: .4rem; line-height: 1.4; text-decoration: none; }
.menu a:focus-visible { outline-offset: -3px; }
.menu a[aria-current] { background: var(--soft); }
.menu .method { flex: 0 0 3.4rem; padding-top: .15em; color: var(--quiet); font: 600 .75rem/1.6 ui-monospace, monospace; }
.text h1 { margin-top: 0; line-height: 1.2; }
.text h2 { margin-top: 2.2rem; padding-top: .4rem; border-top: 1px solid var(--line); }
.text > :is(p, ul, ol) { max-width: 46rem; }
.text code { padding: .1rem .3rem; border-radius: .3rem; background: var(--soft); font-size: .9em; overflow-wrap: anywhere; }
.text pre { padding: .9rem 1rem; border: 1px solid var(--line); border-radius: .5rem; background: var(--soft); font-size: .9rem; line-height: 1.5; white-space: pre-wrap; overflow-wrap: anywhere; }
.text pre code { padding: 0; background: none; font-size: inherit; }
.text pre button { float: right; margin: -.4rem -.5rem .2rem .6rem; padding: .15rem .6rem; border: 1px solid var(--line); border-radius: .4rem; color: var(--text); background: var(--page); font: .85rem/1.6 system-ui, sans-serif; cursor: pointer; user-select: none; }
.said { position: absolute; width: 1px; height: 1px; margin: 0; overflow: hidden; clip-path: inset(50%); }
.table { overflow-x: auto; }
.text .table code { white-space: nowrap; }
.text table { border-collapse: collapse; width: 100%; }
.table th, .table td { padding: .45rem .7rem; border: 1px solid var(--line); text-align: left; vertical-align: top; }
.table th { background: var(--soft); }
.next { margin-top: 3rem; }
@media (min-width: 64rem) { .columns { display: grid; grid-template-columns: 15rem minmax(0, 60rem); gap: 2rem; align-items: start; padding-top: 1.5rem; }
  .reference { grid-template-columns: 19rem minmax(0, 1fr); gap: 1rem; padding-top: 0; }
  .menu { margin: 0; padding: 0; border: 0; } .reference .menu { padding: 1rem 0; } .menu summary { display: none; } .reference .menu a { font-size: .9rem; } }
html.dark-mode .swagger-ui { background: none; }
#docs .swagger-ui .wrapper { padding: 0 1rem; }
#docs .swagger-ui .info { margin: 1.5rem 0; }
#docs .swagger-ui .scheme-container { padding: 1rem 0; }
@media (max-width: 63.99rem) { .reference { padding: 0 0 4rem; } .reference .menu { margin: 0; } #docs .opblock { scroll-margin-top: 3.5rem; } }
@media (max-width: 40rem) { #docs .swagger-ui .opblock-summary-path { max-width: none; word-break: break-all; } #docs .swagger-ui table.headers, #docs .swagger-ui .responses-table, #docs .swagger-ui .parameters { display: block; overflow-x: auto; } #docs .swagger-ui .info .title { font-size: 1.6rem; } }
`;
