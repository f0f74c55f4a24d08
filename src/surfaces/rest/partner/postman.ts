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

/** A parameter of a request in the collection. */
interface Value {
  readonly key: string;
  readonly value: string;
  readonly description: string;
  readonly disabled?: true;
}

/**
 * Makes a Postman collection of the contract's own examples: a folder for each tag, and a request
 * for each operation and each example of its body. The variables `url` and `key` are for the user
 * to fill in.
 */
export function postmanCollection(document: Document): object {
  const folders = new Map<string, object[]>();
  for (const [path, operations] of Object.entries(document.paths ?? {})) {
    for (const [method, operation] of Object.entries(operations as Readonly<Record<string, Operation>>)) {
      const [tag = 'Other'] = operation.tags ?? [];
      folders.set(tag, [...(folders.get(tag) ?? []), ...requestsOf(document, path, method, operation)]);
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

/** Makes a request for each example of the body, or one without a body. */
function requestsOf(document: Document, path: string, method: string, operation: Operation): object[] {
  const { summary = path, description = '', security = [] } = operation;
  const headers = valuesIn(document, operation, 'header').map((header) => ({ ...header, disabled: true }));
  const query = valuesIn(document, operation, 'query');
  const route = path.replaceAll(/\{(\w+)\}/g, ':$1');
  const url = {
    raw: `{{url}}${route}`,
    host: ['{{url}}'],
    path: route.slice(1).split('/'),
    ...(query.length > 0 ? { query } : {}),
    variable: valuesIn(document, operation, 'path'),
  };
  const auth =
    security.length === 0
      ? { type: 'noauth' }
      : { type: 'bearer', bearer: [{ key: 'token', value: '{{key}}', type: 'string' }] };
  return bodiesOf(document, operation).map(([name, body]) => ({
    name: name === '' ? summary : `${summary}: ${name}`,
    request: {
      method: method.toUpperCase(),
      description,
      header: [...headers, ...(body === undefined ? [] : [{ key: 'Content-Type', value: 'application/json' }])],
      auth,
      url,
      ...(body === undefined
        ? {}
        : { body: { mode: 'raw', raw: JSON.stringify(body, null, 2), options: { raw: { language: 'json' } } } }),
    },
  }));
}

/** The examples of a body by name. A body that an operation does not take is undefined. */
function bodiesOf(document: Document, { requestBody }: Operation): (readonly [string, unknown])[] {
  const content = requestBody?.content?.['application/json'];
  if (!content) return [['', undefined]];
  const examples = Object.entries(content.examples ?? { '': { value: content.example } });
  return examples.map(([name, example]) => [name, resolve(document, example).value]);
}

/** The parameters of an operation in one place. Those without an example are switched off. */
function valuesIn(document: Document, { parameters = [] }: Operation, place: 'header' | 'query' | 'path'): Value[] {
  return parameters
    .map((parameter) => resolve(document, parameter))
    .filter((parameter) => parameter.in === place)
    .map((parameter) => {
      const value = exampleOf(document, parameter);
      const isUsed = place === 'path' || value !== undefined;
      return {
        key: parameter.name ?? '',
        value: value === undefined ? '' : String(value),
        description: parameter.description ?? '',
        ...(isUsed ? {} : { disabled: true as const }),
      };
    });
}

function exampleOf(document: Document, part: Part): unknown {
  const [first] = Object.values(part.examples ?? {});
  return (
    part.example ?? (first && resolve(document, first).value) ?? part.schema?.example ?? part.schema?.examples?.[0]
  );
}

/** Follows references within the contract. */
function resolve<Found extends object>(document: Document, part: Found & { readonly $ref?: string }): Found {
  if (part.$ref === undefined) return part;
  let found: unknown = document;
  for (const name of part.$ref.slice(2).split('/')) found = (found as Record<string, unknown>)[name];
  return resolve(document, found as Found & { readonly $ref?: string });
}
