import { type EntityManager, LockMode, type MikroORM } from '@mikro-orm/postgresql';
import { networkById } from '../chains/networks/networks.ts';
import { busyBlocks } from '../chains/sandbox/sandbox-adapters.ts';
import type { SandboxChain } from '../chains/sandbox/sandbox-chain.ts';
import type { Clock } from '../clock.ts';
import type { CurrencyCatalogue } from '../currencies/currency-catalogue.ts';
import { AppError, type FieldFault } from '../errors.ts';
import { Big, fractionDigits, isStorable, toUnits } from '../money.ts';
import { Order } from '../orders/order.entity.ts';
import { orderNotFound } from '../orders/order-errors.ts';
import { orderNamed } from '../orders/short-id.ts';

/** What a partner can force on an order. `none` ends all of it, and a forced hold. */
export const forcedOutcomes = [
  'venue_rejects',
  'payout_dead',
  'payout_unknown',
  'refund_dead',
  'hold',
  'fee_spike',
  'none',
] as const;
export type ForcedOutcome = (typeof forcedOutcomes)[number];

/** Coins that a partner sends to its order. Null stands for what is agreed. */
export interface AskedDeposits {
  readonly amount: Big | null;
  readonly coin: string | null;
  readonly network: string | null;
  /** `omit` leaves the memo or tag out; `wrong` sends one that no order has. */
  readonly tag: 'omit' | 'wrong' | null;
  /** Equal deposits, each in a transaction of its own. */
  readonly count: number;
  /** Blocks that the chain makes at once. */
  readonly blocks: number;
}

/** What was sent. */
export interface MadeDeposits {
  readonly orderId: string;
  readonly coin: string;
  readonly network: string;
  readonly amount: Big;
  readonly address: string;
  readonly tag: string | null;
  readonly txids: readonly string[];
}

/** A tag that is never given to an order: the largest one that a number can be. */
const wrongTag = '4294967295';
/** Newest blocks that a reorganisation may replace. The scanner looks back further. */
const mostReorgDepth = 50;
const holdReason = 'sandbox';
/** A wait that is passed ends this long ago, beyond the grace of each. */
const passedMs = 60_000;
/** Longer than any wait for an unknown payment. */
const longMs = 8 * 86_400_000;

export interface PartnerSandboxOptions {
  readonly orm: MikroORM;
  readonly clock: Clock;
  readonly catalogue: CurrencyCatalogue;
  readonly chain: SandboxChain;
}

/**
 * The user, the miners, the market and the chains of a sandbox, as its partners play them. It finds
 * the caller's orders only; every other order is `order_not_found`. It is opened only where every
 * network is of the sandbox.
 */
export class PartnerSandbox {
  readonly #options: PartnerSandboxOptions;

  constructor(options: PartnerSandboxOptions) {
    this.#options = options;
  }

  /**
   * Sends coins to the order's deposit address. The chain's clock makes the blocks.
   *
   * @throws AppError order_not_found, or invalid_value and invalid_amount with the member at fault.
   */
  async deposit(partnerId: string, orderName: string, asked: AskedDeposits): Promise<MadeDeposits> {
    const { orm, catalogue, chain: node } = this.#options;
    const order = await ownOrder(orm.em.fork(), partnerId, orderName);
    const coin = asked.coin ?? order.coinFrom;
    const network = asked.network ?? order.networkFrom;
    const currency = catalogue.find(coin, network);
    const known = networkById(network);
    if (!currency || !known) throw fault('unknown_coin', 'coin', `there is no ${coin} on ${network}`);
    const { chain, memo } = known;
    const amount = asked.amount ?? new Big(order.amountFromExpected);
    if (!amount.gt('0') || fractionDigits(amount) > currency.decimals || !isStorable(amount)) {
      throw fault('invalid_amount', 'amount', `the amount of ${coin} has at most ${currency.decimals} decimals`);
    }
    if (asked.tag !== null && !memo) {
      throw fault('invalid_value', 'tag', `deposits on ${network} have no memo or tag`);
    }
    const { address, tag: ownTag } = order.depositAddress;
    const tag = asked.tag === null ? ownTag : asked.tag === 'omit' ? null : wrongTag;
    const payment = {
      to: address,
      tag,
      contract: currency.contract,
      amount: toUnits(amount, currency.decimals),
      busyBlocks: busyBlocks(chain, catalogue.rows),
    };
    const txids: string[] = [];
    for (let sent = 0; sent < asked.count; sent += 1) txids.push(await node.pay(chain, payment));
    if (asked.blocks > 0) await node.mine(chain, asked.blocks);
    return { orderId: order.id, coin, network, amount, address, tag, txids };
  }

  /**
   * Ends the order's window now. The order expires once its chain was read; a deposit after that is
   * late.
   *
   * @throws AppError order_not_found; action_not_available unless it waits for its deposit.
   */
  async expire(partnerId: string, orderName: string): Promise<Order> {
    return this.#changed(partnerId, orderName, (_, order, now) => {
      if (order.status !== 'waiting_deposit') throw notAvailable(`the order is ${order.status}`);
      // A window ends after its beginning, also within one millisecond.
      const end = new Date(Math.max(now.getTime(), order.createdAt.getTime() + 1));
      if (order.expiresAt > end) order.expiresAt = end;
      order.nextActionAt = order.expiresAt;
    });
  }

  /**
   * Takes the order's deposits out of the chain by a reorganisation. Every other transaction of the
   * replaced blocks is in the new ones.
   *
   * @returns The txids that are gone.
   * @throws AppError order_not_found; action_not_available when no deposit is in the newest blocks.
   */
  async reorg(partnerId: string, orderName: string): Promise<{ readonly orderId: string; readonly txids: string[] }> {
    const { orm, chain: node } = this.#options;
    const em = orm.em.fork();
    const order = await ownOrder(em, partnerId, orderName);
    const deposits = await em.execute<{ chain: string; txid: string }[]>(
      "select distinct chain, txid from deposit where order_id = ? and state <> 'orphaned' order by txid",
      [order.id],
    );
    const txids: string[] = [];
    for (const { chain, txid } of deposits) {
      if (await node.dropMined(chain, txid, mostReorgDepth)) txids.push(txid);
    }
    if (txids.length === 0) {
      throw notAvailable(`no deposit of the order is in the newest ${mostReorgDepth} blocks of its chain`);
    }
    return { orderId: order.id, txids };
  }

  /**
   * Forces an outcome on the order. Forced again while the order waits because of it, it also ends
   * that wait: the search for liquidity, or the search for the payout.
   *
   * @throws AppError order_not_found; action_not_available for a hold of an order at rest.
   */
  async force(partnerId: string, orderName: string, outcome: ForcedOutcome): Promise<Order> {
    return this.#changed(partnerId, orderName, async (em, order, now) => {
      if (outcome === 'none') await release(em, order, now);
      else if (outcome === 'hold') hold(order, now);
      else {
        await em.execute(
          `insert into sandbox_outcome (order_id, outcome, at) values (?, ?, ?)
           on conflict (order_id, outcome) do update set at = excluded.at`,
          [order.id, outcome, now],
        );
        await passWait(em, order, outcome, now);
      }
      if (order.nextActionAt !== null || order.status === 'exchanging' || order.status === 'sending') {
        order.nextActionAt = now;
      }
    });
  }

  /** Changes an order under its row lock. */
  #changed(
    partnerId: string,
    orderName: string,
    change: (em: EntityManager, order: Order, now: Date) => Promise<void> | void,
  ): Promise<Order> {
    const { orm, clock } = this.#options;
    return orm.em.fork().transactional(async (em) => {
      const order = await ownOrder(em, partnerId, orderName, LockMode.PESSIMISTIC_WRITE);
      const now = clock.now();
      await change(em, order, now);
      order.updatedAt = now;
      return order;
    });
  }
}

async function ownOrder(
  em: EntityManager,
  partnerId: string,
  orderName: string,
  lockMode = LockMode.NONE,
): Promise<Order> {
  const named = orderNamed(orderName);
  const order = named && (await em.findOne(Order, { ...named, partner: partnerId }, { lockMode }));
  if (!order) throw orderNotFound();
  if (lockMode === LockMode.NONE) await em.populate(order, ['depositAddress']);
  return order;
}

const resting: readonly string[] = ['completed', 'expired', 'refunded', 'failed'];

function hold(order: Order, now: Date): void {
  if (resting.includes(order.status)) throw notAvailable(`the order is ${order.status}`);
  if (order.heldAt !== null) throw notAvailable('the order is on hold already');
  order.heldAt = now;
  order.holdReason = holdReason;
}

async function release(em: EntityManager, order: Order, now: Date): Promise<void> {
  await em.execute('delete from sandbox_outcome where order_id = ?', [order.id]);
  await em.execute("update payment set next_action_at = ? where order_id = ? and state = 'ready'", [now, order.id]);
  if (order.holdReason !== holdReason) return;
  order.heldAt = null;
  order.holdReason = null;
  order.nextActionAt = now;
}

/** Ends the wait in which a forced outcome has put the order. */
async function passWait(em: EntityManager, order: Order, outcome: ForcedOutcome, now: Date): Promise<void> {
  const passed = new Date(now.getTime() - passedMs);
  if (outcome === 'venue_rejects' && order.status === 'exchanging') {
    if (order.exchangeDeadline === null || order.exchangeDeadline > passed) order.exchangeDeadline = passed;
  }
  if (outcome !== 'payout_unknown') return;
  await em.execute(
    `update payment set problem_since = ?::timestamptz where order_id = ? and kind = 'payout' and state = 'sent'
        and problem = 'unknown'`,
    [new Date(now.getTime() - longMs), order.id],
  );
}

function notAvailable(why: string): AppError {
  return new AppError('action_not_available', why);
}

function fault(kind: 'invalid_value' | 'invalid_amount' | 'unknown_coin', field: string, detail: string): AppError {
  const faults: FieldFault[] = [{ field, kind, detail }];
  return new AppError(kind, detail, { faults });
}
