import type { EntityManager } from '@mikro-orm/postgresql';
import { sql } from '../../base/db/sql.ts';
import { isStorableText } from '../../base/db/stored-text.ts';
import type { Log } from '../../base/log.ts';
import { Big, fromUnits, isStorable } from '../../base/money.ts';
import type { Transfer } from '../../chains/port/chain-adapter.ts';
import type { Arrival, SeenTransfer } from './arrivals.ts';

/**
 * Why a transfer to one of our addresses became no deposit.
 *
 * - `too_large`: the amount exceeds the database's columns.
 * - `too_fine`: the coin has more decimals than the database.
 * - `bad_text`: one of its texts, such as the tag, cannot be stored.
 * - `changed`: its key is stored with other contents.
 * - `unknown_call`: a trace shows it in an unknown kind of call.
 * - `not_stored`: the database refused it in several scans.
 */
type LeftOutReason = 'too_large' | 'too_fine' | 'bad_text' | 'changed' | 'unknown_call' | 'not_stored';

/** A transfer that the scanner left out. */
export interface LeftOut {
  readonly transfer: Transfer;
  /** Null while it is in no block. */
  readonly height: number | null;
  readonly reason: LeftOutReason;
}

export function leftOutOf({ transfer, block }: SeenTransfer, reason: LeftOutReason): LeftOut {
  return { transfer, height: block?.height ?? null, reason };
}

/** Most unacknowledged rows of a chain. Further ones are only counted in the log. */
const maxOpen = 1_000;
/** Most stored characters of a text. */
const maxText = 200;

/** Whether PostgreSQL can store the text unchanged, and it is not too long. */
function isShortText(text: string): boolean {
  return text.length <= maxText && isStorableText(text);
}

function asStorable(text: string): string {
  return text.replaceAll('\0', '\uFFFD').toWellFormed().slice(0, maxText);
}

/**
 * Splits sightings by whether all their texts can be stored. A sighting with an address that cannot
 * be stored is dropped, because our addresses can. The other unstorable ones come back with mended
 * texts, so that their target can be looked up.
 */
export function splitByText(sightings: readonly SeenTransfer[]): {
  readonly sound: readonly SeenTransfer[];
  readonly mended: readonly SeenTransfer[];
} {
  const sound: SeenTransfer[] = [];
  const mended: SeenTransfer[] = [];
  for (const sighting of sightings) {
    const { key, txid, address, tag, contract } = sighting.transfer;
    if (!isShortText(address)) continue;
    if ([key, txid, tag ?? '', contract ?? ''].every(isShortText)) {
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

/** Why an arrival cannot become a deposit. Null when it can. */
export function whyLeftOut({ transfer, asset }: Arrival): LeftOutReason | null {
  if (transfer.doubt === 'unknown_call') return transfer.doubt;
  const amount = new Big(fromUnits(transfer.amount, asset.decimals));
  if (isStorable(amount)) return null;
  return asset.decimals > 18 && isStorable(amount.round(18)) ? 'too_fine' : 'too_large';
}

/** Stores the left-out transfers, each once, and logs the new ones. */
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
  const stored = await sql<{ reason: string }>(
    em,
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
    'a transfer to one of our addresses could not become a deposit; the scan continued without it',
  );
}
