import { type EntityManager, LockMode, type MikroORM } from '@mikro-orm/postgresql';
import type { Clock } from '../../base/clock.ts';
import { sql } from '../../base/db/sql.ts';
import { AppError, type FieldFault } from '../../base/errors.ts';
import { Big, fractionDigits, isStorable, toUnits } from '../../base/money.ts';
import { networkById } from '../../chains/networks/networks.ts';
import { forcedProblems } from '../../chains/sandbox/forced-payments.ts';
import { busyBlocks } from '../../chains/sandbox/sandbox-adapters.ts';
import type { OutsidePayment, SandboxChain } from '../../chains/sandbox/sandbox-chain.ts';
import type { CurrencyCatalogue } from '../../market/currencies/currency-catalogue.ts';
import { Order } from '../../orders/order.entity.ts';
import { OrderAction } from '../../orders/order-action.entity.ts';
import { endAction } from '../../orders/order-actions.ts';
import { orderNotFound } from '../../orders/order-errors.ts';
import { holdOrder, releaseOrder } from '../../orders/order-moves.ts';
import { orderNamed } from '../../orders/short-id.ts';

/** What a partner can force on an order. `none` ends all of it, and a forced hold. */
export const forcedOutcomes = [
  'venue_rejects',
  'venue_silent',
  'payout_dead',
  'payout_unknown',
  'refund_dead',
  ...forcedProblems,
  'hold',
  'fee_spike',
  'none',
] as const;
export type ForcedOutcome = (typeof forcedOutcomes)[number];

/** Coins that a partner sends to its order. Null stands for what is agreed. */
interface AskedDeposits {
  readonly amount: Big | null;
  readonly coin: string | null;
  readonly network: string | null;
  /** `omit` leaves the memo or tag out; `wrong` sends one that no order has. */
  readonly tag: 'omit' | 'wrong' | null;
  /** Equal deposits, each in a separate transaction. */
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
/** Deposits that an order gets at most, over all requests. Their rows are never removed. */
const mostDeposits = 100;
const holdReason = 'sandbox';
/** A wait that is passed ends this long ago, beyond the grace of each. */
const passedMs = 60_000;
/** Longer than any wait for a payment that is unknown or refused. */
const longMs = 366 * 86_400_000;

interface PartnerSandboxOptions {
  readonly orm: MikroORM;
  readonly clock: Clock;
  readonly catalogue: CurrencyCatalogue;
  readonly chain: SandboxChain;
}

/**
 * The user, the miners, the market and the chains of a sandbox, as its partners play them. It finds
 * the caller's orders only; every other order is `order_not_found`. It is opened only where every
 * network is of the sandbox. A method that takes `em` joins the caller's transaction.
 */
export class PartnerSandbox {
  readonly #options: PartnerSandboxOptions;

  constructor(options: PartnerSandboxOptions) {
    this.#options = options;
  }

  /** The id of an order of the partner. @throws AppError order_not_found */
  async idOf(partnerId: string, orderName: string): Promise<string> {
    return (await ownOrder(this.#options.orm.em.fork(), partnerId, orderName)).id;
  }

  /**
   * Sends coins to the order's deposit address. The chain's clock makes the blocks.
   *
   * @throws AppError order_not_found, or invalid_value and invalid_amount with the member at fault.
   * @throws AppError action_not_available when the order has got 100 deposits.
   */
  async deposit(
    partnerId: string,
    orderName: string,
    asked: AskedDeposits,
    em: EntityManager = this.#options.orm.em.fork(),
  ): Promise<MadeDeposits> {
    const { chain: node } = this.#options;
    return em.transactional(async (tx) => {
      const order = await ownOrder(tx, partnerId, orderName);
      const { chain, payment, ...agreed } = this.#payment(order, asked);
      await countDeposits(tx, order.id, asked.count);
      const txids: string[] = [];
      for (let sent = 0; sent < asked.count; sent += 1) txids.push(await node.pay(chain, payment, tx));
      if (asked.blocks > 0) await node.mine(chain, asked.blocks, tx);
      return { orderId: order.id, ...agreed, address: payment.to, tag: payment.tag, txids };
    });
  }

  /** One of the deposits that are asked for. */
  #payment(order: Order, asked: AskedDeposits) {
    const { catalogue } = this.#options;
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
    const payment: OutsidePayment = {
      to: address,
      tag: asked.tag === null ? ownTag : asked.tag === 'omit' ? null : wrongTag,
      contract: currency.contract,
      amount: toUnits(amount, currency.decimals),
      busyBlocks: busyBlocks(chain, catalogue.rows),
    };
    return { chain, payment, coin, network, amount };
  }

  /**
   * Ends what the order waits for now: its window, or the time of its question. The order expires
   * once its chain was read; a deposit after that is late. A question without an answer ends in a
   * refund.
   *
   * @throws AppError order_not_found; action_not_available when the order waits for neither.
   */
  async expire(partnerId: string, orderName: string, em?: EntityManager): Promise<Order> {
    return this.#changed(partnerId, orderName, em, async (tx, order, now) => {
      if (order.status !== 'waiting_deposit') return endQuestion(tx, order, now);
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
  async reorg(
    partnerId: string,
    orderName: string,
    em: EntityManager = this.#options.orm.em.fork(),
  ): Promise<{ readonly orderId: string; readonly txids: string[] }> {
    const { chain: node } = this.#options;
    return em.transactional(async (tx) => {
      const order = await ownOrder(tx, partnerId, orderName);
      const deposits = await sql<{ chain: string; txid: string }>(
        tx,
        "select distinct chain, txid from deposit where order_id = ? and state <> 'orphaned' order by chain, txid",
        [order.id],
      );
      const txids: string[] = [];
      for (const { chain, txid } of deposits) {
        if (await node.dropMined(chain, txid, mostReorgDepth, tx)) txids.push(txid);
      }
      if (txids.length === 0) {
        throw notAvailable(`no deposit of the order is in the newest ${mostReorgDepth} blocks of its chain`);
      }
      return { orderId: order.id, txids };
    });
  }

  /**
   * Forces an outcome on the order. Forced again while the order waits because of it, it also ends
   * that wait: the search for liquidity or for the payout, and the time that a payment is refused.
   *
   * @throws AppError order_not_found; action_not_available for a hold of an order at rest.
   */
  async force(partnerId: string, orderName: string, outcome: ForcedOutcome, joined?: EntityManager): Promise<Order> {
    return this.#changed(partnerId, orderName, joined, async (em, order, now) => {
      if (outcome === 'none') await release(em, order, now);
      else if (outcome === 'hold') hold(em, order, now);
      else {
        await sql(
          em,
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
    joined: EntityManager | undefined,
    change: (em: EntityManager, order: Order, now: Date) => Promise<void> | void,
  ): Promise<Order> {
    const { orm, clock } = this.#options;
    return (joined ?? orm.em.fork()).transactional(async (em) => {
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

/** Counts deposits of an order. Of two requests at once one waits for the other. */
async function countDeposits(em: EntityManager, orderId: string, count: number): Promise<void> {
  const counted = await sql(
    em,
    `insert into sandbox_deposits (order_id, count) values (?, ?::integer)
     on conflict (order_id) do update set count = sandbox_deposits.count + excluded.count
      where sandbox_deposits.count + excluded.count <= ?::integer
     returning 1`,
    [orderId, count, mostDeposits],
  );
  if (counted.length === 0) throw notAvailable(`an order gets at most ${mostDeposits} deposits in a sandbox`);
}

/** Ends the time of the order's open question, as its deadline does. */
async function endQuestion(em: EntityManager, order: Order, now: Date): Promise<void> {
  const action = await em.findOne(OrderAction, { orderId: order.id, outcome: null });
  if (!action) throw notAvailable(`the order is ${order.status}, and nothing is asked about it`);
  if (order.heldAt !== null) throw notAvailable('the order is on hold');
  endAction(em, order, action, 'deadline', { at: now });
  order.nextActionAt = now;
}

const resting: readonly string[] = ['completed', 'expired', 'refunded', 'failed'];

function hold(em: EntityManager, order: Order, now: Date): void {
  if (resting.includes(order.status)) throw notAvailable(`the order is ${order.status}`);
  if (order.heldAt !== null) throw notAvailable('the order is on hold already');
  holdOrder(em, order, holdReason, { at: now });
}

async function release(em: EntityManager, order: Order, now: Date): Promise<void> {
  await sql(em, 'delete from sandbox_outcome where order_id = ?', [order.id]);
  await sql(em, "update payment set next_action_at = ? where order_id = ? and state = 'ready'", [now, order.id]);
  if (order.holdReason !== holdReason) return;
  releaseOrder(em, order, { at: now });
  order.nextActionAt = now;
}

/** Ends the wait in which a forced outcome has put the order. */
async function passWait(em: EntityManager, order: Order, outcome: ForcedOutcome, now: Date): Promise<void> {
  const passed = new Date(now.getTime() - passedMs);
  if ((outcome === 'venue_rejects' || outcome === 'venue_silent') && order.status === 'exchanging') {
    if (order.exchangeDeadline === null || order.exchangeDeadline > passed) order.exchangeDeadline = passed;
  }
  // A payment has the problem only when the outcome is what it waits for.
  await sql(
    em,
    `update payment set problem_since = ?::timestamptz, next_action_at = ?::timestamptz
      where order_id = ? and (state = 'ready' and problem = ?
         or state = 'sent' and kind = 'payout' and problem = 'unknown' and ? = 'payout_unknown')`,
    [new Date(now.getTime() - longMs), now, order.id, outcome, outcome],
  );
}

function notAvailable(why: string): AppError {
  return new AppError('action_not_available', why);
}

function fault(kind: 'invalid_value' | 'invalid_amount' | 'unknown_coin', field: string, detail: string): AppError {
  const faults: FieldFault[] = [{ field, kind, detail }];
  return new AppError(kind, detail, { faults });
}
