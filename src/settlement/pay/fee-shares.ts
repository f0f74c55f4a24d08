import type { MikroORM } from '@mikro-orm/postgresql';
import type { Clock } from '../../base/clock.ts';
import { sql } from '../../base/db/sql.ts';
import { Big } from '../../base/money.ts';
import type { LiveNetworks } from '../../chains/families/live-networks.ts';
import type { Payment } from '../rows/payment.entity.ts';

/** Shares of the signer's daily fee budget on a chain, as fractions in decimal text. */
export interface FeeParts {
  /** All refunds together. */
  readonly refunds: string;
  /** All sweeps and gas payments together. */
  readonly sweeps: string;
  /** All payments of commission together. */
  readonly commission: string;
  /** The payouts and refunds of one partner. */
  readonly partner: string;
}

export interface FeeSharesOptions {
  readonly orm: MikroORM;
  readonly clock: Clock;
  readonly networks: LiveNetworks['live'];
  readonly parts: FeeParts;
}

/** How long the fees read from the database stay valid. One process at a time works on a chain. */
const refreshMs = 30_000;

interface Spent {
  readonly day: string;
  readonly at: number;
  /** Fees by share, in the chain's own coin. */
  readonly fees: Map<string, Big>;
}

/** The fee budget that remains for the payments of one round. */
export interface FeeHeadroom {
  /** Whether each share of the payment has room for this fee, in the chain's own coin. */
  has(payment: Payment, fee: Big): boolean;
  take(payment: Payment, fee: Big): void;
}

/**
 * Divides the signer's daily fee budget on a chain (UTC days). Neither refunds nor the users of one
 * partner can use it up, and payouts always keep a rest. The signer's own limit remains the last
 * defence.
 */
export class FeeShares {
  readonly #options: FeeSharesOptions;
  readonly #spent = new Map<string, Spent>();

  constructor(options: FeeSharesOptions) {
    this.#options = options;
  }

  /** The remaining budget of a chain's payments. Unlimited where the chain has no fee limit. */
  async room(chain: string, payments: readonly Payment[]): Promise<FeeHeadroom> {
    const limit = this.#options.networks.get(chain)?.feeLimits?.perDay;
    if (limit === undefined || payments.length === 0) return { has: () => true, take: () => {} };
    const { fees } = await this.#spentToday(chain);
    const partners = await this.#partners(payments);
    const most = new Big(limit);
    const sharesOf = (payment: Payment): readonly (readonly [string, string])[] => {
      const { kind, orderId } = payment;
      const { parts } = this.#options;
      const partner = orderId === null ? undefined : partners.get(orderId);
      return [
        ...(kind === 'refund' ? [['refunds', parts.refunds] as const] : []),
        ...(kind === 'sweep' || kind === 'gas' ? [['sweeps', parts.sweeps] as const] : []),
        ...(kind === 'commission' ? [['commission', parts.commission] as const] : []),
        ...(partner === undefined ? [] : [[partner, parts.partner] as const]),
      ];
    };
    const of = (share: string): Big => fees.get(share) ?? new Big('0');
    return {
      has: (payment, fee) => sharesOf(payment).every(([share, part]) => of(share).plus(fee).lte(most.times(part))),
      take: (payment, fee) => {
        for (const [share] of sharesOf(payment)) fees.set(share, of(share).plus(fee));
      },
    };
  }

  /**
   * Sums the fees of today's signed transactions, and of transactions that wait for the signer.
   * Each payment counts with its highest fee.
   */
  async #spentToday(chain: string): Promise<Spent> {
    const { orm, clock } = this.#options;
    const now = clock.now();
    const day = now.toISOString().slice(0, 10);
    const known = this.#spent.get(chain);
    if (known?.day === day && Math.abs(now.getTime() - known.at) < refreshMs) return known;
    const rows = await sql<{ kind: Payment['kind']; partner: string | null; fee: string }>(
      orm.em.fork(),
      `with spent as (
         select payment_id, max(fee) as fee from (
           select payment_id, fee from payment_attempt where chain = ? and signed_at >= ?
           union all
           select a.payment_id, a.fee from payment p join payment_attempt a on a.payment_id = p.id and a.dead_at is null
            where p.chain = ? and p.state = 'prepared' and p.next_action_at is not null) as each
          group by payment_id)
       select p.kind, o.partner_id as partner, sum(s.fee)::text as fee
         from spent s join payment p on p.id = s.payment_id left join exchange_order o on o.id = p.order_id
        group by p.kind, o.partner_id`,
      [chain, new Date(`${day}T00:00:00Z`), chain],
    );
    const fees = new Map<string, Big>();
    const add = (share: string, fee: string): void => {
      fees.set(share, (fees.get(share) ?? new Big('0')).plus(fee));
    };
    for (const { kind, partner, fee } of rows) {
      if (kind === 'refund') add('refunds', fee);
      if (kind === 'sweep' || kind === 'gas') add('sweeps', fee);
      if (kind === 'commission') add('commission', fee);
      if (partner !== null) add(partner, fee);
    }
    const spent = { day, at: now.getTime(), fees };
    this.#spent.set(chain, spent);
    return spent;
  }

  async #partners(payments: readonly Payment[]): Promise<ReadonlyMap<string, string>> {
    const ids = payments.map(({ orderId }) => orderId).filter((id) => id !== null);
    if (ids.length === 0) return new Map();
    const rows = await sql<{ id: string; partner: string }>(
      this.#options.orm.em.fork(),
      `select id, partner_id as partner from exchange_order
          where id in (select jsonb_array_elements_text(?::jsonb)::uuid)`,
      [JSON.stringify(ids)],
    );
    return new Map(rows.map(({ id, partner }) => [id, partner]));
  }
}
