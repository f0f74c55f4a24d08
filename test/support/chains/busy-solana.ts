import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import { base58 } from '@scure/base';
import { encodeSolana } from '../../../src/chains/addresses/solana.ts';
import { listen } from '../http/local-server.ts';
import type { BusyNode, BusyOptions } from './busy-tron.ts';
import { keyOf, programs } from './solana-node/keys.ts';
import { amountJson } from './solana-node/shown.ts';

/** The token that plays USDC as settings name it. */
export const busyUsdc = keyOf('USDC').address;
/** Slot of the first block. */
export const busyFirstSlot = 460_000_000;
const firstHeight = 437_900_000;
/** Every so many slots, one has no block. */
const slotsPerGap = 20;
const slotMs = 230;
/** Blocks until the transactions of strangers come again, with other ids. */
const kinds = 40;
/** Stands in stored text for what makes the ids of a block its own. */
const slotMark = '@slot';
const dust = 1_000_000;

type Json = Record<string, unknown>;

/** The address of the payment with this number to one of us. */
export function ownSolanaAddress(number: number): string {
  return keyOf(`own ${number}`).address;
}

/**
 * Serves a long chain of full blocks over HTTP, which were never executed: their hashes join, and
 * balances fit. Of ten transactions of strangers, five are votes, two send coins, one sends the
 * token, and two are swaps over 24 accounts. They repeat, because that many do not fit into memory.
 *
 * With `pace`, only the first block is there at first, and so many more come each second from the
 * first question about the newest one on.
 */
export async function serveBusySolana({ blocks, perBlock, ownPerBlock, pace = 0 }: BusyOptions): Promise<BusyNode> {
  const fillings = Array.from({ length: Math.min(kinds, blocks) }, (_, kind) => {
    const all = Array.from({ length: perBlock }, (_unused, index) => stranger(kind * perBlock + index));
    return all.map((one) => JSON.stringify(one)).join();
  });
  const startTime = Date.now() - (pace > 0 ? 0 : blocks * slotMs);
  let counts = { polls: 0, others: 0, bytes: 0 };
  let began = 0;
  const newest = (): number => {
    if (pace === 0) return blocks;
    began ||= Date.now();
    return Math.min(blocks, Math.floor(((Date.now() - began) / 1_000) * pace));
  };
  const contents = (block: number): string => {
    if (block === 0) return '';
    const own = Array.from({ length: ownPerBlock }, (_, index) => ownPayment(block * ownPerBlock + index));
    const strangers = fillings[block % fillings.length]?.replaceAll(slotMark, idPart(slotOf(block))) ?? '';
    return [strangers, ...own.map((one) => JSON.stringify(one))].filter((text) => text !== '').join();
  };
  const blockText = (slot: number, details: unknown): string => {
    const block = blockAt(slot);
    if (block === null || block > newest()) throw new Error(`no block in slot ${slot}`);
    const parent = block === 0 ? slot - 1 : slotOf(block - 1);
    const header = {
      ...{ blockHeight: firstHeight + block, blockTime: Math.floor((startTime + block * slotMs) / 1_000) },
      ...{ blockhash: hashOf(slot), parentSlot: parent, previousBlockhash: hashOf(parent) },
    };
    const text = JSON.stringify(header);
    return details === 'none' ? text : `${text.slice(0, -1)},"transactions":[${contents(block)}]}`;
  };
  const answer = (method: string, params: readonly unknown[]): string => {
    const [first, second] = params as readonly [number, number];
    switch (method) {
      case 'getGenesisHash':
        return JSON.stringify(hashOf(0));
      case 'getSlot':
        return String(slotOf(newest()));
      case 'getBlock':
        return blockText(first, (params[1] as Json).transactionDetails);
      case 'getBlocks': {
        const last = Math.min(second, slotOf(newest()));
        const all = Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => first + index);
        return JSON.stringify(all.filter((slot) => blockAt(slot) !== null));
      }
      case 'getMultipleAccounts':
        return JSON.stringify({ context: { slot: slotOf(newest()) }, value: (params[0] as string[]).map(accountOf) });
      case 'getMinimumBalanceForRentExemption':
        return '650240';
      case 'getSignatureStatuses':
        return JSON.stringify({ context: { slot: slotOf(newest()) }, value: (params[0] as string[]).map(() => null) });
      default:
        throw new Error(`the busy node has no ${method}`);
    }
  };
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const {
      id,
      method,
      params = [],
    } = JSON.parse(Buffer.concat(chunks).toString()) as {
      readonly id: unknown;
      readonly method: string;
      readonly params?: readonly unknown[];
    };
    const isHeader = method === 'getBlock' && (params[1] as Json).transactionDetails === 'none';
    let result: string;
    try {
      result = `"result":${answer(method, params)}`;
    } catch (error) {
      result = `"error":${JSON.stringify({ code: -32_601, message: String(error) })}`;
    }
    const text = `{"jsonrpc":"2.0","id":${JSON.stringify(id)},${result}}`;
    counts[method === 'getSlot' || isHeader ? 'polls' : 'others'] += 1;
    counts.bytes += text.length;
    response.setHeader('Content-Type', 'application/json');
    response.end(text);
  });
  return {
    url: `http://127.0.0.1:${await listen(server)}`,
    genesis: hashOf(0),
    takeCounts: () => {
      const taken = counts;
      counts = { polls: 0, others: 0, bytes: 0 };
      return taken;
    },
  };
}

/** The slot of a block by its number. */
export function slotOf(block: number): number {
  return busyFirstSlot + block + Math.floor(block / (slotsPerGap - 1));
}

/** The number of the block in a slot; null where there is none. */
function blockAt(slot: number): number | null {
  const passed = slot - busyFirstSlot;
  if (passed < 0 || passed % slotsPerGap === slotsPerGap - 1) return null;
  return passed - Math.floor(passed / slotsPerGap);
}

/** The mint, as an account of the first token program with 6 decimals. */
function accountOf(address: string): Json | null {
  if (address !== busyUsdc) return null;
  const data = Buffer.alloc(82);
  data.writeUInt8(6, 44);
  data.writeUInt8(1, 45);
  const owner = programs.token;
  return { data: [data.toString('base64'), 'base64'], executable: false, lamports: 1_461_600, owner, space: 82 };
}

function stranger(number: number): Json {
  const kind = number % 10;
  if (kind < 5) return transaction(number, { accounts: [programs.system], fee: 5_000 });
  if (kind < 7) return transaction(number, { accounts: [programs.system], fee: 5_250, moved: dust });
  const accounts = Array.from({ length: kind === 7 ? 5 : 22 }, (_, index) =>
    address(index < 6 ? `account ${number} ${index}` : `program ${(number + index) % 400}`),
  );
  return transaction(number, { accounts, fee: 5_400, tokens: kind === 7 ? 2 : 6 });
}

interface Content {
  /** In addition to the payer and one more of its own. */
  readonly accounts: readonly string[];
  readonly fee: number;
  /** Lamports from the payer to the second account. */
  readonly moved?: number;
  /** Balances of tokens before and after. */
  readonly tokens?: number;
  /** The second account instead of a stranger's. */
  readonly to?: string;
}

/** A transaction in the form of `transactionDetails: accounts`. */
function transaction(number: number, { accounts, fee, moved = 0, tokens = 0, to }: Content): Json {
  const keys = [address(`payer ${number}`), to ?? address(`recipient ${number}`), ...accounts];
  const before = keys.map((_, index) => 2_039_280 + index * 1_000_003 + moved + fee);
  const after = before.map((lamports, index) => lamports + ([-moved - fee, moved][index] ?? 0));
  const balances = (sign: number): Json[] =>
    Array.from({ length: tokens }, (_, index) => ({
      accountIndex: index + 1,
      mint: index < 2 ? busyUsdc : address(`mint ${(number + index) % 30}`),
      owner: address(`owner ${number} ${index}`),
      programId: programs.token,
      uiTokenAmount: amountJson(BigInt(9_000_000 + number + sign * (index % 2 === 0 ? -1_000 : 1_000)), 6),
    }));
  return {
    meta: {
      ...{ err: null, fee, postBalances: after, postTokenBalances: balances(1) },
      ...{ preBalances: before, preTokenBalances: balances(0), status: { Ok: null } },
    },
    transaction: {
      accountKeys: keys.map((pubkey, index) => ({
        ...{ pubkey, signer: index === 0, source: index < 12 ? 'transaction' : 'lookupTable', writable: index < 8 },
      })),
      signatures: [to === undefined ? `${signature(number).slice(0, 76)}${slotMark}` : signature(number)],
    },
    version: 0,
  };
}

/** Brings one SOL. */
function ownPayment(number: number): Json {
  const to = ownSolanaAddress(number);
  return transaction(-1 - number, { accounts: [programs.system], fee: 5_000, moved: 1_000_000_000, to });
}

/** Letters of base58 that tell a slot. */
function idPart(slot: number): string {
  return String(slot).replaceAll('0', 'A');
}

function signature(number: number): string {
  return base58.encode(Buffer.concat([digest(`signature ${number}`), digest(`more ${number}`)]));
}

function address(name: string): string {
  return encodeSolana(digest(name));
}

function hashOf(slot: number): string {
  return base58.encode(digest(`block ${slot}`));
}

function digest(name: string): Uint8Array {
  return createHash('sha256').update(name).digest();
}
