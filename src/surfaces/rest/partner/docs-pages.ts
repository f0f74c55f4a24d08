import type { Document } from 'openapi-backend';
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

/** The list at the side of a page, or above it: open where there is room, else behind its title. */
const menu = (name: string, list: string): string => `<details class="menu" open>
<summary>${name}</summary>
<nav aria-label="${name}">
${list}
</nav>
</details>
<script src="${docsRoot}/page.js"></script>`;

interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly tags: readonly string[];
}

/** Links to the operations of a contract, by its tags and in its order. */
function operationList({ tags = [], paths = {} }: Document): string {
  const operations = Object.values(paths).flatMap((methods) => Object.entries(methods as Record<string, Operation>));
  return tags
    .map(({ name }) => {
      const links = operations
        .filter(
          ([
            ,
            {
              tags: [tag],
            },
          ]) => tag === name,
        )
        .map(
          ([method, { operationId, summary }]) =>
            `<li><a href="#/${name}/${operationId}"><span class="method">${method.toUpperCase()}</span> ${summary}</a></li>`,
        );
      return `<h2>${name}</h2>\n<ul>\n${links.join('\n')}\n</ul>`;
    })
    .join('\n');
}

/** The rendered contract. The viewer draws its own `main`. */
export function referencePage(document: Document): string {
  return html(
    title,
    `<link rel="stylesheet" href="${docsRoot}/swagger-ui.css">
<link rel="stylesheet" href="${docsRoot}/page.css">
<script src="${docsRoot}/start.js"></script>
`,
    `${topLinks('reference')}
<div class="columns reference">
${menu('Operations', operationList(document))}
<div id="docs"></div>
</div>
<script src="${docsRoot}/swagger-ui-bundle.js"></script>
<script src="${docsRoot}/open.js"></script>`,
  );
}

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
${menu('Guides', `<ul>\n${entries.join('\n')}\n</ul>`)}
<main class="text">
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
