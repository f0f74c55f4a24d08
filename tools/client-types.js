// What the client of client/ knows of the contract: types with amounts as strings, and the place of
// each operation.
import openapiTS, { astToString } from 'openapi-typescript';
import ts from 'typescript';

const header = '// Generated from openapi.yaml by npm run generate. Do not edit.\n';

/** The schema of the amounts of answers, which has both forms. Those of requests are numbers. */
const isAnswered = ({ type }) => Array.isArray(type) && type.includes('number');

/** The client sends and gets amounts as strings, since it asks for `Amounts: string`. */
function amountAsText(schema) {
  return schema.type === 'number' || isAnswered(schema)
    ? ts.factory.createKeywordTypeNode(ts.SyntaxKind.StringKeyword)
    : undefined;
}

/** The gateway writes each amount of an answer as a number with exact digits. */
function amountAsJson(schema) {
  return isAnswered(schema) ? ts.factory.createTypeReferenceNode('JsonNumber') : undefined;
}

/** Types of the contract for the gateway itself. */
export async function gatewayTypes(url) {
  return astToString(await openapiTS(url, { exportType: true, transform: amountAsJson }));
}

/** The schema Error is exported by another name, since each program has its own Error. */
const exportedName = (schema) => (schema === 'Error' ? 'ErrorBody' : schema);

/**
 * The types of the cabinet's document, and method and path of each operation of the cabinet's API:
 * those of its document, and the shared ones of the partner contract.
 */
export async function cabinetTypes(url, document, partnerDocument, sharedOperations) {
  const types = await openapiTS(url, { exportType: true });
  const items = [...Object.entries(document.paths), ...Object.entries(partnerDocument.paths)];
  const rows = items.flatMap(([path, item], at) =>
    Object.entries(item)
      .filter(
        ([, { operationId }]) => at < Object.keys(document.paths).length || sharedOperations.includes(operationId),
      )
      .map(([method, { operationId }]) => `  ${operationId}: '${method.toUpperCase()} ${path}',\n`),
  );
  const comment = '/** The method and the path of each operation. */';
  const source = '// Generated from cabinet-openapi.yaml and openapi.yaml by npm run generate. Do not edit.\n';
  return `${source}${astToString(types)}\n${comment}\nexport const places = {\n${rows.join('')}} as const;\n`;
}

/** Every type of event, apart from the operations: one page of the cabinet needs them. */
export function cabinetEvents({ components: { schemas } }) {
  const source = '// Generated from openapi.yaml by npm run generate. Do not edit.\n';
  const events = [...schemas.EventType.enum, ...schemas.PartnerEventType.enum].map((name) => `  '${name}',\n`);
  return `${source}/** Every type of event. */\nexport const eventTypes = [\n${events.join('')}] as const;\n`;
}

const fromScopes = '// Generated from src/accounts/partners/key-scope.ts by npm run generate. Do not edit.\n';

/** The scopes of keys for the cabinet: what each does, and the usual ones. */
export function cabinetScopes(rows) {
  const words = Object.fromEntries(Object.entries(rows).map(([scope, { partner }]) => [scope, partner]));
  const usual = Object.keys(rows).filter((scope) => rows[scope].isUsual);
  return `${fromScopes}/** What each scope lets a program do. */
export const scopes: Readonly<Record<string, string>> = ${JSON.stringify(words, null, 2)};

/** What a new key can do unless more is chosen. */
export const usualScopes: readonly string[] = ${JSON.stringify(usual)};
`;
}

/** The scopes of keys for the console, by their names in the staff API. */
export function consoleScopes(rows) {
  const choices = Object.entries(rows).map(([scope, { staff }]) => [
    scope.replace(':', '_').toUpperCase(),
    staff.replace(/\.$/, ''),
  ]);
  return `${fromScopes}import type { KeyScope } from './graphql.ts';

/** The permissions of a key, as a form offers them. */
export const scopeChoices: readonly (readonly [KeyScope, string])[] = ${JSON.stringify(choices, null, 2)};
`;
}

/** Types of the contract, and a name for each schema. */
export async function clientTypes(url, document) {
  const types = await openapiTS(url, { exportType: true, transform: amountAsText });
  const names = Object.keys(document.components.schemas).map(
    (schema) => `export type ${exportedName(schema)} = components['schemas']['${schema}'];\n`,
  );
  return `${header}${astToString(types)}\n${names.join('')}`;
}

/** Operations of method POST that change nothing, so that a repetition does no harm. */
const readingPosts = ['createQuote', 'validateAddress', 'validateOrder'];

/**
 * The row of an operation: whether a repetition does no harm, whether it takes the header
 * `Amounts`, and the members of its request that are amounts. Those are members of its query, or
 * are at the top of its body.
 */
function rowOf(path, method, { operationId, parameters = [], requestBody }, document) {
  const resolve = (part) =>
    part?.$ref
      ? resolve(
          part.$ref
            .slice(2)
            .split('/')
            .reduce((at, name) => at[name], document),
        )
      : part;
  const named = parameters.map(resolve);
  const takes = (header) => named.some((parameter) => parameter.in === 'header' && parameter.name === header);
  const isRepeatable = method !== 'post' || readingPosts.includes(operationId) || takes('Idempotency-Key');
  const query = named.filter((parameter) => parameter.in === 'query').map(({ name, schema }) => [name, schema]);
  const body = resolve(requestBody?.content['application/json']?.schema)?.properties ?? {};
  const amounts = [...query, ...Object.entries(body)]
    .filter(([, schema]) => resolve(schema).type === 'number')
    .map(([name]) => `'${name}'`);
  const flags = `isRepeatable: ${isRepeatable}, hasAmounts: ${takes('Amounts')}`;
  return `{ method: '${method.toUpperCase()}', path: '${path}', ${flags}, amounts: [${amounts.join(', ')}] }`;
}

/** Method, path and amounts of each operation. */
export function clientOperations(document) {
  const rows = Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item)
      .filter(([, { operationId }]) => operationId)
      .map(([method, operation]) => `  ${operation.operationId}: ${rowOf(path, method, operation, document)},\n`),
  );
  const comment = '/** The operations of the contract: place, whether a repetition does no harm, and amounts. */';
  return `${header}${comment}\nexport const places = {\n${rows.join('')}} as const;\n`;
}
