import type { MikroORM } from '@mikro-orm/postgresql';
import { sql } from '../../base/db/sql.ts';
import { AppError } from '../../base/errors.ts';
import { Big } from '../../base/money.ts';
import { networkById } from '../../chains/networks/networks.ts';
import type { SandboxChain } from '../../chains/sandbox/sandbox-chain.ts';
import type { CurrencyCatalogue } from '../../market/currencies/currency-catalogue.ts';
import { Order } from '../../orders/order.entity.ts';
import { type FeedEvent, OrderFeed } from '../../orders/read/order-feed.ts';
import { type MagicDeposit, magicAmount, magicDeposit, magicOutcome } from './magic-values.ts';
import type { PartnerSandbox } from './partner-sandbox.ts';

/** Events that one transaction passes. */
const batchSize = 200;

interface MagicOrdersOptions {
  readonly orm: MikroORM;
  readonly catalogue: CurrencyCatalogue;
  readonly chain: SandboxChain;
  readonly sandbox: PartnerSandbox;
  /** Called after each change of an order, before the place is stored. */
  readonly onCrashPoint?: (orderId: string) => Promise<void> | void;
}

/**
 * Plays the outside world of orders whose values ask for it, for tests of partners that call
 * nothing but the API of production. It follows the feed of moves. A repetition after a crash
 * changes nothing: an outcome is forced once, and a deposit that the chain has is not sent again.
 */
export class MagicOrders {
  readonly #options: MagicOrdersOptions;
  readonly #feed: OrderFeed;

  constructor(options: MagicOrdersOptions) {
    this.#options = options;
    this.#feed = new OrderFeed(options.orm);
  }

  /**
   * Passes all new moves. Any number of processes may call it at any time: one works, the others
   * return at once.
   *
   * @returns The number of moves.
   */
  async follow(): Promise<number> {
    let total = 0;
    for (;;) {
      const passed = await this.#batch();
      total += passed;
      if (passed < batchSize) return total;
    }
  }

  #batch(): Promise<number> {
    return this.#options.orm.em.fork().transactional(async (em) => {
      const [place] = await sql<{ cursor: string }>(em, 'select cursor from sandbox_place for update skip locked');
      if (!place) return 0;
      const events = await this.#feed.since(place.cursor, batchSize);
      for (const event of events) await this.#play(event);
      const last = events.at(-1);
      if (last) await sql(em, 'update sandbox_place set cursor = ?', [last.cursor]);
      return events.length;
    });
  }

  async #play({ orderId, partnerId, fromStatus, toStatus }: FeedEvent): Promise<void> {
    const isCreated = fromStatus === null;
    if (!isCreated && toStatus !== 'expired') return;
    const { orm, sandbox, onCrashPoint } = this.#options;
    const order = await orm.em.fork().findOneOrFail(Order, orderId, { populate: ['depositAddress'] });
    const deposit = magicDeposit(new Big(order.amountFromExpected));
    if (isCreated) {
      const outcome = magicOutcome(order.networkTo, order.recipientAddress);
      if (outcome) await ifPossible(sandbox.force(partnerId, orderId, outcome));
      if (deposit?.isLate) await ifPossible(sandbox.expire(partnerId, orderId));
      if (!outcome && !deposit) return;
    }
    if (deposit && deposit.isLate !== isCreated) await this.#deposit(order, deposit);
    await onCrashPoint?.(orderId);
  }

  /** Sends what the order's deposit address has not got yet. */
  async #deposit(order: Order, deposit: MagicDeposit): Promise<void> {
    const { catalogue, chain: node, sandbox } = this.#options;
    const currency = catalogue.find(order.coinFrom, order.networkFrom);
    const chain = networkById(order.networkFrom)?.chain;
    if (!currency || chain === undefined) return;
    const { address, tag } = order.depositAddress;
    const lacking = deposit.count - (await node.paymentsTo(chain, address, tag));
    if (lacking <= 0) return;
    const asked = {
      amount: magicAmount(deposit, new Big(order.amountFromExpected), currency.decimals),
      coin: null,
      network: null,
      tag: null,
      count: lacking,
      blocks: 0,
    };
    await ifPossible(sandbox.deposit(order.partner.id, order.id, asked));
  }
}

/**
 * The partner may have moved the order first, and half of a smallest unit is nothing. What is
 * refused is left out, so that the orders behind it do not wait.
 */
async function ifPossible(change: Promise<unknown>): Promise<void> {
  await change.catch((error) => {
    if (!(error instanceof AppError) || error.kind === 'unavailable') throw error;
  });
}
