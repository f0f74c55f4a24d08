import { tronAddress } from '../addresses/tron.ts';
import { effectKey } from '../effect-key.ts';
import { asObject, unsound } from '../nodes/node-answer.ts';
import type { Transfer } from '../port/chain-adapter.ts';
import { numberOf, readFields } from './protobuf.ts';
import { readTransferLog } from './trc20.ts';
import {
  asBoolean,
  asDigits,
  asHex,
  asInt64,
  asOptionalList,
  contractOfLog,
  isDigits,
  readLog,
  type TronBlock,
  type TronInfo,
} from './tron-answer.ts';
import { addressOf, contractOf } from './tron-tx.ts';

/**
 * The contracts of the watched tokens as 42 digits in lower case, with the text that names each in
 * the settings.
 */
export type WatchedTokens = ReadonlyMap<string, string>;

export interface TransfersOptions {
  readonly tokens: WatchedTokens;
  /** Whether coins are found that contracts sent on. */
  readonly isTraced: boolean;
}

/** The only result that moves anything. */
const success = 'SUCCESS';

/** What internal calls that move coins are for. Their value leaves the contract that makes them. */
const moving: ReadonlySet<string> = new Set(['call', 'create', 'suicide']);

/**
 * Internal records of stakes, votes and rewards, which nodes write when they are set to. They state
 * an amount, and no coins reach the account that they name.
 */
const staking = /^(freeze|unfreeze|delegate|unDelegate|vote|withdraw|cancel)/;

/**
 * All transfers of a block, in the order of its transactions. In a transaction that succeeded three
 * things are transfers. The first is its TransferContract, the second a Transfer log of a watched
 * token. The third, where contracts are traced, is the coins of an internal call that was not
 * rejected.
 *
 * What a transaction orders is read from its own bytes, which its id proves. The keys do not depend
 * on the place in a block, so that a transaction keeps them when a reorg moves it:
 *
 * - 'txid:0' coins that the transaction itself sends,
 * - 'txid:log2:<digest>' tokens, by the place of the log among those of its transaction and by the
 *   transfer,
 * - 'txid:trace0:<digest>' coins that contracts sent on, by their place among such transfers of the
 *   transaction and by the transfer.
 *
 * @param infos The results of exactly the transactions of the block.
 * @throws ChainError when a result is missing, or contradicts the block.
 */
export function transfersOf(
  block: TronBlock,
  infos: ReadonlyMap<string, TronInfo>,
  { tokens, isTraced }: TransfersOptions,
): Transfer[] {
  const found: Transfer[] = [];
  for (const { txid, raw, result } of block.transactions) {
    const info = infos.get(txid);
    if (!info) throw unsound('no result of a transaction');
    const isContradiction = info.result !== null && (info.result === success) !== (result === success);
    if (isContradiction) throw unsound('a result that contradicts its block');
    if (result !== success) continue;
    found.push(...ownTransfer(txid, raw));
    if (info.result !== success) continue;
    found.push(...tokenTransfers(info, tokens));
    if (isTraced) found.push(...internalTransfers(info));
  }
  return found;
}

/** The coins that a transaction itself sends. Bytes that cannot be read send none. */
function ownTransfer(txid: string, raw: Uint8Array): Transfer[] {
  const order = readOrder(raw);
  if (order === null || order.amount <= 0n) return [];
  const address = tronAddress(order.to);
  return [{ key: `${txid}:0`, txid, address, tag: null, contract: null, amount: order.amount }];
}

function readOrder(raw: Uint8Array): { readonly to: string; readonly amount: bigint } | null {
  try {
    const contract = contractOf(readFields(raw));
    if (contract?.kind !== 'TransferContract') return null;
    const to = addressOf(contract.value, 2);
    return to === null ? null : { to, amount: numberOf(contract.value, 3) };
  } catch {
    return null;
  }
}

function tokenTransfers({ txid, logs }: TronInfo, tokens: WatchedTokens): Transfer[] {
  const found: Transfer[] = [];
  for (const [index, item] of logs.entries()) {
    const contract = tokens.get(contractOfLog(item));
    if (contract === undefined) continue;
    const { topics, data } = readLog(item);
    const order = readTransferLog(topics, data);
    if (order === null || order.amount === 0n) continue;
    const transfer = { txid, address: tronAddress(order.to), tag: null, contract, amount: order.amount };
    found.push({ key: effectKey(`log${index}`, transfer), ...transfer });
  }
  return found;
}

function internalTransfers({ txid, internals }: TronInfo): Transfer[] {
  const found: Transfer[] = [];
  for (const item of internals) {
    const call = asObject(item, 'internal transaction');
    const note = Buffer.from(asHex(call.note, 'note of an internal transaction'), 'hex').toString('latin1');
    if (asBoolean(call.rejected, 'rejection of an internal transaction') || staking.test(note)) continue;
    const amount = coinsOf(call);
    if (amount === 0n) continue;
    // A later version of the chain may bring a new kind. It must not stop the scan, also when its
    // recipient is no address.
    const isKnown = moving.has(note);
    if (!isKnown && !isDigits(call.transferTo_address)) continue;
    const to = asDigits(call.transferTo_address, 'recipient of an internal transaction');
    const transfer = { txid, address: tronAddress(to), tag: null, contract: null, amount };
    const doubt = isKnown ? {} : { doubt: 'unknown_call' as const };
    found.push({ key: effectKey(`trace${found.length}`, transfer), ...transfer, ...doubt });
  }
  return found;
}

/** The coins of an internal call. Amounts with the id of a token are of TRC-10. */
function coinsOf({ callValueInfo }: Readonly<Record<string, unknown>>): bigint {
  let coins = 0n;
  for (const item of asOptionalList(callValueInfo, 'values of an internal transaction')) {
    const { callValue, tokenId } = asObject(item, 'value of an internal transaction');
    const amount = asInt64(callValue, 'value of an internal transaction');
    if (tokenId === undefined || tokenId === '') coins += amount;
  }
  return coins;
}
