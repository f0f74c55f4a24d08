import type { EntityManager, MikroORM } from '@mikro-orm/postgresql';
import { v7 as uuidv7 } from 'uuid';
import { networkById } from '../chains/networks.ts';
import type { Clock } from '../clock.ts';
import { brokenConstraint } from '../db/database.ts';
import { AppError } from '../errors.ts';
import type { LedgerAsset } from '../ledger/ledger.ts';
import type { ReconcileRow } from '../ledger/reconcile.ts';
import type { Log } from '../log.ts';
import { Big } from '../money.ts';

/** Why payouts are held. The gateway opens all but the last by itself. */
export const holdCauses = ['reconciliation', 'client_debit', 'venue_loss', 'staff'] as const;
export type HoldCause = (typeof holdCauses)[number];

/** Something that a look found, about one asset or, when that is null, about all. */
export interface Finding {
  readonly asset: LedgerAsset | null;
  /** The same text as long as it is the same finding. */
  readonly name: string;
  readonly detail: string;
}

/** A hold that has to be decided about. */
export interface OpenHold {
  readonly id: string;
  readonly cause: HoldCause;
  readonly coin: string | null;
  readonly network: string | null;
  readonly detail: string;
  readonly findings: readonly string[];
  readonly changedAt: Date;
  readonly clearedAt: Date | null;
}

/** SQL that is true when no hold is open of the asset of a payment, by the alias of its row. */
export const notHeldSql = (payment: string): string =>
  `not exists (select from payout_hold h where h.closed_at is null
                  and (h.coin is null or (h.coin = ${payment}.coin and h.network = ${payment}.network)))`;

const holdColumns = `id, cause, coin, network, detail, findings, changed_at as "changedAt", cleared_at as "clearedAt"`;
/** What a venue lost was acknowledged for the window in which it was lost. */
const venueLossMs = 86_400_000;
/** Findings that one hold names at most. */
const mostFindings = 100;

/**
 * Holds of payouts: while one is open of an asset, or of all, no payout or refund of it begins. What the signer has
 * signed goes on. Looks for causes open them, and so does one member of staff; two members end them.
 */
export class PayoutHolds {
  readonly #orm: MikroORM;
  readonly #clock: Clock;
  readonly #log: Log;

  constructor(orm: MikroORM, clock: Clock, log: Log) {
    this.#orm = orm;
    this.#clock = clock;
    this.#log = log;
  }

  /**
   * Stores what a look for one cause found: opens holds of assets that have none, renews those that have one, and notes
   * of the others that their cause is gone. A finding that two members acknowledged opens no hold.
   *
   * @param unseen Assets that the look could tell nothing about: their holds stay as they are.
   */
  async looked(
    cause: Exclude<HoldCause, 'staff'>,
    found: readonly Finding[],
    unseen: (asset: LedgerAsset) => boolean = () => false,
    outer: EntityManager = this.#orm.em.fork(),
  ): Promise<void> {
    const now = this.#clock.now();
    await outer.transactional(async (em) => {
      const open = await em.execute<OpenHold[]>(
        `select ${holdColumns} from payout_hold where closed_at is null and cause = ? for update`,
        [cause],
      );
      const known = await this.#acknowledged(em, cause, now);
      const byAsset = Map.groupBy(found, ({ asset }) => keyOf(asset));
      for (const hold of open) {
        const asset = assetOf(hold);
        const again = byAsset.get(keyOf(asset));
        byAsset.delete(keyOf(asset));
        if (again) await renew(em, hold, again, now);
        else if (asset === null || !unseen(asset)) {
          await em.execute('update payout_hold set cleared_at = coalesce(cleared_at, ?) where id = ?', [now, hold.id]);
        }
      }
      for (const [key, findings] of byAsset) {
        if (findings.every(({ name }) => known.has(`${key} ${name}`))) continue;
        await this.#open(em, cause, findings, now);
      }
    });
  }

  async #open(em: EntityManager, cause: HoldCause, findings: readonly Finding[], now: Date): Promise<void> {
    const asset = findings[0]?.asset ?? null;
    const rows = await em.execute<object[]>(
      `insert into payout_hold (id, cause, coin, network, detail, findings, opened_at, found_at, changed_at)
       values (?, ?, ?, ?, ?, array(select jsonb_array_elements_text(?::jsonb)), ?, ?, ?)
       on conflict do nothing returning id`,
      [
        uuidv7(),
        cause,
        asset?.coin ?? null,
        asset?.network ?? null,
        detailOf(findings),
        namesOf(findings),
        now,
        now,
        now,
      ],
    );
    if (rows.length === 0) return;
    const code = asset === null ? 'all assets' : `${asset.coin} on ${asset.network}`;
    this.#log.error({ event: 'payouts_held', code, cause, detail: detailOf(findings) }, 'payouts of an asset are held');
  }

  /** Findings that were acknowledged, each after its asset. */
  async #acknowledged(em: EntityManager, cause: HoldCause, now: Date): Promise<ReadonlySet<string>> {
    const rows = await em.execute<Pick<OpenHold, 'coin' | 'network' | 'findings'>[]>(
      `select coin, network, findings from payout_hold
        where cause = ? and acknowledged and closed_at is not null and (cause <> 'venue_loss' or closed_at > ?)`,
      [cause, new Date(now.getTime() - venueLossMs)],
    );
    return new Set(rows.flatMap((row) => row.findings.map((name) => `${keyOf(assetOf(row))} ${name}`)));
  }

  /**
   * Stops payouts of an asset, or of all, at once.
   *
   * @param staffId Null for an operator at the command line.
   * @throws AppError already_exists while a member's stop of the same is open.
   */
  async stop(em: EntityManager, asset: LedgerAsset | null, reason: string, staffId: string | null): Promise<string> {
    const id = uuidv7();
    const now = this.#clock.now();
    try {
      await em.execute(
        `insert into payout_hold
           (id, cause, coin, network, detail, findings, opened_at, opened_by, found_at, changed_at)
         values (?, 'staff', ?, ?, ?, '{}', ?, ?, ?, ?)`,
        [id, asset?.coin ?? null, asset?.network ?? null, reason, now, staffId, now, now],
      );
    } catch (error) {
      if (brokenConstraint(error) !== 'payout_hold_open') throw error;
      throw new AppError('already_exists', 'these payouts are stopped already', { cause: error });
    }
    return id;
  }
}

/** @throws AppError hold_not_found */
export async function refuseUnknownHold(em: EntityManager, id: string): Promise<void> {
  const rows = await em.execute<object[]>('select id from payout_hold where id = ?', [id]);
  if (rows.length === 0) throw new AppError('hold_not_found', 'there is no such hold of payouts');
}

/**
 * Ends a hold in the caller's transaction.
 *
 * @throws AppError hold_not_found; action_not_possible when it is over, when its cause stands and is not acknowledged,
 *   or when something was found since the proposal that acknowledges it.
 */
export async function resumePayouts(
  em: EntityManager,
  holdId: string,
  decision: { proposedBy: string; proposedAt: Date; decidedBy: string; acknowledges: boolean; now: Date },
): Promise<void> {
  const { proposedBy, proposedAt, decidedBy, acknowledges, now } = decision;
  const [hold] = await em.execute<(OpenHold & { closedAt: Date | null })[]>(
    `select ${holdColumns}, closed_at as "closedAt" from payout_hold where id = ? for update`,
    [holdId],
  );
  if (!hold) throw new AppError('hold_not_found', 'there is no such hold of payouts');
  if (hold.closedAt !== null) throw new AppError('action_not_possible', 'this hold has ended');
  const stands = hold.cause !== 'staff' && hold.clearedAt === null;
  if (stands && !acknowledges) {
    throw new AppError(
      'action_not_possible',
      `the cause still stands: ${hold.detail}; mend it and wait for the next look, or propose again with acknowledge`,
    );
  }
  if (stands && new Date(hold.changedAt) > proposedAt) {
    throw new AppError(
      'action_not_possible',
      `more was found since this was proposed: ${hold.detail}; propose it again`,
    );
  }
  // A rehearsal of the proposal has no second member yet.
  if (proposedBy === decidedBy) return;
  await em.execute(
    `update payout_hold set closed_at = ?, proposed_by = ?, closed_by = ?, acknowledged = ? where id = ?`,
    [now, proposedBy, decidedBy, stands, holdId],
  );
}

/** Differences that hold nothing here: a chain without an answer is no difference, and debits have a look of their own. */
const heldElsewhere: readonly string[] = ['chain', 'debits'];

/**
 * Whether a chain merely holds more than the book says. Strangers can make it so: a contract, a block reward or a token
 * sends coins to an address of ours that no scanner sees. Such dust must not stop the payouts of an asset.
 */
function isSurplus({ check, difference }: ReconcileRow): boolean {
  return (check === 'hot' || check === 'deposits') && new Big(difference).gt('0');
}

/**
 * What a reconciliation says of assets. A difference that names no asset of ours concerns all. Coins too many on a chain
 * are a difference that staff are told of, and hold nothing.
 */
export function reconcileFindings(
  rows: readonly ReconcileRow[],
  assets: readonly LedgerAsset[],
): { readonly found: readonly Finding[]; readonly unseen: (asset: LedgerAsset) => boolean } {
  const differing = rows.filter(({ difference }) => difference !== '0');
  const silent = new Set(differing.filter(({ check }) => check === 'chain').map(({ subject }) => subject));
  const found = differing
    .filter((row) => !heldElsewhere.includes(row.check) && !isSurplus(row))
    .flatMap(({ check, subject, difference }) => {
      const named = assetsOf(check, subject, assets);
      const name = `${check}: ${subject}: ${difference}`;
      return (named.length === 0 ? [null] : named).map((asset) => ({ asset, name, detail: name }));
    });
  return { found, unseen: ({ network }) => silent.has(networkById(network)?.chain ?? '') };
}

/** A venue names coins, everything else assets. */
function assetsOf(check: ReconcileRow['check'], subject: string, assets: readonly LedgerAsset[]): LedgerAsset[] {
  const parts = subject.split(', ');
  const named = assets.filter(({ coin, network }) => parts.includes(`${coin} on ${network}`));
  if (named.length > 0 || (check !== 'venue' && check !== 'trades')) return named;
  return assets.filter(({ coin }) => parts.includes(coin));
}

async function renew(
  em: EntityManager,
  { id, findings }: OpenHold,
  again: readonly Finding[],
  now: Date,
): Promise<void> {
  const hasMore = again.some(({ name }) => !findings.includes(name));
  await em.execute(
    `update payout_hold
        set found_at = ?, cleared_at = null, detail = ?, findings = array(select jsonb_array_elements_text(?::jsonb)),
            changed_at = case when ? then ? else changed_at end
      where id = ?`,
    [now, detailOf(again), namesOf(again), hasMore, now, id],
  );
}

function namesOf(findings: readonly Finding[]): string {
  return JSON.stringify(findings.slice(0, mostFindings).map(({ name }) => name));
}

function detailOf(findings: readonly Finding[]): string {
  const [first] = findings;
  return `${first?.detail ?? ''}${findings.length > 1 ? `, and ${findings.length - 1} more` : ''}`;
}

function assetOf({ coin, network }: Pick<OpenHold, 'coin' | 'network'>): LedgerAsset | null {
  return coin === null || network === null ? null : { coin, network };
}

function keyOf(asset: LedgerAsset | null): string {
  return asset === null ? 'all' : `${asset.coin} ${asset.network}`;
}
