import type { EntityManager } from '@mikro-orm/postgresql';
import { validate as isUuid, v7 as uuidv7 } from 'uuid';
import { sql } from '../../base/db/sql.ts';
import { AppError, fieldError } from '../../base/errors.ts';
import type { LedgerAsset } from '../../ledger/ledger.ts';
import type { Currency } from '../../market/currencies/currency.entity.ts';
import type { CurrencyCatalogue } from '../../market/currencies/currency-catalogue.ts';
import { payableAddress } from '../../orders/destination.ts';
import { CommissionAddress } from '../rows/commission-address.entity.ts';
import { markedFailed } from '../rows/payment.entity.ts';

/** How long a requested address waits before it takes effect. */
export const addressWaitMs = 72 * 3_600_000;
/** Most addresses that the members of a partner request in 24 hours. */
export const mostRequestsPerDay = 5;
/** How long a member with a passkey by a link of staff requests no address. */
export const linkedWaitMs = 7 * 86_400_000;
/** Addresses that a history shows. */
const mostShown = 50;

const dayMs = 86_400_000;

/** A request for another payout address: by a member, or by two members of staff. */
export type AddressRequest = LedgerAsset & {
  readonly partnerId: string;
  readonly address: string;
  readonly tag: string | null;
  /** Nothing is paid to the address in effect any more while this one waits. */
  readonly oldIsLost: boolean;
  readonly now: Date;
} & ({ readonly memberId: string } | { readonly actionId: string });

export interface AddressEvent extends LedgerAsset {
  readonly state: 'requested' | 'cancelled' | 'effective';
  /** Its first and last characters only. */
  readonly address: string;
  /** ISO 8601. */
  readonly effective_at: string;
}

/** An address with the name of the member who requested it. */
export interface ShownAddress extends LedgerAsset {
  readonly id: string;
  readonly address: string;
  readonly tag: string | null;
  /** Null for staff. */
  readonly requestedBy: string | null;
  readonly requestedAt: Date;
  readonly effectiveAt: Date;
  readonly tookEffectAt: Date | null;
  readonly cancelledAt: Date | null;
  readonly oldIsLost: boolean;
}

export interface CommissionAddressesOptions {
  readonly catalogue: Pick<CurrencyCatalogue, 'resolve' | 'contractAt' | 'rows'>;
  /** Called in the transaction of each change. */
  readonly onChanged: (em: EntityManager, partnerId: string, event: AddressEvent, at: Date) => Promise<unknown>;
}

/**
 * The addresses that partners are paid their commission to. A requested address takes effect after
 * 72 hours, during which it can be cancelled. Each method runs in the caller's transaction.
 */
export class CommissionAddresses {
  readonly #options: CommissionAddressesOptions;

  constructor(options: CommissionAddressesOptions) {
    this.#options = options;
  }

  /**
   * Requests an address. It takes the place of the one that waits.
   *
   * @throws AppError unknown_coin, unknown_network and currency_inactive for the asset.
   * @throws AppError invalid_address and other faults of the address and its tag; own_address.
   * @throws AppError action_not_possible when the address is in effect, or waits already. Also for
   *   a member with a passkey by a link of staff from the last seven days.
   * @throws AppError rate_limited after five requests of members in 24 hours.
   */
  async request(em: EntityManager, request: AddressRequest): Promise<CommissionAddress> {
    const { partnerId, now } = request;
    const found = this.#options.catalogue.resolve(request.coin, request.network);
    if (!found.ok) throw fieldError(found.kind, found.part, found.detail);
    const { coin, network } = found.currency;
    const { address, tag } = await payableAddress(em, this.#options.catalogue, network, request);
    await lockPartner(em, partnerId);
    // An address of another asset may have taken effect since, and decides the asset of the months.
    const latest = await em.findOne(
      CommissionAddress,
      { partnerId, tookEffectAt: { $ne: null } },
      { orderBy: { tookEffectAt: 'desc', requestedAt: 'desc' } },
    );
    const waiting = await waitingOf(em, partnerId);
    for (const [known, what] of [
      [latest, 'is in effect'],
      [waiting, 'waits to take effect'],
    ] as const) {
      const isSame =
        known?.coin === coin && known.network === network && known.address === address && known.tag === tag;
      if (isSame) throw new AppError('action_not_possible', `this address ${what} already`);
    }
    const memberId = 'memberId' in request ? request.memberId : null;
    if (memberId !== null) {
      await refuseLinked(em, memberId, now);
      await refuseTooMany(em, partnerId, now);
    }
    if (waiting) await this.#cancel(em, waiting, now);
    const row = em.create(CommissionAddress, {
      id: uuidv7(),
      partnerId,
      coin,
      network,
      address,
      tag,
      requestedAt: now,
      memberId,
      actionId: 'actionId' in request ? request.actionId : null,
      oldIsLost: request.oldIsLost,
      effectiveAt: new Date(now.getTime() + addressWaitMs),
      tookEffectAt: null,
      cancelledAt: null,
    });
    await em.persist(row).flush();
    await this.#tell(em, row, 'requested', now);
    return row;
  }

  /** Cancels an address that waits. @throws AppError not_found */
  async cancel(em: EntityManager, partnerId: string, id: string, now: Date): Promise<CommissionAddress> {
    await lockPartner(em, partnerId);
    const waiting = await waitingOf(em, partnerId);
    if (!waiting || !isUuid(id) || waiting.id !== id.toLowerCase()) {
      throw new AppError('not_found', 'no such address waits; it has taken effect or was cancelled');
    }
    await this.#cancel(em, waiting, now);
    return waiting;
  }

  /** The assets that commission can be paid in, by coin and network. */
  assets(): Currency[] {
    return this.#options.catalogue.rows.filter((row) => row.isActive && row.isWithdrawEnabled);
  }

  /** The addresses in effect, one for each asset, by coin and network. */
  async allInEffect(em: EntityManager, partnerId: string): Promise<ShownAddress[]> {
    return readShown(
      em,
      `select distinct on (a.coin, a.network) ${shownColumns} from ${shownTables}
        where a.partner_id = ? and a.took_effect_at is not null
        order by a.coin, a.network, a.took_effect_at desc, a.requested_at desc`,
      [partnerId],
    );
  }

  async waiting(em: EntityManager, partnerId: string): Promise<ShownAddress | null> {
    const [row] = await readShown(
      em,
      `select ${shownColumns} from ${shownTables} where a.partner_id = ? and ${waits('a')}`,
      [partnerId],
    );
    return row ?? null;
  }

  /** The newest 50 addresses, newest first. */
  async history(em: EntityManager, partnerId: string): Promise<ShownAddress[]> {
    return readShown(
      em,
      `select ${shownColumns} from ${shownTables} where a.partner_id = ?
        order by a.requested_at desc, a.id desc limit ${mostShown}`,
      [partnerId],
    );
  }

  /** Lets addresses take effect whose time has come. Any number of processes may call it. */
  async takeEffect(em: EntityManager, now: Date): Promise<number> {
    const rows = await sql<ChangedRow>(
      em,
      `update commission_address a set took_effect_at = ?::timestamptz
        where ${waits('a')} and a.effective_at <= ?::timestamptz returning ${changedColumns}`,
      [now, now],
    );
    for (const row of rows) {
      await endWaiting(em, row, now);
      await this.#tell(em, row, 'effective', now);
    }
    return rows.length;
  }

  /**
   * Begins the 72 hours of an address that waits again, as the passkeys of a member were replaced.
   * So the thief of an account cannot let the time pass first.
   */
  async restartWaiting(em: EntityManager, partnerId: string, now: Date): Promise<void> {
    const rows = await sql<ChangedRow>(
      em,
      `update commission_address a set effective_at = ?::timestamptz where a.partner_id = ? and ${waits('a')}
       returning ${changedColumns}`,
      [new Date(now.getTime() + addressWaitMs), partnerId],
    );
    for (const row of rows) await this.#tell(em, row, 'requested', now);
  }

  async #cancel(em: EntityManager, row: CommissionAddress, now: Date): Promise<void> {
    row.cancelledAt = now;
    await em.flush();
    await this.#tell(em, row, 'cancelled', now);
  }

  #tell(em: EntityManager, row: ChangedRow, state: AddressEvent['state'], at: Date): Promise<unknown> {
    const { coin, network, address, effectiveAt } = row;
    const event = {
      state,
      coin,
      network,
      address: `${address.slice(0, 6)}…${address.slice(-4)}`,
      effective_at: new Date(effectiveAt).toISOString(),
    };
    return this.#options.onChanged(em, row.partnerId, event, at);
  }
}

type ChangedRow = Pick<CommissionAddress, 'partnerId' | 'coin' | 'network' | 'address' | 'tag' | 'effectiveAt'>;

const changedColumns = `a.partner_id as "partnerId", a.coin, a.network, a.address, a.tag, a.effective_at as "effectiveAt"`;
const shownTables = 'commission_address a left join partner_member m on m.id = a.member_id';
const shownColumns = `a.id, a.coin, a.network, a.address, a.tag, m.name as "requestedBy",
  a.requested_at as "requestedAt", a.effective_at as "effectiveAt", a.took_effect_at as "tookEffectAt",
  a.cancelled_at as "cancelledAt", a.old_is_lost as "oldIsLost"`;
const waits = (row: string): string => `${row}.took_effect_at is null and ${row}.cancelled_at is null`;

/**
 * Ends payments to the previous address that have no transaction which may confirm. The next turn
 * decides them again, with the new address. The old one may be lost. A payment that was signed is
 * marked instead: the worker asks the chain for its transactions once more, and ends it only then.
 */
async function endWaiting(
  em: EntityManager,
  { partnerId, coin, network, address, tag }: ChangedRow,
  now: Date,
): Promise<void> {
  await sql(
    em,
    `update payment p
        set state = case when was.signed then 'ready' else 'dead' end,
            problem = case when was.signed then '${markedFailed}' else 'address_changed' end,
            problem_since = ?, ended_at = case when not was.signed then ?::timestamptz end,
            next_action_at = case when was.signed then ?::timestamptz end
       from commission_statement s
      cross join lateral (select exists (select from payment_attempt a
                                          where a.payment_id = s.payment_id and a.raw is not null) as signed) as was
      where s.payment_id = p.id and s.partner_id = ? and s.state = 'payable' and p.state = 'ready'
        and p.coin = ? and p.network = ? and (p.address, p.tag) is distinct from (?::text, ?::text)
        and not exists (select from payment_attempt a where a.payment_id = p.id and a.dead_at is null)`,
    [now, now, now, partnerId, coin, network, address, tag],
  );
}

async function readShown(em: EntityManager, text: string, values: readonly string[]): Promise<ShownAddress[]> {
  const rows = await sql<ShownAddress>(em, text, [...values]);
  const time = (given: Date | null) => given && new Date(given);
  return rows.map((row) => ({
    ...row,
    requestedAt: new Date(row.requestedAt),
    effectiveAt: new Date(row.effectiveAt),
    tookEffectAt: time(row.tookEffectAt),
    cancelledAt: time(row.cancelledAt),
  }));
}

/**
 * Serialises the requests and cancellations of one partner, and its recoveries. Also the closing of
 * one month and the approval of another, which would else promise the same balance.
 *
 * @throws AppError partner_not_found
 */
export async function lockPartner(em: EntityManager, partnerId: string): Promise<void> {
  const rows = await sql(em, 'select 1 from partner where id = ? for no key update', [partnerId]);
  if (rows.length === 0) throw new AppError('partner_not_found', 'there is no such partner');
}

/** The lock keeps a worker from letting it take effect meanwhile. */
async function waitingOf(em: EntityManager, partnerId: string): Promise<CommissionAddress | null> {
  await sql(em, `select 1 from commission_address a where a.partner_id = ? and ${waits('a')} for update`, [partnerId]);
  const own = { partnerId, tookEffectAt: null, cancelledAt: null };
  return em.findOne(CommissionAddress, own, { refresh: true });
}

/** The member of staff who made the link may have used it. */
async function refuseLinked(em: EntityManager, memberId: string, now: Date): Promise<void> {
  const [linked] = await sql<{ at: string }>(
    em,
    'select linked_by_staff_at as at from partner_member where id = ? and linked_by_staff_at > ?',
    [memberId, new Date(now.getTime() - linkedWaitMs)],
  );
  if (!linked) return;
  const from = new Date(new Date(linked.at).getTime() + linkedWaitMs).toISOString();
  throw new AppError(
    'action_not_possible',
    `your access came by a link of our staff, so you may set an address from ${from.slice(0, 16).replace('T', ' ')} UTC on; another owner, or two members of our staff, may set it now`,
  );
}

async function refuseTooMany(em: EntityManager, partnerId: string, now: Date): Promise<void> {
  const since = new Date(now.getTime() - dayMs);
  const made = { partnerId, memberId: { $ne: null }, requestedAt: { $gt: since } };
  const newest = await em.find(CommissionAddress, made, {
    orderBy: { requestedAt: 'desc' },
    limit: mostRequestsPerDay,
  });
  const first = newest[mostRequestsPerDay - 1];
  if (!first) return;
  const retryAfterSec = Math.ceil((first.requestedAt.getTime() + dayMs - now.getTime()) / 1000);
  const detail = `an account may request ${mostRequestsPerDay} addresses in 24 hours`;
  throw new AppError('rate_limited', detail, { retryAfterSec });
}
