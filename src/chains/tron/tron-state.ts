import { asList, asObject, unsound } from '../nodes/node-answer.ts';
import type { Broadcast } from '../port/chain-adapter.ts';
import { asBoolean, asDigits, asHex, asInt64, asOptionalList, asWord, isNothing } from './tron-answer.ts';

/** An account. It does not exist on the chain before its first payment. */
export interface TronAccount {
  /** In sun. */
  readonly balance: bigint;
  /** Whether code owns it. */
  readonly isContract: boolean;
  /** Who may sign for it. Null when the node states nothing, which means its own key alone. */
  readonly owners: {
    readonly threshold: bigint;
    /** Addresses of 42 digits. */
    readonly keys: readonly { readonly address: string; readonly weight: bigint }[];
  } | null;
}

/** What an account can use without a fee. */
export interface TronResources {
  /** Bytes that each account has a day. */
  readonly freeBandwidth: bigint;
  /** Bytes from its stake. */
  readonly bandwidth: bigint;
  readonly energy: bigint;
}

/** Prices that the chain's parameters state, in sun. */
export interface TronPrices {
  /** Of a unit of energy. */
  readonly energy: bigint;
  /** Of a byte of bandwidth. */
  readonly bandwidth: bigint;
  /** Of an account that a transfer of coins makes. */
  readonly newAccount: bigint;
  /** Of the bandwidth of making an account, without a stake for it. */
  readonly newAccountBandwidth: bigint;
  /** The highest fee limit of a transaction. */
  readonly maxFeeLimit: bigint;
}

/** What a call of a contract would do. */
export interface TronTrial {
  readonly succeeds: boolean;
  /** The units that it would use, with the penalty of a busy contract. */
  readonly energy: bigint;
  /** The part of the energy that is a penalty. */
  readonly penalty: bigint;
  /** The bytes that it returns, in lower case. */
  readonly returned: string;
  /** The logs that it would write. Some nodes tell none. */
  readonly logs: readonly unknown[];
}

/** Reads an account; null when it does not exist. */
export function readAccount(answer: unknown, address: string): TronAccount | null {
  if (isNothing(answer)) return null;
  const account = asObject(answer, 'account');
  if (asDigits(account.address, 'address of an account') !== address) throw unsound('another account');
  return {
    balance: asInt64(account.balance, 'balance'),
    isContract: asWord(account.type, 'type of an account') === 'Contract',
    owners: readOwners(account.owner_permission),
  };
}

function readOwners(answer: unknown): TronAccount['owners'] {
  if (answer === undefined) return null;
  const permission = asObject(answer, 'permission of an owner');
  const keys = asList(permission.keys, 'keys of an owner').map((item) => {
    const key = asObject(item, 'key of an owner');
    return { address: asDigits(key.address, 'key of an owner'), weight: asInt64(key.weight, 'weight of a key') };
  });
  return { threshold: asInt64(permission.threshold, 'threshold of an owner'), keys };
}

export function readResources(answer: unknown): TronResources {
  const resources = asObject(answer, 'resources');
  const left = (limit: string, used: string): bigint => {
    const rest = asInt64(resources[limit], 'limit of a resource') - asInt64(resources[used], 'use of a resource');
    return rest > 0n ? rest : 0n;
  };
  return {
    freeBandwidth: left('freeNetLimit', 'freeNetUsed'),
    bandwidth: left('NetLimit', 'NetUsed'),
    energy: left('EnergyLimit', 'EnergyUsed'),
  };
}

/** Reads the prices. One that the node leaves out would look like no fee, and is a fault. */
export function readPrices(answer: unknown): TronPrices {
  const parameters = new Map<unknown, unknown>();
  for (const item of asList(asObject(answer, 'parameters').chainParameter, 'parameters')) {
    const { key, value } = asObject(item, 'parameter');
    parameters.set(key, value);
  }
  const price = (key: string): bigint => {
    if (!parameters.has(key)) throw unsound(`no parameter ${key}`);
    return asInt64(parameters.get(key), `parameter ${key}`);
  };
  return {
    energy: price('getEnergyFee'),
    bandwidth: price('getTransactionFee'),
    newAccount: price('getCreateNewAccountFeeInSystemContract'),
    newAccountBandwidth: price('getCreateAccountFee'),
    maxFeeLimit: price('getMaxFeeLimit'),
  };
}

/** Reads what a call would do. A call that the chain would undo says so in one of three places. */
export function readTrial(answer: unknown): TronTrial {
  const trial = asObject(answer, 'trial of a call');
  const outcome = asObject(trial.result, 'result of a trial');
  const [ret = {}] =
    trial.transaction === undefined ? [] : asOptionalList(asObject(trial.transaction, 'transaction').ret, 'results');
  const isFailed = asWord(asObject(ret, 'result of a trial').ret, 'result of a trial') === 'FAILED';
  const isAnswered = asBoolean(outcome.result, 'result of a trial') && asWord(outcome.code, 'code of a trial') === null;
  const [returned] = asOptionalList(trial.constant_result, 'returned bytes');
  return {
    succeeds: isAnswered && !isFailed && outcome.message === undefined,
    energy: asInt64(trial.energy_used, 'energy'),
    penalty: asInt64(trial.energy_penalty, 'energy of a penalty'),
    returned: asHex(returned, 'returned bytes'),
    logs: asOptionalList(trial.logs, 'logs of a trial'),
  };
}

/** Answers to a broadcast, of which none proves anything. All other words are refusals. */
const outcomes: Readonly<Record<string, Broadcast['outcome']>> = {
  DUP_TRANSACTION_ERROR: 'known',
  SERVER_BUSY: 'uncertain',
  NO_CONNECTION: 'uncertain',
  NOT_ENOUGH_EFFECTIVE_CONNECTION: 'uncertain',
  BLOCK_UNSOLIDIFIED: 'uncertain',
};

export function readBroadcast(answer: unknown): Broadcast {
  const { result, code } = asObject(answer, 'answer to a broadcast');
  const word = asWord(code, 'code of a broadcast');
  if (asBoolean(result, 'result of a broadcast')) return { outcome: 'accepted', code: null };
  if (word === null) throw unsound('a refused broadcast without its code');
  return { outcome: Object.hasOwn(outcomes, word) ? (outcomes[word] ?? 'rejected') : 'rejected', code: word };
}
