import { createPublicKey, verify } from 'node:crypto';
import { ed25519 } from '@noble/curves/ed25519.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, hexToBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import { base58 } from '@scure/base';
import type { ChainTraits, Expiry, Reservation } from '../port/chain-adapter.ts';

/** Of the usual rules: a payment dies when another transaction takes its nonce. */
export const sandboxTraits: ChainTraits = {
  ledger: 'accounts',
  deposits: 'per_order',
  paysFromDeposits: false,
  mempool: true,
  reorgs: true,
  sweepFee: 'swept',
  death: { conflict: true, expiry: 'none' },
  exclusive: true,
  furtherAttempts: 3,
};

/** The payload that a sandbox account signs. Amounts are decimal strings in the smallest unit. */
export interface SandboxPayload {
  readonly chain: string;
  readonly from: string;
  /** Counts an account's transactions from 0. */
  readonly nonce?: number | undefined;
  /**
   * In place of a nonce: '<payment>:<attempt>'. The transaction excludes no other one, and no other
   * one excludes it.
   */
  readonly attempt?: string | undefined;
  readonly to: string;
  readonly tag: string | null;
  readonly contract: string | null;
  readonly amount: string;
  readonly fee: string;
  /** Absent when it never expires. */
  readonly expiresAt?: Expiry | undefined;
  /** Time of the newest block when it was built; present when it expires by time. */
  readonly builtAtMs?: number | undefined;
}

const addressPrefix = 'sbx';
/** The DER header before the 32 bytes of an Ed25519 key (RFC 8410). */
const keyHeader = Buffer.from('302a300506032b6570032100', 'hex');

/** The account of an Ed25519 key: 'sbx' and its public key in base58. */
export function sandboxAddress(publicKey: Uint8Array): string {
  return `${addressPrefix}${base58.encode(publicKey)}`;
}

/**
 * The text that is signed and hashed. Members are in a fixed order and absent ones are left out, so
 * that equal payloads are equal text.
 */
export function encodePayload(payload: SandboxPayload): string {
  const { chain, from, nonce, attempt, to, tag, contract, amount, fee, expiresAt, builtAtMs } = payload;
  return JSON.stringify({ chain, from, nonce, attempt, to, tag, contract, amount, fee, expiresAt, builtAtMs });
}

/** @throws Error when the text is not a payload in its one form. */
export function decodePayload(text: string): SandboxPayload {
  const payload = JSON.parse(text) as SandboxPayload;
  const whole = /^(0|[1-9]\d{0,77})$/;
  const sound =
    whole.test(payload.amount) &&
    whole.test(payload.fee) &&
    isSoundPlace(payload) &&
    isSoundExpiry(payload) &&
    [payload.chain, payload.from, payload.to].every((part) => typeof part === 'string' && part !== '') &&
    [payload.tag, payload.contract].every((part) => part === null || typeof part === 'string');
  if (!sound || encodePayload(payload) !== text) throw new Error('this is not a sandbox transaction');
  return payload;
}

/** Either a nonce, or the payment's attempt. */
function isSoundPlace({ nonce, attempt }: SandboxPayload): boolean {
  if (nonce === undefined) return typeof attempt === 'string' && attempt !== '';
  return attempt === undefined && isCount(nonce);
}

function isSoundExpiry({ expiresAt, builtAtMs }: SandboxPayload): boolean {
  if (expiresAt === undefined) return builtAtMs === undefined;
  if (typeof expiresAt !== 'object' || expiresAt === null) return false;
  const values = Object.values(expiresAt);
  if (values.length !== 1 || !values.every(isCount)) return false;
  return 'timeMs' in expiresAt ? isCount(builtAtMs) : 'height' in expiresAt && builtAtMs === undefined;
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}

/** What a transaction uses up: its nonce, or an attempt that nothing else can use. */
export function reservationOf({
  from,
  nonce,
  attempt,
}: Pick<SandboxPayload, 'from' | 'nonce' | 'attempt'>): Reservation {
  return nonce === undefined ? `attempt:${attempt}` : `nonce:${from}:${nonce}`;
}

/** Whether a transaction can be in no block above this one. */
export function hasExpired(
  expiresAt: Expiry | undefined,
  { height, timeMs }: { height: number; timeMs: number },
): boolean {
  if (expiresAt === undefined) return false;
  return 'height' in expiresAt ? height >= expiresAt.height : timeMs >= expiresAt.timeMs;
}

/**
 * The txid: a hash of the payload, so that it is known before the transaction is signed. 64 hex
 * digits.
 */
export function sandboxTxid(payload: string): string {
  return bytesToHex(sha256(sha256(utf8ToBytes(payload))));
}

/**
 * Signs a payload and returns payload and signature, as they are broadcast. Deterministic: the same
 * payload and key give the same bytes.
 */
export function signSandboxTx(payload: string, privateKey: Uint8Array): string {
  return `${payload}#${bytesToHex(ed25519.sign(utf8ToBytes(payload), privateKey))}`;
}

/**
 * The payload of signed bytes.
 *
 * @throws Error when the sender did not sign it.
 */
export function openSandboxTx(raw: string): { payload: SandboxPayload; txid: string } {
  const end = raw.lastIndexOf('#');
  const text = raw.slice(0, end);
  const payload = decodePayload(text);
  const signature = raw.slice(end + 1);
  if (!payload.from.startsWith(addressPrefix) || !/^[0-9a-f]{128}$/.test(signature)) throw new Error('not signed');
  const publicKey = base58.decode(payload.from.slice(addressPrefix.length));
  const key = createPublicKey({ key: Buffer.concat([keyHeader, publicKey]), format: 'der', type: 'spki' });
  if (!verify(null, utf8ToBytes(text), key, hexToBytes(signature))) throw new Error('the signature is wrong');
  return { payload, txid: sandboxTxid(text) };
}
