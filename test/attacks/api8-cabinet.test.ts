import { type CabinetOperation, operationRows } from '../../src/accounts/members/rights.ts';
import { cabinetPeople } from '../../src/app/services.ts';
import { readCabinetContract } from '../../src/surfaces/rest/cabinet/contract.ts';
import { CabinetClient, cabinetOrigin, cabinetSettings } from '../support/cabinet/cabinet-client.ts';
import { TestClock } from '../support/gateway/clock.ts';
import { startGateway, type TestGateway } from '../support/gateway/gateway.ts';
import { rawExchange } from '../support/http/raw-http.ts';
import { attempt } from '../support/jest/attempts.ts';

/**
 * OWASP API8:2023, security misconfiguration, at the partner cabinet: values of other types, texts
 * that no database stores, and paths that name something else.
 */

const clock = new TestClock();
let gateway: TestGateway;
let owner: CabinetClient;

beforeAll(async () => {
  gateway = await startGateway({ settings: cabinetSettings, outside: { clock } });
  const { id } = await gateway.partners.create('Shop');
  const { members } = cabinetPeople(gateway.app.orm, clock, cabinetOrigin);
  owner = new CabinetClient(gateway.app.restUrl ?? '');
  await owner.accept((await members.invite(id, { name: 'Ada', role: 'owner' }, null)).link);
});
afterAll(() => gateway?.stop());

interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly content?: Readonly<Record<string, { readonly schema: Schema }>>;
}

const contract = readCabinetContract();
const resolved = (schema: Schema): Schema =>
  schema.$ref === undefined
    ? schema
    : resolved(
        schema.$ref
          .slice(2)
          .split('/')
          // biome-ignore lint/suspicious/noExplicitAny: the contract as it was read
          .reduce((at: any, key) => at[key], contract),
      );

const operations = Object.entries(contract.paths as object).flatMap(([path, methods]) =>
  Object.entries(methods as Record<string, { operationId: CabinetOperation; requestBody?: Schema }>).map(
    ([method, { operationId: id, requestBody }]) => ({
      id,
      method: method.toUpperCase(),
      path,
      schema: requestBody && resolved(resolved(requestBody).content?.['application/json']?.schema ?? {}),
    }),
  ),
);
const none = '00000000-0000-7000-8000-000000000000';
/** A value of each member that the contract allows. */
const usual: Readonly<Record<string, unknown>> = {
  label: 'x',
  scopes: ['orders:read'],
  name: 'Bob',
  role: 'viewer',
  old_key_hours: 1,
  old_secret_hours: 1,
  networks: [],
  url: 'https://example.com/x',
  event_ids: ['evt_x'],
  operation: 'invite',
  request_digest: 'A'.repeat(43),
  token: 'A'.repeat(43),
  credential: { id: 'x', rawId: 'x', type: 'public-key', response: {}, clientExtensionResults: {} },
};

/** Sends a body with the passkey, if the operation asks for it. */
async function send(id: CabinetOperation, method: string, path: string, body?: unknown) {
  const { status, json } = operationRows[id].isConfirmed
    ? await owner.sure(id, method, path, body)
    : await owner.call(method, path, body === undefined ? {} : { body });
  return { status, code: json?.code as string | undefined, text: JSON.stringify(json) };
}

const bodies = operations.filter(({ schema }) => schema !== undefined);

it.each(bodies)('$id takes no value of another type for any member of its body', async ({
  id,
  method,
  path,
  schema,
}) => {
  const place = path.replaceAll(/\{\w+\}/g, none);
  const needed = Object.fromEntries((schema?.required ?? []).map((name) => [name, usual[name]]));
  for (const [name, of] of Object.entries(schema?.properties ?? {})) {
    const types = [resolved(of).type ?? ['string', 'null']].flat();
    for (const [type, values] of Object.entries({
      string: ['1', 'true', ''],
      integer: [0, 1],
      boolean: [false, true],
      null: [null],
      array: [['x'], [1]],
      object: [{ a: 1 }],
    })) {
      if (types.includes(type)) continue;
      for (const value of values) {
        const { status, text } = await send(id, method, place, { ...needed, [name]: value });
        attempt(`${id} ${name} ${JSON.stringify(value)}: ${text}`, status === 400 || status === 422, true);
      }
    }
  }
});

it.each(bodies)('$id stores no text that a database cannot keep', async ({ id, method, path, schema }) => {
  const place = path.replaceAll(/\{\w+\}/g, none);
  const needed = Object.fromEntries((schema?.required ?? []).map((name) => [name, usual[name]]));
  for (const [name, of] of Object.entries(schema?.properties ?? {})) {
    for (const bad of ['\0', '\ud800', 'a\udfffb']) {
      const isList = [resolved(of).type].flat().includes('array');
      const value = name === 'credential' ? { ...(usual.credential as object), [bad]: bad } : isList ? [bad] : bad;
      const { status, text } = await send(id, method, place, { ...needed, [name]: value });
      attempt(`${id} ${name} ${JSON.stringify(bad)}: ${text}`, status >= 400 && status < 500, true);
    }
  }
});

it('ids of any form are refused, and name nothing else', async () => {
  for (const { id, method, path, schema } of operations) {
    if (!path.includes('{')) continue;
    const needed = schema && Object.fromEntries((schema.required ?? []).map((name) => [name, usual[name]]));
    for (const name of [
      'x',
      '%00',
      '%ED%A0%80',
      '%2e%2e',
      '..%2fsession',
      '%2e%2e%2fsession',
      "a'b",
      '%E2%80%AE',
      'A'.repeat(3_000),
      '{x}',
      '*',
      '%25',
      '0',
      '-1',
      'null',
      `${none}%00`,
      `${none}%0a`,
    ]) {
      const place = path.replaceAll(/\{\w+\}/g, name);
      const { status, text } = await send(id, method, place, needed);
      attempt(`${method} ${place.slice(0, 80)}: ${text}`, status >= 400 && status < 500, true);
    }
  }
});

it('a session opens nothing by another path, host, cookie or listener', async () => {
  const own = `Cookie: __Host-partner=${owner.cookie}\r\n`;
  const asked = async (target: string, headers: string, url = gateway.app.restUrl ?? '', method = 'GET') => {
    const head = `${method} ${target} HTTP/1.1\r\nConnection: close\r\n${headers}\r\n`;
    return (await rawExchange(url, head)).statuses[0];
  };
  const host = 'Host: localhost\r\n';
  expect(await asked('/cabinet/api/session', host + own)).toBe(200);
  for (const target of [
    '//cabinet/api/session',
    '/cabinet//api/session',
    '/cabinet/api//session',
    '/cabinet/api/session/',
    '/cabinet/api/./session',
    '/cabinet/api/../api/session',
    '/cabinet/api/%73ession',
    '/cabinet/api%2fsession',
    '/cabinet%2fapi/session',
    '/CABINET/api/session',
    '/cabinet/API/session',
    '/cabinet/api/Session',
    '/cabinet/api/session;x=1',
    '/cabinet/api/session%00',
    '/cabinet/api/session%3f',
    '/cabinet\\api\\session',
    '/cabinet/../../package.json',
    '/cabinet/%2e%2e/%2e%2e/package.json',
    '/cabinet/index.html/../../../package.json',
    '/o/../cabinet/api/session',
    '/api/v1/../../cabinet/api/session',
    '/api/v1/cabinet/api/session',
  ]) {
    const status = await asked(target, host + own);
    attempt(target, status === 404 || status === 400, true);
  }
  const secret = owner.cookie ?? '';
  for (const cookie of [
    `__Host-partner=${secret}; __Host-partner=${secret}`,
    `__host-partner=${secret}`,
    `partner=${secret}`,
    `__Host-staff=${secret}`,
    `__Host-partner="${secret}"`,
    `__Host-partner=${secret}%00`,
    `__Host-partner=${secret.toLowerCase()}`,
    `__Host-partner=' or true --`,
    `__Host-partner=${'A'.repeat(8_000)}`,
  ]) {
    attempt(cookie.slice(0, 60), await asked('/cabinet/api/session', `${host}Cookie: ${cookie}\r\n`), 401);
  }
  attempt(
    'the secret as a key',
    await asked('/cabinet/api/session', `${host}Authorization: Bearer ${secret}\r\n`),
    401,
  );
  for (const header of [
    'X-HTTP-Method-Override: POST',
    'X-Original-URL: /cabinet/api/keys',
    'X-Forwarded-Host: evil',
  ]) {
    const status = await asked('/cabinet/api/nothing', `${host}${own}${header}\r\n`);
    attempt(header, status, 404);
  }
  for (const name of ['__Host-partner', '__Host-staff']) {
    const cookie = `Cookie: ${name}=${secret}\r\n`;
    attempt(`staff by ${name}`, (await asked('/console', host + cookie, gateway.app.internalUrl)) === 200, false);
  }
  // The host of a request decides nothing: the origin of the setting does.
  const evil = `Host: evil.example\r\nOrigin: http://evil.example\r\n${own}Content-Length: 0\r\n`;
  attempt('a rebound host', await asked('/cabinet/api/sign-out', evil, gateway.app.restUrl ?? '', 'POST'), 403);
  expect((await owner.call('GET', '/session')).status).toBe(200);
});

it('no answer may be kept, framed, guessed, or opened by a page of another site', async () => {
  const cookie = { Cookie: `__Host-partner=${owner.cookie}` };
  for (const path of [
    '/cabinet',
    '/cabinet/keys',
    '/cabinet/api/session',
    '/cabinet/api/keys',
    '/cabinet/api/nothing',
  ]) {
    const { headers } = await fetch(`${gateway.app.restUrl}${path}`, {
      headers: { ...cookie, Origin: 'https://evil.example' },
    });
    attempt(`${path} read by another site`, headers.get('access-control-allow-origin'), null);
    attempt(`${path} guessed`, headers.get('x-content-type-options'), 'nosniff');
    const isApi = path.startsWith('/cabinet/api');
    attempt(`${path} kept`, headers.get('cache-control'), isApi ? 'no-store' : 'no-cache');
    if (path.endsWith('nothing')) continue;
    attempt(`${path} loaded`, headers.get('cross-origin-resource-policy'), 'same-origin');
    if (isApi) continue;
    attempt(`${path} opened`, headers.get('cross-origin-opener-policy'), 'same-origin');
    attempt(`${path} framed`, headers.get('content-security-policy')?.includes("frame-ancestors 'none'"), true);
  }
});
