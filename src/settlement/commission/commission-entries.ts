import type { EntityManager } from '@mikro-orm/postgresql';
import { v7 as uuidv7 } from 'uuid';
import { sql } from '../../base/db/sql.ts';
import { type Big, formatDecimal } from '../../base/money.ts';
import type { LedgerAsset } from '../../ledger/ledger.ts';
import type { CommissionEntryKind } from '../rows/commission-entry.entity.ts';

/** The month of a partner to which entries are added now. */
export interface OpenMonth extends LedgerAsset {
  /** Its first day in UTC, such as '2026-11-01'. */
  readonly month: string;
}

/** What was converted into the amount of an entry, and the prices of both in US dollars. */
export interface ConvertedFrom extends LedgerAsset {
  readonly amount: Big | string;
  readonly price: Big | string;
}

/** An entry to be added. */
export interface NewCommissionEntry extends LedgerAsset {
  readonly partnerId: string;
  readonly month: string;
  readonly at: Date;
  readonly kind: CommissionEntryKind;
  /** Positive for the partner. */
  readonly amount: Big | string;
  readonly orderId?: string;
  readonly from?: ConvertedFrom;
  /** The price of the entry's own coin, where something was converted into it. */
  readonly price?: Big | string;
  readonly corrects?: string | null;
  readonly actionId?: string;
  readonly paymentId?: string;
  readonly reason?: string;
}

/** Adds to what partners have earned. Each change of an account `partner:<id>` has an entry. */
export class CommissionEntries {
  readonly #fallback: LedgerAsset;

  /** @param fallback The settlement asset of partners without a payout address. */
  constructor(fallback: LedgerAsset) {
    this.#fallback = fallback;
  }

  /**
   * The months of partners that a moment belongs to, made where they are missing. The asset of a
   * month is that of the address that took effect last before the month began.
   */
  async openMonths(
    em: EntityManager,
    partnerIds: readonly string[],
    at: Date,
  ): Promise<ReadonlyMap<string, OpenMonth>> {
    const month = monthOf(at);
    const ids = JSON.stringify([...new Set(partnerIds)].sort());
    const read = async (): Promise<Map<string, OpenMonth>> => {
      const rows = await sql<OpenMonth & { partnerId: string }>(
        em,
        `select partner_id as "partnerId", month::text as month, coin, network from commission_statement
          where month = ?::date and partner_id in (select jsonb_array_elements_text(?::jsonb)::uuid)`,
        [month, ids],
      );
      return new Map(rows.map(({ partnerId, ...open }) => [partnerId, open]));
    };
    const found = await read();
    if (partnerIds.every((id) => found.has(id))) return found;
    const { coin, network } = this.#fallback;
    await sql(
      em,
      `insert into commission_statement (partner_id, month, coin, network)
       select p.id, ?::date, coalesce(a.coin, ?), coalesce(a.network, ?)
         from partner p
         left join lateral (select coin, network from commission_address
                             where partner_id = p.id and took_effect_at < ?
                             order by took_effect_at desc limit 1) as a on true
        where p.id in (select jsonb_array_elements_text(?::jsonb)::uuid)
        order by p.id
       on conflict do nothing`,
      [month, coin, network, startOf(month), ids],
    );
    return read();
  }

  /** The month of one partner that a moment belongs to, made when it is missing. */
  async openMonth(em: EntityManager, partnerId: string, at: Date): Promise<OpenMonth> {
    const open = (await this.openMonths(em, [partnerId], at)).get(partnerId);
    if (!open) throw new Error(`there is no partner ${partnerId}`);
    return open;
  }

  /** What the month of a moment is settled in, or would be if it began with an entry now. */
  async assetOf(em: EntityManager, partnerId: string, at: Date): Promise<LedgerAsset> {
    const month = monthOf(at);
    const [known] = await sql<LedgerAsset>(
      em,
      `select coin, network from commission_statement where partner_id = ?::uuid and month = ?::date
       union all
       (select coin, network from commission_address where partner_id = ?::uuid and took_effect_at < ?
         order by took_effect_at desc limit 1)
       limit 1`,
      [partnerId, month, partnerId, startOf(month)],
    );
    return known ?? this.#fallback;
  }

  /**
   * Adds entries in the caller's transaction, with the ledger's lines that it books. What was added
   * before by the same order, payment or action is left out.
   *
   * @throws Error when a month has been closed. The caller's transaction then books nothing, and is
   *   repeated at a later time.
   */
  async add(em: EntityManager, entries: readonly NewCommissionEntry[]): Promise<void> {
    if (entries.length === 0) return;
    const text = (value: Big | string | undefined): string | null =>
      value === undefined ? null : formatDecimal(value);
    await sql(
      em,
      `insert into commission_entry (id, partner_id, month, at, kind, coin, network, amount, order_id, from_coin,
              from_network, from_amount, from_price, price, corrects, action_id, payment_id, reason)
       select id, partner_id, month, at, kind, coin, network, amount, order_id, from_coin, from_network, from_amount,
              from_price, price, corrects, action_id, payment_id, reason
         from jsonb_to_recordset(?::jsonb)
              as e (place integer, id uuid, partner_id uuid, month date, at timestamptz, kind text, coin text, network text,
                    amount numeric(38,18), order_id uuid, from_coin text, from_network text,
                    from_amount numeric(38,18), from_price numeric(38,18), price numeric(38,18), corrects uuid,
                    action_id uuid, payment_id uuid, reason text)
        order by e.partner_id, e.place
       on conflict do nothing`,
      [
        JSON.stringify(
          entries.map((entry, place) => ({
            place,
            id: uuidv7(),
            partner_id: entry.partnerId,
            month: entry.month,
            at: entry.at,
            kind: entry.kind,
            coin: entry.coin,
            network: entry.network,
            amount: formatDecimal(entry.amount),
            order_id: entry.orderId ?? null,
            from_coin: entry.from?.coin ?? null,
            from_network: entry.from?.network ?? null,
            from_amount: text(entry.from?.amount),
            from_price: text(entry.from?.price),
            price: text(entry.price),
            corrects: entry.corrects ?? null,
            action_id: entry.actionId ?? null,
            payment_id: entry.paymentId ?? null,
            reason: entry.reason ?? null,
          })),
        ),
      ],
    );
  }
}

/** The first day of a moment's month in UTC: '2026-11-01'. */
export function monthOf(at: Date): string {
  return `${at.toISOString().slice(0, 7)}-01`;
}

/** The first moment of a month. */
export function startOf(month: string): Date {
  return new Date(`${month.slice(0, 7)}-01T00:00:00.000Z`);
}

/** The first moment after a month. */
export function endOf(month: string): Date {
  const start = startOf(month);
  return new Date(Date.UTC(start.getUTCFullYear(), start.getUTCMonth() + 1, 1));
}
