import { readFileSync } from 'node:fs';
import { buildClientSchema, getIntrospectionQuery, lexicographicSortSchema, printSchema } from 'graphql';
import { readContract } from '../../src/surfaces/rest/partner/contract.ts';
import { changingNothing } from '../support/database/database-state.ts';
import { type SettledGateway, startSettledGateway } from '../support/gateway/settled-gateway.ts';
import { rawExchange } from '../support/http/raw-http.ts';
import { attempt } from '../support/jest/attempts.ts';
import { newMember } from '../support/staff/staff-client.ts';

/**
 * OWASP API9:2023, improper inventory management: undocumented routes, old versions, and open
 * tools. The gateway checks at its start that each operation of the contract has a handler. What a
 * worker does not serve is in test/integration/staff/sessions.test.ts.
 */

let gateway: SettledGateway;
let key: string;
let admin: Awaited<ReturnType<typeof newMember>>;

beforeAll(async () => {
  gateway = await startSettledGateway({ settings: { RATE_LIMIT_STAFF_PER_MIN: '100000', PLAYGROUND: 'false' } });
  ({ key } = await gateway.partner());
  admin = await newMember(gateway, 'admin');
});
afterAll(() => gateway?.stop());

/** Names that scanners try, and names of ours that are elsewhere. */
const words = `
  admin api auth backup beta callback chains cli config configuration console cron dashboard database db debug dev diagnostics
  docs doc documentation download dump env environment error events export graphiql graphql health healthz heapdump hidden
  idp info internal invite jobs jmx json jwks keys ledger legacy list livez log login logout logs manage management me metrics
  migrate mine mock monitoring network node notify oidc old openapi openapi.yaml openapi.json operations order orders partner partners
  pay payments ping playground pprof private profile prometheus public queue rates ready readyz refund register replay
  reset root rpc sandbox schema secrets seed server-status session sessions settings setup sign-in sign-out signer socket.io
  sql staff stats status status.json subscriptions support swagger swagger-ui swagger.json system test tests token tokens
  trace trpc upload user users v1 v2 v3 venue version wallet webhook webhooks wellknown withdraw wp-login.php xmlrpc.php
  actuator actuator/env actuator/health .env .git/config .git/HEAD .well-known/openid-configuration .well-known/security.txt
  .htaccess .DS_Store robots.txt sitemap.xml favicon.ico index.html index.php package.json package-lock.json node_modules
  dist/main.js src/main.ts main.js.map server.js console.log phpinfo.php cgi-bin/test json/version json/list debug/pprof
  partner/orders/all partner/order partner/orders/search partner/keys partner/me partner/rates/all partner/currencies
  currencies/BTC currencies/all orders/all coin-icons coin-icons/ docs/index.html docs/swagger-ui-bundle.js.map docs/../openapi.json
  docs/swagger-ui-standalone-preset.js docs/package.json docs/start.js.map sandbox/pay sandbox/mine __proto__ constructor toString
`
  .trim()
  .split(/\s+/);

async function statusOf(
  url: string,
  target: string,
  headers: string,
): Promise<{ status: number | undefined; text: string }> {
  const { statuses, text } = await rawExchange(
    url,
    `GET ${target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${headers}\r\n`,
  );
  return { status: statuses[0], text };
}

describe('the public listener', () => {
  const documented = new Set([
    '/api/v1/docs',
    '/api/v1/docs/',
    ...Object.keys(readContract().paths ?? {}).map((path) => `/api/v1${path}`),
  ]);

  it.each([
    '/',
    '/api/',
    '/api/v1/',
    '/api/v1/partner/',
    '/api/v2/',
    '/api/v0/',
    '/api/v1.0/',
    '/API/V1/',
    '/v1/',
    '/internal/',
    '/api/v1/internal/',
  ])('has nothing below %s that the contract does not name', async (root) => {
    await changingNothing(gateway, async () => {
      for (const word of words) {
        const target = root + word;
        if (documented.has(target)) continue;
        const { status, text } = await statusOf(gateway.app.restUrl ?? '', target, `Authorization: Bearer ${key}\r\n`);
        // Below an order's path any word is the id of an order that is not there.
        attempt(
          target,
          { status, isReported: /"code":"(not_found|order_not_found)"/.test(text) },
          { status: 404, isReported: true },
        );
      }
    });
  });

  it('serves the contract of openapi.yaml unchanged', async () => {
    const { json } = await gateway.call('GET', '/openapi.json');
    attempt('another contract', json, JSON.parse(JSON.stringify(readContract())));
  });
});

describe('the internal listener', () => {
  /** All that there is, without what only a setting opens. */
  const known = new Set([
    ...['/graphql', '/livez', '/metrics', '/readyz', '/sign-in', '/sign-in/oidc', '/sign-out'],
    ...[
      '/console',
      '/console/orders',
      '/console/orders/all',
      '/console/partners',
      '/console/chains',
      '/console/staff',
      '/console/me',
    ],
  ]);

  it.each([
    '/',
    '/api/',
    '/api/v1/',
    '/graphql/',
    '/sign-in/',
    '/playground/',
    '/console/',
    '/console/assets/',
    '/metrics/',
    '/debug/',
  ])('has nothing unknown below %s', async (root) => {
    await changingNothing(gateway, async () => {
      for (const word of words) {
        const target = root + word;
        if (known.has(target)) continue;
        const { status } = await statusOf(gateway.app.internalUrl, target, `Authorization: Bearer ${admin.token}\r\n`);
        // All below /graphql is GraphQL, which is asked by POST.
        attempt(target, status, root === '/graphql/' ? 405 : 404);
      }
    });
  });

  it('serves the schema of schema.graphql and no other field', async () => {
    const { data } = await admin.ask(getIntrospectionQuery());
    const [, ...written] = readFileSync('schema/schema.graphql', 'utf8').trim().split('\n');
    const served = printSchema(lexicographicSortSchema(buildClientSchema(data)));
    attempt('another schema', served.trim(), written.join('\n').trim());
  });
});
