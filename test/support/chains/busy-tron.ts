import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import { tronAddress } from '../../../src/chains/addresses/tron.ts';
import { listen } from '../http/local-server.ts';
import type { MinedTransaction, TronBlock } from './tron-node/blocks.ts';
import type { Outcome } from './tron-node/execution.ts';
import { blockId, type Header } from './tron-node/header.ts';
import { blockJson, infoJson, stringify, transactionJson } from './tron-node/json.ts';
import { Ledger } from './tron-node/ledger.ts';
import { encodeMessage } from './tron-node/protobuf.ts';
import { decodeTransaction, encodeMined, encodeRaw, type TronCall } from './tron-node/transaction.ts';

/** How long a busy chain is, and what its blocks hold. */
export interface BusyOptions {
  /** Blocks above the first one. */
  readonly blocks: number;
  /** Transactions of strangers in a block. */
  readonly perBlock: number;
  /** Payments in a block to addresses of ours. */
  readonly ownPerBlock: number;
  /** Blocks that come in a second; 0 when all are there from the start. */
  readonly pace?: number;
}

/** The contract that plays USDT, as 42 digits. */
const usdt = '41a614f803b6fd780986a42c78ec9c7f77e6ded13c';
/** The contract as settings name it. */
export const busyUsdt = tronAddress(usdt);
/** What the contract answers to each call, as its number of decimals. */
const decimals = { result: { result: true }, constant_result: ['6'.padStart(64, '0')], transaction: { ret: [{}] } };
const transferTopic = 'ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
const producer = `41${'0b'.repeat(20)}`;
const blockMs = 3_000;
/** Blocks until the transactions of strangers come again; a scan reads fewer at once. */
const kinds = 210;
/** Blocks from the newest final one to the head. */
const solidLag = 18;
/** Stand in the stored text of results for the height and time of a block. */
const [heightMark, timeMark] = ['"@height"', '"@time"'];

/** The address of the payment with this number to one of us. */
export function ownAddress(number: number): string {
  return tronAddress(digitsOf(`own ${number}`));
}

/** A node that answers, and counts its requests. */
export interface BusyNode {
  readonly url: string;
  /** Id of block 0, or its hash. */
  readonly genesis: string;
  /** Requests since the last call: for one of the heads, and all others. */
  takeCounts(): RequestCounts;
}

export interface RequestCounts {
  readonly polls: number;
  readonly others: number;
  /** Of all answers. */
  readonly bytes: number;
}

/** Transactions with their texts, and the hashes under the root of a block. */
interface Filling {
  readonly leaves: readonly Buffer[];
  readonly transactions: readonly string[];
  readonly infos: readonly string[];
}

/**
 * Serves a long chain of full blocks over HTTP, which were never executed: their ids, roots and
 * results fit, and nothing else. More than half of the transactions of strangers send coins, and a
 * sixth sends USDT. They repeat, because that many do not fit into memory.
 */
export async function serveBusyTron(options: BusyOptions): Promise<BusyNode> {
  const fillings = Array.from({ length: Math.min(kinds, options.blocks) }, (_, kind) => filling(kind, options));
  const contents = (height: number): Filling => {
    const strangers = fillings[height % fillings.length];
    if (height === 0 || !strangers) return { leaves: [], transactions: [], infos: [] };
    const own = together(
      Array.from({ length: options.ownPerBlock }, (_, index) => ownPayment(height * options.ownPerBlock + index)),
    );
    return {
      leaves: [...strangers.leaves, ...own.leaves],
      transactions: [...strangers.transactions, ...own.transactions],
      infos: [...strangers.infos, ...own.infos],
    };
  };
  const headers = headersOf(options.blocks, (height) => contents(height).leaves);
  let counts = { polls: 0, others: 0, bytes: 0 };
  const headerText = (height: number): string => {
    const header = headers[height];
    return header ? stringify(blockJson(emptyBlock(header), false)) : '{}';
  };
  const answer = (path: string, body: Readonly<Record<string, unknown>>): string => {
    if (path === '/walletsolidity/getblock') return headerText(Math.max(0, options.blocks - solidLag));
    const height = Number(body.id_or_num ?? body.num ?? options.blocks);
    if (path === '/wallet/getblock') {
      const text = headerText(height);
      const { transactions } = body.detail === true && headers[height] ? contents(height) : { transactions: [] };
      return transactions.length === 0 ? text : `${text.slice(0, -1)},"transactions":[${transactions.join(',')}]}`;
    }
    if (path.endsWith('/getaccount') && body.address === usdt) return stringify({ address: usdt, type: 'Contract' });
    if (path.endsWith('/triggerconstantcontract')) return stringify(decimals);
    const header = headers[height];
    if (path !== '/wallet/gettransactioninfobyblocknum') return '{}';
    if (!header) return '[]';
    const text = `[${contents(height).infos.join(',')}]`;
    return text.replaceAll(heightMark, String(height)).replaceAll(timeMark, String(header.timestamp));
  };
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const path = request.url ?? '';
    const text = Buffer.concat(chunks).toString();
    const body = (text === '' ? {} : JSON.parse(text)) as Record<string, unknown>;
    const isPoll = path.endsWith('/getblock') && body.id_or_num === undefined;
    counts[isPoll ? 'polls' : 'others'] += 1;
    response.setHeader('Content-Type', 'application/json');
    const answered = answer(path, body);
    counts.bytes += answered.length;
    response.end(answered);
  });
  const url = `http://127.0.0.1:${await listen(server)}`;
  const [first] = headers;
  if (!first) throw new Error('a chain has a first block');
  return {
    url,
    genesis: blockId(first),
    takeCounts: () => {
      const taken = counts;
      counts = { polls: 0, others: 0, bytes: 0 };
      return taken;
    },
  };
}

function headersOf(blocks: number, leavesAt: (height: number) => readonly Buffer[]): Header[] {
  const headers: Header[] = [];
  const startTime = Date.now() - (blocks + 1) * blockMs;
  let parentHash = '0'.repeat(64);
  for (let number = 0; number <= blocks; number += 1) {
    const timestamp = startTime - (startTime % blockMs) + number * blockMs;
    const header = {
      number,
      timestamp,
      txTrieRoot: root(leavesAt(number)),
      parentHash,
      witness: producer,
      version: 36,
    };
    headers.push(header);
    parentHash = blockId(header);
  }
  return headers;
}

function emptyBlock(header: Header): TronBlock {
  const signature = 'ab'.repeat(65);
  return { header, id: blockId(header), signature, transactions: [], ledger: new Ledger(), vmHeight: 0 };
}

function filling(kind: number, { perBlock }: BusyOptions): Filling {
  return together(Array.from({ length: perBlock }, (_, index) => stranger(kind * perBlock + index)));
}

function together(mined: readonly MinedTransaction[]): Filling {
  return {
    leaves: mined.map(({ tx, outcome }) => sha256(encodeMined(tx, outcome.result))),
    transactions: mined.map(({ tx, outcome }) => stringify(transactionJson(tx, outcome.result))),
    infos: mined.map((one) => {
      const { blockNumber: _height, blockTimeStamp: _time, ...info } = infoJson(one, emptyBlock(unknownHeader));
      return `${stringify(info).slice(0, -1)},"blockNumber":${heightMark},"blockTimeStamp":${timeMark}}`;
    }),
  };
}

const unknownHeader: Header = {
  ...{ number: 1, timestamp: 1, txTrieRoot: '', parentHash: '0'.repeat(64), witness: producer, version: 36 },
};

const nothing = { energyUsage: 0n, energyFee: 0n, energyTotal: 0n, otherFee: 0n, returned: '', logs: [], internal: [] };
const ofCoins: Outcome = { result: 'SUCCESS', netUsage: 268n, netFee: 0n, ...nothing };

/** Of six transactions, three send coins, one sends USDT, and two call other contracts. */
function stranger(number: number): MinedTransaction {
  const [owner, to] = [digitsOf(`owner ${number}`), digitsOf(`recipient ${number}`)];
  const amount = BigInt(1_000_000 + number);
  if (number % 6 < 3) return mined({ type: 'TransferContract', owner, to, amount, data: new Uint8Array() }, number);
  const isUsdt = number % 6 === 3;
  const contract = isUsdt ? usdt : digitsOf(`contract ${number % 40}`);
  const word = (hex: string): string => hex.padStart(64, '0');
  const data = Buffer.from(`a9059cbb${word(to.slice(2))}${word(amount.toString(16))}`, 'hex');
  const log = {
    address: contract.slice(2),
    topics: [transferTopic, word(owner.slice(2)), word(to.slice(2))],
    data: word(amount.toString(16)),
  };
  const outcome: Outcome = {
    ...{ result: 'SUCCESS', netUsage: 345n, netFee: 0n, energyUsage: 0n, energyFee: 6_428_500n },
    ...{ energyTotal: 64_285n, otherFee: 0n, returned: word('1'), internal: [] },
    // A contract of an exchange writes several logs.
    logs: isUsdt ? [log] : [log, log, { ...log, data: word('1').repeat(4) }],
  };
  return mined({ type: 'TriggerSmartContract', owner, to: contract, amount: 0n, data }, number, outcome);
}

function ownPayment(number: number): MinedTransaction {
  const to = digitsOf(`own ${number}`);
  const owner = digitsOf(`user ${number}`);
  return mined({ type: 'TransferContract', owner, to, amount: 100_000_000n, data: new Uint8Array() }, number);
}

function mined(call: TronCall, number: number, outcome: Outcome = ofCoins): MinedTransaction {
  const timestamp = 1_777_438_106_000 + number;
  const feeLimit = call.type === 'TriggerSmartContract' ? 225_000_000n : 0n;
  const terms = { reference: '0'.repeat(64), expiration: timestamp + 60_000, timestamp, feeLimit };
  const raw = encodeRaw(call, terms);
  // Nothing that a scan checks depends on the signature.
  const signature = Buffer.concat([sha256(raw), sha256(Buffer.from(`${number}`)), Buffer.of(27)]);
  const bytes = encodeMessage([
    [1, raw],
    [2, [signature]],
  ]);
  return { tx: decodeTransaction(bytes), outcome };
}

function digitsOf(name: string): string {
  return `41${sha256(Buffer.from(name)).toString('hex').slice(0, 40)}`;
}

function root(leaves: readonly Buffer[]): string {
  let row = [...leaves];
  if (row.length === 0) return '0'.repeat(64);
  while (row.length > 1) {
    row = Array.from({ length: Math.ceil(row.length / 2) }, (_, index) => {
      const [left = Buffer.alloc(0), right] = row.slice(2 * index, 2 * index + 2);
      return right ? sha256(Buffer.concat([left, right])) : left;
    });
  }
  return row[0]?.toString('hex') ?? '';
}

function sha256(bytes: Uint8Array): Buffer {
  return createHash('sha256').update(bytes).digest();
}
