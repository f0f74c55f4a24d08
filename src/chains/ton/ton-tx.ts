import { ed25519 } from '@noble/curves/ed25519.js';
import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js';
import {
  beginCell,
  Cell,
  internal,
  loadMessage,
  loadMessageRelaxed,
  type StateInit,
  storeMessage,
  storeMessageRelaxed,
} from '@ton/core';
import type { Reservation } from '../port/chain-adapter.ts';
import { addressOf, countOf, highloadInit, textOf, walletId, walletTimeoutSec } from './ton-highload.ts';
import { commentBody, commentOf, decodeTransfer, encodeTransfer, type JettonCode, layouts } from './ton-jetton.ts';

/**
 * An order to the wallet to send one message, the only kind that is built here. Addresses are in
 * the form that the database keeps.
 */
export interface TonTx {
  /** The number of 23 bits, as the contract has it. */
  readonly queryId: number;
  /** Seconds since 1970. The contract takes it from then on, for `walletTimeoutSec`. */
  readonly createdAt: number;
  /** Who gets the coins or jettons in the end. */
  readonly to: string;
  /** Nanotons, or the smallest units of the jetton. */
  readonly amount: bigint;
  readonly comment: string | null;
  /** Null for coins. */
  readonly jetton: {
    /** The wallet's own contract for the jetton, which the message goes to. */
    readonly wallet: string;
    /** Nanotons that the message carries, for the contracts on its way. */
    readonly value: bigint;
  } | null;
}

export interface TonPayload {
  readonly tx: TonTx;
  /** Whether the message deploys the wallet, which has never paid then. */
  readonly deploys: boolean;
  /** What shows that the jetton wallet is of the payment's jetton; null for coins. */
  readonly code: JettonCode | null;
}

/** A message as it is sent, and the name by which it is found. */
interface SignedBytes {
  /** Hash of the message without what relays may change in it, in hexadecimal. */
  readonly txid: string;
  /** A bag of cells in hexadecimal. */
  readonly raw: string;
}

/** An Ed25519 signature is in front of each order. */
const signatureBits = 512;
/** The wallet pays the fees of the message in addition to its value. */
const sendMode = 1;
/**
 * Seconds from the last one in which the contract accepts a payment until it counts as expired. A
 * block of the wallet's shard may reach the masterchain that much later than its own time.
 */
export const settleSec = 60;

/**
 * Seconds from an order's time to that of the newest block when it was built. The contract refuses
 * an order from its future, and its shard may be behind the masterchain.
 */
export const backSec = 5;

/** When no block of the masterchain can bring the payment any more, in milliseconds. */
export function expiryMs({ createdAt }: Pick<TonTx, 'createdAt'>): number {
  return (createdAt + walletTimeoutSec + settleSec) * 1_000;
}

export function reservationOf(count: number): Reservation {
  return `query:${count}`;
}

/** The count of a reservation; null for another one. */
export function countOfReservation(reserved: Reservation): number | null {
  const count = /^query:(0|[1-9]\d{0,8})$/.exec(reserved)?.[1];
  return count === undefined ? null : Number(count);
}

/** The cell that is hashed and signed. */
export function encodeOrder(tx: TonTx, wallet: string): Cell {
  const { queryId, createdAt } = tx;
  return beginCell()
    .storeUint(walletId, 32)
    .storeRef(
      beginCell()
        .store(storeMessageRelaxed(messageOf(tx, wallet)))
        .endCell(),
    )
    .storeUint(sendMode, 8)
    .storeUint(queryId, 23)
    .storeUint(createdAt, 64)
    .storeUint(walletTimeoutSec, 22)
    .endCell();
}

function messageOf(tx: TonTx, wallet: string): ReturnType<typeof internal> {
  const { to, amount, comment, jetton, queryId } = tx;
  if (jetton === null) {
    const body = comment === null ? undefined : commentBody(comment);
    return internal({ to: addressOf(to), value: amount, bounce: false, body });
  }
  const body = encodeTransfer({ queryId, amount, to, response: wallet, comment });
  return internal({ to: addressOf(jetton.wallet), value: jetton.value, bounce: true, body });
}

/**
 * Reads an order as it is built here, by the wallet that it is for.
 *
 * @throws Error when encoding it again does not give the same cell.
 */
export function decodeOrder(cell: Cell, wallet: string): TonTx {
  const slice = cell.beginParse();
  slice.skip(32); // the wallet's number, compared by the encoding below
  const { info, body } = loadMessageRelaxed(slice.loadRef().beginParse());
  slice.skip(8); // the send mode, likewise
  const queryId = slice.loadUint(23);
  const createdAt = slice.loadUint(64);
  if (info.type !== 'internal') throw new Error('it is no message to a contract');
  const dest = textOf(info.dest);
  const { coins } = info.value;
  const tx: TonTx = {
    queryId,
    createdAt,
    ...(info.bounce ? transferOf(dest, coins, body) : coinsOf(dest, coins, body)),
  };
  if (countOf(queryId) === null) throw new Error('its query id is out of range');
  if (!encodeOrder(tx, wallet).equals(cell)) throw new Error('it is no order in the form that is built here');
  return tx;
}

type Order = Pick<TonTx, 'to' | 'amount' | 'comment' | 'jetton'>;

function coinsOf(to: string, amount: bigint, body: Cell): Order {
  const isBare = body.bits.length === 0 && body.refs.length === 0;
  return { to, amount, comment: isBare ? null : commentOf(body), jetton: null };
}

function transferOf(wallet: string, value: bigint, body: Cell): Order {
  const { to, amount, comment } = decodeTransfer(body);
  return { to, amount, comment, jetton: { wallet, value } };
}

/** The payload as text. Members are in a fixed order, so that equal payloads are equal text. */
export function encodePayload({ tx, deploys, code }: TonPayload, wallet: string): string {
  const jetton = code === null ? null : { layout: code.layout, code: code.code };
  return JSON.stringify({ order: hexOf(encodeOrder(tx, wallet)), deploys, jetton });
}

/** @throws Error when the text is not a payload in its one form. */
export function decodePayload(text: string, wallet: string): TonPayload {
  const { order, deploys, jetton } = JSON.parse(text) as Record<'order' | 'deploys' | 'jetton', unknown>;
  if (typeof order !== 'string' || typeof deploys !== 'boolean') throw new Error('this is not a payload');
  const payload = { tx: decodeOrder(Cell.fromHex(order), wallet), deploys, code: jettonOf(jetton) };
  if (encodePayload(payload, wallet) !== text) throw new Error('this is not a payload in its canonical form');
  return payload;
}

function jettonOf(value: unknown): JettonCode | null {
  if (value === null) return null;
  const { layout, code } = value as Record<'layout' | 'code', unknown>;
  const known = layouts.find((one) => one === layout);
  if (known === undefined || typeof code !== 'string') throw new Error('this is no code of jettons');
  return { layout: known, code: hexOf(Cell.fromHex(code)) };
}

/** Signs an order as the message that is sent. */
export function signTonTx(
  { tx, deploys }: Pick<TonPayload, 'tx' | 'deploys'>,
  { publicKey, privateKey }: { readonly publicKey: Uint8Array; readonly privateKey: Uint8Array },
  wallet: string,
): SignedBytes {
  const order = encodeOrder(tx, wallet);
  const body = beginCell()
    .storeBuffer(Buffer.from(ed25519.sign(order.hash(), privateKey)))
    .storeRef(order)
    .endCell();
  return messageBytes(wallet, body, deploys ? highloadInit(publicKey) : null);
}

function messageBytes(wallet: string, body: Cell, init: StateInit | null): SignedBytes {
  return { txid: bytesToHex(externalOf(wallet, body, null).hash()), raw: hexOf(externalOf(wallet, body, init)) };
}

/** https://github.com/ton-blockchain/TEPs/blob/master/text/0467-normalized-message-hash.md */
function externalOf(wallet: string, body: Cell, init: StateInit | null): Cell {
  const info = { type: 'external-in', dest: addressOf(wallet), importFee: 0n } as const;
  return beginCell()
    .store(storeMessage({ info, init, body }, { forceRef: true }))
    .endCell();
}

/** A payment that may be on the chain. */
export interface SentTx {
  readonly wallet: string;
  readonly tx: TonTx;
  /** Hash of the order in hexadecimal, by which the wallet's transaction is known. */
  readonly orderHash: string;
  /** Hash of the serialized message; null where only the order is known. */
  readonly sentHash: string | null;
}

/** An order that may have been signed and sent. */
export function sentOf(tx: TonTx, wallet: string): SentTx {
  return { wallet, tx, orderHash: bytesToHex(encodeOrder(tx, wallet).hash()), sentHash: null };
}

/**
 * Reads the name and the contents of signed bytes.
 *
 * @throws Error when they are no signed message of the kind that is built here.
 */
export function openTonTx(raw: string): SentTx & { readonly txid: string; readonly sentHash: string } {
  const cell = Cell.fromHex(raw);
  const { info, init, body } = loadMessage(cell.beginParse());
  if (info.type !== 'external-in') throw new Error('it is no message from outside');
  const wallet = textOf(info.dest);
  const { txid, raw: again } = messageBytes(wallet, body, init ?? null);
  const slice = body.beginParse();
  slice.skip(signatureBits);
  const order = slice.loadRef();
  const tx = decodeOrder(order, wallet);
  if (again !== raw || slice.remainingBits + slice.remainingRefs > 0) throw new Error('it has another form');
  return { txid, wallet, tx, orderHash: bytesToHex(order.hash()), sentHash: bytesToHex(cell.hash()) };
}

/** The order in the body of a message to the wallet; null for one that is not built here. */
export function orderOf(body: Cell, wallet: string): TonTx | null {
  try {
    const slice = body.beginParse();
    slice.skip(signatureBits);
    return decodeOrder(slice.loadRef(), wallet);
  } catch {
    return null;
  }
}

function hexOf(cell: Cell): string {
  return cell.toBoc().toString('hex');
}

/** A hash in the form of the nodes, from hexadecimal. */
export function base64Of(hash: string): string {
  return Buffer.from(hexToBytes(hash)).toString('base64');
}
