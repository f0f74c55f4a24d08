import {
  type Address,
  beginCell,
  Cell,
  Dictionary,
  loadShardAccount,
  loadTransaction,
  parseTuple,
  type ShardAccount,
  storeShardAccount,
  type Transaction,
  type TupleItem,
} from '@ton/core';
import { defaultConfig, Executor } from '@ton/sandbox';

/** An account after a transaction, in the form in which the virtual machine takes it. */
export interface AccountRow {
  /** Serialized `ShardAccount`, in base64. */
  readonly boc: string;
  readonly account: ShardAccount;
}

/** A transaction that was executed, and the account after it. */
export interface Execution {
  readonly tx: Transaction;
  readonly after: AccountRow;
}

/** Why a message was not accepted, or a method could not be called. */
export interface Rejection {
  readonly error: string;
  /** Of the virtual machine; null when it did not run. */
  readonly exitCode: number | null;
  readonly vmLog: string;
}

export interface MethodResult {
  readonly exitCode: number;
  readonly gasUsed: bigint;
  readonly stack: readonly TupleItem[];
}

/** When something is executed: seconds since 1970, and the logical time. */
export interface Moment {
  readonly now: number;
  readonly lt: bigint;
}

const verbosity = 'full';
let started: Promise<Executor> | null = null;

/** The configuration of the main network, with accounts that cost nothing while they rest. */
function withoutStorageFees(): string {
  const config = Cell.fromBase64(defaultConfig)
    .beginParse()
    .loadDictDirect(Dictionary.Keys.Int(32), Dictionary.Values.Cell());
  const free = beginCell().storeUint(0xcc, 8).storeUint(0, 32).storeUint(0, 256);
  const prices = Dictionary.empty(Dictionary.Keys.Uint(32), Dictionary.Values.BitString(296));
  prices.set(0, free.endCell().bits);
  config.set(18, beginCell().storeDictDirect(prices).endCell());
  return beginCell().storeDictDirect(config).endCell().toBoc().toString('base64');
}

/**
 * The virtual machine of TON with the configuration of the main network, loaded once a process. It
 * keeps nothing between calls.
 */
export class TonVm {
  readonly #executor: Executor;
  /** Code cells that contracts name by hash only. */
  #libraries: Cell | null = null;

  readonly #config: string;

  private constructor(executor: Executor, config: string) {
    this.#executor = executor;
    this.#config = config;
  }

  /** @param storageFees False has accounts keep all coins while they rest. */
  static async load({ storageFees = true }: { readonly storageFees?: boolean | undefined } = {}): Promise<TonVm> {
    started ??= Executor.create();
    return new TonVm(await started, storageFees ? defaultConfig : withoutStorageFees());
  }

  setLibraries(libraries: Cell): void {
    this.#libraries = libraries;
  }

  /** Executes a message to an account. A rejection leaves no transaction. */
  async execute(before: AccountRow, message: Cell, { now, lt }: Moment): Promise<Execution | Rejection> {
    const { result } = await this.#executor.runTransaction({
      config: this.#config,
      libs: this.#libraries,
      verbosity,
      shardAccount: before.boc,
      now,
      lt,
      randomSeed: Buffer.alloc(32),
      ignoreChksig: false,
      debugEnabled: false,
      message,
    });
    if (!result.success) {
      const { error, vmResults } = result;
      return { error, exitCode: vmResults?.vmExitCode ?? null, vmLog: vmResults?.vmLog ?? '' };
    }
    return {
      tx: loadTransaction(Cell.fromBase64(result.transaction).beginParse()),
      after: rowOf(result.shardAccount),
    };
  }

  /** Calls a method of a contract, which changes nothing. */
  async call(row: AccountRow, method: number, stack: TupleItem[], now: number): Promise<MethodResult | Rejection> {
    const { account } = row.account;
    const state = account?.storage.state;
    if (!account || state?.type !== 'active' || !state.state.code) return idle;
    const { output } = await this.#executor.runGetMethod({
      code: state.state.code,
      data: state.state.data ?? new Cell(),
      methodId: method,
      stack,
      config: this.#config,
      verbosity,
      ...(this.#libraries ? { libs: this.#libraries } : {}),
      address: account.addr,
      unixTime: now,
      balance: account.storage.balance.coins,
      randomSeed: Buffer.alloc(32),
      gasLimit: 1_000_000n,
      debugEnabled: false,
    });
    if (!output.success) return { error: output.error, exitCode: null, vmLog: '' };
    const { vm_exit_code: exitCode, gas_used: gasUsed } = output;
    return { exitCode, gasUsed: BigInt(gasUsed), stack: parseTuple(Cell.fromBase64(output.stack)) };
  }
}

const idle: Rejection = { error: 'the account has no code', exitCode: null, vmLog: '' };

export function rowOf(boc: string): AccountRow {
  return { boc, account: loadShardAccount(Cell.fromBase64(boc).beginParse()) };
}

export function rowOfAccount(account: ShardAccount): AccountRow {
  return rowOf(beginCell().store(storeShardAccount(account)).endCell().toBoc().toString('base64'));
}

/** An account that no message reached yet. */
export function emptyRow(): AccountRow {
  return rowOfAccount({ account: null, lastTransactionHash: 0n, lastTransactionLt: 0n });
}

/** An active account that no transaction made. */
export function activeRow(address: Address, code: Cell, data: Cell, coins: bigint, lastPaid: number): AccountRow {
  return rowOfAccount({
    account: {
      addr: address,
      storageStats: { used: { cells: 1n, bits: 1n }, lastPaid, storageExtra: null },
      storage: { lastTransLt: 0n, balance: { coins }, state: { type: 'active', state: { code, data } } },
    },
    lastTransactionHash: 0n,
    lastTransactionLt: 0n,
  });
}

export function isRejection(result: object): result is Rejection {
  return 'error' in result;
}
