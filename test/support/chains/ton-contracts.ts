import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { ed25519 } from '@noble/curves/ed25519.js';
import {
  type Address,
  beginCell,
  Cell,
  contractAddress,
  external,
  internal,
  type MessageRelaxed,
  type Slice,
  type StateInit,
  storeMessage,
  storeMessageRelaxed,
  storeStateInit,
} from '@ton/core';

/**
 * Contracts that run on the virtual machine: their compiled codes, and the messages that they
 * take. Written from the documentation of the contracts, by other hands than those of `src`.
 */

interface Compiled {
  /** The npm package that has the code, whose licence is MIT, or the file here. */
  readonly source: string;
  readonly licence: string;
  /** Of the code's cell, in hexadecimal. */
  readonly hash: string;
  /** In base64. */
  readonly code: string;
}

type WalletCode = 'walletV3r2' | 'walletV4r2' | 'highloadWalletV3';
type JettonCode = 'jettonMaster' | 'jettonWallet' | 'governedMaster' | 'governedWallet';
type CodeName = WalletCode | JettonCode;

const file = new URL('contracts/ton-contracts.json', import.meta.url);
export const compiled = JSON.parse(readFileSync(file, 'utf8')) as Readonly<Record<CodeName, Compiled>>;

export function codeOf(name: CodeName): Cell {
  return Cell.fromBase64(compiled[name].code);
}

/** Refuses each message with exit code 45, as a wallet of USDT that may not receive. */
export const refusingCode = beginCell().storeUint(0xff00f22d, 32).endCell();

/** A cell that names another one by its hash, as the wallets of USDT name their code. */
export function libraryCell(code: Cell): Cell {
  return beginCell().storeUint(2, 8).storeBuffer(code.hash()).endCell({ exotic: true });
}

export const opcodes = {
  comment: 0,
  encryptedComment: 0x2167da4b,
  mint: 21,
  transfer: 0x0f8a7ea5,
  notification: 0x7362d09c,
  internalTransfer: 0x178d4519,
  excesses: 0xd53276db,
  burn: 0x595f07bc,
  setStatus: 0xeed236d3,
} as const;

/** How messages are sent: fees apart from the value, and errors ignored. */
export const sendMode = { payFees: 1, ignoreErrors: 2, all: 128 } as const;

export interface TonKey {
  readonly seed: Uint8Array;
  readonly publicKey: Uint8Array;
}

/** The same key for the same name. */
export function keyOf(name: string): TonKey {
  return keyOfSeed(createHash('sha256').update(`key of ${name}`).digest());
}

export function keyOfSeed(seed: Uint8Array): TonKey {
  return { seed, publicKey: ed25519.getPublicKey(seed) };
}

function signed(key: TonKey, cell: Cell): Buffer {
  return Buffer.from(ed25519.sign(cell.hash(), key.seed));
}

/** What a comment is made of. */
export type Comment =
  | string
  | null
  /** Bytes that are no text. */
  | { readonly binary: Uint8Array }
  /** Bytes that only the receiver can read. */
  | { readonly encrypted: Uint8Array }
  | { readonly cell: Cell };

/** The body of a message with a comment. Long text goes on in further cells. */
export function commentBody(comment: Comment): Cell {
  if (comment === null) return new Cell();
  if (typeof comment === 'string') return chained(opcodes.comment, Buffer.from(comment));
  if ('cell' in comment) return comment.cell;
  return 'binary' in comment
    ? chained(opcodes.comment, comment.binary)
    : chained(opcodes.encryptedComment, comment.encrypted);
}

function chained(opcode: number, bytes: Uint8Array): Cell {
  const [first, rest] = [bytes.subarray(0, 123), bytes.subarray(123)];
  const cell = beginCell().storeUint(opcode, 32).storeBuffer(Buffer.from(first));
  return (rest.length > 0 ? cell.storeRef(continued(rest)) : cell).endCell();
}

function continued(bytes: Uint8Array): Cell {
  const [first, rest] = [bytes.subarray(0, 127), bytes.subarray(127)];
  const cell = beginCell().storeBuffer(Buffer.from(first));
  return (rest.length > 0 ? cell.storeRef(continued(rest)) : cell).endCell();
}

/** A message that a contract is to send. */
export interface Outgoing {
  readonly to: Address;
  readonly value: bigint;
  readonly bounce?: boolean;
  readonly body?: Cell;
  readonly init?: StateInit;
}

export function relaxed({ to, value, bounce = false, body = new Cell(), init }: Outgoing): MessageRelaxed {
  return internal({ to, value, bounce, body, ...(init ? { init } : {}) });
}

/** An external message to a contract. @param init Deploys it. */
export function externalCell(to: Address, body: Cell, init?: StateInit): Cell {
  return beginCell()
    .store(storeMessage(external({ to, body, ...(init ? { init } : {}) })))
    .endCell();
}

export type WalletVersion = 'v3r2' | 'v4r2';

const walletId = 698_983_191;
const walletCodes = { v3r2: 'walletV3r2', v4r2: 'walletV4r2' } as const;

/** The state in which a wallet of a user begins. */
export function walletInit(version: WalletVersion, { publicKey }: TonKey): StateInit {
  const data = beginCell().storeUint(0, 32).storeUint(walletId, 32).storeBuffer(Buffer.from(publicKey));
  return { code: codeOf(walletCodes[version]), data: (version === 'v4r2' ? data.storeBit(false) : data).endCell() };
}

/** The body that has a user's wallet send at most four messages. */
export function walletBody(
  version: WalletVersion,
  key: TonKey,
  order: { readonly seqno: number; readonly validUntil: number; readonly messages: readonly Outgoing[] },
  mode: number = sendMode.payFees,
): Cell {
  const { seqno, validUntil, messages } = order;
  const payload = beginCell().storeUint(walletId, 32);
  payload.storeUint(seqno === 0 ? 0xffffffff : validUntil, 32).storeUint(seqno, 32);
  if (version === 'v4r2') payload.storeUint(0, 8);
  for (const one of messages) {
    payload.storeUint(mode, 8).storeRef(beginCell().store(storeMessageRelaxed(relaxed(one))));
  }
  const cell = payload.endCell();
  return beginCell().storeBuffer(signed(key, cell)).storeSlice(cell.beginParse()).endCell();
}

/** A highload wallet of version 3, by what its address is made of. */
export interface Highload {
  readonly key: TonKey;
  readonly subwallet?: number;
  /** In seconds. */
  readonly timeout?: number;
}

export const highloadDefaults = { subwallet: 0x10ad, timeout: 3_600 } as const;

export function highloadInit({ key, subwallet, timeout }: Highload): StateInit {
  const data = beginCell()
    .storeBuffer(Buffer.from(key.publicKey))
    .storeUint(subwallet ?? highloadDefaults.subwallet, 32)
    .storeBit(false)
    .storeBit(false)
    .storeUint(0, 64)
    .storeUint(timeout ?? highloadDefaults.timeout, 22);
  return { code: codeOf('highloadWalletV3'), data: data.endCell() };
}

/** The external message that has a highload wallet send one message. */
export function highloadCell(
  wallet: Highload,
  order: {
    /** 23 bits: the shift, then the number of the bit. */
    readonly queryId: number;
    readonly createdAt: number;
    readonly message: Outgoing;
    readonly mode?: number;
    readonly deploys?: boolean;
  },
): Cell {
  const { queryId, createdAt, message, mode = sendMode.payFees | sendMode.ignoreErrors, deploys = false } = order;
  const init = highloadInit(wallet);
  const inner = beginCell()
    .storeUint(wallet.subwallet ?? highloadDefaults.subwallet, 32)
    .storeRef(beginCell().store(storeMessageRelaxed(relaxed(message))))
    .storeUint(mode, 8)
    .storeUint(queryId, 23)
    .storeUint(createdAt, 64)
    .storeUint(wallet.timeout ?? highloadDefaults.timeout, 22)
    .endCell();
  const body = beginCell().storeBuffer(signed(wallet.key, inner)).storeRef(inner).endCell();
  return externalCell(contractAddress(0, init), body, deploys ? init : undefined);
}

/** `standard` is TEP-74 with the code in each wallet's data, `governed` has wallets as USDT has. */
export type JettonKind = 'standard' | 'governed';

export function masterInit(admin: Address, content: Cell, walletCode: Cell, kind: JettonKind = 'standard'): StateInit {
  const data = beginCell().storeCoins(0).storeAddress(admin).storeRef(content).storeRef(walletCode).endCell();
  return { code: codeOf(kind === 'governed' ? 'governedMaster' : 'jettonMaster'), data };
}

export function jettonWalletInit(
  master: Address,
  owner: Address,
  code: Cell,
  balance = 0n,
  kind: JettonKind = 'standard',
): StateInit {
  const data = kind === 'governed' ? beginCell().storeUint(0, 4) : beginCell();
  data.storeCoins(balance).storeAddress(owner).storeAddress(master);
  return { code, data: (kind === 'governed' ? data : data.storeRef(code)).endCell() };
}

/** What the issuer of a governed jetton locks of a wallet. */
export const locks = { nothing: 0, sending: 1, receiving: 2, both: 3 } as const;

/** The body by which its admin has a governed master lock the wallet of an owner. */
export function lockBody(owner: Address, lock: number): Cell {
  return beginCell().storeUint(opcodes.setStatus, 32).storeUint(0, 64).storeAddress(owner).storeUint(lock, 4).endCell();
}

/** Coins that a jetton wallet passes on, and the comment that goes with them. */
export interface Forward {
  readonly amount: bigint;
  readonly comment: Comment;
  /** Puts the payload into the body itself, not into a separate cell. */
  readonly isInline?: boolean;
  /** The payload with the bit that tells its place, well formed or not. */
  readonly raw?: Cell | undefined;
}

function storedPayload({ comment, isInline = false, raw }: Forward): Slice {
  if (raw) return raw.beginParse();
  const payload = commentBody(comment);
  const cell = isInline
    ? beginCell().storeBit(false).storeSlice(payload.beginParse())
    : beginCell().storeBit(true).storeRef(payload);
  return (comment === null ? beginCell().storeBit(false) : cell).endCell().beginParse();
}

/** The body by which an owner has a jetton wallet send tokens. */
export function transferBody(
  order: {
    readonly to: Address;
    readonly amount: bigint;
    readonly response: Address | null;
    readonly queryId?: bigint;
  },
  forward: Forward,
): Cell {
  return beginCell()
    .storeUint(opcodes.transfer, 32)
    .storeUint(order.queryId ?? 0n, 64)
    .storeCoins(order.amount)
    .storeAddress(order.to)
    .storeAddress(order.response)
    .storeBit(false)
    .storeCoins(forward.amount)
    .storeSlice(storedPayload(forward))
    .endCell();
}

/** What a jetton wallet tells its owner, or what a stranger tells in its place. */
export function notificationBody(amount: bigint, from: Address, forward: Forward): Cell {
  return beginCell()
    .storeUint(opcodes.notification, 32)
    .storeUint(0, 64)
    .storeCoins(amount)
    .storeAddress(from)
    .storeSlice(storedPayload(forward))
    .endCell();
}

/** What one jetton wallet tells another one, or what a stranger tells in its place. */
export function internalTransferBody(
  amount: bigint,
  parts: { readonly from: Address | null; readonly response: Address | null },
  forward: Forward,
): Cell {
  return beginCell()
    .storeUint(opcodes.internalTransfer, 32)
    .storeUint(0, 64)
    .storeCoins(amount)
    .storeAddress(parts.from)
    .storeAddress(parts.response)
    .storeCoins(forward.amount)
    .storeSlice(storedPayload(forward))
    .endCell();
}

/** The body by which its admin has a master make tokens. @param value Coins that go with them. */
export function mintBody(to: Address, value: bigint, transfer: Cell): Cell {
  return beginCell()
    .storeUint(opcodes.mint, 32)
    .storeUint(0, 64)
    .storeAddress(to)
    .storeCoins(value)
    .storeRef(transfer)
    .endCell();
}

/** The hash of an initial state, which is the address. */
export function stateHash(init: StateInit): Buffer {
  return beginCell().store(storeStateInit(init)).endCell().hash();
}
