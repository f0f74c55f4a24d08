import { createDatabase, query } from '../../support/database/database.ts';
import { commandLine } from '../../support/gateway/built-process.ts';
import { startGateway, type TestGateway } from '../../support/gateway/gateway.ts';
import { orderBody } from '../../support/gateway/orders.ts';

/**
 * What operators do by command line is in the audit log: who, on which account of the machine, and
 * why.
 */

let gateway: TestGateway;
let partner: { id: string; keyId: string };

beforeAll(async () => {
  gateway = await startGateway();
  url = gateway.databaseUrl;
  await gateway.call('POST', '/partner/orders', { key: (await gateway.partner()).key, body: orderBody() });
  partner = await gateway.partner();
  await gateway.staff.create('eve@example.com', 'operator');
  await query(gateway.databaseUrl, "delete from currency where coin = 'XTZ'");
});
afterAll(() => gateway?.stop());

let url = '';

const cli = (...args: string[]) => commandLine(url, args, { CABINET_URL: 'https://cabinet.example.com' });

/**
 * Commands that change nothing but what the sandbox makes up: they play its users, miners and
 * market.
 */
const playing = ['deposit', 'mine', 'reorg', 'price', 'inventory', 'refuse', 'venue'].map((verb) => `sandbox ${verb}`);
const reading = [
  'db status',
  'partner list',
  'partner show',
  'partner keys',
  'partner members',
  'staff list',
  'currency list',
  'chain list',
  'network list',
  'network check',
  'payouts status',
  'sandbox status',
  'ledger reconcile',
  'ledger balances',
  'venue balances',
  'venue check',
  'venue movements',
];

const memberId = '0190c0de-0000-7000-8000-000000000001';

/** How each command that changes something is run, in this order, and what its row is about. */
const changing: Record<string, { args: () => string[]; before?: string; empty?: boolean; target: RegExp }> = {
  'db migrate': {
    before: 'drop schema public cascade; create schema public',
    args: () => [],
    empty: true,
    target: /^database$/,
  },
  'db seed': { args: () => [], target: /^currencies$/ },
  'db renumber': {
    before: `set session_replication_role = replica; update order_event set xid = '9000000000000'`,
    args: () => [],
    target: /^events$/,
  },
  'partner create': { args: () => ['--name', 'Wallet'], target: /^partner:/ },
  'partner set': { args: () => ['--partner', partner.id, '--name', 'Big'], target: /^partner:/ },
  'partner key': { args: () => ['--partner', partner.id], target: /^key:xp_/ },
  'partner key-set': { args: () => ['--key', partner.keyId, '--markup-bps', '40'], target: /^key:xp_/ },
  'partner roll': { args: () => ['--key', partner.keyId], target: /^key:xp_/ },
  'partner revoke': { args: () => ['--key', partner.keyId], target: /^key:xp_/ },
  'partner invite': { args: () => ['--partner', partner.id, '--name', 'Ada'], target: /^partner:/ },
  'partner recover': {
    before: `insert into partner_member (id, partner_id, name, role, created_at)
             select '${memberId}', id, 'Ada', 'owner', now() from partner limit 1`,
    args: () => ['--member', memberId],
    target: /^member:/,
  },
  'staff create': { args: () => ['--email', 'bob@example.com', '--role', 'viewer'], target: /^staff:/ },
  'staff role': { args: () => ['--email', 'eve@example.com', '--role', 'support'], target: /^staff:/ },
  'staff token': { args: () => ['--email', 'eve@example.com'], target: /^staff:/ },
  'staff resume': {
    before: "update staff_member set suspended_at = now() where email = 'eve@example.com'",
    args: () => ['--email', 'eve@example.com'],
    target: /^staff:/,
  },
  'staff revoke': { args: () => ['--email', 'eve@example.com'], target: /^staff:/ },
  'currency set': { args: () => ['--coin', 'BTC', '--network', 'BTC', '--min', '0.5'], target: /^currency:BTC\/BTC$/ },
  'chain left-out': {
    before: `insert into left_out_transfer (id, chain, key, reason, txid, address, amount, height, seen_at)
             overriding system value values (7, 'bitcoin', 'k', 'too_large', 'x', 'x', '1', 1, now())`,
    args: () => ['--acknowledge', '7'],
    target: /^left_out_transfer:7$/,
  },
  'payouts stop': { args: () => ['--coin', 'BTC', '--network', 'BTC'], target: /^hold:/ },
  'chain rescan': { args: () => ['--chain', 'bitcoin', '--from', '0'], target: /^chain:bitcoin$/ },
};

/** Groups and verbs as the command line's own help has them. */
async function commandsOf(...path: string[]): Promise<string[]> {
  const { output } = await cli(...path, '--help');
  const list = output.slice(output.indexOf('Commands:'));
  return [...list.matchAll(/^ {2}([\w-]+)/gm)].map(([, name]) => name ?? '').filter((name) => name !== 'help');
}

const rows = () =>
  query<{ actor: string | null; operation: string; target: string; reason: string; text: string }>(
    url,
    `select actor, operation, target, reason, audit_log::text as text from audit_log order by id`,
  );

describe('the command line', () => {
  it('lists each command either as reading or in the table of changes', async () => {
    const groups = await commandsOf();
    const all = await Promise.all(
      groups.map(async (group) => (await commandsOf(group)).map((verb) => `${group} ${verb}`)),
    );
    expect(all.flat().sort()).toEqual([...reading, ...playing, ...Object.keys(changing)].sort());
  });

  it.each(Object.entries(changing))('%s writes one row, with who and why and no secret', async (command, how) => {
    const fresh = how.empty ? await createDatabase() : null;
    url = fresh?.url ?? gateway.databaseUrl;
    if (how.before) await query(url, how.before);
    const earlier = fresh ? 0 : (await rows()).length;
    const { code, output, errors } = await cli(...command.split(' '), ...how.args(), '--reason', 'ticket 7', '--json');
    expect([code, errors]).toEqual([0, '']);
    const written = (await rows()).slice(earlier);
    expect(written).toMatchObject([
      { actor: expect.stringMatching(/^cli:./), operation: `cli ${command}`, reason: 'ticket 7' },
    ]);
    expect(written[0]?.target).toMatch(how.target);
    url = gateway.databaseUrl;
    await fresh?.drop();
    const secrets = [...output.matchAll(/"(?:key|token)":"([^"]+)"/g)].map(([, secret]) => secret ?? '');
    for (const secret of secrets) expect(written[0]?.text).not.toContain(secret.split('.')[1] ?? secret);
  });

  it('writes nothing when it fails, and changes nothing when it cannot write', async () => {
    const earlier = (await rows()).length;
    expect((await cli('partner', 'set', '--partner', 'unknown', '--name', 'x')).code).toBe(1);
    expect((await rows()).length).toBe(earlier);
    await query(gateway.databaseUrl, 'alter table audit_log add constraint never check (false) not valid');
    expect((await cli('partner', 'create', '--name', 'Unwritten')).code).toBe(1);
    await query(gateway.databaseUrl, 'alter table audit_log drop constraint never');
    expect(await query(gateway.databaseUrl, "select 1 from partner where name = 'Unwritten'")).toEqual([]);
  });

  it('gives orders of a partner a page, once there is a name to show', async () => {
    const set = (...args: string[]) => cli('partner', 'set', '--partner', partner.id, '--json', ...args);
    expect((await set('--order-page', 'true')).errors).toContain('an order page needs a display name');
    const { code, output } = await set('--order-page', 'true', '--display-name', 'Big Wallet');
    expect([code, JSON.parse(output)]).toMatchObject([0, { order_page: true, display_name: 'Big Wallet' }]);
  });

  it('makes members who approve nothing for a day, unless there is no admin', async () => {
    const [bob] = await query<{ rests: boolean }>(
      gateway.databaseUrl,
      `select approves_from > now() + interval '23 hours' as rests from staff_member where email = 'bob@example.com'`,
    );
    expect(bob?.rests).toBe(true);
    await query(gateway.databaseUrl, "update staff_member set revoked_at = now() where role = 'admin'");
    await cli('staff', 'create', '--email', 'first@example.com', '--role', 'admin');
    const [first] = await query<{ approves_from: Date | null }>(
      gateway.databaseUrl,
      "select approves_from from staff_member where email = 'first@example.com'",
    );
    expect(first?.approves_from).toBeNull();
  });
});
