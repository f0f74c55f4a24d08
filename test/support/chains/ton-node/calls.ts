import { Cell, getMethodId, loadMessage, type TupleItem } from '@ton/core';
import { isObject } from '../xrp-node/json.ts';
import type { Executed } from './blocks.ts';
import { falseTransaction } from './faults.ts';
import { accountJson, blockJson, cellsOf, type Json, statusOfRow, transactionJson } from './json.ts';
import { base64Of, hashOf, normalHash } from './names.ts';
import { accountOf, IndexError, Params } from './params.ts';
import type { View } from './view.ts';
import { isRejection, type Rejection } from './vm.ts';

/** A request to one of the methods of `/api/v3`. */
export interface Call {
  readonly method: string;
  readonly query: URLSearchParams;
  /** What was posted; null for a question. */
  readonly body: unknown;
}

type Method = (view: View, params: Params, body: unknown) => Json | Promise<Json>;

/** Methods that are asked for, by `GET`. */
export const questions: ReadonlyMap<string, Method> = new Map<string, Method>([
  ['masterchainInfo', masterchainInfo],
  ['blocks', blocks],
  ['transactions', transactions],
  ['transactionsByMasterchainBlock', transactionsByBlock],
  ['transactionsByMessage', transactionsByMessage],
  ['adjacentTransactions', adjacentTransactions],
  ['accountStates', accountStates],
  ['addressInformation', addressInformation],
  ['walletInformation', addressInformation],
]);

/** Methods to which something is posted. */
export const orders: ReadonlyMap<string, Method> = new Map<string, Method>([
  ['message', sendMessage],
  ['runGetMethod', runGetMethod],
]);

function shownBlock(view: View, block: View['head']): Json {
  const json = blockJson(block, view.chain.globalId);
  if (view.faults.fork !== true) return json;
  const otherHash = (hash: string): string => base64Of(Buffer.from(hash, 'base64').map((byte) => byte ^ 0x5a));
  return { ...json, root_hash: otherHash(block.rootHash), file_hash: otherHash(block.fileHash) };
}

function masterchainInfo(view: View): Json {
  return { last: shownBlock(view, view.head), first: shownBlock(view, view.first) };
}

function blocks(view: View, params: Params): Json {
  const [workchain, shard] = [params.whole('workchain') ?? -1n, params.text('shard')];
  const isOther =
    workchain !== -1n || (shard !== null && !/^(0x)?8000000000000000$|^-9223372036854775808$/.test(shard));
  const seqno = params.whole('seqno') ?? params.whole('mc_seqno');
  const bounds = { from: params.whole('start_utime'), to: params.whole('end_utime') };
  const [fromLt, toLt] = [params.whole('start_lt'), params.whole('end_lt')];
  const found = view.blocks.filter(({ seqno: number, timeMs, startLt }) => {
    const time = BigInt(Math.floor(timeMs / 1_000));
    if (isOther || (seqno !== null && BigInt(number) !== seqno)) return false;
    return isWithin(time, bounds.from, bounds.to) && isWithin(startLt, fromLt, toLt);
  });
  // Without `sort` the order of the index is not defined.
  if (params.isDescending) found.reverse();
  return { blocks: params.page(found).map((block) => shownBlock(view, block)) };
}

function isWithin(value: bigint, from: bigint | null, to: bigint | null): boolean {
  return (from === null || value >= from) && (to === null || value <= to);
}

function transactions(view: View, params: Params): Json {
  const accounts = params.accounts('account');
  const [hash, lt] = [params.hash('hash'), params.whole('lt')];
  const [fromLt, toLt] = [params.whole('start_lt'), params.whole('end_lt')];
  const [from, to] = [params.whole('start_utime'), params.whole('end_utime')];
  const seqno = params.whole('mc_seqno');
  if (seqno !== null && !view.blocks.some((block) => BigInt(block.seqno) === seqno)) {
    throw new IndexError(404, `masterchain block ${seqno} not found`);
  }
  const found = view.executed.filter((one) => {
    const { tx, account } = one;
    if (accounts.length > 0 && !accounts.includes(account)) return false;
    if ((hash !== null && one.hash !== hash) || (lt !== null && tx.lt !== lt)) return false;
    if (seqno !== null && BigInt(one.seqno) !== seqno) return false;
    return isWithin(tx.lt, fromLt, toLt) && isWithin(BigInt(tx.now), from, to);
  });
  return listed(view, params, ordered(found, params.isDescending));
}

function ordered(found: readonly Executed[], isDescending: boolean): Executed[] {
  const sign = isDescending ? -1 : 1;
  return [...found].sort((a, b) => sign * Number(a.tx.lt - b.tx.lt));
}

function transactionsByBlock(view: View, params: Params): Json {
  const seqno = params.whole('seqno');
  if (seqno === null) throw new IndexError(422, 'seqno is required');
  if (!view.blocks.some((block) => BigInt(block.seqno) === seqno)) {
    throw new IndexError(404, `masterchain block ${seqno} not found`);
  }
  const found = view.executed.filter((one) => BigInt(one.seqno) === seqno);
  return listed(view, params, ordered(found, params.isDescending));
}

function transactionsByMessage(view: View, params: Params): Json {
  const [hash, direction] = [params.hash('msg_hash'), params.text('direction')];
  if (direction !== null && direction !== 'in' && direction !== 'out') {
    throw new IndexError(422, 'direction should be one of: in, out');
  }
  if (hash === null) throw new IndexError(422, 'at least one of msg_hash, body_hash, opcode should be specified');
  if (view.forgets(hash)) return listed(view, params, []);
  const found = view.executed.filter((one) => {
    const isIn = direction !== 'out' && hashesOf(one.inMessage).includes(hash);
    return isIn || (direction !== 'in' && one.outMessages.some((message) => hashOf(message) === hash));
  });
  return listed(view, params, ordered(found, true));
}

function adjacentTransactions(view: View, params: Params): Json {
  const [hash, direction] = [params.hash('hash'), params.text('direction')];
  const one = view.executed.find((each) => each.hash === hash);
  const [ins, outs] = [one ? [hashOf(one.inMessage)] : [], one?.outMessages.map(hashOf) ?? []];
  const found = view.executed.filter((each) => {
    const isParent = direction !== 'out' && each.outMessages.some((message) => ins.includes(hashOf(message)));
    return isParent || (direction !== 'in' && outs.includes(hashOf(each.inMessage)));
  });
  if (found.length === 0) throw new IndexError(404, 'adjacent transactions not found');
  return listed(view, params, ordered(found, true));
}

/** The hashes by which a message is found. */
function hashesOf(cell: Cell): string[] {
  const message = loadMessage(cell.beginParse());
  return message.info.type === 'external-in' ? [hashOf(cell), normalHash(message)] : [hashOf(cell)];
}

function listed(view: View, params: Params, found: readonly Executed[]): Json {
  const { list, transaction } = view.faults;
  let all = params.page(found);
  if (list === 'endless') all = found.length > 0 ? Array.from({ length: 1_000 }, () => found[0] as Executed) : [];
  if (list === 'twice') all = all.flatMap((one) => [one, one]);
  if (list === 'unsorted') all = [...all.slice(1), ...all.slice(0, 1)];
  const others = new Set(params.accounts('account'));
  const foreign = view.chain.blocks.flatMap(({ executed }) => executed).find(({ account }) => !others.has(account));
  if (list === 'foreign' && foreign) all = [...all, foreign];
  const shown = all.map(transactionJson);
  const told = transaction ? shown.map((one) => falseTransaction(one, transaction, view.head.seqno)) : shown;
  return { transactions: told, address_book: {} };
}

function accountStates(view: View, params: Params): Json {
  const accounts = params.accounts('address');
  if (accounts.length === 0) throw new IndexError(401, 'address of account is required');
  const known = accounts.filter((account) => view.row(account).account.account);
  const withBoc = params.text('include_boc') !== 'false';
  return {
    accounts: known.map((account) => accountJson(account, view.row(account), withBoc)),
    ...{ address_book: {}, metadata: {} },
  };
}

function addressInformation(view: View, params: Params): Json {
  const [account] = params.accounts('address');
  if (account === undefined) throw new IndexError(401, 'address of account is required');
  const row = view.row(account);
  const { code, data } = cellsOf(row);
  const boc = (cell: Cell | null): string | null => cell?.toBoc({ idx: false }).toString('base64') ?? null;
  return {
    balance: String(row.account.account?.storage.balance.coins ?? 0n),
    ...{ code: boc(code), data: boc(data) },
    last_transaction_lt: String(row.account.lastTransactionLt),
    last_transaction_hash: base64Of(row.account.lastTransactionHash),
    frozen_hash: null,
    status: row.account.account ? statusOfRow(row) : 'uninit',
  };
}

async function sendMessage(view: View, _params: Params, body: unknown): Promise<Json> {
  const boc = isObject(body) ? body.boc : null;
  if (typeof boc !== 'string' || boc === '') throw new IndexError(401, 'boc is required');
  const { status, error = 'simulated failure', reaches = status === undefined } = view.faults.send ?? {};
  const cell = parsed(boc);
  const message = parsedMessage(cell);
  const refusal = await view.chain.refusal(message, cell);
  if (reaches && (refusal === null || status !== undefined)) view.chain.add(cell);
  if (status !== undefined) throw new IndexError(status, error);
  if (refusal) throw new IndexError(500, refusalText(refusal, message, cell));
  return { message_hash: hashOf(cell), message_hash_norm: normalHash(message) };
}

function parsed(boc: string): Cell {
  try {
    return Cell.fromBase64(boc);
  } catch (error) {
    throw new IndexError(422, `failed to parse boc: ${String(error)}`);
  }
}

function parsedMessage(cell: Cell): ReturnType<typeof loadMessage> {
  const refused = 'external message is not a (Message Any) according to automated checks';
  try {
    const message = loadMessage(cell.beginParse());
    if (message.info.type === 'external-in') return message;
  } catch {
    // As below.
  }
  const prefix =
    'LITE_SERVER_UNKNOWN: cannot apply external message to current state : failed to parse external message';
  throw new IndexError(500, `${prefix}: ${refused}`);
}

/** What a lite server says of an external message that its contract does not accept. */
function refusalText({ exitCode, vmLog }: Rejection, { info }: ReturnType<typeof loadMessage>, cell: Cell): string {
  const begin =
    'LITE_SERVER_UNKNOWN: cannot apply external message to current state : External message was not accepted\n' +
    'Cannot run message on account: inbound external message rejected by';
  const account = info.type === 'external-in' ? info.dest.hash.toString('hex').toUpperCase() : '';
  if (exitCode === null) return `${begin} account ${account} before smart-contract execution`;
  const transaction = cell.hash().toString('hex').toUpperCase();
  const log = vmLog.slice(-400);
  return `${begin} transaction ${transaction}:\nexitcode=${exitCode}, steps=1, gas_used=0\nVM Log (truncated):\n...${log}`;
}

async function runGetMethod(view: View, _params: Params, body: unknown): Promise<Json> {
  if (!isObject(body) || typeof body.address !== 'string') throw new IndexError(401, 'address is required');
  if (typeof body.method !== 'string' || body.method === '') throw new IndexError(401, 'method is required');
  const account = accountOf(body.address);
  const stack = Array.isArray(body.stack) ? body.stack.map(itemOf) : [];
  const method = /^\d+$/.test(body.method) ? Number(body.method) : getMethodId(body.method);
  const result = await view.chain.vm.call(view.row(account), method, stack, Math.floor(view.head.timeMs / 1_000));
  // The code by which a node says that an account has no contract.
  if (isRejection(result)) return { gas_used: 0, exit_code: -13, stack: [] };
  const items = result.stack.map((item) => shownItem(item, view.faults.slices ?? 'slice'));
  return { gas_used: Number(result.gasUsed), exit_code: result.exitCode, stack: items };
}

function itemOf(item: unknown): TupleItem {
  const { type, value } = isObject(item) ? item : {};
  if (typeof value !== 'string') throw new IndexError(422, 'invalid stack');
  if (type === 'num') return { type: 'int', value: value.startsWith('-') ? -BigInt(value.slice(1)) : BigInt(value) };
  if (type === 'cell' || type === 'slice') return { type, cell: parsed(value) };
  throw new IndexError(422, `unsupported type of stack: ${String(type)}`);
}

function shownItem(item: TupleItem, slices: 'cell' | 'slice'): Json {
  switch (item.type) {
    case 'int':
      return {
        type: 'num',
        value: `${item.value < 0n ? '-' : ''}0x${(item.value < 0n ? -item.value : item.value).toString(16)}`,
      };
    case 'cell':
    case 'slice':
    case 'builder': {
      const type = item.type === 'slice' ? slices : item.type;
      return { type, value: item.cell.toBoc({ idx: false }).toString('base64') };
    }
    case 'tuple':
      return { type: 'tuple', value: item.items.map((one) => shownItem(one, slices)) };
    default:
      return { type: item.type === 'null' ? 'list' : 'num', value: item.type === 'null' ? [] : 'NaN' };
  }
}

/** Parameters of a call. */
export function paramsOf({ query }: Call): Params {
  return new Params(query);
}
