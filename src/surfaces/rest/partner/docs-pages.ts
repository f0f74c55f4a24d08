import { guides } from '../../../generated/guides.ts';
import { apiRoot } from './contract.ts';

/** Everything below it is documentation. */
export const docsRoot = `${apiRoot}/docs`;

const guidesRoot = `${docsRoot}/guides`;
const title = 'Exchange Partner API';

/** The links at the top of every page. */
function topLinks(current: 'reference' | 'guides'): string {
  const link = (href: string, text: string, isCurrent: boolean): string =>
    `<a href="${href}"${isCurrent ? ' aria-current="page"' : ''}>${text}</a>`;
  return `<header class="top">
<a class="brand" href="${guidesRoot}/quick-start">${title}</a>
<nav aria-label="Documentation">
${link(`${guidesRoot}/quick-start`, 'Guides', current === 'guides')}
${link(docsRoot, 'Reference', current === 'reference')}
${link(`${apiRoot}/openapi.json`, 'OpenAPI', false)}
${link(`${docsRoot}/postman.json`, 'Postman', false)}
</nav>
</header>`;
}

function html(name: string, head: string, body: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${name}</title>
<link rel="icon" href="data:,">
${head}</head>
<body>
${body}
</body>
</html>
`;
}

/** The rendered contract. */
export const referencePage = html(
  title,
  `<link rel="stylesheet" href="${docsRoot}/swagger-ui.css">
<link rel="stylesheet" href="${docsRoot}/page.css">
`,
  `${topLinks('reference')}
<main id="docs"></main>
<script src="${docsRoot}/start.js"></script>
<script src="${docsRoot}/swagger-ui-bundle.js"></script>
<script src="${docsRoot}/open.js"></script>`,
);

/** Runs before the page is drawn, so that a dark page is never white first. */
export const startScript = `const dark = matchMedia('(prefers-color-scheme: dark)');
const follow = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
dark.addEventListener('change', follow);
follow();
`;

export const openScript = `SwaggerUIBundle({
  url: '${apiRoot}/openapi.json',
  dom_id: '#docs',
  deepLinking: true,
  defaultModelsExpandDepth: 0,
  docExpansion: 'list',
  filter: true,
  validatorUrl: null,
});
`;

/** The page of each guide, by its path below the root of the documentation. */
export const guidePages: ReadonlyMap<string, string> = new Map(
  guides.map((guide, i) => {
    const entries = guides.map(({ name, title: text }) => {
      const mark = name === guide.name ? ' aria-current="page"' : '';
      return `<li><a href="${guidesRoot}/${name}"${mark}>${text}</a></li>`;
    });
    const next = guides[i + 1];
    const onward = next ? `<p class="next"><a href="${guidesRoot}/${next.name}">Next: ${next.title}</a></p>` : '';
    const body = `${topLinks('guides')}
<div class="columns">
<nav class="guides" aria-label="Guides">
<ul>
${entries.join('\n')}
</ul>
</nav>
<main>
${guide.html}${onward}
</main>
</div>`;
    const head = `<link rel="stylesheet" href="${docsRoot}/page.css">\n`;
    return [`/guides/${guide.name}`, html(`${guide.title} · ${title}`, head, body)];
  }),
);

/** The source of each guide, for readers that are programs. */
export const guideSources: ReadonlyMap<string, string> = new Map(
  guides.map(({ name, markdown }) => [`/guides/${name}.md`, markdown]),
);

/** An index of the documentation for language models: https://llmstxt.org */
export const llmsText = `# ${title}

> Quote, create and follow cryptocurrency exchange orders. Amounts are exact decimals. Creates can be
> repeated safely. Every refusal names all faults at once.

## Guides

${guides.map(({ name, title: text, about }) => `- [${text}](${guidesRoot}/${name}.md): ${about}`).join('\n')}

## Reference

- [OpenAPI document](${apiRoot}/openapi.json): every operation, member, limit and error code.
- [Postman collection](${docsRoot}/postman.json): the examples of the contract as requests.
`;

/** Served as page.css. */
export const pageStyle = `:root { color-scheme: light dark; --line: #d0d7de; --soft: #f6f8fa; --quiet: #57606a; --link: #0b57d0; --page: #fff; --text: #1f2328; }
@media (prefers-color-scheme: dark) { :root { --line: #3d444d; --soft: #161b22; --quiet: #9da7b3; --link: #7ab7ff; --page: #0d1117; --text: #e6edf3; } }
html { background: var(--page); }
body { margin: 0; color: var(--text); font: 1rem/1.6 system-ui, sans-serif; }
.top { display: flex; flex-wrap: wrap; gap: .5rem 1.5rem; align-items: baseline; padding: .8rem 1.25rem; border-bottom: 1px solid var(--line); }
.top .brand { color: var(--text); font-weight: 700; text-decoration: none; }
.top nav { display: flex; flex-wrap: wrap; gap: .25rem 1rem; }
a { color: var(--link); }
a[aria-current] { color: var(--text); font-weight: 600; text-decoration: none; }
:focus-visible { outline: 3px solid #60a5fa; outline-offset: 2px; }
.columns { display: grid; grid-template-columns: 15rem minmax(0, 46rem); gap: 2rem; padding: 1.5rem 1.25rem 4rem; }
.guides ul { position: sticky; top: 1.5rem; margin: 0; padding: 0; list-style: none; }
.guides a { display: block; padding: .3rem .6rem; border-radius: .4rem; text-decoration: none; }
.guides a[aria-current] { background: var(--soft); }
.columns h1 { margin-top: 0; line-height: 1.2; }
.columns h2 { margin-top: 2.2rem; padding-top: .4rem; border-top: 1px solid var(--line); }
.columns code { padding: .1rem .3rem; border-radius: .3rem; background: var(--soft); font-size: .9em; overflow-wrap: anywhere; }
.columns pre { padding: .9rem 1rem; border: 1px solid var(--line); border-radius: .5rem; background: var(--soft); overflow-x: auto; }
.columns pre code { padding: 0; background: none; font-size: inherit; overflow-wrap: normal; }
.columns pre { font-size: .9rem; line-height: 1.5; }
.table { overflow-x: auto; }
.columns .table code { white-space: nowrap; }
table { border-collapse: collapse; width: 100%; }
.table th, .table td { padding: .45rem .7rem; border: 1px solid var(--line); text-align: left; vertical-align: top; }
.table th { background: var(--soft); }
.next { margin-top: 3rem; }
@media (max-width: 50rem) { .columns { display: block; } .guides ul { position: static; display: flex; flex-wrap: wrap; gap: .1rem; margin-bottom: 1.5rem; } }
#docs .swagger-ui .wrapper { padding: 0 1rem; }
@media (max-width: 40rem) { #docs .swagger-ui .opblock-summary-path { max-width: none; word-break: break-all; } #docs .swagger-ui table.headers, #docs .swagger-ui .responses-table, #docs .swagger-ui .parameters { display: block; overflow-x: auto; } #docs .swagger-ui .info .title { font-size: 1.6rem; } }
`;
