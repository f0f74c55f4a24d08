import { Big } from '../../../src/base/money.ts';
import { addressExample } from '../../../src/chains/addresses/address.ts';
import type { NetworkConfig } from '../../../src/chains/families/families.ts';
import { ChainError, type TxStatus } from '../../../src/chains/port/chain-adapter.ts';
import { attention } from '../../../src/orders/read/attention.ts';
import { monthOf as monthName } from '../../../src/settlement/commission/commission-entries.ts';
import { FeeShares } from '../../../src/settlement/pay/fee-shares.ts';
import { PayoutHolds, resumePayouts } from '../../../src/settlement/pay/payout-holds.ts';
import { Payment } from '../../../src/settlement/rows/payment.entity.ts';
import { type CrashPoint, crashPoints } from '../../../src/settlement/turns/crash-point.ts';
import { Faults } from '../../support/faults/faults.ts';
import {
  commissionPayment,
  commissionState,
  earn,
  type MadeCommission,
} from '../../support/gateway/commission-payments.ts';
import { type SettledGateway, startSettledGateway } from '../../support/gateway/settled-gateway.ts';

const hourMs = 3_600_000;
// Bitcoin has room for 4,000 US dollars an hour, 400 of them of commission. One bitcoin is about
// 65,000 US dollars.
const settings = { PAYOUT_LIMIT_ASSET_USD_PER_HOUR: '1000000,BTC/BTC=4000', PAYOUT_SHARE_PARTNER: '1' };

const faults = new Faults();
/** Ends the work there once, as a process that dies would. */
let dieAt: CrashPoint | null = null;
let gateway: SettledGateway;

beforeAll(async () => {
  const onCrashPoint = (name: CrashPoint): void => {
    if (name !== dieAt) return;
    dieAt = null;
    throw new Error(`died at ${name}`);
  };
  gateway = await startSettledGateway({ settings, outside: { ...faults.outside(), onCrashPoint } });
});
afterAll(async () => {
  try {
    expect(await gateway?.differences()).toEqual([]);
  } finally {
    await gateway?.stop();
  }
});
beforeEach(() => gateway.clock.advance(3 * hourMs));
afterEach(() => {
  dieAt = null;
  faults.preparing = null;
  faults.broadcast = null;
  faults.status = null;
});

async function rounds(count = 6): Promise<void> {
  for (let round = 0; round < count; round++) {
    for (const network of ['BTC', 'LTC', 'ETH']) await gateway.mine(network, network === 'ETH' ? 20 : 2);
    await gateway.tick();
    gateway.clock.advance(3_000);
  }
}

const newPartner = async (): Promise<string> => (await gateway.partner()).id;
const stateOf = (one: MadeCommission): Promise<string | undefined> => commissionState(gateway, one);

interface Month {
  readonly state: string;
  readonly problem: string | null;
  readonly paid: boolean;
}

async function monthOf({ partnerId, month }: MadeCommission): Promise<Month | undefined> {
  const [row] = await gateway.query<Month>(
    `select state, problem, paid_at is not null as paid from commission_statement where partner_id = $1 and month = $2`,
    [partnerId, month],
  );
  return row;
}

/** The lines of a payment's entry, without what the chain charged. */
async function linesOf({ id }: MadeCommission): Promise<string[]> {
  const rows = await gateway.query<{ line: string }>(
    `select l.account || ' ' || trim_scale(l.amount) || ' ' || l.coin as line
       from ledger_transaction x join ledger_line l on l.transaction_id = x.id
      where x.reference = $1 and x.kind = 'payment' order by l.line limit 3`,
    [id],
  );
  return rows.map(({ line }) => line);
}

/** How often a payment's amount is on the chain. */
async function timesPaid({ id }: MadeCommission): Promise<number | undefined> {
  const [row] = await gateway.query<{ times: number }>(
    `select count(*)::int as times from sandbox_tx t join payment_attempt a on a.txid = t.txid
      where a.payment_id = $1 and t.state = 'mined'`,
    [id],
  );
  return row?.times;
}

async function attemptsOf({ id }: MadeCommission): Promise<{ txid: string | null; why: string | null }[]> {
  return gateway.query('select txid, dead_why as why from payment_attempt where payment_id = $1 order by attempt', [
    id,
  ]);
}

/** Lets the first transaction of a payment reach no block. `end` is what the chain says of it. */
async function lose(payment: MadeCommission, end: TxStatus): Promise<string | null | undefined> {
  faults.broadcast = async () => {};
  await gateway.tick();
  const [first] = await attemptsOf(payment);
  expect(first).toMatchObject({ why: null });
  faults.status = ({ txid }) => (txid === first?.txid ? end : { state: 'unknown' });
  gateway.clock.advance(6_000);
  await gateway.tick();
  faults.status = null;
  faults.broadcast = null;
  return first?.txid;
}

describe('a payment of commission', () => {
  it('takes what is due from the partner, and ends its month', async () => {
    const partnerId = await newPartner();
    const paid = await commissionPayment(gateway, { partnerId, amount: '0.001', fee: '0.0002' });
    await rounds();
    expect(await stateOf(paid)).toBe('confirmed');
    expect(await linesOf(paid)).toEqual([
      `partner:${partnerId} 0.0012 BTC`,
      'hot -0.001 BTC',
      'network_fee -0.0002 BTC',
    ]);
    expect(await monthOf(paid)).toEqual({ state: 'paid', problem: null, paid: true });
    const entries = await gateway.query(
      `select e.kind, trim_scale(e.amount)::text as amount, e.month > $2::date as later, s.state
         from commission_entry e join commission_statement s using (partner_id, month) where e.payment_id = $1`,
      [paid.id, paid.month],
    );
    expect(entries).toEqual([{ kind: 'payment', amount: '-0.0012', later: true, state: 'open' }]);
    expect(await timesPaid(paid)).toBe(1);
  });

  it('waits while a hold covers its asset', async () => {
    const holds = new PayoutHolds(gateway.app.orm, gateway.clock, gateway.app.log);
    const em = gateway.app.orm.em.fork();
    const holdId = await holds.stop(em, { coin: 'BTC', network: 'BTC' }, 'odd payouts', null);
    const waiting = await commissionPayment(gateway, { partnerId: await newPartner(), amount: '0.001' });
    await rounds();
    expect(await stateOf(waiting)).toBe('ready');
    const now = gateway.clock.now();
    const [proposedBy, decidedBy] = [
      (await gateway.staff.create('one@example.com', 'operator')).member.id,
      (await gateway.staff.create('two@example.com', 'operator')).member.id,
    ];
    const decision = { proposedBy, proposedAt: now, decidedBy, acknowledges: false, now };
    await em.transactional((inside) => resumePayouts(inside, holdId, decision));
    await rounds();
    expect(await stateOf(waiting)).toBe('confirmed');
  });

  it.each([
    ['before it begins', null],
    ['after it was built', 'payment.built'],
    ['after it was stored', 'payment.prepared'],
  ] as const)('waits while staff hold its month: %s', async (_when, point) => {
    const held = await commissionPayment(gateway, { partnerId: await newPartner(), amount: '0.001' });
    const hold = (at: Date | null, why: string | null) =>
      gateway.query('update commission_statement set held_at = $2, hold_reason = $3 where payment_id = $1', [
        ...[held.id, at, why],
      ]);
    if (point !== null) {
      dieAt = point;
      await rounds(1);
    }
    await hold(gateway.clock.now(), 'a question');
    await rounds();
    expect(await stateOf(held)).toBe('ready');
    expect(await timesPaid(held)).toBe(0);
    await hold(null, null);
    await rounds();
    expect(await stateOf(held)).toBe('confirmed');
  });

  it('waits while its partner has lost the address', async () => {
    const partnerId = await newPartner();
    const waiting = await commissionPayment(gateway, { partnerId, amount: '0.001' });
    const [member] = await gateway.query<{ id: string }>(
      `insert into partner_member (id, partner_id, name, role, created_at)
       values (gen_random_uuid(), $1, 'An owner', 'owner', now()) returning id`,
      [partnerId],
    );
    await gateway.query(
      `insert into commission_address (id, partner_id, coin, network, address, requested_at, member_id, old_is_lost, effective_at)
       values (gen_random_uuid(), $1, 'BTC', 'BTC', $2, $3, $4, true, $3)`,
      [partnerId, addressExample('BTC'), gateway.clock.now(), member?.id],
    );
    await rounds();
    expect(await stateOf(waiting)).toBe('ready');
    await gateway.query(
      'update commission_address set cancelled_at = $2 where partner_id = $1 and took_effect_at is null',
      [partnerId, gateway.clock.now()],
    );
    await rounds();
    expect(await stateOf(waiting)).toBe('confirmed');
  });

  it('waits while the balance of its partner does not cover it', async () => {
    const partnerId = await newPartner();
    const first = await commissionPayment(gateway, { partnerId, amount: '0.001', monthsAgo: 2 });
    const uncovered = await commissionPayment(gateway, { partnerId, amount: '0.001', earned: '0.0005' });
    await rounds();
    expect([await stateOf(first), await stateOf(uncovered)]).toEqual(['confirmed', 'ready']);
    // What the partner earns later covers it.
    await earn(gateway, { partnerId, month: monthName(gateway.clock.now()), amount: '0.0006' });
    await rounds();
    expect(await stateOf(uncovered)).toBe('confirmed');
  });

  it('waits for the part of commission in a limit, and blocks no payout', async () => {
    const [first, second] = [
      await commissionPayment(gateway, { partnerId: await newPartner(), amount: '0.004' }),
      await commissionPayment(gateway, { partnerId: await newPartner(), amount: '0.004' }),
    ];
    await rounds();
    expect([await stateOf(first), await stateOf(second)].toSorted()).toEqual(['confirmed', 'payout_share']);
    const order = await gateway.order({
      ...{ coin_from: 'LTC', network_from: 'LTC', amount_from: 7.6, refund_address: addressExample('LTC') },
      ...{ coin_to: 'BTC', network_to: 'BTC', recipient_address: addressExample('BTC') },
    });
    await gateway.deposit(order);
    await gateway.settle(order);
    expect((await gateway.show(order)).status).toBe('completed');
    expect([await stateOf(first), await stateOf(second)]).toContain('payout_share');
    gateway.clock.advance(hourMs + 60_000);
    await rounds();
    expect([await stateOf(first), await stateOf(second)]).toEqual(['confirmed', 'confirmed']);
  });

  it('uses no more than its part of the fees of a day', async () => {
    const { id } = await commissionPayment(gateway, { partnerId: await newPartner(), amount: '0.001' });
    const commission = await gateway.app.orm.em.fork().findOneOrFail(Payment, { id });
    const payout = { ...commission, kind: 'payout' as const };
    const network = { feeLimits: { perDay: '1' } } as NetworkConfig;
    const shares = new FeeShares({
      ...{ orm: gateway.app.orm, clock: gateway.clock, networks: new Map([['bitcoin', network]]) },
      parts: { refunds: '1', sweeps: '1', partner: '1', commission: '0.1' },
    });
    const room = await shares.room('bitcoin', [commission]);
    expect(room.has(commission, new Big('0.09'))).toBe(true);
    room.take(commission, new Big('0.09'));
    expect([room.has(commission, new Big('0.02')), room.has(payout, new Big('0.02'))]).toEqual([false, true]);
    await rounds();
    expect(await stateOf({ id } as MadeCommission)).toBe('confirmed');
  });

  it('that waits for a used-up limit keeps no later payout back', async () => {
    const payOut = async (amount: number): Promise<string> => {
      const order = await gateway.order({
        ...{ coin_from: 'LTC', network_from: 'LTC', amount_from: amount, refund_address: addressExample('LTC') },
        ...{ coin_to: 'BTC', network_to: 'BTC', recipient_address: addressExample('BTC') },
      });
      await gateway.deposit(order);
      await gateway.settle(order);
      return (await gateway.show(order)).status;
    };
    expect(await payOut(7.6)).toBe('completed');
    const [price] = await gateway.query<{ usd: number }>(
      `select (value_usd / 7.6)::float8 as usd from payment where kind = 'payout' order by number desc limit 1`,
    );
    gateway.clock.advance(hourMs + 60_000);
    const litecoin = price?.usd ?? 0;
    expect(await payOut(Number((3_850 / litecoin).toFixed(4)))).toBe('completed');
    const waiting = [
      await commissionPayment(gateway, { partnerId: await newPartner(), amount: '0.004' }),
      await commissionPayment(gateway, { partnerId: await newPartner(), amount: '0.004' }),
    ];
    await rounds(2);
    for (const one of waiting) expect(await stateOf(one)).toBe('payout_limit_asset');
    expect(await payOut(Number((80 / litecoin).toFixed(4)))).toBe('completed');
    gateway.clock.advance(hourMs + 60_000);
    await rounds();
    expect(await stateOf(waiting[0] as MadeCommission)).toBe('confirmed');
  });

  it('above the part of commission by itself never begins, and staff read what to raise', async () => {
    const above = await commissionPayment(gateway, { partnerId: await newPartner(), amount: '0.0065' });
    await rounds();
    expect(await stateOf(above)).toBe('above_share');
    const [item] = (await attention(gateway.app.orm.em.fork(), 100, gateway.clock.now())).filter(
      ({ subjectId }) => subjectId === above.id,
    );
    expect(item?.detail).toMatch(
      /^above_share, commission of .+: worth 4\d\d\.\d\d US dollars, raise PAYOUT_SHARE_COMMISSION or commission_per_day$/,
    );
    // Smaller ones overtake it.
    gateway.clock.advance(hourMs + 60_000);
    const small = await commissionPayment(gateway, { partnerId: await newPartner(), amount: '0.004' });
    await rounds();
    gateway.clock.advance(25 * hourMs);
    await rounds();
    expect([await stateOf(above), await stateOf(small)]).toEqual(['above_share', 'confirmed']);
    expect(await timesPaid(above)).toBe(0);
  });

  const points = (Object.keys(crashPoints) as CrashPoint[]).filter((name) => name.startsWith('payment.'));
  it.each(points)('is paid once when the worker dies at %s', async (point) => {
    const paid = await commissionPayment(gateway, { partnerId: await newPartner(), amount: '0.001' });
    dieAt = point;
    await rounds(10);
    expect(dieAt).toBeNull();
    expect(await stateOf(paid)).toBe('confirmed');
    expect(await timesPaid(paid)).toBe(1);
    expect(await linesOf(paid)).toHaveLength(3);
    expect((await monthOf(paid))?.state).toBe('paid');
  });

  it('leaves its month payable when it ends unpaid, and is not ended by the first refusal', async () => {
    const dead = await commissionPayment(gateway, { partnerId: await newPartner(), amount: '0.001' });
    faults.preparing = ({ id }) => {
      if (id === dead.id) throw new ChainError('would_fail', 'refused', { retryable: false, isOfChain: true });
    };
    await rounds();
    expect(await stateOf(dead)).toBe('would_fail');
    expect(await monthOf(dead)).toEqual({ state: 'payable', problem: null, paid: false });
    gateway.clock.advance(24 * hourMs);
    await rounds();
    expect(await stateOf(dead)).toBe('would_fail');
    expect(await monthOf(dead)).toEqual({ state: 'payable', problem: 'payment_dead', paid: false });
    expect(await linesOf(dead)).toEqual([]);
  });

  it('whose transaction can never confirm is paid once, by the next one', async () => {
    const partnerId = await newPartner();
    const replaced = await commissionPayment(gateway, { partnerId, coin: 'ETH', amount: '0.01' });
    const lost = await lose(replaced, { state: 'dead', why: 'conflict', final: true });
    // Another payment takes the nonce of the lost transaction.
    const other = await commissionPayment(gateway, { partnerId: await newPartner(), coin: 'ETH', amount: '0.02' });
    await rounds();
    expect(await stateOf(other)).toBe('confirmed');
    await rounds();
    expect(await stateOf(replaced)).toBe('confirmed');
    expect(await attemptsOf(replaced)).toEqual([
      { txid: lost, why: 'conflict' },
      { txid: expect.not.stringMatching(`^${lost}$`), why: null },
    ]);
    expect(await timesPaid(replaced)).toBe(1);
    expect(await monthOf(replaced)).toEqual({ state: 'paid', problem: null, paid: true });
  });

  it('that died on the chain is paid once, by another payment of its month', async () => {
    const partnerId = await newPartner();
    const dead = await commissionPayment(gateway, { partnerId, amount: '0.001' });
    await gateway.query(
      `with owner as (insert into partner_member (id, partner_id, name, role, created_at)
                      values (gen_random_uuid(), $1, 'An owner', 'owner', now()) returning id)
       insert into commission_address (id, partner_id, coin, network, address, requested_at, member_id, effective_at,
                                       took_effect_at)
       select gen_random_uuid(), $1, 'BTC', 'BTC', $2, $3, id, $3, $3 from owner`,
      [partnerId, addressExample('BTC'), gateway.clock.now()],
    );
    await lose(dead, { state: 'mined', height: 1, confirmations: 100, success: false, fee: 0n, final: true });
    expect(await stateOf(dead)).toBe('failed_on_chain');
    expect(await monthOf(dead)).toEqual({ state: 'payable', problem: 'payment_dead', paid: false });
    await gateway.settlement.commission.run();
    const payments = (): Promise<MadeCommission[]> =>
      gateway.query(
        `select p.id, s.partner_id as "partnerId", s.month::text as month
           from commission_statement s join payment p on p.id = s.payment_id where s.partner_id = $1`,
        [partnerId],
      );
    expect(await payments()).toEqual([dead]);
    gateway.clock.advance(hourMs);
    await gateway.settlement.commission.run();
    const [next] = await payments();
    if (!next) throw new Error('the month has no payment');
    expect(next.id).not.toBe(dead.id);
    await rounds();
    expect([await stateOf(next), await timesPaid(next), await timesPaid(dead)]).toEqual(['confirmed', 1, 0]);
    expect(await linesOf(next)).toHaveLength(3);
    expect(await monthOf(next)).toEqual({ state: 'paid', problem: null, paid: true });
  });

  it.each([
    ['goes on, when the chain has it in a block after all', true],
    ['gives way to the next one, when the chain still calls it dead', false],
  ])('that was signed before another address takes effect %s', async (_what, isRevived) => {
    const partnerId = await newPartner();
    const signed = await commissionPayment(gateway, { partnerId, coin: 'ETH', amount: '0.01' });
    let prepared = 0;
    faults.preparing = ({ id }) => {
      if (id !== signed.id || prepared++ === 0) return;
      throw new ChainError('node_failed', 'the node is away', { retryable: true, isOfChain: false });
    };
    // The chain calls it dead, also when it has it.
    if (!isRevived) faults.broadcast = async () => {};
    await gateway.tick();
    faults.status = () => ({ state: 'dead', why: 'conflict', final: true });
    gateway.clock.advance(6_000);
    await gateway.tick();
    faults.broadcast = null;
    expect(await attemptsOf(signed)).toEqual([{ txid: expect.any(String), why: 'conflict' }]);
    await gateway.query(
      `with owner as (insert into partner_member (id, partner_id, name, role, created_at)
                      values (gen_random_uuid(), $1, 'An owner', 'owner', now()) returning id)
       insert into commission_address (id, partner_id, coin, network, address, requested_at, member_id, old_is_lost,
                                       effective_at)
       select gen_random_uuid(), $1, 'ETH', 'ETH', '0x52908400098527886E0F7030069857D2E4169EE7', $2, id, true, $2
         from owner`,
      [partnerId, gateway.clock.now()],
    );
    await gateway.settlement.commission.run();
    expect(await stateOf(signed)).toBe('marked_failed');
    faults.preparing = null;
    if (isRevived) {
      faults.status = null;
      await gateway.mine('ETH', 20);
    }
    for (let turn = 0; turn < 3; turn++) {
      await gateway.tick();
      gateway.clock.advance(6_000);
    }
    faults.status = null;
    expect(await stateOf(signed)).toBe(isRevived ? 'confirmed' : 'marked_failed');
    const [held] = await gateway.query<{ count: number }>(
      'select count(*)::int as count from payment_reservation where payment_id = $1 and released_at is null',
      [signed.id],
    );
    expect(held).toEqual({ count: 0 });
    gateway.clock.advance(2 * hourMs);
    await gateway.settlement.commission.run();
    await rounds(10);
    const payments = await gateway.query<{ state: string; isNew: boolean }>(
      `select p.state, p.address = '0x52908400098527886E0F7030069857D2E4169EE7' as "isNew"
         from payment p join payment_attempt a on a.payment_id = p.id
        where p.kind = 'commission' and (p.id = $1 or p.id in (select payment_id from commission_statement where partner_id = $2))
        group by p.id order by p.number`,
      [signed.id, partnerId],
    );
    expect(payments).toEqual(
      isRevived
        ? [{ state: 'confirmed', isNew: false }]
        : [
            { state: 'dead', isNew: false },
            { state: 'confirmed', isNew: true },
          ],
    );
  });

  it('is shown to staff with its partner once it waits for half a day', async () => {
    const partnerId = await newPartner();
    const waiting = await commissionPayment(gateway, { partnerId, amount: '0.001', earned: '0' });
    const items = async () =>
      (await attention(gateway.app.orm.em.fork(), 100, gateway.clock.now())).filter(
        ({ subjectId }) => subjectId === waiting.id,
      );
    gateway.clock.advance(12 * hourMs);
    await gateway.tick();
    expect(await items()).toEqual([]);
    gateway.clock.advance(1_000);
    const [{ name } = { name: '' }] = await gateway.query<{ name: string }>('select name from partner where id = $1', [
      partnerId,
    ]);
    expect(await items()).toEqual([
      expect.objectContaining({
        kind: 'payment_problem',
        detail: `not_sent, commission of ${name} for ${waiting.month.slice(0, 7)}`,
      }),
    ]);
    await earn(gateway, { partnerId, month: monthName(gateway.clock.now()), amount: '0.0011' });
  });
});
