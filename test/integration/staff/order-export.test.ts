import { request } from 'node:http';
import type { StaffRole } from '../../../src/accounts/staff/staff-member.entity.ts';
import { addressExample } from '../../../src/chains/addresses/address.ts';
import { staffScope } from '../../../src/orders/order-scope.ts';
import { seedOrders } from '../../support/database/seed-orders.ts';
import { TestClock } from '../../support/gateway/clock.ts';
import { startGateway, type TestGateway } from '../../support/gateway/gateway.ts';
import { orderReads } from '../../support/gateway/order-reads.ts';
import { StaffBrowser } from '../../support/staff/staff-browser.ts';
import { newMember } from '../../support/staff/staff-client.ts';

/** More than the buffers of a connection hold. */
const seeded = 20_000;
const clock = new TestClock(new Date());
const statements: string[] = [];
let gateway: TestGateway;
let support: Awaited<ReturnType<typeof newMember>>;

beforeAll(async () => {
  gateway = await startGateway({
    settings: { STAFF_POOL_SIZE: '2' },
    outside: { clock, background: false, onStatement: (sql) => statements.push(sql) },
  });
  support = await newMember(gateway, 'support');
  await seedOrders(gateway.databaseUrl, { count: seeded, partners: 3, days: 30, lean: true, until: clock.now() });
});
afterAll(() => gateway?.stop());
// Ten files a minute are allowed.
beforeEach(async () => {
  support = await newMember(gateway, 'support');
});

const query = <Row>(sql: string, values: unknown[] = []): Promise<Row[]> =>
  gateway.app.orm.em.fork().execute(sql, values as never);

const csv = (filter = '', token = support.token, headers: Record<string, string> = {}) =>
  fetch(`${gateway.app.internalUrl}/console/orders.csv${filter}`, {
    headers: { Authorization: `Bearer ${token}`, ...headers },
  });

/** The rows of a file by the names of its columns. Its cells have no line ends. */
function parsed(text: string): Record<string, string>[] {
  const [head, ...lines] = text.split('\r\n').slice(0, -1);
  const names = (head ?? '').split(',');
  return lines.map((line) => {
    const cells = [...line.matchAll(/("(?:[^"]|"")*"|[^,]*)(?:,|$)/g)].slice(0, names.length);
    const texts = cells.map(([, cell = '']) => (cell.startsWith('"') ? cell.slice(1, -1).replaceAll('""', '"') : cell));
    return Object.fromEntries(names.map((name, index) => [name, texts[index] ?? '']));
  });
}

async function partsOf(file: AsyncIterable<string>): Promise<string[]> {
  const parts: string[] = [];
  for await (const part of file) parts.push(part);
  return parts;
}

const codeOf = async (response: Response): Promise<string> => ((await response.json()) as { code: string }).code;

const audits = () =>
  query<{ staff_id: string; target: string; after: { filter: object; rows: number; cut: boolean } }>(
    "select staff_id, target, after from audit_log where operation = 'ordersCsv' order by id",
  );

async function signedIn(role: StaffRole): Promise<StaffBrowser> {
  const browser = new StaffBrowser(gateway.app.internalUrl);
  const { token } = await newMember(gateway, role);
  expect((await browser.post('/sign-in', { token })).status).toBe(303);
  return browser;
}

describe('orders as a file', () => {
  it('are those of the filter, newest first, and the audit log has filter and number of rows', async () => {
    const response = await csv('?status=FAILED,REFUNDED&coin=btc');
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('text/csv; charset=utf-8; header=present');
    expect(response.headers.get('content-disposition')).toMatch(/^attachment; filename="orders-\d{4}-\d\d-\d\d\.csv"$/);
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(response.headers.get('x-content-type-options')).toBe('nosniff');
    const rows = parsed(await response.text());
    const plain = await query<{ id: string }>(
      `select id from exchange_order where status in ('failed', 'refunded') and 'BTC' in (coin_from, coin_to)
        order by created_at desc, id desc`,
    );
    expect(plain.length).toBeGreaterThan(10);
    expect(rows.map((row) => row.order_id)).toEqual(plain.map(({ id }) => id));
    expect((await audits()).at(-1)).toEqual({
      staff_id: support.id,
      target: 'orders:csv',
      after: { filter: { status: 'FAILED,REFUNDED', coin: 'btc' }, rows: plain.length, cut: false },
    });
  });

  it('are all orders without a filter, each once, over many statements', async () => {
    const rows = parsed(await (await csv()).text());
    expect(rows).toHaveLength(seeded);
    expect(new Set(rows.map((row) => row.order_id)).size).toBe(seeded);
    expect(Object.keys(rows[0] ?? {})).toEqual(expect.arrayContaining(['partner', 'amount_to_actual', 'payout_txid']));
  });

  it('keep each digit of an amount', async () => {
    const [{ id }] = (await query('select id from exchange_order order by created_at limit 1')) as [{ id: string }];
    const [from, to] = ['12345678901234567890.123456789012345678', '0.000000000000000001'];
    await query('update exchange_order set amount_from_expected = ?, amount_to_expected = ? where id = ?', [
      from,
      to,
      id,
    ]);
    const [row] = parsed(await (await csv(`?q=${id}`)).text());
    expect(row).toMatchObject({ order_id: id, amount_from_expected: from, amount_to_expected: to });
  });

  it('have no cell that a spreadsheet would compute', async () => {
    const { id: partnerId } = await gateway.partners.create('=HYPERLINK("https://evil.example","x")');
    const { key } = await gateway.partners.issueKey(partnerId, {});
    const body = {
      coin_from: 'BTC',
      network_from: 'BTC',
      coin_to: 'LTC',
      network_to: 'LTC',
      amount_from: 0.01,
      rate_type: 'float',
      recipient_address: addressExample('LTC'),
      external_id: '@SUM(1,2)',
    };
    const { status, json } = await gateway.call('POST', '/partner/orders', { key, body });
    expect(status).toBe(201);
    const text = await (await csv(`?partner=${partnerId}`)).text();
    const [row] = parsed(text);
    expect(row).toMatchObject({
      order_id: json.order_id ?? json.id,
      partner: `'=HYPERLINK("https://evil.example","x")`,
      external_id: "'@SUM(1,2)",
      amount_from_expected: '0.01',
    });
    expect(text).toContain(`"'=HYPERLINK(""https://evil.example"",""x"")"`);
    expect(text.split(/[,\r\n]/).filter((cell) => /^"?[=+\-@\t]/.test(cell))).toEqual([]);
  });

  it('say in their last line that they were cut', async () => {
    const em = gateway.app.orm.em.fork();
    const reads = orderReads(gateway.app.orm);
    const chosen = await reads.choose(staffScope, em, {}, clock.now(), 700);
    expect([chosen.ids.length, chosen.isCut]).toEqual([700, true]);
    const parts = await partsOf(reads.csv(staffScope, chosen));
    const lines = parts.join('').split('\r\n');
    expect(lines).toHaveLength(1 + 700 + 1 + 1);
    expect(lines.at(-2)).toBe('only the newest 700 orders of this filter are here; narrow it for the others');
    const whole = await reads.choose(staffScope, em, { statuses: ['failed'] }, clock.now(), 700);
    expect(whole.isCut).toBe(false);
    expect((await partsOf(reads.csv(staffScope, whole))).join('')).not.toContain('only the newest');
  });
});

describe('who may have the file', () => {
  it('is support and above', async () => {
    for (const [role, expected] of [
      ['viewer', 403],
      ['support', 200],
      ['operator', 200],
      ['admin', 200],
    ] as const) {
      const before = (await audits()).length;
      const { token } = await newMember(gateway, role);
      const response = await csv('?status=FAILED', token);
      const text = await response.text();
      expect([role, response.status]).toEqual([role, expected]);
      expect((await audits()).length - before).toBe(expected === 200 ? 1 : 0);
      if (expected === 403) expect(JSON.parse(text)).toMatchObject({ code: 'insufficient_role' });
    }
  });

  it('is a member who is signed in', async () => {
    for (const headers of [{}, { Authorization: 'Bearer xs_nonsense' }, { Cookie: '__Host-staff=nonsense' }]) {
      const response = await fetch(`${gateway.app.internalUrl}/console/orders.csv`, { headers });
      expect([response.status, await codeOf(response)]).toEqual([401, 'unauthorized']);
    }
  });

  it('is a browser session on a page of this gateway, and no other page', async () => {
    const browser = await signedIn('support');
    const before = (await audits()).length;
    const foreign: Record<string, string>[] = [
      { 'Sec-Fetch-Site': 'cross-site' },
      { 'Sec-Fetch-Site': 'same-site' },
      { 'Sec-Fetch-Site': 'none' },
      { 'Sec-Fetch-Site': 'same-origin', Origin: 'https://evil.example' },
    ];
    for (const headers of foreign) {
      const response = await browser.get('/console/orders.csv?status=FAILED', headers);
      expect([headers, response.status, await codeOf(response)]).toEqual([headers, 403, 'foreign_origin']);
    }
    expect((await audits()).length).toBe(before);
    const own = await browser.get('/console/orders.csv?status=FAILED', { 'Sec-Fetch-Site': 'same-origin' });
    expect(own.status).toBe(200);
    expect(await own.text()).toContain('failed');
    expect((await audits()).length).toBe(before + 1);
  });

  it('is a member with less than ten files in this minute', async () => {
    const statuses: number[] = [];
    for (let file = 0; file < 11; file++) {
      const response = await csv('?status=FAILED');
      await response.text();
      statuses.push(response.status);
    }
    expect(statuses).toEqual([...Array.from({ length: 10 }, () => 200), 429]);
  });
});

describe('a filter that is not understood', () => {
  it.each([
    ['?state=FAILED', 400, 'unknown_field'],
    ['?status=FAILED,ODD', 400, 'unknown_value'],
    ['?status=failed', 400, 'unknown_value'],
    ['?status=FAILED&status=REFUNDED', 422, 'invalid_value'],
    ['?held=yes', 422, 'invalid_value'],
    ['?from=yesterday', 422, 'invalid_value'],
    ['?from=2026-02-30', 422, 'invalid_value'],
    ['?q=abc', 422, 'invalid_value'],
    ['?partner=1', 422, 'invalid_value'],
    [`?coin=${'A'.repeat(201)}`, 422, 'invalid_value'],
    ['?coin=%00', 422, 'invalid_value'],
  ])('%s is refused, and no file leaves', async (filter, status, code) => {
    const before = (await audits()).length;
    const response = await csv(filter);
    expect([response.status, await codeOf(response)]).toEqual([status, code]);
    expect((await audits()).length).toBe(before);
  });
});

it('is asked by GET, and a HEAD releases nothing', async () => {
  const before = (await audits()).length;
  const url = `${gateway.app.internalUrl}/console/orders.csv`;
  expect((await fetch(url, { method: 'HEAD', headers: { Authorization: `Bearer ${support.token}` } })).status).toBe(
    405,
  );
  expect((await audits()).length).toBe(before);
});

describe('a client that leaves', () => {
  it('ends the reading, and no connection of staff stays taken', async () => {
    const reads = () => statements.filter((sql) => sql.includes('jsonb_build_array')).length;
    statements.length = 0;
    await new Promise<void>((resolve, reject) => {
      const sent = request(
        `${gateway.app.internalUrl}/console/orders.csv`,
        { headers: { Authorization: `Bearer ${support.token}` } },
        (response) => {
          // Takes the head and the first bytes, and then no more.
          response.once('data', () => {
            response.pause();
            setTimeout(() => {
              sent.destroy();
              resolve();
            }, 300);
          });
        },
      );
      sent.once('error', (error) => (sent.destroyed ? resolve() : reject(error)));
      sent.end();
    });
    await support.data('{ orders(first: 1) { edges { node { id } } } }');
    const after = reads();
    expect(after).toBeGreaterThan(0);
    await support.data('{ orders(first: 1) { edges { node { id } } } }');
    expect(reads()).toBe(after);
    const [{ orders }] = (await query('select count(*)::int as orders from exchange_order')) as [{ orders: number }];
    expect(after).toBeLessThan(orders / 500);
    const metrics = await (await fetch(`${gateway.app.internalUrl}/metrics`)).text();
    expect(metrics).toContain('gateway_database_connections{pool="staff",state="used"} 0');
  });
});
