import { keccak_256 } from '@noble/hashes/sha3.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import { Refused } from './execution.ts';
import { broadcastFaults, type TronFaults } from './faults.ts';
import {
  accountJson,
  blockJson,
  hexOf,
  internalJson,
  messageOf,
  resourceJson,
  sparse,
  transactionJson,
} from './json.ts';
import { decodeRaw, decodeTransaction, encodeRaw, type TronCall } from './transaction.ts';
import { bytesOf, type View } from './view.ts';
import type { Execution, VmCall } from './vm.ts';

type Body = Readonly<Record<string, unknown>>;

/** What a call of the interface needs. */
interface Question {
  readonly view: View;
  readonly body: Body;
  readonly faults: TronFaults;
}

type Answer = (question: Question) => unknown;

/** Both trees have these, the second one as of its final head. */
const shared: Readonly<Record<string, Answer>> = {
  getnowblock: ({ view }) => blockJson(view.head, true),
  getblock: ({ view, body }) => {
    const wanted = body.id_or_num;
    if (wanted === undefined || wanted === '') return blockJson(view.head, body.detail === true);
    const block = findBlock(view, String(wanted));
    return block ? blockJson(block, body.detail === true) : {};
  },
  getblockbynum: ({ view, body }) => {
    const block = view.block(numberOf(body.num));
    return block ? blockJson(block, true) : {};
  },
  gettransactioninfobyblocknum: ({ view, body }) => {
    const number = numberOf(body.num);
    // java-tron has no results of the first block, and writes an object instead of a list.
    if (number <= 0) return {};
    const block = view.block(number);
    return block ? view.infos(block) : [];
  },
  gettransactioninfobyid: ({ view, body }) => {
    const found = view.find(bytesToHex(bytesOf(body.value)));
    return found ? view.info(found.mined, found.block) : {};
  },
  gettransactionbyid: ({ view, body, faults }) => {
    const txid = bytesToHex(bytesOf(body.value));
    const found = view.find(txid);
    if (found) return transactionJson(found.mined.tx, found.mined.outcome.result);
    return faults.pool === 'as-mined' ? waiting(view, txid) : {};
  },
  getaccount: ({ view, body }) => {
    const address = bytesToHex(bytesOf(body.address));
    const account = view.head.ledger.get(address);
    return account ? accountJson(address, account) : {};
  },
  triggerconstantcontract: async ({ view, body, faults }) => {
    const { call, run } = await tried(view, body);
    if (!run) return { result: { code: 'CONTRACT_VALIDATE_ERROR', message: hexOf('Smart contract is not exist.') } };
    const hasFailed = run.result !== 'SUCCESS';
    const { penalty = 0n } = faults;
    return {
      result: { result: true, ...sparse({ message: hasFailed ? hexOf(messageOf(run.result)) : '' }) },
      ...sparse({ energy_used: run.energy + penalty, energy_penalty: penalty }),
      constant_result: [run.returned],
      ...sparse({ logs: run.logs, internal_transactions: run.internal.map((one) => internalJson(one, undefined)) }),
      transaction: { ...unsigned(view, call), ret: [hasFailed ? { ret: 'FAILED' } : {}], visible: false },
    };
  },
  estimateenergy: async ({ view, body, faults }) => {
    const refused = (code: string, message: string): object => ({ result: { code, message: hexOf(message) } });
    if (faults.estimates === false) {
      return refused('CONTRACT_VALIDATE_ERROR', 'this node does not support estimate energy');
    }
    const { run } = await tried(view, body);
    if (!run) return refused('CONTRACT_VALIDATE_ERROR', 'Smart contract is not exist.');
    if (run.result !== 'SUCCESS') return refused('CONTRACT_EXE_ERROR', messageOf(run.result));
    return { result: { result: true }, energy_required: run.energy + (faults.penalty ?? 0n) };
  },
  getnodeinfo: ({ view }) => ({
    activeConnectCount: 3,
    beginSyncNum: view.head.header.number,
    block: `Num:${view.head.header.number},ID:${view.head.id}`,
    solidityBlock: named(view.chain.blocks[Math.max(0, view.chain.solidNumber)]),
    currentConnectCount: 60,
    passiveConnectCount: 57,
    totalFlow: 0,
    peerList: [],
    configNodeInfo: {
      codeVersion: '4.8.1',
      versionNum: '18636',
      p2pVersion: '11111',
      supportConstant: true,
      dbVersion: 2,
    },
    machineInfo: { cpuCount: 16, javaVersion: '1.8.0_291', osName: 'Linux' },
    cheatWitnessInfoMap: {},
  }),
};

/** Only the first tree has these. */
const full: Readonly<Record<string, Answer>> = {
  ...shared,
  broadcasthex: (question) => broadcast(question),
  getaccountresource: ({ view, body }) => {
    const account = view.head.ledger.get(bytesToHex(bytesOf(body.address)));
    return account ? resourceJson(account, view.head.header.timestamp) : {};
  },
  getcontract: ({ view, body }) => {
    const contract_address = bytesToHex(bytesOf(body.value));
    const isContract = view.head.ledger.get(contract_address)?.isContract === true;
    return isContract ? { contract_address, origin_address: view.chain.bank.address, version: 1 } : {};
  },
  getchainparameters: ({ view }) => ({ chainParameter: parameters(view).map((one) => sparse(one)) }),
  gettransactionfrompending: ({ view, body }) => waiting(view, bytesToHex(bytesOf(body.value))),
  gettransactionlistfrompending: ({ view }) => ({ txId: [...view.chain.pool.keys()] }),
  getpendingsize: ({ view }) => ({ pendingTransactionSize: view.chain.pool.size }),
};

interface Call {
  readonly answer: Answer;
  readonly isSolid: boolean;
}

/** The calls by their paths. */
export const calls: ReadonlyMap<string, Call> = new Map([
  ...paths('/wallet', full, false),
  ...paths('/walletsolidity', shared, true),
]);

function paths(tree: string, answers: Readonly<Record<string, Answer>>, isSolid: boolean): [string, Call][] {
  return Object.entries(answers).map(([name, answer]) => [`${tree}/${name}`, { answer, isSolid }]);
}

function findBlock(view: View, wanted: string): ReturnType<View['block']> {
  if (/^\d{1,18}$/.test(wanted)) return view.block(Number(wanted));
  if (/^-\d+$/.test(wanted)) throw new Error('num must be non-positive number.');
  if (!/^[0-9a-f]{64}$/i.test(wanted)) throw new Error('id must be legal block hash.');
  return view.blockById(wanted.toLowerCase());
}

function numberOf(value: unknown): number {
  if (typeof value !== 'number' || !Number.isSafeInteger(value)) {
    throw new Error('class org.tron.core.services.http.JsonFormat$ParseException : 1:8: Number format error');
  }
  return value;
}

function named(block: ReturnType<View['block']> | undefined): string {
  return block ? `Num:${block.header.number},ID:${block.id}` : '';
}

/** What waits is shown with the result that the node expects. */
function waiting(view: View, txid: string): object {
  const tx = view.chain.pool.get(txid);
  return tx ? transactionJson(tx, 'SUCCESS') : {};
}

function broadcast({ view, body, faults }: Question): object {
  const bytes = bytesOf(body.transaction);
  const { txid } = decodeTransaction(bytes);
  const reply = (code: string, message: string): object => ({
    ...{ result: code === 'SUCCESS', code, message },
    ...{ transaction: JSON.stringify({ raw_data: {}, signature: [] }), txid },
  });
  const fault = faults.broadcast === undefined ? null : broadcastFaults[faults.broadcast];
  if (fault && !fault.isTaken) return reply(fault.code, '');
  try {
    view.chain.accept(bytes);
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    if (!fault) return reply(error.code, error.message);
  }
  return fault ? reply(fault.code, 'a fault of the test') : reply('SUCCESS', '');
}

/** The call that a question describes, and the result of its trial; null without a contract. */
async function tried(view: View, body: Body): Promise<{ call: VmCall; run: Execution | null }> {
  const [owner, contract] = [body.owner_address, body.contract_address].map((one) => bytesToHex(bytesOf(one)));
  if (!owner) throw new Error("class java.security.InvalidParameterException : owner_address isn't set.");
  const selector = String(body.function_selector ?? '');
  const head = selector === '' ? new Uint8Array() : keccak_256(Buffer.from(selector)).subarray(0, 4);
  const data = selector === '' ? bytesOf(body.data) : Uint8Array.from([...head, ...bytesOf(body.parameter)]);
  const call = { from: owner, contract: contract ?? '', value: BigInt(Number(body.call_value ?? 0)), data };
  const { machine } = view.chain;
  const { ledger, vmHeight } = view.head;
  if (machine === null || !ledger.get(call.contract)?.isContract) return { call, run: null };
  return { call, run: await machine.view(call, vmHeight) };
}

/** The transaction that the node prints next to the result of a trial. */
function unsigned(view: View, { from, contract, value, data }: VmCall): object {
  const call: TronCall = { type: 'TriggerSmartContract', owner: from, to: contract, amount: value, data };
  const { id, header } = view.head;
  const terms = { reference: id, expiration: header.timestamp + 60_000, timestamp: header.timestamp };
  return transactionJson(decodeRaw(encodeRaw(call, terms), []));
}

function parameters({ chain: { prices } }: View): { key: string; value: bigint | number }[] {
  return [
    { key: 'getMaintenanceTimeInterval', value: 21_600_000 },
    { key: 'getCreateAccountFee', value: prices.createAccountFee },
    { key: 'getTransactionFee', value: prices.transactionFee },
    { key: 'getCreateNewAccountFeeInSystemContract', value: prices.newAccountFee },
    { key: 'getCreateNewAccountBandwidthRate', value: 1 },
    { key: 'getEnergyFee', value: prices.energyFee },
    { key: 'getAllowTvmTransferTrc10', value: 1 },
    { key: 'getRemoveThePowerOfTheGr', value: -1 },
    { key: 'getAllowShieldedTransaction', value: 0 },
    { key: 'getForbidTransferToContract', value: 1 },
    { key: 'getFreeNetLimit', value: 600 },
    { key: 'getMemoFee', value: prices.memoFee },
    { key: 'getMaxFeeLimit', value: prices.maxFeeLimit },
  ];
}
