import { type Address, beginCell, Cell, contractAddress, type Slice } from '@ton/core';
import { addressOf, textOf } from './ton-highload.ts';

/** Operations of jettons. https://github.com/ton-blockchain/TEPs/blob/master/text/0074-jettons-standard.md */
export const operations = {
  transfer: 0x0f8a7ea5,
  internalTransfer: 0x178d4519,
  excesses: 0xd53276db,
} as const;

/**
 * How a jetton's wallet keeps its data. The first form has the code as well. The second one begins
 * with four bits of its state, as USDT has it. The third one has neither.
 */
export const layouts = ['with_code', 'with_status', 'plain'] as const;
export type Layout = (typeof layouts)[number];

/** The code from which the wallets of a jetton are made. Their addresses follow from it. */
export interface JettonCode {
  readonly layout: Layout;
  /** A bag of cells in hexadecimal. */
  readonly code: string;
}

/** What a jetton's wallet holds, as its data show it. */
export interface JettonHolding {
  readonly balance: bigint;
  /** Whether the issuer lets it send. */
  readonly maySend: boolean;
}

interface WalletData extends JettonHolding {
  readonly owner: Address;
  readonly master: Address;
}

/** The address of the wallet that an owner has of a jetton, given the code of its wallets. */
export function jettonWalletAddress(owner: string, master: string, { layout, code }: JettonCode): string {
  const cell = Cell.fromHex(code);
  const data = beginCell();
  if (layout === 'with_status') data.storeUint(0, 4);
  data.storeCoins(0).storeAddress(addressOf(owner)).storeAddress(addressOf(master));
  if (layout === 'with_code') data.storeRef(cell);
  return textOf(contractAddress(0, { code: cell, data: data.endCell() }));
}

/**
 * Which code and layout give this address to the owner's wallet; null when none does. The address
 * of a contract is the hash of its first state, so that one that fits is the jetton's own wallet.
 */
export function jettonCodeOf(wallet: string, owner: string, master: string, code: Cell): JettonCode | null {
  const hex = code.toBoc().toString('hex');
  for (const layout of layouts) {
    const found = { layout, code: hex };
    if (jettonWalletAddress(owner, master, found) === wallet) return found;
  }
  return null;
}

/** Reads the data of a wallet; null when they have another form, or another owner or jetton. */
export function readHolding(data: Cell, layout: Layout, owner: string, master: string): JettonHolding | null {
  try {
    const found = readWalletData(data.beginParse(), layout);
    const isOwn = textOf(found.owner) === owner && textOf(found.master) === master;
    return isOwn ? { balance: found.balance, maySend: found.maySend } : null;
  } catch {
    return null;
  }
}

function readWalletData(slice: Slice, layout: Layout): WalletData {
  const status = layout === 'with_status' ? slice.loadUint(4) : 0;
  const balance = slice.loadCoins();
  const owner = slice.loadAddress();
  const master = slice.loadAddress();
  // The lowest bit locks what goes out.
  return { balance, owner, master, maySend: (status & 1) === 0 };
}

/** What is passed on with a transfer of jettons, so that its receiver sees it. */
export const forwarded = 1n;

/** A transfer of jettons, as its owner orders it from its wallet. */
export interface JettonTransfer {
  readonly queryId: number;
  readonly amount: bigint;
  readonly to: string;
  /** Gets the coins that were not used. */
  readonly response: string;
  readonly comment: string | null;
}

export function encodeTransfer({ queryId, amount, to, response, comment }: JettonTransfer): Cell {
  return beginCell()
    .storeUint(operations.transfer, 32)
    .storeUint(queryId, 64)
    .storeCoins(amount)
    .storeAddress(addressOf(to))
    .storeAddress(addressOf(response))
    .storeBit(false)
    .storeCoins(forwarded)
    .storeMaybeRef(comment === null ? null : commentBody(comment))
    .endCell();
}

/** @throws Error for another body. What it leaves unread shows when it is encoded again. */
export function decodeTransfer(body: Cell): JettonTransfer {
  const slice = body.beginParse();
  if (slice.loadUint(32) !== operations.transfer) throw new Error('it is no transfer of jettons');
  const queryId = slice.loadUint(64);
  const amount = slice.loadCoins();
  const to = textOf(slice.loadAddress());
  const response = textOf(slice.loadAddress());
  if (slice.loadBit() || slice.loadCoins() !== forwarded) throw new Error('it passes on something else');
  const payload = slice.loadMaybeRef();
  return { queryId, amount, to, response, comment: payload === null ? null : commentOf(payload) };
}

/** A comment as the body of a message. */
export function commentBody(comment: string): Cell {
  return beginCell().storeUint(0, 32).storeBuffer(Buffer.from(comment, 'utf8')).endCell();
}

/** @throws Error for a body that is no comment of one cell. */
export function commentOf(body: Cell): string {
  const slice = body.beginParse();
  if (slice.loadUint(32) !== 0) throw new Error('it is no comment');
  return slice.loadBuffer(slice.remainingBits / 8).toString('utf8');
}

/** What a jetton's wallet received, by the body of its message; null for another message. */
export function readInternalTransfer(body: Cell): { readonly amount: bigint; readonly payload: Cell | null } | null {
  try {
    const slice = body.beginParse();
    if (slice.loadUint(32) !== operations.internalTransfer) return null;
    slice.skip(64); // the query id, which its sender chose
    const amount = slice.loadCoins();
    slice.loadAddressAny();
    slice.loadAddressAny();
    slice.loadCoins();
    return { amount, payload: payloadOf(slice) };
  } catch {
    return null;
  }
}

/** The payload that a transfer passes on: a separate cell, or the end of the body. */
function payloadOf(slice: Slice): Cell | null {
  if (slice.remainingBits === 0) return null;
  if (slice.loadBit()) return slice.remainingRefs > 0 ? slice.loadRef() : null;
  return slice.asCell();
}

/** The operation that a body names; null for a body without one. */
export function operationOf(body: Cell | null): number | null {
  if (body === null || body.isExotic || body.bits.length < 32) return null;
  return body.beginParse().loadUint(32);
}
