import type { Document } from 'openapi-backend';

interface Example {
  readonly value?: unknown;
}

interface Part {
  readonly $ref?: string;
  readonly name?: string;
  readonly in?: string;
  readonly description?: string;
  readonly example?: unknown;
  readonly examples?: Readonly<Record<string, Example & { $ref?: string }>>;
  readonly schema?: { readonly example?: unknown; readonly examples?: readonly unknown[] };
}

interface Operation {
  readonly summary?: string;
  readonly description?: string;
  readonly tags?: readonly string[];
  readonly security?: readonly object[];
  readonly parameters?: readonly Part[];
  readonly requestBody?: { readonly content?: Readonly<Record<string, Part>> };
}

/** https://schema.getpostman.com/json/collection/v2.1.0/docs/index.html */
const schema = 'https://schema.getpostman.com/json/collection/v2.1.0/collection.json';

/**
 * Makes a Postman collection of the contract's own examples: a folder for each tag, and a request
 * for each operation and each example of its body. The variables `url` and `key` are for the user
 * to fill in.
 */
export function postmanCollection(document: Document): object {
  const resolve = <Found extends object>(part: Found & { readonly $ref?: string }): Found => {
    if (part.$ref === undefined) return part;
    let found: unknown = document;
    for (const name of part.$ref.slice(2).split('/')) found = (found as Record<string, unknown>)[name];
    return resolve(found as Found & { readonly $ref?: string });
  };
  const exampleOf = (part: Part): unknown => {
    const [first] = Object.values(part.examples ?? {});
    return part.example ?? (first && resolve(first).value) ?? part.schema?.example ?? part.schema?.examples?.[0];
  };
  const folders = new Map<string, object[]>();
  for (const [path, operations] of Object.entries(document.paths ?? {})) {
    for (const [method, operation] of Object.entries(operations as Readonly<Record<string, Operation>>)) {
      const { summary = path, description = '', tags = ['Other'], security = [], parameters = [] } = operation;
      const all = parameters.map((parameter) => resolve(parameter));
      const values = (place: string): { key: string; value: string; description: string; disabled?: true }[] =>
        all
          .filter((parameter) => parameter.in === place)
          .map((parameter) => {
            const value = exampleOf(parameter);
            const isUsed = place === 'path' || value !== undefined;
            return {
              key: parameter.name ?? '',
              value: value === undefined ? '' : String(value),
              description: parameter.description ?? '',
              ...(isUsed ? {} : { disabled: true as const }),
            };
          });
      const content = operation.requestBody?.content?.['application/json'];
      const bodies: (readonly [string, unknown])[] = content
        ? Object.entries(content.examples ?? { '': { value: content.example } }).map(([name, example]) => [
            name,
            resolve(example).value,
          ])
        : [['', undefined]];
      const query = values('query');
      const requests = bodies.map(([name, body]) => ({
        name: name === '' ? summary : `${summary}: ${name}`,
        request: {
          method: method.toUpperCase(),
          description,
          header: [
            ...values('header').map((header) => ({ ...header, disabled: true })),
            ...(body === undefined ? [] : [{ key: 'Content-Type', value: 'application/json' }]),
          ],
          ...(security.length === 0
            ? { auth: { type: 'noauth' } }
            : { auth: { type: 'bearer', bearer: [{ key: 'token', value: '{{key}}', type: 'string' }] } }),
          url: {
            raw: `{{url}}${path.replaceAll(/\{(\w+)\}/g, ':$1')}`,
            host: ['{{url}}'],
            path: path
              .slice(1)
              .replaceAll(/\{(\w+)\}/g, ':$1')
              .split('/'),
            ...(query.length > 0 ? { query } : {}),
            variable: values('path'),
          },
          ...(body === undefined
            ? {}
            : { body: { mode: 'raw', raw: JSON.stringify(body, null, 2), options: { raw: { language: 'json' } } } }),
        },
      }));
      const [tag = 'Other'] = tags;
      folders.set(tag, [...(folders.get(tag) ?? []), ...requests]);
    }
  }
  return {
    info: { name: document.info.title, description: document.info.description, schema },
    variable: [
      { key: 'url', value: 'http://127.0.0.1:8080/api/v1' },
      { key: 'key', value: '' },
    ],
    item: [...folders].map(([name, item]) => ({ name, item })),
  };
}
