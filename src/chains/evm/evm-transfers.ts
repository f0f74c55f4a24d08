import { toChecksumAddress } from '../addresses/evm.ts';
import { effectKey } from '../effect-key.ts';
import { unsound } from '../nodes/node-answer.ts';
import type { Transfer } from '../port/chain-adapter.ts';
import { transferTopic } from './erc20.ts';
import { contractOfLog, type EvmBlock, type EvmReceipt, readLog } from './evm-answer.ts';
import type { CallTrace } from './evm-traces.ts';

/** Contracts of the watched tokens in lower case, with the text that names each in the settings. */
export type WatchedTokens = ReadonlyMap<string, string>;

/** The place of the coins that a transaction itself sends; the txid identifies them. */
const ownPlace = '0';

/** The leading zeros of a topic that holds an address. */
const addressTopic = `0x${'0'.repeat(24)}`;

/**
 * All transfers of a block, in the order of its transactions. The keys do not depend on the place
 * in a block, so that a transaction keeps them when a reorg moves it:
 *
 * - 'txid:0' coins that the transaction itself sends,
 * - 'txid:log2:<digest>' tokens, by the place of the log among those of its transaction and by the
 *   transfer,
 * - 'txid:trace0:<digest>' coins that contracts sent on, by their place among such transfers of the
 *   transaction and by the transfer.
 *
 * @throws ChainError when a receipt or a trace that decides is missing.
 */
export function transfersOf(
  block: EvmBlock,
  receipts: ReadonlyMap<string, EvmReceipt>,
  traces: ReadonlyMap<string, CallTrace>,
  tokens: WatchedTokens,
): Transfer[] {
  const found: Transfer[] = [];
  const add = (
    txid: string,
    place: string,
    to: string,
    contract: string | null,
    amount: bigint,
    doubt: Pick<Transfer, 'doubt'> = {},
  ): void => {
    const address = toChecksumAddress(to.slice(2));
    const transfer = { txid, address, tag: null, contract, amount, ...doubt };
    found.push({ key: place === ownPlace ? `${txid}:${place}` : effectKey(place, transfer), ...transfer });
  };
  for (const { txid, from, to, value } of block.transactions) {
    const receipt = receipts.get(txid);
    if (receipt && (receipt.from !== from || receipt.to !== to))
      throw unsound('a receipt that is not of its transaction');
    if (to !== null && value > 0n) {
      if (!receipt) throw unsound('no receipt of a transaction that moves coins');
      if (receipt.success) add(txid, ownPlace, to, null, value);
    }
    if (receipt?.success) addTokens(receipt, tokens, add);
    for (const [index, move] of traces.get(txid)?.moves.entries() ?? []) {
      add(txid, `trace${index}`, move.to, null, move.value, move.isUnknown ? { doubt: 'unknown_call' } : {});
    }
  }
  // Bridges of some chains write receipts for transactions that no list of a block shows.
  const listed = new Set(block.transactions.map(({ txid }) => txid));
  for (const receipt of receipts.values()) {
    if (!listed.has(receipt.txid) && receipt.success) addTokens(receipt, tokens, add);
  }
  return found;
}

function addTokens(
  { txid, logs }: EvmReceipt,
  tokens: WatchedTokens,
  add: (txid: string, place: string, to: string, contract: string | null, amount: bigint) => void,
): void {
  for (const [index, item] of logs.entries()) {
    const contract = tokens.get(contractOfLog(item));
    if (contract === undefined) continue;
    const { topics, data } = readLog(item);
    // NFTs have a fourth topic, the token's id.
    if (topics[0] !== transferTopic || topics.length !== 3 || data.length !== 66) continue;
    const to = topics[2] ?? '';
    const amount = BigInt(data);
    // A topic longer than an address holds no address of ours.
    if (amount > 0n && to.startsWith(addressTopic)) add(txid, `log${index}`, `0x${to.slice(26)}`, contract, amount);
  }
}
