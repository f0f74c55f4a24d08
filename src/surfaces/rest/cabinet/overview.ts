import type { MikroORM } from '@mikro-orm/postgresql';
import type { Clock } from '../../../base/clock.ts';
import { sql } from '../../../base/db/sql.ts';
import { Big, formatDecimal } from '../../../base/money.ts';
import type { OrderStats, StatsRow } from '../../../operations/order-stats.ts';

const dayMs = 86_400_000;
const shownDays = 30;
/** A key that ends within this time needs a successor. */
const soonMs = 7 * dayMs;
/** For how long members see another default markup of a key, and an owner by a link of staff. */
const noticeMs = 7 * dayMs;

interface Figures {
  readonly created: number;
  readonly completed: number;
  readonly refunded: number;
  readonly expired: number;
  /** Of completed orders, in US dollars, as decimal text. */
  readonly volumeUsd: string;
}

interface DayFigures extends Figures {
  /** 2026-11-23, in UTC. */
  readonly day: string;
}

/** What a member should look at, most urgent first. */
const reasonsToAct = [
  'commission_address_waiting',
  'owner_by_staff',
  'markup_changed',
  'orders_ask',
  'webhook_disabled',
  'webhook_failing',
  'no_live_key',
  'key_expires',
  'one_passkey',
  'invitation_open',
] as const;
type ReasonToAct = (typeof reasonsToAct)[number];

interface OverviewFigures {
  readonly today: Figures;
  readonly days30: Figures;
  readonly byDay: readonly DayFigures[];
  readonly openOrders: number;
  readonly ordersOnHold: number;
  readonly liveKeys: number;
  /**
   * Requests of all keys in the last 24 hours that were refused: over the rate limit, and for
   * another reason. See `KeyRefusals`.
   */
  readonly requests: Readonly<Record<'limited' | 'refused', number>>;
  readonly webhooks: Readonly<Record<'endpoints' | 'disabled' | 'failing' | 'delivered' | 'failed', number>>;
  readonly needsAction: readonly { readonly reason: ReasonToAct; readonly count: number }[];
}

type Counts = Readonly<
  Record<
    | 'open_orders'
    | 'on_hold'
    | 'orders_ask'
    | 'addresses'
    | 'markups'
    | 'owners_by_staff'
    | 'live_keys'
    | 'key_expires'
    | 'limited'
    | 'refused'
    | 'endpoints'
    | 'disabled'
    | 'failing'
    | 'delivered'
    | 'failed'
    | 'passkeys'
    | 'invitations',
    number
  >
>;

/** The overview of a partner: its figures, and what its members must do. */
export class Overview {
  readonly #orm: MikroORM;
  readonly #clock: Clock;
  readonly #stats: OrderStats;

  constructor(orm: MikroORM, clock: Clock, stats: OrderStats) {
    this.#orm = orm;
    this.#clock = clock;
    this.#stats = stats;
  }

  /** @param memberId who looks, for the passkeys that this member has. */
  async of(partnerId: string, memberId: string): Promise<OverviewFigures> {
    const now = this.#clock.now();
    const tomorrow = new Date(Math.floor(now.getTime() / dayMs) * dayMs + dayMs);
    const from = new Date(tomorrow.getTime() - shownDays * dayMs);
    // One after the other, as a request of the cabinet has one connection.
    const rows = await this.#stats.stats({ from, to: tomorrow, interval: 'day', by: 'partner', key: partnerId });
    const counts = await this.#counts(partnerId, memberId, now);
    const byDay = rows.map((row) => ({ day: row.at.toISOString().slice(0, 10), ...figuresOf([row]) }));
    const urgent: Readonly<Record<ReasonToAct, number>> = {
      commission_address_waiting: counts.addresses,
      owner_by_staff: counts.owners_by_staff,
      markup_changed: counts.markups,
      orders_ask: counts.orders_ask,
      webhook_disabled: counts.disabled,
      webhook_failing: counts.failing,
      no_live_key: counts.live_keys === 0 ? 1 : 0,
      key_expires: counts.key_expires,
      one_passkey: counts.passkeys < 2 ? 1 : 0,
      invitation_open: counts.invitations,
    };
    const { endpoints, disabled, failing, delivered, failed } = counts;
    return {
      today: figuresOf(rows.slice(-1)),
      days30: figuresOf(rows),
      byDay,
      openOrders: counts.open_orders,
      ordersOnHold: counts.on_hold,
      liveKeys: counts.live_keys,
      requests: { limited: counts.limited, refused: counts.refused },
      webhooks: { endpoints, disabled, failing, delivered, failed },
      needsAction: reasonsToAct.map((reason) => ({ reason, count: urgent[reason] })).filter(({ count }) => count > 0),
    };
  }

  async #counts(partnerId: string, memberId: string, now: Date): Promise<Counts> {
    const [row] = await sql<Counts>(
      this.#orm.em.fork(),
      `with own as (select ?::uuid as partner_id, ?::timestamptz as now),
         live_key as (select k.expires_at, k.markup_changed_at from api_key k, own
                       where k.partner_id = own.partner_id and k.revoked_at is null
                         and (k.expires_at is null or k.expires_at > own.now)),
         endpoint as (select w.* from webhook_endpoint w, own
                       where w.partner_id = own.partner_id and w.status <> 'deleted'),
         delivery as (select d.state from webhook_delivery d, endpoint w, own
                       where d.endpoint_id = w.id and d.created_at > own.now - interval '1 day'),
         refusal as (select r.* from key_refusal r join api_key k on k.key_id = r.key_id, own
                      where k.partner_id = own.partner_id and r.hour > own.now - interval '1 day')
       select
         (select count(*)::int from exchange_order o, own
           where o.partner_id = own.partner_id and o.status = 'waiting_deposit') as open_orders,
         (select count(*)::int from exchange_order o, own
           where o.partner_id = own.partner_id and o.held_at is not null) as on_hold,
         (select count(*)::int from order_action a join exchange_order o on o.id = a.order_id, own
           where o.partner_id = own.partner_id and a.outcome is null) as orders_ask,
         (select count(*)::int from commission_address c, own
           where c.partner_id = own.partner_id and c.took_effect_at is null and c.cancelled_at is null) as addresses,
         (select count(*)::int from live_key) as live_keys,
         (select count(*)::int from live_key, own
           where expires_at < own.now + interval '${soonMs / 1000} seconds') as key_expires,
         (select count(*)::int from live_key, own
           where markup_changed_at > own.now - interval '${noticeMs / 1000} seconds') as markups,
         (select count(*)::int from partner_member m, own
           where m.partner_id = own.partner_id and m.removed_at is null and m.role = 'owner' and m.id <> ?::uuid
             and m.linked_by_staff_at > own.now - interval '${noticeMs / 1000} seconds') as owners_by_staff,
         (select coalesce(sum(limited), 0)::int from refusal) as limited,
         (select coalesce(sum(refused), 0)::int from refusal) as refused,
         (select count(*)::int from endpoint) as endpoints,
         (select count(*)::int from endpoint where status = 'disabled') as disabled,
         (select count(*)::int from endpoint where status = 'enabled' and failures > 0) as failing,
         (select count(*)::int from delivery where state = 'delivered') as delivered,
         (select count(*)::int from delivery where state = 'failed') as failed,
         (select count(*)::int from partner_passkey where member_id = ?) as passkeys,
         (select count(*)::int from partner_invitation i, own
           where i.partner_id = own.partner_id and i.ended_at is null and i.expires_at > own.now) as invitations`,
      [partnerId, now, memberId, memberId],
    );
    if (!row) throw new Error('the counts of a partner have no row');
    return row;
  }
}

function figuresOf(rows: readonly StatsRow[]): Figures {
  const sum = (member: 'created' | 'completed' | 'refunded' | 'expired'): number =>
    rows.reduce((total, row) => total + row[member], 0);
  return {
    created: sum('created'),
    completed: sum('completed'),
    refunded: sum('refunded'),
    expired: sum('expired'),
    volumeUsd: formatDecimal(rows.reduce((total, { volumeUsd }) => total.plus(new Big(volumeUsd)), new Big('0'))),
  };
}
