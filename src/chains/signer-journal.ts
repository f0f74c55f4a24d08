import { randomUUID } from 'node:crypto';
import { chmodSync, closeSync, fsyncSync, mkdirSync, openSync } from 'node:fs';
import { link, mkdir, open, readFile, unlink } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import { errorCode, ignoreMissing } from '../db/error-code.ts';
import { SignerError } from './signer.ts';

/** What was signed for one attempt. */
export interface SignedContents {
  readonly chain: string;
  readonly intentDigest: string;
  readonly payloadDigest: string;
  readonly txid: string;
}

/**
 * Remembers what was signed for each attempt of each payment, in one file each, for ever. Several processes may share
 * the directory. An entry is never changed, and a crash or power loss leaves it whole or absent.
 */
export class SignerJournal {
  readonly #dir: string;

  /** Makes the directory, which only its owner may enter. */
  constructor(dir: string) {
    this.#dir = resolve(dir);
    const topmostMade = mkdirSync(this.#dir, { recursive: true, mode: 0o700 });
    chmodSync(this.#dir, 0o700);
    // A new directory is on disk for good only when the one above it is.
    const last = dirname(topmostMade ?? this.#dir);
    for (let above = dirname(this.#dir); ; above = dirname(above)) {
      syncDirectorySync(above);
      if (above === last) break;
    }
  }

  /**
   * Records what is signed for an attempt, or finds that the very same was recorded before. Either way the entry is on
   * disk for good when this returns.
   *
   * @throws SignerError `refused` when the attempt has an entry with other contents.
   */
  async record(paymentId: string, attempt: number, contents: SignedContents): Promise<'recorded' | 'same'> {
    const { chain, intentDigest, payloadDigest, txid } = contents;
    // Members in one order, so that equal contents are equal text; a damaged entry equals none and refuses too.
    const text = `${JSON.stringify({ paymentId, attempt, chain, intentDigest, payloadDigest, txid })}\n`;
    const name = bytesToHex(sha256(utf8ToBytes(paymentId)));
    const shard = join(this.#dir, name.slice(0, 2));
    const file = join(shard, `${name}-${attempt}.json`);

    await mkdir(shard, { recursive: true, mode: 0o700 });
    const isNew = await createWhole(file, text);
    const found = isNew ? text : await readFile(file, 'utf8');
    // Also for an entry of another process, which may not have come so far yet.
    await syncDirectory(shard);
    await syncDirectory(this.#dir);
    if (found !== text) {
      throw new SignerError(
        'refused',
        `attempt ${attempt} of payment ${paymentId} was signed before as something else`,
      );
    }
    return isNew ? 'recorded' : 'same';
  }
}

/** Makes a file that holds the text from its first moment; false where the name is taken. */
async function createWhole(file: string, text: string): Promise<boolean> {
  const draft = `${file}.${randomUUID()}.draft`;
  try {
    await writeDurably(draft, text);
    // A link fails where the name is taken, so no entry is ever overwritten.
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

function syncDirectorySync(dir: string): void {
  const descriptor = openSync(dir, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
