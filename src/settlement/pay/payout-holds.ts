import type { EntityManager, MikroORM } from '@mikro-orm/postgresql';
import { v7 as uuidv7 } from 'uuid';
import type { Clock } from '../../base/clock.ts';
import { brokenConstraint } from '../../base/db/database.ts';
import { AppError } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import { Big } from '../../base/money.ts';
import { networkById } from '../../chains/networks/networks.ts';
import type { LedgerAsset } from '../../ledger/ledger.ts';
import type { ReconcileRow } from '../../ledger/reconcile.ts';

/** Causes of payout holds. The gateway opens all but the last automatically. */
export const holdCauses = ['reconciliation', 'client_debit', 'venue_loss', 'staff'] as const;
export type HoldCause = (typeof holdCauses)[number];

/** A finding of a check, about one asset or, when `asset` is null, about all. */
export interface HoldFinding {
  readonly asset: LedgerAsset | null;
  /** The same text as long as the finding is the same. */
  readonly name: string;
  readonly detail: string;
}

/** An open hold that staff must decide about. */
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

/** SQL: true when no open hold covers the asset of a payment. `payment` is the alias of its row. */
export const notHeldSql = (payment: string): string =>
  `not exists (select from payout_hold h where h.closed_at is null
                  and (h.coin is null or (h.coin = ${payment}.coin and h.network = ${payment}.network)))`;

const holdColumns = `id, cause, coin, network, detail, findings, changed_at as "changedAt", cleared_at as "clearedAt"`;
/** An acknowledged venue loss stays acknowledged for the window in which it was lost. */
const venueLossMs = 86_400_000;
/** Most findings that one hold names. */
const mostFindings = 100;

/**
 * Payout holds. While a hold of an asset, or of all assets, is open, no payout or refund of it
 * begins. Transactions that the signer has signed continue. Automatic checks open holds, and so can
 * one member of staff. Two members must agree to end one.
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
   * Stores the findings of a check for one cause. It opens holds for assets without one, renews
   * those found again, and marks the others as cleared. A finding that two members acknowledged
   * opens no hold.
   *
   * @param unseen Assets that the check could not judge: their holds stay as they are.
   */
  async looked(
    cause: Exclude<HoldCause, 'staff'>,
    found: readonly HoldFinding[],
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

  async #open(em: EntityManager, cause: HoldCause, findings: readonly HoldFinding[], now: Date): Promise<void> {
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

  /** Reads acknowledged findings, each prefixed with its asset. */
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
   * @throws AppError already_exists while a staff hold of the same asset is open.
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

/**
 * Checks that a hold exists.
 *
 * @throws AppError hold_not_found
 */
export async function refuseUnknownHold(em: EntityManager, id: string): Promise<void> {
  const rows = await em.execute<object[]>('select id from payout_hold where id = ?', [id]);
  if (rows.length === 0) throw new AppError('hold_not_found', 'there is no such hold of payouts');
}

/**
 * Ends a hold in the caller's transaction.
 *
 * @throws AppError hold_not_found.
 * @throws AppError action_not_possible when the hold has ended, when its cause stands and is not
 * acknowledged, or when the proposal predates a later finding.
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
      `the cause still stands: ${hold.detail}; correct it and wait for the next check, or propose again with acknowledge`,
    );
  }
  if (stands && new Date(hold.changedAt) > proposedAt) {
    throw new AppError(
      'action_not_possible',
      `more was found since this was proposed: ${hold.detail}; propose it again`,
    );
  }
  // The trial run of a proposal has no second member yet.
  if (proposedBy === decidedBy) return;
  await em.execute(
    `update payout_hold set closed_at = ?, proposed_by = ?, closed_by = ?, acknowledged = ? where id = ?`,
    [now, proposedBy, decidedBy, stands, holdId],
  );
}

/**
 * Differences that open no hold here. A chain without an answer is no difference, and debits have
 * their own check.
 */
const heldElsewhere: readonly string[] = ['chain', 'debits'];

/**
 * Whether a chain holds more than the ledger says. Strangers can cause this: a contract, a block
 * reward or a token sends coins to one of our addresses, unseen by the scanner. Such dust must not
 * stop the payouts of an asset.
 */
function isSurplus({ check, difference }: ReconcileRow): boolean {
  return (check === 'hot' || check === 'deposits') && new Big(difference).gt('0');
}

/**
 * Converts a reconciliation into findings. A difference that names no asset of ours concerns all
 * assets. A surplus on a chain is reported to staff as a difference, but opens no hold.
 */
export function reconcileFindings(
  rows: readonly ReconcileRow[],
  assets: readonly LedgerAsset[],
): { readonly found: readonly HoldFinding[]; readonly unseen: (asset: LedgerAsset) => boolean } {
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

/** The assets that a row names. A venue names coins; all other checks name assets. */
function assetsOf(check: ReconcileRow['check'], subject: string, assets: readonly LedgerAsset[]): LedgerAsset[] {
  const parts = subject.split(', ');
  const named = assets.filter(({ coin, network }) => parts.includes(`${coin} on ${network}`));
  if (named.length > 0 || (check !== 'venue' && check !== 'trades')) return named;
  return assets.filter(({ coin }) => parts.includes(coin));
}

async function renew(
  em: EntityManager,
  { id, findings }: OpenHold,
  again: readonly HoldFinding[],
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

function namesOf(findings: readonly HoldFinding[]): string {
  return JSON.stringify(findings.slice(0, mostFindings).map(({ name }) => name));
}

function detailOf(findings: readonly HoldFinding[]): string {
  const [first] = findings;
  return `${first?.detail ?? ''}${findings.length > 1 ? `, and ${findings.length - 1} more` : ''}`;
}

function assetOf({ coin, network }: Pick<OpenHold, 'coin' | 'network'>): LedgerAsset | null {
  return coin === null || network === null ? null : { coin, network };
}

function keyOf(asset: LedgerAsset | null): string {
  return asset === null ? 'all' : `${asset.coin} ${asset.network}`;
}
