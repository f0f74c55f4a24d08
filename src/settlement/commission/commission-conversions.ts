import type { EntityManager, MikroORM } from '@mikro-orm/postgresql';
import { v7 as uuidv7 } from 'uuid';
import type { Clock } from '../../base/clock.ts';
import { sql } from '../../base/db/sql.ts';
import { errorMembers, type Log } from '../../base/log.ts';
import { Big, maxOf, minOf } from '../../base/money.ts';
import { book, type LedgerAsset, line } from '../../ledger/ledger.ts';
import { type CommissionEntries, monthOf } from './commission-entries.ts';
import { type ConversionPrices, conversionLines, converted, guardedPrice } from './conversion.ts';

export interface CommissionConversionsOptions {
  readonly orm: MikroORM;
  readonly clock: Clock;
  readonly log: Log;
  readonly entries: CommissionEntries;
  readonly prices: ConversionPrices;
}

/** Partners that one statement reads. */
const batch = 100;

/** Markups that one statement reads. */
const adoptedBatch = 1_000;
/** How much earlier than the last look a booking may be timed that was not committed then. */
const overlapMs = 3_600_000;

interface Adopted extends LedgerAsset {
  readonly partnerId: string;
  readonly orderId: string;
  readonly amount: string;
}

/**
 * SQL: the markups without an entry, of those behind a reference or since a moment. It binds one of
 * the two, and reads the index of that.
 */
const adoptedSql = (from: Date | string): string => `
  with booked as materialized (
    select id, order_id, reference, at from ledger_transaction
     where kind = 'markup' and ${
       typeof from === 'string' ? `reference > ? order by reference limit ${adoptedBatch}` : 'at >= ?'
}
  )
  select (select max(reference) from booked) as last, (select count(*)::int from booked) as read,
         (select coalesce(jsonb_agg(jsonb_build_object('partnerId', o.partner_id, 'orderId', o.id, 'coin', l.coin,
                   'network', l.network, 'amount', (-l.amount)::text) order by b.at, b.id), '[]')
            from booked b
            join exchange_order o on o.id = b.order_id
            join ledger_line l on l.transaction_id = b.id and l.account = 'partner:' || o.partner_id
           where not exists (select from commission_entry e where e.order_id = o.id and e.kind = 'accrual')) as rows`;

/**
 * SQL: what is converted of the balances of the partner of `s`, an open month, in other assets than
 * its own. A balance is what the previous month left, with the entries since. What is due for an
 * earlier month is paid in the asset of that month, so that only the rest is converted. A balance
 * that is smaller than what is due stays, because the payment waits until it is covered.
 */
const othersSql = `
  select coin, network, case when own < 0 then own else own - due end as amount
    from (
  select b.coin, b.network, coalesce(sum(b.amount) filter (where not b.is_due), 0) as own,
         coalesce(sum(b.amount) filter (where b.is_due), 0) as due
    from (select f.coin, f.network, f.closing as amount, false as is_due
            from (select figures from commission_statement p where p.partner_id = s.partner_id and p.month < s.month
                   order by p.month desc limit 1) as previous
           cross join jsonb_to_recordset(previous.figures) as f (coin text, network text, closing numeric)
          union all
          select e.coin, e.network, e.amount, false from commission_entry e
           where e.partner_id = s.partner_id and e.month = s.month
          union all
          select d.coin, d.network, d.due, true from commission_statement d
           where d.partner_id = s.partner_id and d.state = 'payable') as b
   where (b.coin, b.network) <> (s.coin, s.network)
   group by b.coin, b.network) as balance
   where own < 0 or own > due`;

/**
 * Converts to the asset of the month what partners have in other assets. That are markups without a
 * price at their accrual, the rest of a month that had another asset, and accruals of older
 * versions.
 */
export class CommissionConversions {
  readonly #options: CommissionConversionsOptions;
  /** Up to which booking this process looked for accruals of older versions. */
  #adoptedTo: Date | null = null;

  constructor(options: CommissionConversionsOptions) {
    this.#options = options;
  }

  /** Converts what has a price now. Returns how many balances it converted. */
  async convert(): Promise<number> {
    const { orm, clock, log } = this.#options;
    await this.#adopt();
    let [count, after] = [0, '00000000-0000-0000-0000-000000000000'];
    for (;;) {
      const partners = await sql<{ id: string }>(
        orm.em.fork(),
        `select s.partner_id as id from commission_statement s
          where s.state = 'open' and s.month = ?::date and s.partner_id > ?::uuid and exists (${othersSql})
          order by s.partner_id limit ?`,
        [monthOf(clock.now()), after, batch],
      );
      for (const { id } of partners) {
        try {
          count += await orm.em.fork().transactional((em) => this.#convert(em, id));
        } catch (error) {
          // The balances of other partners go on.
          const members = { event: 'commission_not_converted', partner_id: id, ...errorMembers(error) };
          log.error(members, 'the balances of a partner could not be converted');
        }
      }
      const last = partners.at(-1);
      if (!last || partners.length < batch) return count;
      after = last.id;
    }
  }

  /**
   * Adds entries for the accruals of older versions, in their coins. The ledger has booked them.
   * The first time it reads all markups, in batches. Then it reads new ones, which processes of an
   * older version may have booked while they are replaced.
   */
  async #adopt(): Promise<void> {
    const { orm, clock } = this.#options;
    const at = clock.now();
    const since = this.#adoptedTo;
    let after: string | null = '';
    while (after !== null) {
      const from: string = after;
      after = await orm.em.fork().transactional((em) => this.#adoptBatch(em, since ?? from, at));
      if (since !== null) break;
    }
    this.#adoptedTo = new Date(at.getTime() - overlapMs);
  }

  /**
   * @param from Time of the first booking, or the reference behind which a batch begins.
   * @returns The last reference of a full batch.
   */
  async #adoptBatch(em: EntityManager, from: Date | string, at: Date): Promise<string | null> {
    const { entries } = this.#options;
    const [found] = await sql<{ last: string | null; read: number; rows: readonly Adopted[] }>(em, adoptedSql(from), [
      from,
    ]);
    if (!found) throw new Error('the markups of older versions have no row');
    if (found.rows.length > 0) {
      const partners = found.rows.map(({ partnerId }) => partnerId);
      const months = await entries.openMonths(em, partners, at);
      const monthFor = (partnerId: string): string => months.get(partnerId)?.month ?? monthOf(at);
      await entries.add(
        em,
        found.rows.map((row) => ({ ...row, kind: 'accrual', month: monthFor(row.partnerId), at })),
      );
    }
    return found.read === adoptedBatch ? found.last : null;
  }

  /** Converts the balances of a partner under the lock of its month. */
  async #convert(em: EntityManager, partnerId: string): Promise<number> {
    const { clock, entries, prices } = this.#options;
    const at = clock.now();
    const month = monthOf(at);
    const key = [partnerId, month];
    const [open] = await sql<LedgerAsset>(
      em,
      `select coin, network from commission_statement
        where partner_id = ? and month = ?::date and state = 'open' for update`,
      key,
    );
    if (!open) return 0;
    // A separate statement, which sees what was committed before the lock was taken.
    const balances = await sql<LedgerAsset & { amount: string }>(
      em,
      `select b.coin, b.network, b.amount::text as amount
         from commission_statement s cross join lateral (${othersSql}) as b
        where s.partner_id = ? and s.month = ?::date
          and not exists (select from commission_statement earlier
                           where earlier.partner_id = s.partner_id and earlier.month < s.month
                             and earlier.state = 'open')
        order by b.coin, b.network`,
      key,
    );
    let count = 0;
    for (const { coin, network, amount: text } of balances) {
      const amount = new Big(text);
      // A debt is what the partner gets rid of, so that its prices are picked the other way.
      const [low, high] = amount.lt('0') ? [maxOf, minOf] : [minOf, maxOf];
      const price = guardedPrice(open.coin, prices, high);
      const from = { coin, network, amount, price: guardedPrice(coin, prices, low) };
      const into = converted(from, open, price);
      if (into === null || from.price === null || price === null) continue;
      const entry = { partnerId, month, at, kind: 'conversion' } as const;
      const source = { coin, network, amount: amount.abs(), price: from.price };
      const out = amount.times('-1');
      await entries.add(em, [
        { ...entry, coin, network, amount: out },
        { ...entry, coin: open.coin, network: open.network, amount: into, from: source, price },
      ]);
      const taken = line(`partner:${partnerId}`, from, amount);
      const lines = [taken, ...conversionLines(partnerId, from, open, into)];
      await book(em, { kind: 'commission_conversion', reference: uuidv7(), orderId: null, at, lines });
      count += 1;
    }
    return count;
  }
}
