import { randomUUID } from 'node:crypto';
import { addressExample } from '../../../src/chains/addresses/address.ts';
import type { Holding } from '../../../src/chains/port/chain-adapter.ts';
import { attention } from '../../../src/orders/read/attention.ts';
import type { StaffProposal } from '../../../src/settlement/staff-actions.ts';
import { type MadeOrder, type SettledGateway, startSettledGateway } from '../../support/gateway/settled-gateway.ts';

// Deposits to a shared address without a tag of an order, on chains that pay from it as XRP does.

let gateway: SettledGateway;
let wallet: Holding;
let first: string;
let second: string;

beforeAll(async () => {
  gateway = await startSettledGateway({ settings: { SANDBOX_RULES: 'tagged' } });
  const adapter = gateway.settlement.adapters.get('ripple');
  if (!adapter) throw new Error('there is no ripple');
  wallet = await adapter.hotWallet();
  const member = async (name: string): Promise<string> =>
    (await gateway.staff.create(`${name}@example.com`, 'operator')).member.id;
  [first, second] = [await member('first'), await member('second')];
});
afterAll(() => gateway?.stop());
afterEach(async () => {
  expect(await gateway.differences(['ripple', 'bitcoin'])).toEqual([]);
});

const minute = 60_000;
const proof = 'signed "VX-1" by the key of the sender';

const orderOfXrp = (changes: Record<string, unknown> = {}): Promise<MadeOrder> =>
  gateway.order({ coin_from: 'XRP', network_from: 'XRP', coin_to: 'BTC', network_to: 'BTC', ...to, ...changes });
const to = { amount_from: 500, recipient_address: addressExample('BTC') };

interface Row {
  readonly id: string;
  readonly order_id: string | null;
  readonly state: string;
  readonly problem: string | null;
}

/** A deposit of so many XRP in a final block, without a tag unless given. */
async function arrives(xrp: number, tag: string | null = null): Promise<Row> {
  const amount = BigInt(Math.round(xrp * 1_000_000));
  const output = { to: wallet.address, tag, contract: null, amount, busyBlocks: 2 };
  const txid = await gateway.settlement.sandbox.pay('ripple', output);
  await gateway.mine('XRP', 2);
  await gateway.tick();
  const [row] = await gateway.query<Row>('select id, order_id, state, problem from deposit where txid = $1', [txid]);
  if (!row) throw new Error('the deposit was not found');
  return row;
}

function propose(proposal: Omit<StaffProposal, 'staffId' | 'reason' | 'action'>): Promise<{ readonly id: string }> {
  const { staffActions } = gateway.settlement;
  return staffActions.propose({ action: 'assign_deposit', evidence: proof, staffId: first, reason: 'x', ...proposal });
}

const approve = (id: string, by = second) => gateway.settlement.staffActions.approve(id, by);

async function assign(deposit: Row, order: MadeOrder): Promise<void> {
  await approve((await propose({ depositId: deposit.id, orderId: order.id })).id);
}

const owed = (): Promise<object[]> =>
  gateway.query(
    `select network, sum(amount)::text as amount from ledger_line where account = 'suspense'
      group by network having sum(amount) <> 0`,
  );

const paymentsOf = ({ id }: MadeOrder): Promise<object[]> =>
  gateway.query(
    'select kind, state, trim_scale(amount)::text as amount from payment where order_id = $1 order by number',
    [id],
  );

describe('a deposit without an order', () => {
  it('is exchanged as if it had come with the tag, once two members assign it', async () => {
    const order = await orderOfXrp();
    const deposit = await arrives(500);
    expect(deposit).toMatchObject({ order_id: null, state: 'credited', problem: 'unknown_tag' });
    await assign(deposit, order);
    await gateway.settle(order);
    expect(await gateway.show(order)).toMatchObject({ status: 'completed' });
    expect(await paymentsOf(order)).toMatchObject([{ kind: 'payout', state: 'confirmed' }]);
    const [action] = await gateway.query('select evidence, state from staff_action where deposit_id = $1', [
      deposit.id,
    ]);
    expect(action).toEqual({ evidence: proof, state: 'done' });
    expect(await owed()).toEqual([]);
  });

  it('is assigned once, however many members propose and approve at the same time', async () => {
    const orders = await Promise.all([orderOfXrp(), orderOfXrp(), orderOfXrp()]);
    const deposit = await arrives(500);
    const proposals = await Promise.all(
      orders.map(async (order) => (await propose({ depositId: deposit.id, orderId: order.id })).id),
    );
    const refund = await propose({
      ...{ action: 'refund', depositId: deposit.id, recipient: { address: addressExample('XRP'), tag: '7' } },
    } as never);
    const ended = await Promise.allSettled([...proposals, refund.id].map((id) => approve(id)));
    const won = ended.filter(({ status }) => status === 'fulfilled');
    expect(won).toHaveLength(1);
    for (const order of orders) await gateway.settle(order);
    for (let turn = 0; turn < 4; turn += 1) {
      await gateway.mine('XRP');
      await gateway.tick();
    }
    const paid = await gateway.query(
      `select from payment where deposit_id = $1 and state = 'confirmed' and leg = 'main'`,
      [deposit.id],
    );
    expect(paid).toHaveLength(1);
    expect(await owed()).toEqual([]);
    for (const id of proposals) await gateway.settlement.staffActions.reject(id, first).catch(() => {});
  });

  it('that came after the window is late for the order, and below its minimum too small', async () => {
    const late = await orderOfXrp();
    gateway.clock.advance(31 * minute);
    // The last block before had an older time, which would let the deposit count as one in time.
    await gateway.mine('XRP', 2);
    await gateway.tick();
    gateway.clock.advance(minute);
    const deposit = await arrives(500);
    expect(await gateway.show(late)).toMatchObject({ status: 'expired' });
    await assign(deposit, late);
    await gateway.settle(late);
    expect(await gateway.show(late)).toMatchObject({ status: 'refunded' });
    expect(await paymentsOf(late)).toMatchObject([{ kind: 'refund', state: 'confirmed' }]);

    const small = await orderOfXrp();
    const [{ least = '0' } = {}] = await gateway.query<{ least: string }>(
      'select trim_scale(min_amount)::text as least from exchange_order where id = $1',
      [small.id],
    );
    await assign(await arrives(Number(least) * 0.9), small);
    await gateway.settle(small);
    expect(await gateway.show(small)).toMatchObject({ status: 'waiting_deposit', deposit_txid: null });
  });

  it('is refunded in addition to the deposit that an order has already', async () => {
    const order = await orderOfXrp();
    await gateway.deposit(order);
    await gateway.mine('XRP', 2);
    await gateway.tick();
    await assign(await arrives(200), order);
    await gateway.settle(order);
    expect(await gateway.show(order)).toMatchObject({ status: 'completed' });
    expect(await paymentsOf(order)).toMatchObject([
      { kind: 'payout', state: 'confirmed' },
      { kind: 'refund', state: 'confirmed' },
    ]);
  });

  it('is refused an order that was made after it came, one of another address, and a second time', async () => {
    const deposit = await arrives(500);
    gateway.clock.advance(minute);
    await gateway.mine('XRP', 2);
    await gateway.tick();
    const after = await orderOfXrp();
    await expect(propose({ depositId: deposit.id, orderId: after.id })).rejects.toThrow('before the order was made');
    const other = await gateway.order();
    await expect(propose({ depositId: deposit.id, orderId: other.id })).rejects.toThrow('another address');
    await expect(propose({ depositId: randomUUID(), orderId: other.id })).rejects.toThrow('no such deposit');
    await expect(propose({ depositId: deposit.id, orderId: after.id, evidence: ' ' })).rejects.toThrow(
      'needs evidence',
    );
    await expect(propose({ depositId: deposit.id })).rejects.toThrow('no such order');

    const order = await orderOfXrp();
    const next = await arrives(500);
    const { id } = await propose({ depositId: next.id, orderId: order.id });
    await expect(propose({ depositId: next.id, orderId: order.id })).rejects.toThrow('the same is proposed already');
    await expect(approve(id, first)).rejects.toThrow();
    await approve(id);
    await expect(propose({ depositId: next.id, orderId: order.id })).rejects.toThrow('belongs to an order already');
    await gateway.settle(order);
  });

  it('with the tag of funding is capital, which staff neither assign nor return', async () => {
    const owedBefore = await owed();
    const order = await orderOfXrp();
    const deposit = await arrives(500, wallet.tag);
    expect(deposit).toMatchObject({ order_id: null, state: 'credited', problem: null });
    const isFunding = 'the deposit is funding of the hot wallet';
    await expect(propose({ depositId: deposit.id, orderId: order.id })).rejects.toThrow(isFunding);
    const back = { action: 'refund', depositId: deposit.id, recipient: { address: addressExample('XRP'), tag: '7' } };
    await expect(propose(back as never)).rejects.toThrow(isFunding);
    expect(await owed()).toEqual(owedBefore);
  });

  it('is returned to the address and the tag that its owner names, and then to no order', async () => {
    const order = await orderOfXrp();
    const deposit = await arrives(500);
    const recipient = { address: addressExample('XRP'), tag: '7' };
    const asked = { action: 'refund', depositId: deposit.id, recipient } as const;
    await expect(propose({ ...asked, evidence: '' } as never)).rejects.toThrow('needs evidence');
    const own = { ...asked, recipient: { address: wallet.address, tag: null } };
    await expect(propose(own as never)).rejects.toThrow();
    await approve((await propose(asked as never)).id);
    for (let turn = 0; turn < 4; turn += 1) {
      await gateway.mine('XRP');
      await gateway.tick();
    }
    const paid = await gateway.query('select state, address, tag from payment where deposit_id = $1', [deposit.id]);
    expect(paid).toEqual([{ state: 'confirmed', ...recipient }]);
    await expect(propose({ depositId: deposit.id, orderId: order.id })).rejects.toThrow('was decided before');
  });
});

describe('deposits without an order below the minimum', () => {
  const dust = 10_000;

  it('are one item of attention for ten thousand, and keep no order waiting', async () => {
    const order = await orderOfXrp();
    await gateway.query('delete from small_deposit_day');
    const items = async () => (await attention(gateway.app.orm.em.fork(), 1_000, gateway.clock.now())).length;
    const [before, steps] = [await items(), await scans()];
    await gateway.query(
      `insert into sandbox_tx (chain, txid, recipient, amount, fee, state, seen_at)
       select 'ripple', md5(i::text) || md5('dust' || i), $1, 1 + i % 10, 0, 'mempool', $2
         from generate_series(1, ${dust}) i`,
      [wallet.address, gateway.clock.now()],
    );
    await gateway.deposit(order);
    await gateway.mine('XRP', 8);
    await gateway.settle(order);
    expect(await gateway.show(order)).toMatchObject({ status: 'completed' });
    expect(
      await gateway.query(
        `select state, problem, count(*)::int as count from deposit where amount <= 0.00001 group by state, problem`,
      ),
    ).toEqual([{ state: 'credited', problem: null, count: dust }]);
    const found = (await attention(gateway.app.orm.em.fork(), 1_000, gateway.clock.now())).filter(
      ({ kind }) => kind === 'small_deposits',
    );
    expect(found).toMatchObject([
      { orderId: null, detail: `${dust} on ripple without an order, each below the minimum` },
    ]);
    expect(await items()).toBe(before + 1);
    // Each transaction stores or credits a bounded number of them.
    expect((await scans()) - steps).toBeLessThan(25);
    // A second scan of the same blocks counts nothing twice.
    await gateway.tick();
    expect(await gateway.query('select deposits::int as deposits from small_deposit_day')).toEqual([
      { deposits: dust },
    ]);
  });

  it('with the tag of funding, which anyone can read on the chain, take as few steps and are capital', async () => {
    const order = await orderOfXrp();
    const funding = 4_000;
    const shown = () => gateway.query('select chain, day, deposits from small_deposit_day');
    const before = await shown();
    const steps = await scans();
    await gateway.query(
      `insert into sandbox_tx (chain, txid, recipient, tag, amount, fee, state, seen_at)
       select 'ripple', md5(i::text) || md5('funding' || i), $1, $2, 1 + i % 10, 0, 'mempool', $3
         from generate_series(1, ${funding}) i`,
      [wallet.address, wallet.tag, gateway.clock.now()],
    );
    await gateway.deposit(order);
    await gateway.mine('XRP', 8);
    await gateway.settle(order);
    expect(await gateway.show(order)).toMatchObject({ status: 'completed' });
    expect((await scans()) - steps).toBeLessThan(16);
    const booked = await gateway.query(
      `select d.purpose, d.state, l.account, count(*)::int as count, trim_scale(sum(l.amount))::text as amount
         from deposit d join ledger_transaction x on x.kind = 'funding' and x.reference = d.chain || ':' || d.key || ':1'
         join ledger_line l on l.transaction_id = x.id
        where d.tag = $1 and d.amount < 1 group by 1, 2, 3 order by 3`,
      [wallet.tag],
    );
    const sum = { purpose: 'funding', state: 'credited', count: funding };
    expect(booked).toEqual([
      { ...sum, account: 'hot', amount: '0.022' },
      { ...sum, account: 'opening', amount: '-0.022' },
    ]);
    // They are no item of attention.
    expect(await shown()).toEqual(before);
  });

  /** The stored steps of scans of the chain. */
  async function scans(): Promise<number> {
    const [row] = await gateway.query<{ version: number }>(
      `select version::int as version from chain_state where chain = 'ripple'`,
    );
    return row?.version ?? 0;
  }

  it('can be assigned, which leaves the decision to the rules of the order', async () => {
    const order = await orderOfXrp();
    const deposit = await arrives(0.5);
    expect(deposit).toMatchObject({ state: 'credited', problem: null });
    await assign(deposit, order);
    await gateway.deposit(order);
    await gateway.mine('XRP', 2);
    await gateway.settle(order);
    expect(await gateway.show(order)).toMatchObject({ status: 'completed' });
  });

  it('are shown for two days', async () => {
    gateway.clock.advance(48 * 60 * minute + 1);
    const items = await attention(gateway.app.orm.em.fork(), 1_000, gateway.clock.now());
    expect(items.map(({ kind }) => kind)).not.toContain('small_deposits');
  });
});
