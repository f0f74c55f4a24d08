import { addressExample } from '../../../src/chains/addresses/address.ts';
import type { ChainAdapter, Holding, SignedTx } from '../../../src/chains/port/chain-adapter.ts';
import { sandboxVariants } from '../../../src/chains/sandbox/sandbox-rules.ts';
import { type SettledGateway, startSettledGateway } from '../../support/gateway/settled-gateway.ts';

// Orders from end to end on sandbox chains of each kind.

describe.each(Object.keys(sandboxVariants))('on chains of the rules %s', (SANDBOX_RULES) => {
  let gateway: SettledGateway;

  beforeAll(async () => {
    gateway = await startSettledGateway({ settings: { SANDBOX_RULES } });
  });
  afterAll(() => gateway?.stop());

  it('an order is paid once, and no problem is noted meanwhile', async () => {
    const order = await gateway.order();
    await gateway.deposit(order);
    await gateway.mine('BTC', 3);
    for (let turn = 0; turn < 5; turn += 1) {
      // The second turn reads what the first one stored, while a payment waits for its block.
      await gateway.tick();
      gateway.clock.advance(1_000);
      await gateway.tick();
      const problems = await gateway.query('select problem from payment where problem is not null');
      expect(problems).toEqual([]);
      gateway.clock.advance(1_000);
      await gateway.mine('TRC20');
    }
    await gateway.tick();
    expect(await gateway.show(order)).toMatchObject({ status: 'completed' });
    const paid = await gateway.query(
      `select from sandbox_tx t join payment_attempt a on a.chain = t.chain and a.txid = t.txid
        where t.state = 'mined' and t.success`,
    );
    expect(paid).toHaveLength(1);
    expect(await gateway.differences()).toEqual([]);
  });
});

describe.each([
  'shared',
  'tagged',
])('a wallet that pays from its deposits, on chains of the rules %s', (SANDBOX_RULES) => {
  let gateway: SettledGateway;
  let wallet: Holding;

  beforeAll(async () => {
    gateway = await startSettledGateway({ settings: { SANDBOX_RULES } });
    const adapter = gateway.settlement.adapters.get('ripple');
    if (!adapter) throw new Error('there is no ripple');
    wallet = await adapter.hotWallet();
  });
  afterAll(() => gateway?.stop());

  const xrp = { coin_from: 'XRP', network_from: 'XRP', amount_from: 500 };

  /** What arrives at the wallet, in a separate block. */
  async function arrives(tag: string | null, amount: bigint, isUnusual = false): Promise<string> {
    const output = { to: wallet.address, tag, contract: null, amount, isUnusual };
    const txid = await gateway.settlement.sandbox.pay('ripple', { ...output, busyBlocks: 2 });
    await gateway.mine('XRP', 2);
    await gateway.tick();
    return txid;
  }

  const rowOf = async (txid: string): Promise<object | undefined> =>
    (
      await gateway.query(
        `select d.purpose, d.order_id, d.state, d.problem,
                (select array_agg(l.account order by l.account)
                   from ledger_transaction x join ledger_line l on l.transaction_id = x.id
                  where x.reference = d.chain || ':' || d.key || ':1') as accounts
           from deposit d where d.txid = $1`,
        [txid],
      )
    )[0];

  it('has the address of every deposit, and a separate tag', async () => {
    const [one, other] = [await gateway.order(xrp), await gateway.order({ ...xrp, amount_from: 600 })];
    expect(one.depositAddress).toBe(wallet.address);
    expect(other.depositAddress).toBe(wallet.address);
    expect(new Set([one.depositTag, other.depositTag, wallet.tag, null]).size).toBe(4);
    expect(await gateway.settlement.adapters.get('bitcoin')?.hotWallet()).toMatchObject({ tag: null });
  });

  it('is paid into and pays out, and its balance counts once', async () => {
    const order = await gateway.order(xrp);
    await gateway.deposit(order);
    await gateway.mine('XRP');
    await gateway.settle(order);
    expect(await gateway.show(order)).toMatchObject({ status: 'completed' });
    const back = await gateway.order({ coin_to: 'XRP', network_to: 'XRP', recipient_address_tag: '5', ...paidInXrp });
    await gateway.deposit(back);
    await gateway.mine('BTC');
    await gateway.settle(back);
    expect(await gateway.show(back)).toMatchObject({ status: 'completed' });
    expect(await gateway.query(`select 1 from ledger_line where account = 'deposits' and network = 'XRP'`)).toEqual([]);
    expect(await gateway.differences()).toEqual([]);
  });

  it('takes as funding only what comes with its tag', async () => {
    const funding = await rowOf(await arrives(wallet.tag, 900_000_000n));
    expect(funding).toMatchObject({ purpose: 'funding', state: 'credited', accounts: ['hot', 'opening'] });
    for (const tag of [null, '4294967295', '']) {
      const stray = await rowOf(await arrives(tag, 900_000_000n));
      const owed = { purpose: 'order', order_id: null, state: 'credited', accounts: ['hot', 'suspense'] };
      expect(stray).toMatchObject({ ...owed, problem: 'unknown_tag' });
    }
    expect(await gateway.differences(['ripple'])).toEqual([]);
  });

  it('gives no order what came by an unusual kind of transaction, with any tag', async () => {
    const order = await gateway.order(xrp);
    for (const tag of [order.depositTag, wallet.tag]) {
      expect(await rowOf(await arrives(tag, 500_000_000n, true))).toMatchObject({
        ...{ purpose: 'order', order_id: null, state: 'credited', accounts: ['hot', 'suspense'] },
        problem: 'unusual_kind',
      });
    }
    expect(await gateway.show(order)).toMatchObject({ status: 'waiting_deposit', deposit_txid: null });
    expect(await gateway.differences(['ripple'])).toEqual([]);
  });
});

describe('a deposit that staff assigned, and whose block a reorganisation removes', () => {
  let gateway: SettledGateway;

  beforeAll(async () => {
    gateway = await startSettledGateway({ settings: { SANDBOX_RULES: 'shared' } });
  });
  afterAll(() => gateway?.stop());

  it('is taken from its order, and given back with its block', async () => {
    const order = await gateway.order({ coin_from: 'XRP', network_from: 'XRP', amount_from: 500 });
    await gateway.deposit(order, { tag: null });
    await gateway.mine('XRP', 2);
    await gateway.tick();
    const [deposit] = await gateway.query<{ id: string }>('select id from deposit');
    const member = async (name: string): Promise<string> =>
      (await gateway.staff.create(`${name}@example.com`, 'operator')).member.id;
    const [one, other] = [await member('one'), await member('other')];
    const { staffActions } = gateway.settlement;
    const asked = { action: 'assign_deposit', evidence: 'signed', staffId: one, reason: 'x' } as const;
    const { id } = await staffActions.propose({ ...asked, depositId: deposit?.id ?? '', orderId: order.id });
    await staffActions.approve(id, other);
    const owed = (): Promise<object[]> =>
      gateway.query(
        `select account, trim_scale(sum(amount))::text as amount from ledger_line
          where network = 'XRP' and account in ('client', 'suspense') group by account having sum(amount) <> 0`,
      );
    expect(await owed()).toEqual([{ account: 'client', amount: '-500' }]);
    await gateway.reorg('XRP', 2);
    await gateway.tick();
    expect(await gateway.query('select state, order_id from deposit')).toEqual([
      { state: 'mempool', order_id: order.id },
    ]);
    expect(await owed()).toEqual([]);
    await gateway.mine('XRP', 2);
    await gateway.settle(order);
    expect(await gateway.show(order)).toMatchObject({ status: 'completed' });
    expect(await owed()).toEqual([]);
    expect(await gateway.differences()).toEqual([]);
  });
});

const paidInXrp = { recipient_address: addressExample('XRP') };

describe('a payment whose attempts do not exclude each other', () => {
  let gateway: SettledGateway;
  let isLosing = true;

  /** The node of one chain answers broadcasts, and takes none while `isLosing`. */
  function losing(adapter: ChainAdapter): ChainAdapter {
    if (adapter.chain !== 'tron') return adapter;
    const { broadcastAll } = adapter;
    return Object.assign(adapter, {
      broadcastAll: async (txs: readonly SignedTx[]) =>
        isLosing ? txs.map(() => ({ outcome: 'accepted', code: null })) : broadcastAll?.call(adapter, txs),
    });
  }

  beforeAll(async () => {
    gateway = await startSettledGateway({
      settings: { SANDBOX_RULES: 'not-exclusive' },
      outside: { chain: losing },
    });
  });
  afterAll(() => gateway?.stop());

  interface Row {
    readonly attempt: number;
    readonly why: string | null;
    readonly problem: string | null;
    /** Seconds from the expiry of the attempt to the payment's next turn. */
    readonly wait: number | null;
  }
  const attempts = (): Promise<Row[]> =>
    gateway.query<Row>(
      `select a.attempt, a.dead_why as why, p.problem,
              extract(epoch from p.next_action_at - a.expires_at)::float8 as wait
         from payment p join payment_attempt a on a.payment_id = p.id order by a.attempt`,
    );

  async function mine(blocks: number): Promise<void> {
    for (let block = 0; block < blocks; block += 1) {
      gateway.clock.advance(5_000);
      await gateway.mine('TRC20');
      await gateway.tick();
    }
  }

  it('gets its next one when the signer signs it, and is never refused', async () => {
    const order = await gateway.order();
    await gateway.deposit(order);
    await gateway.mine('BTC', 3);
    // The first block has the time of the machine, and this one the time of the test.
    await gateway.mine('TRC20');
    await gateway.tick();
    await mine(5);
    expect(await attempts()).toMatchObject([{ attempt: 1, why: 'expired', problem: 'expired', wait: 150 }]);
    isLosing = false;
    for (let turn = 0; turn < 60 && (await attempts()).length === 1; turn += 1) {
      expect(await attempts()).toMatchObject([{ problem: 'expired' }]);
      await mine(1);
    }
    expect(await attempts()).toMatchObject([
      { why: 'expired', problem: null },
      { attempt: 2, why: null },
    ]);
    await mine(4);
    expect(await gateway.show(order)).toMatchObject({ status: 'completed' });
    expect(await gateway.differences()).toEqual([]);
  });
});
