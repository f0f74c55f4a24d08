import { paidOrders } from './paid-orders.ts';
import type { AnyChain, RealCoin, RealGateway, RealOrder } from './real-gateway.ts';

/** A chain whose deposits share one address, as the cases below need it. */
interface SharedAddressChain<Faults extends object> {
  readonly gateway: () => RealGateway;
  readonly chain: AnyChain;
  readonly coin: RealCoin;
  /** An amount of the coin that buys LTC, in coins. */
  readonly amount: number;
  /** What is exchanged for what, and how much of it. */
  readonly pairs: readonly (readonly [from: RealCoin, to: RealCoin, amount: number])[];
  /** The coin of the order whose deposit comes too late, with its amount. */
  readonly late: readonly [from: RealCoin, amount: number];
  /** The chain and its nodes. */
  readonly world: () => {
    readonly chain: { hold(txid: string): void; release(txid: string): void };
    readonly nodes: readonly { faults: Faults }[];
    heal(): void;
  };
  /** A node accepts a transaction and no block ever holds it. */
  readonly losesPayments: Faults;
  /** Goes on to where such a transaction has expired. */
  readonly expire: () => Promise<unknown>;
  /** The transaction that brings a deposit, by what sent it. They are the same unless stated. */
  readonly txidOf?: (sent: string) => string;
  /** Whether the next attempt reserves what the expired one did. */
  readonly keepsReservation: boolean;
  /** What one of two nodes does, each without harm. */
  readonly faults: readonly (readonly [name: string, faults: Faults])[];
}

/** Declares the cases of orders that every chain with a shared address has. */
export function sharedAddressCases<Faults extends object>(of: SharedAddressChain<Faults>): void {
  const { gateway, chain, coin, amount } = of;
  const { status, expectPaid, exchanges } = paidOrders(gateway);
  const nextBlock = async (blocks = 1): Promise<void> => {
    await gateway().mine(chain, blocks);
    await gateway().tick();
  };

  it('all orders share one address with a tag each, and an order shows each step', async () => {
    const [order, other] = [await gateway().order(coin, 'LTC', amount), await gateway().order(coin, 'LTC', amount)];
    expect(order.depositAddress).toBe(gateway().hot[chain]);
    expect(other.depositAddress).toBe(order.depositAddress);
    expect(other.depositTag).not.toBe(order.depositTag);
    const txid = await gateway().pay(order);
    await gateway().tick();
    expect(await status(order)).toBe('waiting_deposit');
    await nextBlock();
    expect(await gateway().show(order)).toMatchObject({ deposit_txid: of.txidOf?.(txid) ?? txid });
    await gateway().settle(order);
    await expectPaid(order);
    expect(await status(other)).toBe('waiting_deposit');
  });

  it.each(of.pairs)('an order exchanges %s for %s', async (from, to, sent) => {
    await exchanges(from, to, sent);
  });

  it('an order that is underpaid is exchanged for less, and one after the window is refunded', async () => {
    const order = await gateway().order(coin, 'LTC', amount * 2);
    await gateway().confirm(order, { amount: String(amount) });
    await gateway().settle(order);
    await expectPaid(order);
    const late = await gateway().order(of.late[0], 'LTC', of.late[1]);
    await gateway().wait(1_801);
    await nextBlock();
    expect(await status(late)).toBe('expired');
    await gateway().confirm(late);
    await gateway().settle(late);
    expect(await status(late)).toBe('refunded');
  });

  it('of ten payouts at once, each with another reservation, nine arrive while the first is stuck', async () => {
    const orders: RealOrder[] = [];
    for (let index = 0; index < 10; index += 1) orders.push(await gateway().order('ETH', coin, 0.1));
    for (const order of orders) await gateway().pay(order);
    await gateway().mine('ethereum', 2);
    await gateway().tick();
    await gateway().wait(5);
    const sent = await gateway().query<{ txid: string; reserves: string[] }>(
      `select a.txid, a.reserves from payment p join payment_attempt a on a.payment_id = p.id
        where p.kind = 'payout' and p.state = 'sent' order by p.number`,
    );
    expect(sent).toHaveLength(10);
    expect(new Set(sent.flatMap(({ reserves }) => reserves)).size).toBe(10);
    const stuck = sent[0]?.txid ?? '';
    of.world().chain.hold(stuck);
    await nextBlock();
    const states = await Promise.all(orders.map(status));
    expect(states.filter((state) => state === 'completed')).toHaveLength(9);
    of.world().chain.release(stuck);
    for (const order of orders) await gateway().settle(order);
    for (const order of orders) await expectPaid(order);
  });

  it('a payout that no block takes expires, and its second attempt pays once', async () => {
    const order = await gateway().order('ETH', coin, 0.1);
    for (const node of of.world().nodes) node.faults = of.losesPayments;
    await gateway().confirm(order);
    await gateway().wait(5);
    const [payout] = await gateway().payments(order);
    expect(payout?.state).toBe('sent');
    await of.expire();
    await gateway().wait(5);
    of.world().heal();
    await gateway().settle(order);
    await expectPaid(order);
    const attempts = await gateway().query<{ reserves: string[]; dead_why: string | null }>(
      `select reserves, dead_why from payment_attempt where payment_id = $1 order by attempt`,
      [payout?.id],
    );
    expect(attempts).toMatchObject([{ dead_why: 'expired' }, { dead_why: null }]);
    const [first, second] = attempts.map(({ reserves }) => reserves);
    if (of.keepsReservation) expect(second).toEqual(first);
    else expect(second).not.toEqual(first);
  });

  it.each(of.faults)('while one node %s, an order in and out is paid', async (_name, faults) => {
    const [node] = of.world().nodes;
    if (node) node.faults = { ...faults };
    const order = await gateway().order(coin, 'LTC', amount);
    await gateway().confirm(order);
    await gateway().settle(order);
    await expectPaid(order);
    const back = await gateway().order('LTC', coin, 2);
    await gateway().confirm(back);
    await gateway().wait(5);
    await gateway().mine(chain);
    of.world().heal();
    await gateway().settle(back);
    await expectPaid(back);
  });
}
