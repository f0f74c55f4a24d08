import { secp256k1 } from '@noble/curves/secp256k1.js';
import { keccak_256 } from '@noble/hashes/sha3.js';
import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js';
import { parseTransaction, serializeTransaction } from 'viem/utils';
import { encodeEvm } from '../addresses/evm.ts';
import type { Reservation } from '../port/chain-adapter.ts';

type Hex = `0x${string}`;

/** A transaction of EIP-1559 without an access list, the only kind that is built here. */
export interface EvmTx {
  readonly chainId: number;
  readonly nonce: number;
  readonly maxPriorityFeePerGas: bigint;
  readonly maxFeePerGas: bigint;
  /** The most gas that it may use. */
  readonly gas: bigint;
  /** In lower case. */
  readonly to: string;
  readonly value: bigint;
  /** In lower case; '0x' for none. */
  readonly data: string;
}

export interface EvmPayload {
  /** Path of the key that signs it. */
  readonly path: string;
  readonly tx: EvmTx;
}

/** The payload as text. Members are in a fixed order, so that equal payloads are equal text. */
export function encodePayload({ path, tx }: EvmPayload): string {
  return JSON.stringify({ path, tx: serializeEvmTx(tx) });
}

/** @throws Error when the text is not a payload in its one form. */
export function decodePayload(text: string): EvmPayload {
  const { path, tx } = JSON.parse(text) as Record<'path' | 'tx', unknown>;
  if (typeof path !== 'string' || typeof tx !== 'string') throw new Error('this is not a payload');
  const payload = { path, tx: parse(tx) };
  if (encodePayload(payload) !== text) throw new Error('this is not a payload in its canonical form');
  return payload;
}

/**
 * Signs a transaction and returns the bytes and their hash. Deterministic (RFC 6979) and with a low
 * s, so that the same transaction and key always give the same bytes.
 */
export function signEvmTx(tx: EvmTx, privateKey: Uint8Array): { readonly txid: string; readonly raw: string } {
  const digest = keccak_256(hexToBytes(serializeEvmTx(tx).slice(2)));
  const signature = secp256k1.Signature.fromBytes(
    secp256k1.sign(digest, privateKey, { prehash: false, lowS: true, format: 'recovered' }),
    'recovered',
  );
  const raw = serializeEvmTx(tx, {
    r: word(signature.r),
    s: word(signature.s),
    yParity: signature.recovery === 1 ? 1 : 0,
  });
  return { txid: hashOf(raw), raw };
}

/**
 * Reads the sender, the txid and the contents of signed bytes.
 *
 * @throws Error when they are no signed transaction of the kind that is built here.
 */
export function openEvmTx(raw: string): { readonly txid: string; readonly sender: string; readonly tx: EvmTx } {
  const tx = parse(raw);
  const { r, s, yParity } = parseTransaction(raw as Hex);
  if (r === undefined || s === undefined || yParity === undefined) throw new Error('not signed');
  const digest = keccak_256(hexToBytes(serializeEvmTx(tx).slice(2)));
  const signature = new secp256k1.Signature(BigInt(r), BigInt(s)).addRecoveryBit(yParity);
  const sender = encodeEvm(signature.recoverPublicKey(digest).toBytes(false).subarray(1));
  return { txid: hashOf(raw), sender, tx };
}

/**
 * The reservation of an account's nonce, which only one transaction can use. The address is in its
 * mixed-case form.
 */
export function reservation(address: string, nonce: number | bigint): Reservation {
  return `nonce:${address}:${nonce}`;
}

/** Whether a reservation is this nonce of the account, or a later one. */
export function isReservedFrom(reserved: Reservation, address: string, nonce: bigint): boolean {
  const prefix = `nonce:${address}:`;
  return reserved.startsWith(prefix) && BigInt(reserved.slice(prefix.length)) >= nonce;
}

/** Serialises a transaction, unsigned when `signature` is absent. */
export function serializeEvmTx(
  { chainId, nonce, maxPriorityFeePerGas, maxFeePerGas, gas, to, value, data }: EvmTx,
  signature?: { r: Hex; s: Hex; yParity: 0 | 1 },
): Hex {
  return serializeTransaction(
    {
      type: 'eip1559',
      chainId,
      nonce,
      maxPriorityFeePerGas,
      maxFeePerGas,
      gas,
      to: to as Hex,
      value,
      data: data as Hex,
    },
    signature,
  );
}

function parse(serialized: string): EvmTx {
  if (!/^0x02([0-9a-f]{2})+$/.test(serialized)) throw new Error('this is not a transaction of EIP-1559');
  const parsed = parseTransaction(serialized as `0x02${string}`);
  const { chainId, nonce = 0, maxPriorityFeePerGas = 0n, maxFeePerGas = 0n, gas = 0n, value = 0n } = parsed;
  const { to, data = '0x', accessList = [] } = parsed;
  if (typeof to !== 'string') throw new Error('it makes a contract');
  if (accessList.length > 0) throw new Error('it has a list of accesses');
  return { chainId, nonce, maxPriorityFeePerGas, maxFeePerGas, gas, to: to.toLowerCase(), value, data };
}

function hashOf(raw: string): string {
  return `0x${bytesToHex(keccak_256(hexToBytes(raw.slice(2))))}`;
}

function word(number: bigint): Hex {
  return `0x${number.toString(16).padStart(64, '0')}`;
}
