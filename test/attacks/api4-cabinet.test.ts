import { Client } from 'pg';
import type { MemberRole } from '../../src/accounts/members/rights.ts';
import { cabinetPeople } from '../../src/app/services.ts';
import { CabinetClient, cabinetOrigin, cabinetSettings } from '../support/cabinet/cabinet-client.ts';
import { query } from '../support/database/database.ts';
import { TestClock } from '../support/gateway/clock.ts';
import { startGateway, type TestGateway } from '../support/gateway/gateway.ts';
import { attempt } from '../support/jest/attempts.ts';

/**
 * OWASP API4:2023, unrestricted resource consumption, at the partner cabinet: what one member, or
 * the thief of one session, can use up, and whom that hurts.
 */

const clock = new TestClock();
const limit = 30;
let gateway: TestGateway;
let partnerId: string;

beforeAll(async () => {
  const settings = { ...cabinetSettings, RATE_LIMIT_CABINET_PER_MIN: String(limit) };
  gateway = await startGateway({ settings, outside: { clock } });
});
afterAll(() => gateway?.stop());
beforeEach(async () => {
  ({ id: partnerId } = await gateway.partners.create('Shop'));
});

async function member(role: MemberRole = 'owner'): Promise<CabinetClient> {
  const { members } = cabinetPeople(gateway.app.orm, clock, cabinetOrigin);
  const client = new CabinetClient(gateway.app.restUrl ?? '');
  await client.accept((await members.invite(partnerId, { name: `A ${role}`, role }, null)).link);
  return client;
}

it('the thief of a session cannot use up the requests of its owner, who ends it', async () => {
  const owner = await member();
  const thief = owner.copy();
  owner.cookie = null;
  await owner.signIn();
  let served = 0;
  while ((await thief.call('GET', '/session')).status === 200) served++;
  attempt('requests of the thief', served <= limit, true);
  const { data } = await owner.done('GET', '/sessions');
  const stolen = data.find(({ is_current }: { is_current: boolean }) => !is_current);
  attempt('to end the session', (await owner.call('DELETE', `/sessions/${stolen.id}`)).status, 204);
});

it('a member with many sessions gets no more than three times the requests of one', async () => {
  const owner = await member();
  let served = 0;
  // Four sessions ask for a third more than that. More could outlast the window of a minute.
  for (let i = 0; i < 4; i++) {
    owner.cookie = null;
    await owner.signIn();
    for (let asked = 0; asked < limit; asked++) {
      if ((await owner.call('GET', '/session')).status === 200) served++;
    }
  }
  attempt('requests of a member', served <= 3 * limit, true);
});

it('ending an ended key again fills no audit log', async () => {
  const owner = await member();
  const developer = await member('developer');
  const { json } = await developer.sure('issueKey', 'POST', '/keys', { label: 'x', scopes: ['orders:read'] });
  for (let i = 0; i < 5; i++) await developer.done('POST', `/keys/${json.key.key_id}/revoke`);
  const { data } = await owner.done('GET', '/audit');
  const ends = data.filter(({ operation }: { operation: string }) => operation === 'revokeKey');
  attempt('entries', ends.length, 1);
});

it('a member who signs in again and again keeps few rows', async () => {
  const owner = await member();
  for (let i = 0; i < 80; i++) {
    owner.cookie = null;
    expect((await owner.signIn()).status).toBe(200);
  }
  const [row] = await query<{ count: number }>(
    gateway.databaseUrl,
    'select count(*)::int as count from partner_session s join partner_member m on m.id = s.member_id where m.partner_id = $1',
    [partnerId],
  );
  attempt('sessions', (row?.count ?? 0) <= 60, true);
  expect((await owner.call('GET', '/session')).status).toBe(200);
});

const noWebhook = '/partner/webhook-endpoints/00000000-0000-7000-8000-000000000000';
const lockWaits = `select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`;

/**
 * Lets tests of webhooks hang while other requests are made.
 *
 * @param least tests that hang before the others begin.
 */
async function whileTestsHang(
  slow: readonly CabinetClient[],
  least: number,
  others: () => Promise<unknown>,
): Promise<void> {
  const locker = new Client({ connectionString: gateway.databaseUrl });
  await locker.connect();
  try {
    await locker.query('begin; lock table webhook_allowance in access exclusive mode');
    const ended: number[] = [];
    const requests = slow.map(async (client) => {
      ended.push((await client.call('POST', `${noWebhook}/test`)).status);
    });
    while ((await query(gateway.databaseUrl, lockWaits)).length < least);
    await others();
    // Each is given up after two seconds.
    attempt('requests that had to end first', ended.length < slow.length / 2, true);
    await locker.query('rollback');
    await Promise.all(requests);
  } finally {
    await locker.end();
  }
}

it('a partner whose requests hang leaves the cabinet to the members of others', async () => {
  const hanging = [await member(), await member()];
  ({ id: partnerId } = await gateway.partners.create('Other shop'));
  const other = await member();
  await whileTestsHang(Array(12).fill(hanging).flat(), 2, async () => {
    attempt('a request of another partner', (await other.call('GET', '/home')).status, 200);
  });
});

it('a member whose requests hang leaves the cabinet to the other members of the partner', async () => {
  const hanging = await member('developer');
  const other = await member('developer');
  await whileTestsHang(Array(12).fill(hanging), 1, async () => {
    attempt('a request of another member', (await other.call('GET', '/home')).status, 200);
  });
});

it('what ends access waits for no request that hangs, of the same session or of other partners', async () => {
  const first = await gateway.partners.create('Yet another shop');
  const mine = partnerId;
  partnerId = first.id;
  const strangers = [await member(), await member()];
  partnerId = mine;
  const owner = await member();
  const thief = owner.copy();
  owner.cookie = null;
  await owner.signIn();
  const accomplice = await member('developer');
  const { json: made } = await owner.sure('issueKey', 'POST', '/keys', { label: 'x', scopes: ['orders:read'] });
  await owner.sure('invite', 'POST', '/invitations', { name: 'Accomplice', role: 'owner' });
  const { member: removed } = await accomplice.done('GET', '/session');
  const slow = [thief, accomplice, ...strangers];
  await whileTestsHang(
    slow.flatMap((client) => Array(6).fill(client)),
    3,
    async () => {
      const { data } = await owner.done('GET', '/sessions');
      const stolen = data.find(({ is_current }: { is_current: boolean }) => !is_current);
      attempt('to end a session', (await owner.call('DELETE', `/sessions/${stolen.id}`)).status, 204);
      const { key } = made;
      attempt('to end a key', (await owner.call('POST', `/keys/${key.key_id}/revoke`)).status, 200);
      const { invitations } = await owner.done('GET', '/team');
      const [{ id }] = invitations;
      attempt('to withdraw an invitation', (await owner.call('DELETE', `/invitations/${id}`)).status, 204);
      const end = await owner.sure('removeMember', 'DELETE', `/members/${removed.id}`);
      attempt('to remove a member', end.status, 204);
      attempt('to sign out', (await owner.call('POST', '/sign-out')).status, 204);
      attempt('to sign in', (await owner.signIn()).status, 200);
    },
  );
});
