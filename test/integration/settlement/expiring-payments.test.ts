import { addressExample } from '../../../src/chains/addresses/address.ts';
import type { TxStatus } from '../../../src/chains/port/chain-adapter.ts';
import { attention } from '../../../src/orders/read/attention.ts';
import type { CrashPoint } from '../../../src/settlement/turns/crash-point.ts';
import { ExpiringChain } from '../../support/chains/expiring-chain.ts';
import { type MadeOrder, type SettledGateway, startSettledGateway } from '../../support/gateway/settled-gateway.ts';

// Payments on a chain that shows no waiting transactions, and on which transactions expire.

const tron = new ExpiringChain('tron');
const dead: TxStatus = { state: 'dead', why: 'expired', final: true };
let gateway: SettledGateway;
/** Called at each crash point; an error ends the turn there, as a kill does. */
let onCrashPoint: (name: CrashPoint) => void = () => {};

beforeAll(async () => {
  gateway = await startSettledGateway({
    outside: {
      chain: (adapter) => tron.wrap(adapter),
      signer: (signer) => tron.wrapSigner(signer),
      onCrashPoint: (name) => onCrashPoint(name),
    },
  });
});
afterAll(() => gateway?.stop());
beforeEach(() => {
  tron.reset();
  onCrashPoint = () => {};
});

interface AttemptRow {
  readonly attempt: number;
  readonly txid: string | null;
  readonly reserves: string[];
  readonly sent: boolean;
  readonly why: string | null;
  readonly height: number | null;
}

/** An order that is exchanged, and whose payout is due. */
async function exchanged(): Promise<MadeOrder> {
  const order = await gateway.order();
  await gateway.deposit(order);
  await gateway.mine('BTC', 2);
  await gateway.tick();
  return order;
}

const attempts = ({ id }: MadeOrder): Promise<AttemptRow[]> =>
  gateway.query<AttemptRow>(
    `select a.attempt, a.txid, a.reserves, a.sent_at is not null as sent, a.dead_why as why, a.mined_height::int as height
       from payment p join payment_attempt a on a.payment_id = p.id where p.order_id = $1 order by p.number, a.attempt`,
    [id],
  );

async function payout({ id }: MadeOrder): Promise<{ state: string; problem: string | null; held: string[] }> {
  const [row] = await gateway.query<{ state: string; problem: string | null; held: string[] }>(
    `select state, problem, array(select resource from payment_reservation r
                                   where r.payment_id = p.id and r.released_at is null order by resource) as held
       from payment p where order_id = $1 order by number desc limit 1`,
    [id],
  );
  if (!row) throw new Error('the order has no payment');
  return row;
}

/** Mines blocks of the expiring chain, with a turn of settlement after each. */
async function mine(blocks: number): Promise<void> {
  for (let block = 0; block < blocks; block++) {
    await gateway.mine('TRC20');
    gateway.clock.advance(5_000);
    await gateway.tick();
  }
}

async function lastTxid(order: MadeOrder): Promise<string> {
  return (await attempts(order)).at(-1)?.txid ?? '';
}

/** How often the chain paid for an order. */
async function timesPaid({ id }: MadeOrder): Promise<number> {
  const rows = await gateway.query(
    `select from sandbox_tx t join payment_attempt a on a.chain = t.chain and a.txid = t.txid
       join payment p on p.id = a.payment_id where p.order_id = $1 and t.state = 'mined' and t.success`,
    [id],
  );
  return rows.length;
}

async function expectPaidOnce(order: MadeOrder): Promise<void> {
  await mine(4);
  expect(await gateway.show(order)).toMatchObject({ status: 'completed' });
  expect(await payout(order)).toMatchObject({ state: 'confirmed', problem: null, held: [] });
  expect(await timesPaid(order)).toBe(1);
  expect(await gateway.differences()).toEqual([]);
}

describe('a transaction that waits unseen', () => {
  it('is sent again with the same bytes, and is no problem however long it waits', async () => {
    Object.assign(tron, { isLosing: true, life: 1_000 });
    const order = await exchanged();
    gateway.clock.advance(3_600_000);
    await mine(3);
    expect(await payout(order)).toMatchObject({ state: 'sent', problem: null });
    expect(await gateway.show(order)).toMatchObject({ status: 'sending' });
    expect(tron.sent.length).toBeGreaterThan(3);
    expect(new Set(tron.sent).size).toBe(1);
    tron.isLosing = false;
    await mine(1);
    await expectPaidOnce(order);
    expect(await attempts(order)).toMatchObject([{ attempt: 1, why: null }]);
  });

  it.each([true, false])('dies, and a further attempt pays once, exclusive: %s', async (exclusive) => {
    Object.assign(tron, { isLosing: true, life: 3, exclusive });
    const order = await exchanged();
    await mine(4);
    const [first] = await attempts(order);
    // Past its expiry it is not sent again, and it is dead only once that is final.
    const { length } = tron.sent;
    expect(await payout(order)).toMatchObject({ state: 'sent', problem: 'expired' });
    await mine(1);
    await gateway.tick();
    expect(tron.sent.slice(length)).toEqual([await lastTxid(order)]);
    const [, second] = await attempts(order);
    expect(second?.reserves.join() === first?.reserves.join()).toBe(exclusive);
    expect((await payout(order)).held).toEqual(second?.reserves);
    const { earlier, held } = tron.asked.at(-1) ?? {};
    expect(earlier).toMatchObject([{ reserves: first?.reserves, why: 'expired' }]);
    expect([...(held?.keys() ?? [])]).toEqual([]);
    tron.isLosing = false;
    await mine(1);
    await expectPaidOnce(order);
    expect(await attempts(order)).toMatchObject([{ why: 'expired', height: null }, { why: null }]);
  });

  it.each(['height', 'time'] as const)('is asked before its first broadcast when its %s has passed', async (expiry) => {
    Object.assign(tron, { expiry, life: 8 });
    onCrashPoint = (name) => {
      if (name === 'payment.signed') throw new Error('the process has ended');
    };
    const order = await exchanged();
    expect(await payout(order)).toMatchObject({ state: 'signed' });
    // An outage of all processes, while the chain goes on.
    for (let block = 0; block < 9; block++) {
      gateway.clock.advance(60_000);
      await gateway.mine('TRC20');
    }
    onCrashPoint = () => {};
    await gateway.tick();
    expect(tron.sent).toEqual([]);
    expect(await attempts(order)).toMatchObject([{ attempt: 1, sent: false, why: null }]);
    await mine(3);
    expect(await attempts(order)).toMatchObject([{ attempt: 1, sent: false, why: 'expired' }, { sent: true }]);
    await expectPaidOnce(order);
  });
});

it('a transaction that expires before it is signed is revoked, and uses up no attempt', async () => {
  Object.assign(tron, { exclusive: false, life: 3, isSignerAway: true });
  const order = await exchanged();
  for (let wait = 0; wait < 4; wait++) {
    await mine(4);
    expect(await payout(order)).toMatchObject({ state: 'prepared', problem: 'signer_unavailable' });
  }
  tron.isSignerAway = false;
  tron.life = 10;
  await mine(3);
  await expectPaidOnce(order);
  expect(await attempts(order)).toMatchObject([{ why: 'never_signed', txid: null }, { why: null }]);
});

describe('a further attempt where attempts do not exclude each other', () => {
  /** The first attempt is finally dead, and the head is as old as this. */
  async function dying(ageMs: number): Promise<MadeOrder> {
    Object.assign(tron, { isLosing: true, life: 3, exclusive: false });
    const order = await exchanged();
    await mine(3);
    await gateway.mine('TRC20', 5);
    const { timeMs = 0 } = (await gateway.settlement.adapters.get('tron')?.head()) ?? {};
    gateway.clock.advance(timeMs + ageMs - gateway.clock.now().getTime());
    await gateway.tick();
    await gateway.tick();
    return order;
  }

  it('is built on a head of the last 14 s only, because the signer refuses one of 30 s', async () => {
    const order = await dying(14_001);
    expect(await payout(order)).toMatchObject({ state: 'ready', problem: 'chain_stalled' });
    expect(await attempts(order)).toHaveLength(1);
    tron.isLosing = false;
    // Two seconds later it looks for a newer head, and not after the minutes of a refusal.
    await gateway.mine('TRC20');
    gateway.clock.advance(2_000);
    await gateway.tick();
    expect(await attempts(order)).toHaveLength(2);
    await expectPaidOnce(order);
  });

  it('is built again when the signer was away until its head was too old', async () => {
    tron.isSignerAway = false;
    const order = await dying(14_001);
    tron.isSignerAway = true;
    await gateway.mine('TRC20');
    gateway.clock.advance(2_000);
    await gateway.tick();
    expect(await payout(order)).toMatchObject({ state: 'prepared', problem: 'signer_unavailable' });
    Object.assign(tron, { isSignerAway: false, isLosing: false, life: 30 });
    gateway.clock.advance(14_001);
    await gateway.mine('TRC20');
    await gateway.tick();
    expect(await attempts(order)).toMatchObject([{ why: 'expired' }, { why: 'never_signed', txid: null }]);
    await mine(2);
    await expectPaidOnce(order);
    expect(await attempts(order)).toHaveLength(3);
  });
});

describe('attempts', () => {
  it('that exclude each other go on without a bound, by the same reservation', async () => {
    Object.assign(tron, { isLosing: true, life: 1 });
    const order = await exchanged();
    await mine(16);
    const all = await attempts(order);
    expect(all.length).toBeGreaterThan(4);
    expect(new Set(all.map(({ reserves }) => reserves.join())).size).toBe(1);
    tron.isLosing = false;
    tron.life = 10;
    await mine(5);
    await expectPaidOnce(order);
  });

  it('that do not exclude each other end after three, and the reservations with them', async () => {
    Object.assign(tron, { isLosing: true, life: 1, exclusive: false });
    const order = await exchanged();
    await mine(12);
    expect(await attempts(order)).toHaveLength(3);
    expect(await payout(order)).toMatchObject({ state: 'dead', problem: 'expired', held: [] });
    expect(await gateway.show(order)).toMatchObject({ status: 'failed' });
    expect(await timesPaid(order)).toBe(0);
    expect(await gateway.differences()).toEqual([]);
  });
});

/** The first attempt is with the node, and called dead: the payment waits for the signer's next. */
async function wronglyDead(): Promise<{ order: MadeOrder; txid: string }> {
  const order = await exchanged();
  const txid = await lastTxid(order);
  tron.lies.set(txid, dead);
  tron.stalledAfterSec = 1;
  gateway.clock.advance(60_000);
  await gateway.tick();
  await gateway.tick();
  expect(await payout(order)).toMatchObject({ state: 'ready', problem: 'chain_stalled' });
  tron.stalledAfterSec = 0;
  return { order, txid };
}

describe('an attempt that counts as dead and is in a block', () => {
  it.each([true, false])('is found before a further one is built, exclusive: %s', async (exclusive) => {
    tron.exclusive = exclusive;
    const { order, txid } = await wronglyDead();
    tron.lies.clear();
    await gateway.mine('TRC20');
    expect(await gateway.differences()).toEqual([]);
    await mine(1);
    expect(await attempts(order)).toMatchObject([{ attempt: 1, txid, why: null, height: expect.any(Number) }]);
    await expectPaidOnce(order);
    expect(await gateway.show(order)).toMatchObject({ payout_txid: txid });
  });

  it('keeps a further one from being built while it is not finally dead, where both could confirm', async () => {
    tron.exclusive = false;
    const { order, txid } = await wronglyDead();
    tron.lies.set(txid, { ...dead, final: false } as TxStatus);
    gateway.clock.advance(5_000);
    await gateway.tick();
    expect(await payout(order)).toMatchObject({ state: 'ready', problem: 'not_finally_dead' });
    expect(await attempts(order)).toHaveLength(1);
    tron.lies.clear();
    await mine(1);
    await expectPaidOnce(order);
  });

  it('is found before the payment ends because a further one failed, and both fees are booked', async () => {
    tron.exclusive = false;
    const { order, txid } = await wronglyDead();
    await gateway.mine('TRC20');
    await gateway.settlement.sandbox.refuse('tron', addressExample('TRC20'));
    gateway.clock.advance(5_000);
    await gateway.tick();
    await mine(1);
    expect(await attempts(order)).toMatchObject([{ why: 'expired' }, { why: null, height: expect.any(Number) }]);
    await gateway.settlement.sandbox.accept('tron', addressExample('TRC20'));
    tron.lies.clear();
    await expectPaidOnce(order);
    expect(await attempts(order)).toMatchObject([{ txid, why: null }, { why: 'failed' }]);
    expect(await gateway.show(order)).toMatchObject({ payout_txid: txid });
  });

  it('is found before the payment ends as dead', async () => {
    Object.assign(tron, { isLosing: true, life: 1, exclusive: false });
    const order = await exchanged();
    const txid = await lastTxid(order);
    // The node has the first one, and says that it is dead until the third one is dead as well.
    tron.isLosing = false;
    await gateway.settlement.adapters.get('tron')?.broadcast(await signedOf(txid));
    tron.isLosing = true;
    tron.lies.set(txid, dead);
    for (let block = 0; block < 20 && (await attempts(order)).length < 3; block++) await mine(1);
    expect(await attempts(order)).toHaveLength(3);
    tron.lies.clear();
    await mine(4);
    expect((await attempts(order)).map(({ why }) => why)).toEqual([null, 'expired', 'replaced']);
    await expectPaidOnce(order);
  });
});

describe('staff mark a payment failed of which a transaction was signed and died', () => {
  async function marked(): Promise<{ order: MadeOrder; txid: string; staffId: string }> {
    const { order, txid } = await wronglyDead();
    tron.lies.set(txid, { ...dead, final: false } as TxStatus);
    const staffId = (await gateway.staff.create(`${order.id}@example.com`, 'operator')).member.id;
    const { staffActions } = gateway.settlement;
    await staffActions.propose({ action: 'hold', staffId, orderId: order.id, reason: 'stop' });
    await staffActions.propose({ action: 'mark_failed', staffId, orderId: order.id, reason: 'stop' });
    await gateway.tick();
    expect(await payout(order)).toMatchObject({ state: 'ready', problem: 'marked_failed' });
    gateway.clock.advance(5_000);
    return { order, txid, staffId };
  }

  it('it ends once the chain calls all of them finally dead', async () => {
    const { order, txid } = await marked();
    tron.lies.set(txid, dead);
    await gateway.tick();
    expect(await payout(order)).toMatchObject({ state: 'dead', problem: 'marked_failed', held: [] });
    await gateway.settlement.sandbox.drop('tron', txid);
  });

  it('it goes on when one of them is in a block, and the order completes after its hold', async () => {
    const { order, staffId } = await marked();
    tron.lies.clear();
    await mine(4);
    expect(await payout(order)).toMatchObject({ state: 'confirmed', problem: null });
    const { staffActions } = gateway.settlement;
    const asked = { action: 'release', staffId, orderId: order.id, reason: 'it was paid' } as const;
    const second = (await gateway.staff.create(`second.${order.id}@example.com`, 'operator')).member.id;
    await staffActions.approve((await staffActions.propose(asked)).id, second);
    await expectPaidOnce(order);
  });
});

describe.each([true, false])('a process that ends after the death of an attempt, exclusive: %s', (exclusive) => {
  const points = [
    'payment.built',
    'payment.prepared',
    'payment.signature',
    'payment.signed',
    'payment.broadcast',
    'payment.sent',
    'payment.observed',
    'payment.confirmed',
  ] as const satisfies readonly CrashPoint[];

  it.each(points)('at %s leaves a payment that is made once', async (point) => {
    Object.assign(tron, { isLosing: true, life: 1, exclusive });
    const order = await exchanged();
    await mine(2);
    let ends = 0;
    onCrashPoint = (name) => {
      if (name !== point || ends > 0) return;
      ends += 1;
      throw new Error('the process has ended');
    };
    // The first attempt dies for good in the next block.
    Object.assign(tron, { isLosing: false, life: 20 });
    await mine(6);
    expect(ends).toBe(1);
    await expectPaidOnce(order);
    expect(await attempts(order)).toMatchObject([{ why: 'expired' }, { why: null }]);
  });
});

// Last, because the difference stays.
describe('two attempts that both paid', () => {
  it('are shown to staff, and the second one stays a difference', async () => {
    tron.exclusive = false;
    const { order } = await wronglyDead();
    await gateway.mine('TRC20');
    gateway.clock.advance(5_000);
    await gateway.tick();
    expect(await attempts(order)).toHaveLength(2);
    tron.lies.clear();
    await mine(4);
    expect(await timesPaid(order)).toBe(2);
    expect(await payout(order)).toMatchObject({ state: 'confirmed', problem: 'paid_twice' });
    const items = await attention(gateway.app.orm.em.fork(), 500, gateway.clock.now());
    expect(items).toContainEqual(expect.objectContaining({ kind: 'payment_problem', detail: 'paid_twice' }));
    const found = (await gateway.differences()).map(({ subject }) => subject);
    expect(found).toContainEqual(expect.stringMatching(/^payment .*, confirmed$/));
    expect(found).toContainEqual(expect.stringContaining('USDT'));
  });
});

/** The signed transaction of a txid, as it is stored. */
async function signedOf(txid: string): Promise<{ txid: string; raw: string; reserves: string[]; expiresAt: null }> {
  const [row] = await gateway.query<{ raw: string; reserves: string[] }>(
    'select raw, reserves from payment_attempt where txid = $1',
    [txid],
  );
  return { txid, raw: row?.raw ?? '', reserves: row?.reserves ?? [], expiresAt: null };
}
