import { type EntityManager, LockMode, type MikroORM } from '@mikro-orm/postgresql';
import { v7 as uuidv7 } from 'uuid';
import type { Clock } from '../../base/clock.ts';
import { brokenConstraint } from '../../base/db/database.ts';
import { sql } from '../../base/db/sql.ts';
import { AppError } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import { Big } from '../../base/money.ts';
import { networkById } from '../../chains/networks/networks.ts';
import type { LedgerAsset } from '../../ledger/ledger.ts';
import type { ReconcileRow } from '../../ledger/reconcile.ts';
import { type HoldCause, PayoutHold } from '../rows/payout-hold.entity.ts';

/** A finding of a check, about one asset or, when `asset` is null, about all. */
export interface HoldFinding {
  readonly asset: LedgerAsset | null;
  /** The same text as long as the finding is the same. */
  readonly name: string;
  readonly detail: string;
}

/** SQL: true when no open hold covers the asset of a payment. `payment` is the alias of its row. */
export const notHeldSql = (payment: string): string =>
  `not exists (select from payout_hold h where h.closed_at is null
                  and (h.coin is null or (h.coin = ${payment}.coin and h.network = ${payment}.network)))`;

/** An acknowledged venue loss stays acknowledged for the window in which it was lost. */
const venueLossMs = 86_400_000;
/** Most findings that one hold names. */
const mostFindings = 100;

/**
 * Payout holds. While a hold of an asset, or of all assets, is open, no payment of it that leaves
 * us begins: no payout, refund or commission. Transactions that the signer has signed continue.
 * Automatic checks open holds, and so can one member of staff. Two members must agree to end one.
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
  async checked(
    cause: Exclude<HoldCause, 'staff'>,
    found: readonly HoldFinding[],
    unseen: (asset: LedgerAsset) => boolean = () => false,
    outer: EntityManager = this.#orm.em.fork(),
  ): Promise<void> {
    const now = this.#clock.now();
    await outer.transactional(async (em) => {
      const lockMode = LockMode.PESSIMISTIC_WRITE;
      const open = await em.find(PayoutHold, { closedAt: null, cause }, { lockMode });
      const known = await this.#acknowledged(em, cause, now);
      const byAsset = Map.groupBy(found, ({ asset }) => keyOf(asset));
      for (const hold of open) {
        const asset = assetOf(hold);
        const again = byAsset.get(keyOf(asset));
        byAsset.delete(keyOf(asset));
        if (again) renew(hold, again, now);
        else if (asset === null || !unseen(asset)) hold.clearedAt ??= now;
      }
      for (const [key, findings] of byAsset) {
        if (findings.every(({ name }) => known.has(`${key} ${name}`))) continue;
        await this.#open(em, cause, findings, now);
      }
    });
  }

  async #open(em: EntityManager, cause: HoldCause, findings: readonly HoldFinding[], now: Date): Promise<void> {
    const asset = findings[0]?.asset ?? null;
    const rows = await sql(
      em,
      `insert into payout_hold (id, cause, coin, network, detail, findings, opened_at, found_at, changed_at)
       values (?, ?, ?, ?, ?, array(select jsonb_array_elements_text(?::jsonb)), ?, ?, ?)
       on conflict do nothing returning id`,
      [
        uuidv7(),
        cause,
        asset?.coin ?? null,
        asset?.network ?? null,
        detailOf(findings),
        JSON.stringify(namesOf(findings)),
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
    const closedAt = cause === 'venue_loss' ? { $gt: new Date(now.getTime() - venueLossMs) } : { $ne: null };
    const holds = await em.find(
      PayoutHold,
      { cause, acknowledged: true, closedAt },
      { fields: ['coin', 'network', 'findings'] },
    );
    return new Set(holds.flatMap((row) => row.findings.map((name) => `${keyOf(assetOf(row))} ${name}`)));
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
      await em.insert(PayoutHold, {
        id,
        cause: 'staff',
        coin: asset?.coin ?? null,
        network: asset?.network ?? null,
        detail: reason,
        findings: [],
        openedAt: now,
        openedBy: staffId,
        foundAt: now,
        changedAt: now,
      });
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
  if (!(await em.findOne(PayoutHold, { id }, { fields: ['id'], disableIdentityMap: true })))
    throw new AppError('hold_not_found', 'there is no such hold of payouts');
}

/**
 * Ends a hold in the caller's transaction.
 *
 * @throws AppError hold_not_found.
 * @throws AppError action_not_possible when the hold has ended, when its cause persists and is not
 * acknowledged, or when the proposal predates a later finding.
 */
export async function resumePayouts(
  em: EntityManager,
  holdId: string,
  decision: { proposedBy: string; proposedAt: Date; decidedBy: string; acknowledges: boolean; now: Date },
): Promise<void> {
  const { proposedBy, proposedAt, decidedBy, acknowledges, now } = decision;
  const hold = await em.findOne(PayoutHold, { id: holdId }, { lockMode: LockMode.PESSIMISTIC_WRITE });
  if (!hold) throw new AppError('hold_not_found', 'there is no such hold of payouts');
  if (hold.closedAt !== null) throw new AppError('action_not_possible', 'this hold has ended');
  const causePersists = hold.cause !== 'staff' && hold.clearedAt === null;
  if (causePersists && !acknowledges) {
    throw new AppError(
      'action_not_possible',
      `the cause still stands: ${hold.detail}; correct it and wait for the next check, or propose again with acknowledge`,
    );
  }
  if (causePersists && hold.changedAt > proposedAt) {
    throw new AppError(
      'action_not_possible',
      `more was found since this was proposed: ${hold.detail}; propose it again`,
    );
  }
  // The trial run of a proposal has no second member yet.
  if (proposedBy === decidedBy) return;
  hold.closedAt = now;
  hold.proposedBy = proposedBy;
  hold.closedBy = decidedBy;
  hold.acknowledged = causePersists;
}

/**
 * Differences that open no hold here. A chain without an answer is no difference, and debits have
 * their own check. What lacks at an exchange holds trades there, and no payout.
 */
const heldElsewhere: readonly string[] = ['chain', 'debits', 'venue_balance'];

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
 *
 * @param young differences that may still be explained: they open no hold, and end none.
 */
export function reconcileFindings(
  rows: readonly ReconcileRow[],
  young: readonly ReconcileRow[],
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
  const waiting = new Set(young.flatMap(({ check, subject }) => assetsOf(check, subject, assets).map(keyOf)));
  const unseen = (asset: LedgerAsset): boolean =>
    silent.has(networkById(asset.network)?.chain ?? '') || waiting.has(keyOf(asset));
  return { found, unseen };
}

/** The assets that a row names. A venue names coins; all other checks name assets. */
function assetsOf(check: ReconcileRow['check'], subject: string, assets: readonly LedgerAsset[]): LedgerAsset[] {
  const parts = subject.split(', ');
  const named = assets.filter(({ coin, network }) => parts.includes(`${coin} on ${network}`));
  if (named.length > 0 || (check !== 'venue' && check !== 'trades')) return named;
  return assets.filter(({ coin }) => parts.includes(coin));
}

function renew(hold: PayoutHold, again: readonly HoldFinding[], now: Date): void {
  if (again.some(({ name }) => !hold.findings.includes(name))) hold.changedAt = now;
  hold.foundAt = now;
  hold.clearedAt = null;
  hold.detail = detailOf(again);
  hold.findings = namesOf(again);
}

function namesOf(findings: readonly HoldFinding[]): string[] {
  return findings.slice(0, mostFindings).map(({ name }) => name);
}

function detailOf(findings: readonly HoldFinding[]): string {
  const [first] = findings;
  return `${first?.detail ?? ''}${findings.length > 1 ? `, and ${findings.length - 1} more` : ''}`;
}

function assetOf({ coin, network }: Pick<PayoutHold, 'coin' | 'network'>): LedgerAsset | null {
  return coin === null || network === null ? null : { coin, network };
}

function keyOf(asset: LedgerAsset | null): string {
  return asset === null ? 'all' : `${asset.coin} ${asset.network}`;
}
