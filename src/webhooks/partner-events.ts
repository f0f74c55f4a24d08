import type { EntityManager } from '@mikro-orm/postgresql';
import { v7 as uuidv7 } from 'uuid';
import { sql } from '../base/db/sql.ts';
import { type EventType, eventTypeNames } from '../orders/event-types.ts';

/** What partners get about each event that belongs to no order. Amounts are decimal text. */
export interface PartnerEventFacts {
  /** A month was closed. */
  readonly 'commission.statement': {
    /** Such as '2026-11'. */
    readonly month: string;
    readonly state: 'closed' | 'rolled' | 'payable';
    readonly coin: string;
    readonly network: string;
    /** What will be paid, network fee included. Null when nothing is. */
    readonly due: string | null;
    /** SHA-256 of the CSV of the month's entries, in hex. */
    readonly sha256: string;
  };
  /** The payment of a month is final. */
  readonly 'commission.paid': {
    readonly month: string;
    readonly coin: string;
    readonly network: string;
    /** What the payment sent. With `fee` it is what was due. */
    readonly amount: string;
    readonly fee: string;
    readonly txid: string;
  };
  /** The payout address was requested, cancelled, or took effect. */
  readonly 'commission.address_changed': {
    readonly state: 'requested' | 'cancelled' | 'effective';
    readonly coin: string;
    readonly network: string;
    /** Its first and last characters only. */
    readonly address: string;
    /** ISO 8601. When it takes effect, or would have. */
    readonly effective_at: string;
  };
  /** The default markup of a key was set, changed or removed. */
  readonly 'key.markup_changed': {
    readonly key_id: string;
    readonly label: string;
    /** Basis points. Null for none. */
    readonly markup_bps: number | null;
    readonly previous_markup_bps: number | null;
  };
}

export type PartnerEventType = keyof PartnerEventFacts;
/** Every type that an endpoint can ask for. */
export type WebhookEventType = EventType | PartnerEventType;

/** An event as `webhook_delivery.data` has it. */
export interface RecordedEvent {
  /** The same in all deliveries of the event. */
  readonly event_id: string;
  /** ISO 8601. When it happened. */
  readonly at: string;
  readonly [member: string]: unknown;
}

interface TypeOfEvent<T extends PartnerEventType> {
  /** Members that are amounts. */
  readonly amounts: readonly (keyof PartnerEventFacts[T] & string)[];
  readonly sample: PartnerEventFacts[T];
}

/** The types of events without an order: one row each, as `eventTypes` has those of orders. */
export const partnerEventTypes: { readonly [T in PartnerEventType]: TypeOfEvent<T> } = {
  'commission.statement': {
    amounts: ['due'],
    sample: {
      month: '2026-11',
      state: 'payable',
      coin: 'USDC',
      network: 'ERC20',
      due: '132.65',
      sha256: '0'.repeat(64),
    },
  },
  'commission.paid': {
    amounts: ['amount', 'fee'],
    sample: {
      month: '2026-11',
      coin: 'USDC',
      network: 'ERC20',
      amount: '131.15',
      fee: '1.5',
      txid: '0'.repeat(64),
    },
  },
  'commission.address_changed': {
    amounts: [],
    sample: {
      state: 'requested',
      coin: 'USDC',
      network: 'ERC20',
      address: '0x5aAe…eAed',
      effective_at: '2026-12-01T00:00:00.000Z',
    },
  },
  'key.markup_changed': {
    amounts: [],
    sample: { key_id: 'xp_test_0123456789ab', label: 'shop', markup_bps: 100, previous_markup_bps: 50 },
  },
};

export const isPartnerEventType = (type: string): type is PartnerEventType => Object.hasOwn(partnerEventTypes, type);

/** Every type that an endpoint can ask for. */
export const webhookEventTypes: readonly WebhookEventType[] = [
  ...eventTypeNames,
  ...Object.keys(partnerEventTypes).filter(isPartnerEventType),
];

/** An event of a partner that belongs to no order. */
export interface PartnerEventOf<T extends PartnerEventType> {
  readonly partnerId: string;
  readonly type: T;
  readonly data: PartnerEventFacts[T];
  readonly at: Date;
}

/**
 * Sends an event to the partner's enabled endpoints that want its type, once the transaction of
 * `em` commits. An endpoint with a filter of coins gets events of orders only.
 *
 * @returns The event's id, which all its deliveries share. Without an endpoint it leaves no trace.
 */
export async function recordPartnerEvent<T extends PartnerEventType>(
  em: EntityManager,
  { partnerId, type, data, at }: PartnerEventOf<T>,
): Promise<string> {
  const recorded: RecordedEvent = {
    event_id: `evt_${uuidv7().replaceAll('-', '')}`,
    at: at.toISOString(),
    ...data,
  };
  await sql(
    em,
    `insert into webhook_delivery (endpoint_id, type, data, state, next_attempt_at, created_at)
     select w.id, ?::text, ?::jsonb, 'pending', ?::timestamptz, ?::timestamptz from webhook_endpoint w
      where w.partner_id = ? and w.status = 'enabled' and (w.types is null or ?::text = any (w.types))
        and w.coin_from is null and w.coin_to is null
      order by w.created_at, w.id`,
    [type, JSON.stringify(recorded), at, at, partnerId, type],
  );
  return recorded.event_id;
}
