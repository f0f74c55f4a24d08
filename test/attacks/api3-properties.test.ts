import { buildStaffSchema } from '../../src/surfaces/graphql/schema.ts';
import { readContract } from '../../src/surfaces/rest/partner/contract.ts';
import { query } from '../support/database/database.ts';
import { changingNothing } from '../support/database/database-state.ts';
import { orderBody } from '../support/gateway/orders.ts';
import { type SettledGateway, startSettledGateway } from '../support/gateway/settled-gateway.ts';
import { rootFields, selectionOf } from '../support/http/schema-walk.ts';
import { attempt } from '../support/jest/attempts.ts';
import { kinds, type Member, newMember } from '../support/staff/staff-client.ts';

/**
 * OWASP API3:2023, broken object property level authorization: properties that a request may not
 * set, and properties that an answer may not show. The client of all tests,
 * test/support/http/contract-client.ts, checks every reply against the contract.
 * test/integration/staff-api/permissions.test.ts covers the fields of the staff API that have a
 * their own permission.
 */

let gateway: SettledGateway;
let key: string;
let viewer: Member;
let operator: Member;
let admin: Member;

beforeAll(async () => {
  gateway = await startSettledGateway({ settings: { RATE_LIMIT_STAFF_PER_MIN: '100000' } });
  ({ key } = await gateway.partner());
  viewer = await newMember(gateway, 'viewer');
  operator = await newMember(gateway, 'operator');
  admin = await newMember(gateway, 'admin');
});
afterAll(() => gateway?.stop());

const asked = new Set(membersOf('CreateOrder'));

const post = (raw: string) => gateway.call('POST', '/partner/orders', { key, raw });
const good = JSON.stringify(orderBody());
/** The body with more text at its start. */
const withText = (text: string) => `{${text},${good.slice(1)}`;

describe('a property that a request must not set', () => {
  it('of the table, of the answer or of a prototype is refused at every place of the body', async () => {
    const columns = await query<{ column_name: string }>(
      gateway.databaseUrl,
      `select column_name from information_schema.columns where table_schema = 'public'
         and table_name in ('exchange_order', 'partner', 'api_key', 'payment', 'deposit')`,
    );
    const inCamels = (name: string) => name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
    const names = new Set([
      ...columns.map(({ column_name }) => column_name),
      ...columns.map(({ column_name }) => inCamels(column_name)),
      ...membersOf('Order'),
      ...[...asked].map(inCamels),
      ...[...asked].map((name) => name.toUpperCase()),
      ...[...asked].map((name) => `${name}[]`),
      ...[...asked].map((name) => ` ${name}`),
      ...[...asked].map((name) => `${name}\0`),
      ...[
        '__proto__',
        'constructor',
        'prototype',
        'toString',
        'hasOwnProperty',
        '__defineGetter__',
        'valueOf',
        'toJSON',
      ],
      ...['', '$where', '$ne', 'amount_from.__proto__', 'order', 'is_admin', 'role', 'partner', 'fee_rate', 'rate'],
    ]);
    for (const name of asked) names.delete(name);
    expect(names.size).toBeGreaterThan(100);
    await changingNothing(gateway, async () => {
      for (const name of names) {
        for (const value of ['"completed"', '{"status":"completed","isAdmin":true}', '0', 'null']) {
          const reply = await post(withText(`${JSON.stringify(name)}:${value}`));
          attempt(`${JSON.stringify(name)}: ${value}`, [reply.status, reply.json.code], [400, 'unknown_field']);
        }
      }
    });
    expect(({} as { isAdmin?: boolean }).isAdmin).toBeUndefined();
  });

  it('is refused under an escaped name as well', async () => {
    await changingNothing(gateway, async () => {
      for (const name of ['\\u0073tatus', '\\u005f_proto__', 'partner\\u005fid', 'constructor\\u0000']) {
        attempt(name, (await post(withText(`"${name}":{"status":"completed"}`))).status, 400);
      }
    });
  });

  it('is not set by a body nested in the body', async () => {
    await changingNothing(gateway, async () => {
      for (const raw of [
        `[${good}]`,
        `{"order":${good}}`,
        `{"data":${good},"status":"completed"}`,
        JSON.stringify(good),
        `${good}${good}`,
        `${good}\n{"status":"completed"}`,
      ]) {
        attempt(raw.slice(0, 20), (await post(raw)).status, 400);
      }
    });
  });

  it('is not set by the query or by headers', async () => {
    const path = '/partner/orders?status=completed&rate_quoted=1000000&partner_id=x&fee_rate=0&amount_from=0.00001';
    const headers = { 'X-Order-Status': 'completed', 'X-Fee-Rate': '0', 'X-HTTP-Method-Override': 'PUT' };
    const plain = (await gateway.call('POST', '/partner/orders', { key, body: orderBody() })).json;
    const { status, json } = await gateway.call('POST', path, { key, body: orderBody(), headers });
    expect(status).toBe(201);
    const { rate_quoted, amount_from_expected, status: state } = plain;
    attempt(
      path,
      [json.status, json.rate_quoted, json.amount_from_expected],
      [state, rate_quoted, amount_from_expected],
    );
  });

  it('of a query is not read from a list, an object or a prototype', async () => {
    const rates = '/partner/rates?coin_from=BTC&coin_to=ETH&amount=1';
    const { text } = await gateway.call('GET', rates);
    for (const more of [
      '__proto__=x',
      '__proto__[isAdmin]=true',
      'constructor[prototype][isAdmin]=true',
      'coin_from[]=ETH',
      'coin_from[0]=ETH',
      'coin_from[__proto__]=ETH',
      'Coin_From=ETH',
      'fee_rate=0',
      'rate_type[]=fixed',
      'amount[]=2',
    ]) {
      const reply = await gateway.call('GET', `${rates}&${more}`);
      attempt(more, [reply.status, reply.text], [200, text]);
    }
    for (const twice of ['coin_from=ETH', 'coin_to=BTC', 'amount=2', 'coin_from=BTC']) {
      attempt(`${twice} once more`, (await gateway.call('GET', `${rates}&${twice}`)).status, 400);
    }
    expect(({} as { isAdmin?: boolean }).isAdmin).toBeUndefined();
  });
});

describe('an order as a partner sees it', () => {
  it('has the properties of the contract, and no internal ones', async () => {
    const headers = { 'Idempotency-Key': 'once' };
    const refundAddress = 'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq';
    const options = { key, headers, body: orderBody({ refund_address: refundAddress }) };
    const made = await gateway.call('POST', '/partner/orders', options);
    const again = await gateway.call('POST', '/partner/orders', options);
    const read = await gateway.call('GET', `/partner/orders/${made.json.id}`, { key });
    const named = membersOf('Order').sort();
    for (const [what, reply] of Object.entries({ made, again, read })) {
      attempt(`the members ${what}`, Object.keys(reply.json).sort(), named);
      attempt(`the refund address, ${what}`, reply.text.includes(refundAddress), false);
    }
  });

  it('is not revealed by error messages', async () => {
    const secret = 'a-text-that-must-not-come-back';
    for (const raw of [
      withText(`"status":"${secret}"`),
      `{"coin_from":{"x":"${secret}"}}`,
      `${secret}`,
      `{"a":"${secret}`,
    ]) {
      attempt(raw.slice(0, 30), (await post(raw)).text.includes(secret), false);
    }
  });
});

const schema = await buildStaffSchema();

describe('the staff API', () => {
  it('refuses arguments, members and fields outside its schema', async () => {
    const mutations = rootFields(schema).filter(({ operation }) => operation === 'mutation');
    await changingNothing(gateway, async () => {
      for (const { field } of mutations) {
        const selection = selectionOf(field);
        const abuses = [
          selection.replace('(', '(actorId: "x", '),
          selection.replace('(', '(staffId: "x", approvedBy: "x", '),
          selection.replaceAll(': {', ': { isAdmin: true, __proto__: "x", '),
          selection.replace('{ __typename }', '{ __typename secret mac tokenMac payload }'),
        ].filter((abuse) => abuse !== selection);
        for (const abuse of abuses) {
          const { status, data } = await admin.ask(`mutation { ${abuse} }`);
          attempt(abuse, { status, data }, { status: 400, data: null });
        }
      }
    });
  });

  it('refuses a variable with a member outside its input type', async () => {
    const { id } = await gateway.partners.create('Variables');
    const issue = 'mutation ($id: ID!, $key: KeyInput!) { keyIssue(partnerId: $id, key: $key, reason: "x") { keyId } }';
    await changingNothing(gateway, async () => {
      for (const key of [
        '{"label":"x","partnerId":"y"}',
        '{"label":"x","__proto__":{"scopes":[]}}',
        '{"constructor":{"prototype":{"isAdmin":true}}}',
        '{"keyId":"xp_live_x"}',
        '{"mac":"00"}',
      ]) {
        const reply = await fetch(`${gateway.app.internalUrl}/graphql`, {
          method: 'POST',
          headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${operator.token}` },
          body: `{"query":${JSON.stringify(issue)},"variables":{"id":"${id}","key":${key}}}`,
        });
        attempt(key, reply.status, 400);
      }
    });
  });

  it('hides fields above a role also in nested objects, fragments, aliases and variables', async () => {
    const { id } = await gateway.order();
    const partner = await gateway.partner();
    await operator.data('mutation ($id: ID!) { orderHold(orderId: $id, reason: "x") { id } }', { id });
    for (const asked of [
      `{ order(id: "${id}") { ...A } } fragment A on Order { partner { ... on Partner { k: keys { keyId } } } }`,
      `{ order(id: "${id}") { l: ledgerLines { amount } } }`,
      `query ($yes: Boolean = true) { order(id: "${id}") { actions @include(if: $yes) { id } } }`,
      `{ partner(id: "${partner.id}") { keys { ...K } } } fragment K on ApiKey { last4 }`,
      `{ orders(first: 1) { edges { node { partner { keys { keyId } } } } } }`,
      `{ partners { keys { last4 } } }`,
      '{ a: staff { email } }',
      '{ ...Q } fragment Q on Query { auditLog { edges { node { actor { email } } } } }',
      'query A { me { id } } query B { staff { email } }',
    ]) {
      const { errors, data } = await viewer.ask(asked);
      attempt(asked, { data, isRefused: errors.length > 0 }, { data: null, isRefused: true });
    }
  });

  it('hides the reason of a proposal from members who may not read actions', async () => {
    const { id } = await gateway.order();
    await operator.data('mutation ($id: ID!) { orderHold(orderId: $id, reason: "x") { id } }', { id });
    const { orderRelease } = await operator.data(
      'mutation ($id: ID!) { orderRelease(orderId: $id, reason: "a secret reason") { id } }',
      { id },
    );
    const reply = await viewer.ask('{ attention { kind subjectId detail } }');
    expect(kinds(reply)).toEqual([]);
    expect(reply.data.attention).toContainEqual({
      kind: 'PROPOSAL_OPEN',
      subjectId: orderRelease.id,
      detail: 'release',
    });
    attempt('the reason of a proposal', reply.text.includes('a secret reason'), false);
  });
});

/** The members that the contract gives a schema. */
function membersOf(name: string): string[] {
  const schema = readContract().components?.schemas?.[name];
  if (!schema || !('properties' in schema)) throw new Error(`the contract has no schema ${name} with members`);
  return Object.keys(schema.properties ?? {});
}
