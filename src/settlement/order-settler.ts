import { type EntityManager, LockMode, type MikroORM } from '@mikro-orm/postgresql';
import type { Clock } from '../clock.ts';
import { sqlState } from '../db/database.ts';
import { errorMembers, type Log } from '../log.ts';
import { Order } from '../orders/order.entity.ts';
import type { OnBoundary } from './boundary.ts';
import { Deposit } from './deposit.entity.ts';
import type { VenueAnswer } from './liquidity-venue.ts';
import { Payment } from './payment.entity.ts';
import {
  moved,
  rest,
  type ScannedTo,
  type SettlementTools,
  type Settling,
  type StepResult,
  secondsAfter,
} from './settling.ts';
import { confirmDeposit, takeLateDeposit } from './steps/confirm.ts';
import { creditDeposits } from './steps/credit.ts';
import { exchange, isPastTrading, recordAnswer, venueOrder } from './steps/exchange.ts';
import { noticeDeposits } from './steps/notice.ts';
import { followPayout } from './steps/pay.ts';
import { refundDeposit, refundExtras } from './steps/refund.ts';
import { Trade } from './trade.entity.ts';

export interface OrderSettlerOptions {
  readonly orm: MikroORM;
  readonly clock: Clock;
  readonly log: Log;
  readonly tools: SettlementTools;
  readonly onBoundary: OnBoundary;
}

/** When a process that asked the venue has surely ended or answered. */
const venueTurnSec = 10;
/** Deadlocks and serialization failures are tried again at once. */
const maxRetries = 3;

/**
 * Takes an order as far as it can go now. What happens outside (deposits, payments) is recorded by others; this decides
 * what follows from it, one transaction a step under the order's row lock, so it may be called at any time, by any
 * number of processes, as often as anybody likes.
 */
export class OrderSettler {
  readonly #options: OrderSettlerOptions;

  constructor(options: OrderSettlerOptions) {
    this.#options = options;
  }

  get tools(): SettlementTools {
    return this.#options.tools;
  }

  async settle(orderId: string): Promise<void> {
    const result = await this.#inTransaction(orderId, (settling) => this.#steps(settling));
    if (result?.outcome !== 'trade') return;
    await this.#options.onBoundary('trade.intended');
    await this.#trade(orderId);
  }

  /** All steps that follow from what the database holds, in one transaction. */
  async #steps(settling: Settling): Promise<StepResult> {
    const { em, order, now } = settling;
    noticeDeposits(settling);
    await creditDeposits(settling);
    let result: StepResult = moved;
    while (result.outcome === 'moved') {
      // Each move is written by itself: the database refuses a leap over two edges.
      await em.flush();
      result = await this.#step(settling);
    }
    refundExtras(settling);
    if (result.outcome === 'trade') order.nextActionAt = secondsAfter(now, venueTurnSec);
    else if (result.outcome === 'rest') order.nextActionAt = result.until;
    return result;
  }

  #step(settling: Settling): StepResult | Promise<StepResult> {
    const { order } = settling;
    // Waiting orders have the clock's alarm for their expiry, which the sweep keeps.
    if (order.status === 'waiting_deposit') return rest(order.expiresAt);
    if (order.heldAt !== null) return rest();
    switch (order.status) {
      case 'confirming':
        return confirmDeposit(settling);
      case 'expired':
        return takeLateDeposit(settling);
      case 'exchanging':
        return exchange(settling);
      case 'sending':
        return followPayout(settling);
      case 'refunding':
        return refundDeposit(settling);
      case 'completed':
      case 'refunded':
      case 'failed':
        return rest();
    }
  }

  /** Asks the venue for what was decided, with no transaction open, stores the answer, and takes what follows from it. */
  async #trade(orderId: string): Promise<StepResult | null> {
    const { orm, clock, log, tools, onBoundary } = this.#options;
    const em = orm.em.fork();
    const trade = await em.findOneOrFail(Trade, { orderId });
    const order = await em.findOneOrFail(Order, { id: orderId });
    const deadline = order.exchangeDeadline ?? clock.now();
    const isFinal = isPastTrading(deadline, clock.now());
    let answer: VenueAnswer;
    try {
      answer = isFinal
        ? ((await tools.venue.find(orderId)) ?? { outcome: 'rejected', code: trade.problem ?? 'too_late' })
        : await tools.venue.trade(venueOrder(trade, deadline));
    } catch (error) {
      // Nobody knows whether it was filled: the alarm rings again, and the same clientId gives the same fill.
      log.warn({ event: 'venue_failed', order_id: orderId, ...errorMembers(error) }, 'the venue gave no answer');
      return null;
    }
    await onBoundary('trade.answered');
    const result = await this.#inTransaction(orderId, async (settling) => {
      const current = await settling.em.findOne(Trade, { orderId });
      if (settling.order.status !== 'exchanging' || current?.state !== 'intended') return rest();
      const outcome = await recordAnswer(settling, current, answer, isFinal);
      if (outcome.outcome === 'moved') return this.#steps(settling);
      if (outcome.outcome === 'rest') settling.order.nextActionAt = outcome.until;
      return outcome;
    });
    await onBoundary('trade.recorded');
    return result;
  }

  /** Runs an action on the order and its rows under the order's lock. Null when there is no such order. */
  async #inTransaction(
    orderId: string,
    action: (settling: Settling) => Promise<StepResult>,
  ): Promise<StepResult | null> {
    const { orm, onBoundary } = this.#options;
    for (let attempt = 1; ; attempt++) {
      try {
        const result = await orm.em.fork().transactional(async (em) => {
          const settling = await this.open(em, orderId);
          return settling && action(settling);
        });
        await onBoundary('order.settled');
        return result;
      } catch (error) {
        if (attempt >= maxRetries || !['40P01', '40001'].includes(sqlState(error) ?? '')) throw error;
      }
    }
  }

  /** Locks an order and reads what decides its next move. Null when there is no such order. */
  async open(em: EntityManager, orderId: string): Promise<Settling | null> {
    const { clock, tools } = this.#options;
    const order = await em.findOne(Order, { id: orderId }, { lockMode: LockMode.PESSIMISTIC_WRITE });
    if (!order) return null;
    const deposits = await em.find(Deposit, { orderId }, { orderBy: { seenAt: 'asc', id: 'asc' } });
    const payments = await em.find(Payment, { orderId }, { orderBy: { number: 'asc' } });
    const scanned = deposits.length === 0 ? new Map<string, ScannedTo>() : await readScanned(em);
    return { em, tools, now: clock.now(), order, deposits, payments, scanned };
  }
}

async function readScanned(em: EntityManager): Promise<Map<string, ScannedTo>> {
  const rows = await em.execute<(ScannedTo & { chain: string })[]>(
    `select chain, height::int as height, final_height::int as final, height >= head as "isAtHead" from chain_state`,
  );
  return new Map(rows.map(({ chain, ...scannedTo }) => [chain, scannedTo]));
}
