import { randomUUID } from 'node:crypto';
import { chmodSync, mkdirSync } from 'node:fs';
import { link, mkdir, open, readdir, readFile, unlink } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import { errorCode, ignoreMissing } from '../base/db/error-code.ts';
import { syncFolder } from '../base/secret-file.ts';
import type { Expiry } from '../chains/port/chain-adapter.ts';
import { SignerError } from '../chains/port/signer.ts';
import type { SignedAttempt } from './attempts.ts';
import { isExpiry } from './expiry.ts';

/** The contents that were signed for one attempt. */
export interface SignedContents {
  readonly chain: string;
  readonly intentDigest: string;
  readonly payloadDigest: string;
  readonly txid: string;
  /** The inputs or the nonce that the transaction spends. */
  readonly reserves: readonly string[];
  /** In the smallest unit of the chain's own coin. */
  readonly fee: bigint;
  /** Null when the transaction never expires. */
  readonly expiresAt: Expiry | null;
  /** The signed bytes, where signing again would give others. */
  readonly raw?: string;
}

/** An attempt, as the journal holds it. */
export interface JournalEntry extends SignedAttempt {
  readonly intentDigest: string;
  readonly txid: string;
}

/** Attempts of a payment with entries of the first format, without `reserves` and `fee`. */
const earlyAttempts = 3;

/**
 * Records for ever what was signed for each attempt of each payment, in one file each. Several
 * processes may share the directory. An entry is never changed, and a crash or power loss leaves it
 * whole or absent.
 */
export class SignerJournal {
  readonly #dir: string;

  /** Creates the directory, which only its owner may enter. */
  constructor(dir: string) {
    this.#dir = resolve(dir);
    const topmostMade = mkdirSync(this.#dir, { recursive: true, mode: 0o700 });
    chmodSync(this.#dir, 0o700);
    // A new directory is durable only when its parent directory is synced.
    const last = dirname(topmostMade ?? this.#dir);
    for (let above = dirname(this.#dir); ; above = dirname(above)) {
      syncFolder(above);
      if (above === last) break;
    }
  }

  /**
   * Records the contents of an attempt, or finds that the very same contents were recorded before.
   * Either way the entry is durable when this returns.
   *
   * @throws SignerError `revoked` when the attempt was revoked. `refused` when it has another entry
   *   with other contents.
   */
  async record(paymentId: string, attempt: number, contents: SignedContents): Promise<'recorded' | 'same'> {
    const { chain, intentDigest, payloadDigest, txid } = contents;
    // A damaged entry equals none, and is refused too.
    const early = { paymentId, attempt, chain, intentDigest, payloadDigest, txid };
    const text = entryLine(paymentId, attempt, contents);
    const { isNew, found } = await this.#enter(paymentId, attempt, text);
    if (found !== text && found !== lineOf(early)) {
      if (found === revokedLine(paymentId, attempt)) throw revoked(paymentId, attempt);
      throw new SignerError(
        'refused',
        `attempt ${attempt} of payment ${paymentId} was signed before as something else`,
      );
    }
    return isNew ? 'recorded' : 'same';
  }

  /**
   * The bytes that were stored for an attempt with these very contents; null for none.
   *
   * @throws SignerError `revoked` when the attempt was revoked.
   */
  async kept(
    paymentId: string,
    attempt: number,
    asked: Omit<SignedContents, 'txid' | 'raw'>,
  ): Promise<{ readonly txid: string; readonly raw: string } | null> {
    const { folder, name } = this.#placeOf(paymentId);
    const found = await readFile(join(folder, `${name}-${attempt}.json`), 'utf8').catch(ignoreMissing);
    if (found === undefined) return null;
    if (found === revokedLine(paymentId, attempt)) throw revoked(paymentId, attempt);
    const { txid, raw } = parseKept(found);
    if (txid === null || raw === null) return null;
    return found === entryLine(paymentId, attempt, { ...asked, txid, raw }) ? { txid, raw } : null;
  }

  /** Revokes an attempt, so that it can never be recorded; false when it was recorded before. */
  async revoke(paymentId: string, attempt: number): Promise<boolean> {
    const text = revokedLine(paymentId, attempt);
    const { found } = await this.#enter(paymentId, attempt, text);
    return found === text;
  }

  /** Creates the entry of an attempt unless it has one. The entry is durable in both cases. */
  async #enter(paymentId: string, attempt: number, text: string): Promise<{ isNew: boolean; found: string }> {
    const { shard, folder, name } = this.#placeOf(paymentId);
    const early = await readFile(join(shard, `${name}-${attempt}.json`), 'utf8').catch(ignoreMissing);
    const file = join(folder, `${name}-${attempt}.json`);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const isNew = early === undefined && (await createWhole(file, text));
    const found = isNew ? text : (early ?? (await readFile(file, 'utf8')));
    // Also for an entry of another process, which may not have synced it yet.
    for (const dir of [folder, shard, this.#dir]) await syncDirectory(dir);
    return { isNew, found };
  }

  /**
   * Records for ever the payload of a transaction, before any caller gets its signatures. BIP143
   * signatures cover only the amount of their input, not all amounts. So two payloads that lie
   * about different inputs have the same transaction. One true signature of each would make it
   * valid, at a fee that no limit was checked against.
   *
   * @throws SignerError `refused` when the transaction was signed before from another payload.
   */
  async claim(chain: string, txid: string, payloadDigest: string): Promise<void> {
    const name = bytesToHex(sha256(utf8ToBytes(`${chain} ${txid}`)));
    const transactions = join(this.#dir, 'transactions');
    const folder = join(transactions, name.slice(0, 2), name.slice(2, 4));
    const file = join(folder, `${name}.json`);
    const text = lineOf({ chain, txid, payloadDigest });
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const isSame = (await createWhole(file, text)) || (await readFile(file, 'utf8')) === text;
    for (const dir of [folder, dirname(folder), transactions, this.#dir]) await syncDirectory(dir);
    if (!isSame) throw new SignerError('refused', `the transaction ${txid} was signed before from another payload`);
  }

  /**
   * All that was signed for a payment so far, in no fixed order, for an attempt that is to be
   * signed. Revoked attempts have signed nothing.
   *
   * @throws SignerError `revoked` when this attempt was revoked. `refused` when an entry is
   *   damaged, because its contents are then unknown.
   */
  async entries(paymentId: string, attempt: number): Promise<readonly JournalEntry[]> {
    const { shard, folder, name } = this.#placeOf(paymentId);
    const names = (await readdir(folder).catch(ignoreMissing)) ?? [];
    const files = [
      ...Array.from({ length: earlyAttempts }, (_, index) => join(shard, `${name}-${index + 1}.json`)),
      ...names
        .filter((found) => found.startsWith(`${name}-`) && found.endsWith('.json'))
        .map((found) => join(folder, found)),
    ];
    const texts = await Promise.all(files.map((file) => readFile(file, 'utf8').catch(ignoreMissing)));
    if (texts.includes(revokedLine(paymentId, attempt))) throw revoked(paymentId, attempt);
    return texts.filter((text) => text !== undefined).flatMap((text) => parseEntry(text, paymentId));
  }

  /**
   * Two levels of folders keep each of them small. Entries of the first format lie in the upper
   * one.
   */
  #placeOf(paymentId: string): { shard: string; folder: string; name: string } {
    const name = bytesToHex(sha256(utf8ToBytes(paymentId)));
    const shard = join(this.#dir, name.slice(0, 2));
    return { shard, folder: join(shard, name.slice(2, 4)), name };
  }
}

function lineOf(entry: object): string {
  return `${JSON.stringify(entry)}\n`;
}

/** The text of an entry. Its members have one order, so that equal contents are equal text. */
function entryLine(paymentId: string, attempt: number, contents: SignedContents): string {
  const { chain, intentDigest, payloadDigest, txid, reserves, fee, expiresAt, raw } = contents;
  const early = { paymentId, attempt, chain, intentDigest, payloadDigest, txid };
  // Without an expiry or bytes it is the text of versions that knew none.
  const later = { ...(expiresAt !== null && { expiresAt }), ...(raw !== undefined && { raw }) };
  return lineOf({ ...early, reserves, fee: fee.toString(), ...later });
}

/** The bytes of an entry and their txid; null in an entry without, and in a damaged one. */
function parseKept(text: string): { readonly txid: string | null; readonly raw: string | null } {
  try {
    const { txid, raw } = JSON.parse(text);
    return { txid: typeof txid === 'string' ? txid : null, raw: typeof raw === 'string' ? raw : null };
  } catch {
    return { txid: null, raw: null };
  }
}

function revokedLine(paymentId: string, attempt: number): string {
  return lineOf({ paymentId, attempt, revoked: true });
}

function revoked(paymentId: string, attempt: number): SignerError {
  return new SignerError('revoked', `attempt ${attempt} of payment ${paymentId} was revoked`);
}

/** Reads an entry; none for a revoked attempt. */
function parseEntry(text: string, paymentId: string): JournalEntry[] {
  try {
    const { revoked, attempt, intentDigest, txid, reserves = null, fee = '0', expiresAt = null } = JSON.parse(text);
    const isWhole =
      Number.isSafeInteger(attempt) &&
      typeof intentDigest === 'string' &&
      typeof txid === 'string' &&
      (reserves === null || (Array.isArray(reserves) && reserves.every((item) => typeof item === 'string'))) &&
      (expiresAt === null || isExpiry(expiresAt));
    if (isWhole) return [{ attempt, intentDigest, txid, reserves, fee: BigInt(fee), expiresAt }];
    if (revoked === true && text === revokedLine(paymentId, attempt)) return [];
  } catch {
    // The error below covers it.
  }
  throw new SignerError('refused', `an entry of payment ${paymentId} in the journal of signatures is damaged`);
}

/** Creates a file that holds the text from its first moment; false when the name is taken. */
async function createWhole(file: string, text: string): Promise<boolean> {
  const draft = `${file}.${randomUUID()}.draft`;
  try {
    await writeDurably(draft, text);
    // A link fails when the name is taken, so no entry is ever overwritten.
    await link(draft, file);
    return true;
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error;
    return false;
  } finally {
    await unlink(draft).catch(ignoreMissing);
  }
}

async function writeDurably(file: string, text: string): Promise<void> {
  const handle = await open(file, 'wx', 0o600);
  try {
    await handle.writeFile(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function syncDirectory(dir: string): Promise<void> {
  const handle = await open(dir, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
