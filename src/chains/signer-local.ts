import { join } from 'node:path';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import type { PaymentIntent, PreparedTx, SignedTx } from './chain-adapter.ts';
import { decodePayload, type SandboxPayload, sandboxTxid, signSandboxTx } from './sandbox/sandbox-tx.ts';
import { type Signer, SignerError } from './signer.ts';
import { SignerJournal } from './signer-journal.ts';
import { SignerKeys } from './signer-keys.ts';

export interface LocalSignerOptions {
  readonly keys: SignerKeys;
  readonly journal: SignerJournal;
}

/** A signer that holds the keys in this process. It knows the sandbox's transactions only, and refuses all others. */
export class LocalSigner implements Signer {
  readonly #keys: SignerKeys;
  readonly #journal: SignerJournal;

  constructor({ keys, journal }: LocalSignerOptions) {
    this.#keys = keys;
    this.#journal = journal;
  }

  async sign(chain: string, intent: PaymentIntent, tx: PreparedTx): Promise<SignedTx> {
    const { privateKey, address } = this.#keys.sandboxKey();
    const payload = openPayload(tx.payload);
    const faults = findFaults({ chain, from: address, intent, tx, payload });
    if (faults.length > 0) throw new SignerError('refused', faults.join('; '));

    const txid = sandboxTxid(tx.payload);
    // Recorded before anybody sees the bytes. A crash in between costs nothing: the same request gives them again.
    await this.#record(intent, {
      chain,
      intentDigest: intentDigest(chain, intent),
      payloadDigest: digest(tx.payload),
      txid,
    });
    return {
      txid,
      raw: signSandboxTx(tx.payload, privateKey),
      reserves: [...tx.reserves],
      expiresAt: tx.expiresAt,
    };
  }

  /** The same account on every chain, as all of them are the sandbox's. */
  async hotWallet(_chain: string): Promise<string> {
    return this.#keys.sandboxKey().address;
  }

  /** Names the keys and reveals nothing of them. */
  fingerprint(): string {
    return this.#keys.fingerprint();
  }

  async #record(intent: PaymentIntent, contents: Parameters<SignerJournal['record']>[2]): Promise<void> {
    try {
      await this.#journal.record(intent.id, intent.attempt, contents);
    } catch (error) {
      if (error instanceof SignerError) throw error;
      throw new SignerError('unavailable', 'the journal of signatures cannot be written', error);
    }
  }
}

/**
 * The signer of a data directory: its keys come from 32 bytes of entropy, and its journal is shared by all signers of
 * that directory.
 */
export function openLocalSigner({ entropy, dataDir }: { entropy: Uint8Array; dataDir: string }): LocalSigner {
  return new LocalSigner({
    keys: new SignerKeys(entropy),
    journal: new SignerJournal(join(dataDir, 'signer-journal')),
  });
}

function openPayload(text: string): SandboxPayload {
  try {
    return decodePayload(text);
  } catch (error) {
    throw new SignerError('refused', 'the payload is no sandbox transaction', error);
  }
}

interface Request {
  readonly chain: string;
  readonly from: string;
  readonly intent: PaymentIntent;
  readonly tx: PreparedTx;
  readonly payload: SandboxPayload;
}

/** In what the transaction differs from the payment as it was decided; names members and never their values. */
function findFaults({ chain, from, intent, tx, payload }: Request): string[] {
  const reserved = `nonce:${payload.from}:${payload.nonce}`;
  const conditions: readonly (readonly [string, boolean])[] = [
    ['the payment has no id', intent.id !== ''],
    ['the attempt is no number from 1', Number.isSafeInteger(intent.attempt) && intent.attempt >= 1],
    ['the amount of the payment is not above 0', intent.amount > 0n],
    ['the chain of the transaction is not the one asked for', payload.chain === chain],
    ['the transaction does not pay from the hot wallet', payload.from === from],
    ['the recipient (to) of the transaction is not that of the payment', payload.to === intent.to],
    ['the tag of the transaction is not that of the payment', payload.tag === intent.tag],
    ['the contract of the transaction is not that of the payment', payload.contract === intent.contract],
    ['the amount of the transaction is not that of the payment', payload.amount === intent.amount.toString()],
    ['the fee of the transaction is not the one stated', payload.fee === tx.fee.toString()],
    ['the reserves are not the nonce of the transaction', tx.reserves.length === 1 && tx.reserves[0] === reserved],
    // Nothing in these bytes expires. Who believed otherwise would pay again while they can still confirm.
    ['the transaction never expires, and it states that it does', tx.expiresAt === null],
  ];
  return conditions.filter(([, holds]) => !holds).map(([fault]) => fault);
}

/** The attempt is no part of it: all attempts of a payment have one intent. */
function intentDigest(chain: string, { id, contract, to, tag, amount }: PaymentIntent): string {
  return digest(JSON.stringify([chain, id, contract, to, tag, amount.toString()]));
}

function digest(text: string): string {
  return bytesToHex(sha256(utf8ToBytes(text)));
}
