import { isDeepStrictEqual } from 'node:util';
import { NodeFault, unsound } from '../nodes/node-answer.ts';
import { ChainError, type TxStatus } from '../port/chain-adapter.ts';
import { readTransferLog } from './trc20.ts';
import { contractOfLog, readLog, type TronHeader, type TronInfo } from './tron-answer.ts';
import { readWholeBlock } from './tron-block-source.ts';
import type { TronNode } from './tron-node.ts';
import type { TronNetwork } from './tron-section.ts';
import { isSuccess, type Sighting, type Sightings, sightingIn, type WholeBlock } from './tron-sightings.ts';
import type { TronTx } from './tron-tx.ts';

/** A transaction of ours that was sent. */
export interface SentTx {
  readonly txid: string;
  readonly tx: TronTx;
}

/** How often the chain may change during one query. */
export const maxLooks = 3;
/** Without a second node to ask, the chain's final time must be this far beyond the expiry. */
export const loneMarginMs = 60_000;
/** Blocks that are searched for one with a transaction. */
const maxSamples = 20;

/** Queries by id that are made at once. */
const atOnce = 4;
/** Faults of a node that every further query would meet as well. */
const lasting: ReadonlySet<string> = new Set(['unreachable', 'busy', 'unauthorised']);

/** How the status of a transaction is found. */
export interface StatusOptions {
  readonly finality: TronNetwork['finality'];
  /**
   * Puts a question to a node of another operator; null while none answers. Null instead of a
   * function when there is no such node.
   */
  readonly askSecond: (<T>(question: (node: TronNode) => Promise<T>) => Promise<T | null>) | null;
  readonly sightings: Sightings;
}

/** How one node is asked for statuses. */
interface Query extends Pick<StatusOptions, 'finality' | 'sightings'> {
  readonly node: TronNode;
  /** How far beyond an expiration the time of the newest final block must be. */
  readonly marginMs: number;
}

/**
 * The statuses of transactions, in their order. Only a block decides: no answer to a broadcast, and
 * no transaction that a node keeps for a block.
 *
 * The chain takes a transaction when its expiration is later than the time of the block before. So
 * one that is in no final block can never confirm once the newest final block has the time of the
 * expiration. A node that does not find a transaction may lack an index of it, or be wrong. No hash
 * covers what it tells of one that it finds. So it must find other transactions of that time, and
 * nothing is final before a second node tells the same.
 *
 * Transactions in one block share its queries: one for each block that is not final, and three for
 * each that is. Two more ask for the heads. One that no block holds takes a separate query.
 *
 * @throws ChainError of the first transaction whose status the node cannot tell.
 */
export async function tronStatuses(
  node: TronNode,
  sent: readonly SentTx[],
  { finality, askSecond, sightings }: StatusOptions,
): Promise<TxStatus[]> {
  const marginMs = askSecond === null ? loneMarginMs : 0;
  const statuses = (await statusesOn(sent, { node, finality, sightings, marginMs })).map((status) => {
    if (status instanceof ChainError) throw status;
    return status;
  });
  const ends = sent.filter((_one, index) => isFinal(statuses[index]));
  if (ends.length === 0 || askSecond === null) return statuses;
  const told = await askSecond((second) => statusesOn(ends, { node: second, finality, sightings, marginMs: 0 }));
  const second = new Map(ends.map(({ txid }, index) => [txid, told?.[index]]));
  return statuses.map((status, index) => {
    const other = second.get(sent[index]?.txid ?? '');
    if (!isFinal(status)) return status;
    const isTold = other !== undefined && !(other instanceof ChainError);
    return { ...status, final: isTold && isDeepStrictEqual(essenceOf(status), essenceOf(other)) };
  });
}

function isFinal(status: TxStatus | undefined): status is Extract<TxStatus, { final: boolean }> {
  return (status?.state === 'mined' || status?.state === 'dead') && status.final;
}

/** What two nodes must agree on. Their heads may differ. */
function essenceOf(status: TxStatus): object {
  return status.state === 'mined' ? { ...status, confirmations: 0 } : status;
}

/**
 * The statuses as one node tells them, or why it cannot tell one.
 *
 * @throws ChainError when the node answers nothing.
 */
async function statusesOn(sent: readonly SentTx[], query: Query): Promise<(TxStatus | ChainError)[]> {
  const told = new Map<string, TxStatus | ChainError>();
  for (let look = 1; look <= maxLooks; look += 1) {
    const open = sent.filter(({ txid }) => !told.has(txid));
    if (open.length === 0) break;
    for (const [txid, status] of await lookOnce(open, query)) told.set(txid, status);
  }
  return sent.map(({ txid }) => told.get(txid) ?? unsettled());
}

/** One look at the chain. Transactions that it changed are left out. */
async function lookOnce(open: readonly SentTx[], query: Query): Promise<Map<string, TxStatus | ChainError>> {
  const { node } = query;
  const { seen, absent, failed } = await locate(open, query);
  const told = new Map<string, TxStatus | ChainError>(failed);
  // The final head first: what it makes final is then read from the chain below it.
  const solid = seen.size > 0 ? await node.head('solid') : null;
  const head = await node.head('newest');
  if (solid)
    for (const [txid, status] of await minedStatuses(open, seen, { ...query, solid, head })) told.set(txid, status);
  for (const one of absent) {
    const status = await isolated(() => absentStatus(one, head, query));
    if (status !== null) told.set(one.txid, status);
  }
  return told;
}

/** Where transactions are: seen in a block, in none, or not told. */
interface Located {
  readonly seen: Map<string, Sighting>;
  readonly absent: SentTx[];
  readonly failed: Map<string, ChainError>;
}

/** Finds the blocks of transactions. One block that is read shows all that it holds. */
async function locate(open: readonly SentTx[], { node, sightings }: Query): Promise<Located> {
  const located: Located = { seen: new Map(), absent: [], failed: new Map() };
  const { seen, absent, failed } = located;
  for (const { txid } of open) {
    const sighting = sightings.of(txid);
    if (sighting) seen.set(txid, sighting);
  }
  const left = open.filter(({ txid }) => !seen.has(txid));
  while (left.length > 0) {
    const asked: SentTx[] = [];
    for (let one = left.shift(); one; one = asked.length < atOnce ? left.shift() : undefined) {
      if (!seen.has(one.txid)) asked.push(one);
    }
    const infos = await Promise.all(asked.map(({ txid }) => isolated(() => node.info(txid, 'newest'))));
    const heights = new Map<number, SentTx[]>();
    for (const [index, one] of asked.entries()) {
      const info = infos[index] ?? null;
      if (info === null) absent.push(one);
      else if (info instanceof ChainError) failed.set(one.txid, info);
      else heights.set(info.height, [...(heights.get(info.height) ?? []), one]);
    }
    for (const [height, held] of heights) {
      const whole = await isolated(() => readWholeBlock(node, height));
      if (whole === null) continue;
      if (whole instanceof ChainError) {
        for (const { txid } of held) failed.set(txid, whole);
        continue;
      }
      sightings.note(whole);
      for (const { txid } of [...held, ...left]) {
        const sighting = sightingIn(whole, txid);
        if (sighting) seen.set(txid, sighting);
      }
    }
  }
  return located;
}

/** The statuses of transactions that were seen. One that its block does not hold is left out. */
async function minedStatuses(
  open: readonly SentTx[],
  seen: ReadonlyMap<string, Sighting>,
  { node, finality, sightings, solid, head }: Query & { readonly solid: TronHeader; readonly head: TronHeader },
): Promise<Map<string, TxStatus | ChainError>> {
  const told = new Map<string, TxStatus | ChainError>();
  const held = Map.groupBy(
    open.filter(({ txid }) => seen.has(txid)),
    ({ txid }) => seen.get(txid)?.ref.height ?? 0,
  );
  for (const [height, some] of held) {
    const confirmations = head.ref.height - height + 1;
    const final = finality === 'solid' ? solid.ref.height >= height : confirmations >= finality;
    // A block that is final is read as a whole once more, and shows itself what it holds.
    const block = await isolated<WholeBlock | TronHeader | null>(() =>
      final ? readWholeBlock(node, height) : node.header(height),
    );
    for (const sent of some) {
      const sighting = seen.get(sent.txid);
      if (block instanceof ChainError) {
        told.set(sent.txid, block);
        continue;
      }
      const now = block !== null && confirmations > 0 ? seenIn(block, sent.txid, sighting) : null;
      if (now === null) sightings.forget(sent.txid);
      else
        told.set(sent.txid, {
          ...{ state: 'mined', height, confirmations, final },
          ...successOf(sent, now.info),
          fee: now.info.fee,
        });
    }
  }
  return told;
}

/** What a block shows of a transaction, or what was seen of it while the block is the same. */
function seenIn(block: WholeBlock | TronHeader, txid: string, sighting: Sighting | undefined): Sighting | null {
  if ('infos' in block) return sightingIn(block, txid);
  return sighting !== undefined && block.ref.hash === sighting.ref.hash ? sighting : null;
}

/** The status of a transaction that the node did not find; null when it finds it now. */
async function absentStatus(sent: SentTx, head: TronHeader, { node, marginMs }: Query): Promise<TxStatus | null> {
  const until = { timeMs: sent.tx.expiresAtMs } as const;
  if (head.ref.timeMs < until.timeMs) return { state: 'waiting', until };
  const final = await isDeadOn(node, sent, marginMs);
  // A block may have taken it since the first query.
  if ((await node.info(sent.txid, 'newest')) !== null) return null;
  return { state: 'dead', why: 'expired', final };
}

/** The answer, or the fault that concerns this question alone. */
async function isolated<T>(question: () => Promise<T>): Promise<T | ChainError> {
  try {
    return await question();
  } catch (error) {
    if (error instanceof ChainError && !lasting.has(error.code)) return error;
    throw error;
  }
}

/**
 * Whether the final blocks of a node show that a transaction can never confirm.
 *
 * @param marginMs How far beyond the expiration the time of the newest final block must be.
 * @throws ChainError when the node does not find transactions that are in its own blocks.
 */
async function isDeadOn(node: TronNode, { txid, tx }: SentTx, marginMs: number): Promise<boolean> {
  // The head first: what a block up to it holds must then be found.
  const solid = await node.head('solid');
  if (solid.ref.timeMs < tx.expiresAtMs + marginMs) return false;
  if ((await node.info(txid, 'solid')) !== null || (await node.transaction(txid, 'solid')) !== null) return false;
  const first = await heightAt(node, tx.builtAtMs, solid);
  // The last block that may hold it is on top of the last one before the expiration.
  const last = (await heightAt(node, tx.expiresAtMs - 1, solid)) + 1;
  const top = solid.ref.height;
  if ((await isIndexed(node, first, 1, top)) && (await isIndexed(node, last, -1, top))) return true;
  throw new NodeFault('no_index', 'does not find transactions that are in its own blocks');
}

/** The chain makes a block each three seconds, or leaves some out. */
const leastIntervalMs = 3_000;

/**
 * The height of the newest block of this time or earlier, up to a head. The number of queries grows
 * with the logarithm of the distance, also when the node lies.
 */
async function heightAt(node: TronNode, timeMs: number, { ref: head }: TronHeader): Promise<number> {
  if (head.timeMs <= timeMs) return head.height;
  let later = head.height;
  let found = Math.max(0, later - Math.ceil((head.timeMs - timeMs) / leastIntervalMs));
  while (later - found > 1) {
    const middle = Math.floor((found + later) / 2);
    const header = await node.header(middle);
    if (header === null) throw unsound('no block below its newest one');
    if (header.ref.timeMs <= timeMs) found = middle;
    else later = middle;
  }
  return found;
}

/**
 * Whether a node finds a transaction of the block at a height, or of the next one with some. Blocks
 * above the newest final one (`top`) are not asked for.
 */
async function isIndexed(node: TronNode, height: number, direction: 1 | -1, top: number): Promise<boolean> {
  for (let at = height; Math.abs(at - height) < maxSamples && at >= 0 && at <= top; at += direction) {
    const block = await node.block(at);
    if (block === null) return false;
    const [tx] = block.transactions;
    if (tx) return (await node.info(tx.txid, 'solid'))?.height === at;
    if (!block.hasRoot) throw unsound('a block without the transactions that its header names');
  }
  // That many blocks without a transaction are no busy chain, and prove nothing against the node.
  return true;
}

/**
 * The confirmations of a result's block, and whether it is final. Null when the block is not on the
 * chain any more, or does not hold the transaction.
 */
export async function confirmed(
  node: TronNode,
  info: TronInfo,
  finality: TronNetwork['finality'],
): Promise<{ readonly confirmations: number; readonly final: boolean } | null> {
  const { txid, height, timeMs } = info;
  const [solid, head] = [await node.head('solid'), await node.head('newest')];
  if (head.ref.height < height) return null;
  const confirmations = head.ref.height - height + 1;
  const final = finality === 'solid' ? solid.ref.height >= height : confirmations >= finality;
  // A result only states its block. The block's own bytes show it. They are many, and read once a
  // payment.
  if (!final) return (await node.header(height))?.ref.timeMs === timeMs ? { confirmations, final } : null;
  const block = await node.block(height);
  const tx = block?.transactions.find((one) => one.txid === txid);
  if (block?.ref.timeMs !== timeMs || !tx || (tx.result === 'SUCCESS') !== isSuccess(info)) return null;
  // A reorg before the first query may have moved the transaction to a block of the same height.
  return isDeepStrictEqual(await node.info(txid, 'newest'), info) ? { confirmations, final } : null;
}

/**
 * Whether a transaction moved the payment's amount. For a token only its log counts, never the
 * return value: contracts return false for a transfer that was made, and true for one that was not.
 */
function successOf({ tx }: SentTx, info: TronInfo): Pick<Extract<TxStatus, { state: 'mined' }>, 'success' | 'problem'> {
  if (!isSuccess(info)) return { success: false };
  if (tx.contract === null) return { success: true };
  const moved = info.logs.flatMap((log) => {
    if (contractOfLog(log) !== tx.contract) return [];
    const { topics, data } = readLog(log);
    const transfer = readTransferLog(topics, data);
    return transfer?.from === tx.owner ? [transfer] : [];
  });
  if (moved.some(({ to, amount }) => to === tx.to && amount === tx.amount)) return { success: true };
  return { success: false, problem: moved.length === 0 ? 'not_transferred' : 'short_transfer' };
}

/** The failure of a query after `maxLooks`. */
export function unsettled(): ChainError {
  return new ChainError('unsettled_answer', 'the chain changes during the query, or the node contradicts itself');
}
