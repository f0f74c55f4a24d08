// Rules of the partner contract that Redocly does not bring: OWASP's for APIs, and our own headers.
// docs/adr/0014-contract-linting.md says where they come from. tools/redocly.yaml switches them on.

const typesOf = ({ type }) => [type].flat();
const hasOneOf = (node, ...names) => names.filter((name) => node[name] !== undefined).length === 1;

/** A rule that reports each fault which `faultsOf` finds in a node of a type. */
function rule(type, faultsOf) {
  return () => ({
    [type]: (node, context) => {
      for (const message of faultsOf(node, context)) context.report({ message });
    },
  });
}

/** What a client sends or reads has a size that both sides know. */
function* boundFaults(schema) {
  const types = typesOf(schema);
  if (types.includes('string') && !['maxLength', 'enum', 'const'].some((name) => name in schema)) {
    yield 'a string needs maxLength, enum or const';
  }
  if (types.includes('array') && schema.maxItems === undefined) yield 'an array needs maxItems';
  if (!types.includes('integer')) return;
  if (!schema.format) yield 'an integer needs a format';
  if (!hasOneOf(schema, 'minimum', 'exclusiveMinimum')) yield 'an integer needs one lower bound';
  if (!hasOneOf(schema, 'maximum', 'exclusiveMaximum')) yield 'an integer needs one upper bound';
}

const limitHeaders = [
  'RateLimit-Policy',
  'RateLimit',
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
];

/** Each operation documents that it is limited and that it may fail. */
function* answerFaults(responses, { resolve }) {
  for (const status of ['429', '500']) {
    const answer = responses[status] && resolve(responses[status]).node;
    if (!answer?.content) yield `an operation needs an answer ${status} with content`;
  }
  for (const [status, reference] of Object.entries(responses)) {
    const { headers = {} } = resolve(reference).node;
    if (status === '429' && !headers['Retry-After']) yield 'the answer 429 needs the header Retry-After';
    // 408 and 417 come before the request is counted.
    if (!/^(2|4(?!08|17))/.test(status)) continue;
    const missing = limitHeaders.filter((name) => !(name in headers));
    if (missing.length > 0) yield `the answer ${status} needs the headers ${missing.join(', ')}`;
  }
}

/** Operations that change something need a key. */
function* accessFaults(root) {
  for (const [path, item] of Object.entries(root.paths)) {
    for (const method of ['post', 'put', 'patch', 'delete']) {
      if (!item[method]) continue;
      const security = item[method].security ?? root.security ?? [];
      if (security.length === 0) yield `${method.toUpperCase()} ${path} needs a security scheme`;
    }
  }
}

function* schemeFaults({ type, in: place, scheme }) {
  if (type === 'apiKey' && ['path', 'query'].includes(place)) yield 'a key must not be part of an address';
  if (['basic', 'negotiate', 'oauth'].includes(scheme?.toLowerCase())) yield `the scheme ${scheme} is not safe`;
}

function* parameterFaults({ name, in: place, schema }, { resolve }) {
  const isPublic = place === 'query' || place === 'path';
  if (isPublic && /token|password|secret|api[-_]?key/i.test(name)) {
    yield 'a secret must not be part of an address';
  }
  if (/^id$|(_id|Id|-id)$/.test(name) && schema && typesOf(resolve(schema).node).includes('integer')) {
    yield 'an id that counts up can be guessed';
  }
}

function* serverFaults(server) {
  if (/^http:/.test(server.url)) yield 'a server needs https';
  if (server['x-internal'] === undefined) yield 'a server needs x-internal, which says who it is for';
  if (!/local|sandbox|test|stag|prod/i.test(server.description)) yield 'a description needs to name its environment';
}

export default () => ({
  id: 'contract',
  rules: {
    oas3: {
      bounds: rule('Schema', boundFaults),
      answers: rule('Responses', answerFaults),
      access: rule('Root', accessFaults),
      schemes: rule('SecurityScheme', schemeFaults),
      parameters: rule('Parameter', parameterFaults),
      servers: rule('Server', serverFaults),
    },
  },
});
