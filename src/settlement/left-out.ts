import type { EntityManager } from '@mikro-orm/postgresql';
import type { Transfer } from '../chains/chain-adapter.ts';
import type { Log } from '../log.ts';
import { Big, fromUnits, isStorable } from '../money.ts';
import type { Arrival, Sighting } from './arrivals.ts';

/**
 * Why a transfer to one of our addresses became no deposit. too_large: the database holds no such amount. too_fine: the
 * coin has more decimals than the database. bad_text: a text of it, such as its tag, cannot be stored. changed: it is
 * known under its key as something else. unknown_call: a trace shows it in a kind of call that is unknown.
 */
export type LeftOutReason = 'too_large' | 'too_fine' | 'bad_text' | 'changed' | 'unknown_call';

/** A transfer that the scan goes on without. */
export interface LeftOut {
  readonly transfer: Transfer;
  /** Null while no block holds it. */
  readonly height: number | null;
  readonly reason: LeftOutReason;
}

/** Unacknowledged rows that are kept for a chain. Those beyond are counted in the log only. */
const maxOpen = 1_000;
/** Characters of a text that are stored. */
const maxText = 200;

/** Whether PostgreSQL stores the text as it is: no NUL, no half of a character, and no endless one. */
export function isStorableText(text: string): boolean {
  return text.length <= maxText && text.isWellFormed() && !text.includes('\0');
}

function asStorable(text: string): string {
  return text.replaceAll('\0', '\uFFFD').toWellFormed().slice(0, maxText);
}

/**
 * Splits sightings by whether all their texts can be stored. Addresses of ours can, so one that cannot is nobody's and is
 * dropped. The others come back with their texts mended, so that their target can be looked up.
 */
export function splitByText(sightings: readonly Sighting[]): {
  readonly sound: readonly Sighting[];
  readonly mended: readonly Sighting[];
} {
  const sound: Sighting[] = [];
  const mended: Sighting[] = [];
  for (const sighting of sightings) {
    const { key, txid, address, tag, contract } = sighting.transfer;
    if (!isStorableText(address)) continue;
    if ([key, txid, tag ?? '', contract ?? ''].every(isStorableText)) {
      sound.push(sighting);
      continue;
    }
    const texts = {
      key: asStorable(key),
      txid: asStorable(txid),
      tag: tag === null ? null : asStorable(tag),
      contract: contract === null ? null : asStorable(contract),
    };
    mended.push({ ...sighting, transfer: { ...sighting.transfer, ...texts } });
  }
  return { sound, mended };
}

/** Why an arrival can be no deposit; null for one that can. */
export function whyLeftOut({ transfer, asset }: Arrival): LeftOutReason | null {
  if (transfer.doubt !== undefined) return transfer.doubt;
  const amount = new Big(fromUnits(transfer.amount, asset.decimals));
  if (isStorable(amount)) return null;
  return asset.decimals > 18 && isStorable(amount.round(18)) ? 'too_fine' : 'too_large';
}

/** Stores transfers that are left out, each once, and tells of those that are new. */
export async function storeLeftOut(
  em: EntityManager,
  log: Log,
  chain: string,
  all: readonly LeftOut[],
  now: Date,
): Promise<void> {
  if (all.length === 0) return;
  const rows = all.map(({ transfer: { key, txid, address, contract, amount }, height, reason }) => {
    return { key, txid, address, contract, amount: amount.toString(), height, reason };
  });
  const stored = await em.execute<{ reason: string }[]>(
    `insert into left_out_transfer (chain, key, txid, address, contract, amount, height, reason, seen_at)
     select ?, key, txid, address, contract, amount, height, reason, ?
       from jsonb_to_recordset(?::jsonb)
            as t (key text, txid text, address text, contract text, amount text, height bigint, reason text)
      limit (select greatest(0, ? - count(*)) from left_out_transfer where chain = ? and acknowledged_at is null)
     on conflict do nothing returning reason`,
    [chain, now, JSON.stringify(rows), maxOpen, chain],
  );
  if (stored.length === 0) return;
  const reasons = [...new Set(stored.map(({ reason }) => reason))].join(', ');
  log.error(
    { event: 'transfer_left_out', code: `${chain}: ${reasons}`, count: stored.length },
    'a transfer to an address of ours could not become a deposit; the scan went on without it',
  );
}
