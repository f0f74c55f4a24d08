import type { Ledger } from './ledger.ts';
import { bandwidthOf, type ContractResult, type TronTransaction } from './transaction.ts';
import { type Execution, exhausted, type InternalCall, type TronLog, type TronVm } from './vm.ts';

/** Prices that the chain's parameters state. In sun. */
export interface Prices {
  /** Of one byte of bandwidth. */
  transactionFee: bigint;
  /** Of one unit of energy. */
  energyFee: bigint;
  /** For the bandwidth of a transaction that makes an account. */
  createAccountFee: bigint;
  /** For the account itself. */
  newAccountFee: bigint;
  memoFee: bigint;
  /** The most that a transaction may give for energy. */
  maxFeeLimit: bigint;
}

export const prices: Prices = {
  transactionFee: 1_000n,
  energyFee: 100n,
  createAccountFee: 100_000n,
  newAccountFee: 1_000_000n,
  memoFee: 1_000_000n,
  maxFeeLimit: 15_000_000_000n,
};

/** Why a node or a block does not take a transaction, with the code of the protocol. */
export class Refused extends Error {
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

const invalid = (message: string): Refused =>
  new Refused('CONTRACT_VALIDATE_ERROR', `Contract validate error : ${message}`);

/** What became of a transaction in a block. Amounts are in sun. */
export interface Outcome {
  readonly result: ContractResult;
  readonly netUsage: bigint;
  readonly netFee: bigint;
  readonly energyUsage: bigint;
  readonly energyFee: bigint;
  readonly energyTotal: bigint;
  /** For a new account and a memo. */
  readonly otherFee: bigint;
  /** Hexadecimal digits. */
  readonly returned: string;
  readonly logs: readonly TronLog[];
  readonly internal: readonly InternalCall[];
}

/** Where a transaction is executed. The ledger is changed. */
export interface Site {
  readonly ledger: Ledger;
  /** Of the block, in milliseconds. */
  readonly time: number;
  readonly prices: Prices;
  readonly vm: TronVm | null;
  /** Recipients of tokens whose transfers fail, with the result. */
  readonly failing: ReadonlyMap<string, ContractResult>;
}

type Charge = Pick<Outcome, 'netUsage' | 'netFee' | 'otherFee'>;

/** Of a transaction that runs no code. */
const noExecution = { energyUsage: 0n, energyFee: 0n, energyTotal: 0n, returned: '', logs: [], internal: [] } as const;

/** Of a transaction that a test puts into a block as it is. */
export const noEffect: Outcome = { ...noExecution, result: 'SUCCESS', netUsage: 0n, netFee: 0n, otherFee: 0n };

/** Executes a transaction, and takes its fees. @throws Refused when a block cannot hold it. */
export async function execute(site: Site, tx: TronTransaction): Promise<Outcome> {
  const charge = begin(site, tx);
  if (tx.call.type !== 'TriggerSmartContract' || site.vm === null)
    return { ...charge, ...noExecution, result: 'SUCCESS' };
  return { ...charge, ...(await callContract(site, site.vm, tx)) };
}

/**
 * All of an execution but the code of a contract: takes what a node knows before. A node does that
 * with what waits. @throws Refused
 */
export function begin(site: Site, tx: TronTransaction): Charge {
  const { owner, type, other } = tx.call;
  if (type === 'Other') throw invalid(`${other} is not simulated`);
  if (!site.ledger.get(owner)) throw invalid(`account [${owner}] does not exist`);
  const charge = takeBandwidth(site, tx);
  const memo = tx.memo.length === 0 ? 0n : site.prices.memoFee;
  burn(site, owner, memo);
  const created = tx.call.type === 'TriggerSmartContract' ? startCall(site, tx) : transfer(site, tx);
  return { ...charge, otherFee: memo + created };
}

/** A new account costs a fee, or bandwidth for what is staked; the free bandwidth is not for it. */
function takeBandwidth({ ledger, time, prices }: Site, tx: TronTransaction): Omit<Charge, 'otherFee'> {
  const { owner, to, type } = tx.call;
  const bytes = bandwidthOf(tx);
  const makesAccount = type !== 'TriggerSmartContract' && ledger.get(to) === null;
  if (ledger.use(owner, 'bandwidth', bytes, time)) return { netUsage: bytes, netFee: 0n };
  if (!makesAccount && ledger.use(owner, 'free', bytes, time)) return { netUsage: bytes, netFee: 0n };
  const netFee = makesAccount ? prices.createAccountFee : bytes * prices.transactionFee;
  burn({ ledger, time }, owner, netFee);
  return { netUsage: 0n, netFee };
}

/** Takes a fee from an account. */
function burn({ ledger, time }: Pick<Site, 'ledger' | 'time'>, owner: string, fee: bigint): void {
  if ((ledger.get(owner)?.balance ?? 0n) < fee) {
    throw new Refused('BANDWITH_ERROR', 'Account resource insufficient error.');
  }
  if (fee > 0n) ledger.add(owner, -fee, time);
}

/** Moves coins or units of a TRC-10 token. Returns what a new account costs. */
function transfer({ ledger, time, prices }: Site, { call }: TronTransaction): bigint {
  const { owner, to, amount, type } = call;
  if (!/^41[0-9a-f]{40}$/.test(to)) throw invalid('Invalid toAddress!');
  if (to === owner) throw invalid('Cannot transfer TRX to yourself.');
  if (amount <= 0n) throw invalid('Amount must be greater than 0.');
  if (ledger.get(to)?.isContract) throw invalid('Cannot transfer TRX to a smartContract.');
  const fee = ledger.get(to) === null ? prices.newAccountFee : 0n;
  // A TRC-10 token has no effect on coins, and its units are not counted here.
  const coins = type === 'TransferContract' ? amount : 0n;
  const balance = ledger.get(owner)?.balance ?? 0n;
  if (balance < coins + fee) throw invalid('Validate TransferContract error, balance is not sufficient.');
  ledger.add(owner, -coins - fee, time);
  ledger.add(to, coins, time);
  return fee;
}

/** Checks a call of a contract before it runs. */
function startCall({ ledger, prices, vm }: Site, { call, feeLimit }: TronTransaction): bigint {
  if (vm === null || !ledger.get(call.to)?.isContract) throw invalid('No contract or not a valid smart contract');
  if (feeLimit < 0n || feeLimit > prices.maxFeeLimit) {
    throw invalid(`feeLimit must be >= 0 and <= ${prices.maxFeeLimit}`);
  }
  if (call.amount < 0n) throw invalid('callValue must be >= 0');
  if ((ledger.get(call.owner)?.balance ?? 0n) < call.amount) {
    throw invalid('Validate InternalTransfer error, balance is not sufficient.');
  }
  return 0n;
}

/** Runs the code; the energy that is not staked is paid in coins, also by a call that failed. */
async function callContract(site: Site, vm: TronVm, tx: TronTransaction): Promise<Omit<Outcome, keyof Charge>> {
  const { ledger, time, prices } = site;
  const { owner, to, amount, data } = tx.call;
  const staked = ledger.left(owner, 'energy', time);
  const spare = (ledger.get(owner)?.balance ?? 0n) - amount;
  const payable = staked + spare / prices.energyFee;
  const limited = tx.feeLimit / prices.energyFee;
  const limit = payable < limited ? payable : limited;
  // The recipient is the first argument of a transfer.
  const recipient = `41${Buffer.from(data).toString('hex').slice(32, 72)}`;
  const failure = site.failing.get(recipient);
  const run = failure
    ? { ...exhausted(limit), result: failure }
    : await vm.execute({ from: owner, contract: to, value: amount, data }, limit);
  const energyUsage = run.energy < staked ? run.energy : staked;
  ledger.use(owner, 'energy', energyUsage, time);
  const energyFee = (run.energy - energyUsage) * prices.energyFee;
  ledger.add(owner, -energyFee, time);
  if (run.result === 'SUCCESS') moveCoins(site, tx, run);
  const { result, returned, logs, internal } = run;
  return { result, returned, logs, internal, energyUsage, energyFee, energyTotal: run.energy };
}

function moveCoins({ ledger, time }: Site, { call }: TronTransaction, { internal }: Execution): void {
  const moves = internal.filter(({ isRejected, amount }) => !isRejected && amount > 0n);
  for (const { caller, to, amount } of [{ caller: call.owner, to: call.to, amount: call.amount }, ...moves]) {
    if (amount === 0n) continue;
    ledger.add(caller, -amount, time);
    ledger.add(to, amount, time);
  }
}
