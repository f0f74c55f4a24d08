import { type EntityManager, LockMode, type MikroORM } from '@mikro-orm/postgresql';
import { v5 as uuidv5 } from 'uuid';
import type { Clock } from '../../base/clock.ts';
import { sql } from '../../base/db/sql.ts';
import { errorMembers, type Log } from '../../base/log.ts';
import { Big, formatDecimal } from '../../base/money.ts';
import { networkById } from '../../chains/networks/networks.ts';
import type { LedgerAsset } from '../../ledger/ledger.ts';
import type { CurrencyCatalogue } from '../../market/currencies/currency-catalogue.ts';
import { CommissionStatement } from '../rows/commission-statement.entity.ts';
import { Payment } from '../rows/payment.entity.ts';
import { isEarned } from '../rules/partner-account.ts';
import { persistPayment } from '../rules/payments.ts';

export interface CommissionPaymentsOptions {
  readonly orm: MikroORM;
  readonly clock: Clock;
  readonly log: Log;
  readonly catalogue: CurrencyCatalogue;
}

/**
 * Why a month is not paid yet.
 *
 * - `partner_inactive`: until two members of staff decide to pay it.
 * - `payment_failed`: payments of it failed three times. Two members decide.
 * - `no_asset`: its asset is switched off. It is never paid in another one.
 * - `no_address`: the partner has no address in effect for the asset.
 * - `address_lost`: the partner has lost that address, and a new one waits.
 * - `below_fee`: the network fee has grown above what is due.
 * - `payment_dead`: a payment failed. Another one follows after an hour.
 * - `not_covered`: a correction has made the balance smaller than the payment.
 */
export type CommissionProblem =
  | 'partner_inactive'
  | 'payment_failed'
  | 'no_asset'
  | 'no_address'
  | 'address_lost'
  | 'below_fee'
  | 'payment_dead'
  | 'not_covered';

/** Payments of a month before staff decide. */
const mostAttempts = 3;
/** How long after a payment that failed the next one is decided, unless staff decided since. */
const retryMs = 3_600_000;
const batch = 100;

/** UUID namespace of payments of commission, chosen at random once. */
const namespace = 'b7d0a3f6-58c1-4c0e-9d3f-1f2f0a6f7c55';

/**
 * Decides the payments of closed months, one at a time for each month. The steps of payments send
 * them, under the holds and limits of all payments that leave us.
 */
export class CommissionPayments {
  readonly #options: CommissionPaymentsOptions;

  constructor(options: CommissionPaymentsOptions) {
    this.#options = options;
  }

  /** Decides what can be paid now. Returns the number of new payments. */
  async decide(): Promise<number> {
    const { orm, clock, log } = this.#options;
    await this.#noteUncovered();
    let count = 0;
    let [month, partnerId] = ['0001-01-01', '00000000-0000-0000-0000-000000000000'];
    for (;;) {
      const due = await sql<{ partnerId: string; month: string }>(
        orm.em.fork(),
        `select s.partner_id as "partnerId", s.month::text as month
           from commission_statement s left join payment p on p.id = s.payment_id
          where s.state = 'payable' and s.held_at is null and (s.month, s.partner_id) > (?::date, ?::uuid)
            and (p.id is null
                 or p.state = 'dead'
                    and (p.problem = 'address_changed' or p.ended_at <= ? or p.ended_at < s.approved_at))
          order by s.month, s.partner_id limit ?`,
        [month, partnerId, new Date(clock.now().getTime() - retryMs), batch],
      );
      for (const one of due) {
        try {
          if (await orm.em.fork().transactional((em) => this.#decide(em, one))) count += 1;
        } catch (error) {
          // The months of other partners go on.
          const members = { event: 'commission_not_decided', partner_id: one.partnerId, ...errorMembers(error) };
          log.error(members, 'the payment of a month could not be decided');
        }
      }
      const last = due.at(-1);
      if (!last || due.length < batch) return count;
      [month, partnerId] = [last.month, last.partnerId];
    }
  }

  /**
   * Marks the months whose payment the balance of their partner does not cover, and ends the marks
   * of months that it covers again. The payment worker sums no balance for marked months.
   */
  async #noteUncovered(): Promise<void> {
    await sql(
      this.#options.orm.em.fork(),
      `update commission_statement m set problem = case when now_covered.is_covered then null else 'not_covered' end
         from (select s.partner_id, s.month, ${isEarned()} as is_covered
                 from commission_statement s join payment p on p.id = s.payment_id
                where s.state = 'payable' and p.state = 'ready'
                  and (s.problem is null or s.problem = 'not_covered')) as now_covered
        where m.partner_id = now_covered.partner_id and m.month = now_covered.month and m.state = 'payable'
          and (m.problem is null) <> now_covered.is_covered and (m.problem is null or m.problem = 'not_covered')`,
    );
  }

  async #decide(em: EntityManager, key: { readonly partnerId: string; readonly month: string }): Promise<boolean> {
    const { catalogue, clock } = this.#options;
    const locked = { ...key, state: 'payable', heldAt: null } as const;
    const statement = await em.findOne(CommissionStatement, locked, { lockMode: LockMode.PESSIMISTIC_WRITE });
    if (!statement) return false;
    const last = statement.paymentId === null ? null : await em.findOneOrFail(Payment, { id: statement.paymentId });
    if (last !== null && last.state !== 'dead') return false;
    const { coin, network } = statement;
    const currency = catalogue.find(coin, network);
    const target = await targetOf(em, key.partnerId, statement);
    const amount = new Big(statement.due ?? '0').minus(currency?.networkFee ?? '0');
    const isApproved = statement.approvedAt !== null && (last?.endedAt ?? new Date(0)) < statement.approvedAt;
    const faults: readonly (readonly [CommissionProblem, boolean])[] = [
      ['partner_inactive', target.isInactive && !statement.approvedInactive],
      ['payment_failed', statement.attempts >= mostAttempts && !isApproved],
      ['no_asset', !currency?.isActive || !currency.isWithdrawEnabled],
      ['address_lost', target.isLost],
      ['no_address', target.address === null],
      ['below_fee', amount.lte('0')],
    ];
    statement.problem = faults.find(([, holds]) => holds)?.[0] ?? null;
    if (statement.problem !== null || !currency || target.address === null) return false;
    statement.attempts += 1;
    const payment = persistPayment(
      em,
      {
        id: uuidv5(JSON.stringify([key.partnerId, key.month, statement.attempts]), namespace),
        kind: 'commission',
        orderId: null,
        depositId: null,
        sources: null,
        leg: 'main',
        chain: networkById(network)?.chain ?? '',
        coin,
        network,
        contract: currency.contract,
        address: target.address,
        tag: target.tag,
        amount: formatDecimal(amount),
        feeCharged: formatDecimal(currency.networkFee),
      },
      clock.now(),
    );
    // The month refers to the payment, so that row comes first.
    await em.flush();
    statement.paymentId = payment.id;
    return true;
  }
}

interface Target {
  readonly isInactive: boolean;
  /** The address in effect for the asset. Null without one. */
  readonly address: string | null;
  readonly tag: string | null;
  readonly isLost: boolean;
}

async function targetOf(em: EntityManager, partnerId: string, { coin, network }: LedgerAsset): Promise<Target> {
  const [target] = await sql<Target>(
    em,
    `select p.status = 'inactive' as "isInactive", a.address, a.tag,
            exists (select from commission_address w
                     where w.partner_id = p.id and w.took_effect_at is null and w.cancelled_at is null
                       and w.old_is_lost) as "isLost"
       from partner p
       left join lateral (select address, tag from commission_address
                           where partner_id = p.id and coin = ? and network = ? and took_effect_at is not null
                           order by took_effect_at desc limit 1) as a on true
      where p.id = ?`,
    [coin, network, partnerId],
  );
  if (!target) throw new Error(`there is no partner ${partnerId}`);
  return target;
}
