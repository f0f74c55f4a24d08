import { base58 } from '@scure/base';
import { type Address, getTransactionDecoder, lamports as lamportsOf } from '@solana/kit';
import type {
  Clock,
  FailedTransactionMetadata,
  LiteSVM,
  Rent,
  SimulatedTransactionInfo,
  TransactionMetadata,
} from 'litesvm';
import { programs, type Text58 } from './keys.ts';
import { findLitesvm, withoutLitesvm } from './litesvm.ts';
import { errorOf, type TxError } from './results.ts';
import { type Account, decimalsOf, type TokenBalance, tokenAccountOf, tokenPrograms } from './tokens.ts';
import type { SolanaTransaction } from './transaction.ts';

export interface InnerCall {
  readonly programIdIndex: number;
  readonly accounts: readonly number[];
  readonly data: Uint8Array;
  readonly stackHeight: number;
}

/** What the virtual machine did with a transaction. */
export interface Outcome {
  readonly error: TxError | null;
  /** Whether it took the fee: otherwise no block can hold the transaction. */
  readonly isCharged: boolean;
  readonly fee: bigint;
  /** All accounts, also the ones from tables, which `loaded` counts. */
  readonly keys: readonly Text58[];
  readonly loaded: { readonly writable: readonly Text58[]; readonly readonly: readonly Text58[] };
  readonly preBalances: readonly bigint[];
  readonly postBalances: readonly bigint[];
  readonly preTokenBalances: readonly TokenBalance[];
  readonly postTokenBalances: readonly TokenBalance[];
  readonly logs: readonly string[];
  readonly units: bigint;
  /** By the index of the outer instruction. */
  readonly inner: readonly (readonly InnerCall[])[];
  readonly returnData: { readonly programId: Text58; readonly data: Uint8Array } | null;
}

type Kept = { readonly slot: number; readonly account: Account | null };

/**
 * The accounts of a network, and the real virtual machine that changes them. What it was like after
 * an earlier slot is kept.
 */
export class Vm {
  readonly #svm: LiteSVM;
  readonly #makeClock: new (
    ...numbers: ConstructorParameters<typeof Clock>
  ) => Clock;
  readonly #makeRent: new (
    ...numbers: ConstructorParameters<typeof Rent>
  ) => Rent;
  /** By address, oldest first. */
  readonly #kept = new Map<Text58, Kept[]>();
  #slot = 0;

  /** @throws Error on a platform without the virtual machine. */
  constructor() {
    const found = findLitesvm();
    if (!found) throw new Error(withoutLitesvm);
    // Signatures, blockhashes and repetitions are checked by code of the node's own.
    this.#svm = new found.LiteSVM()
      .withSigverify(false)
      .withBlockhashCheck(false)
      .withTransactionHistory(0n)
      .withNativeMints();
    this.#makeClock = found.Clock;
    this.#makeRent = found.Rent;
  }

  /** Begins a slot. What changes from now on belongs to it. */
  begin(slot: number, timeMs: number): void {
    this.#slot = slot;
    const [epoch, time] = [BigInt(Math.floor(slot / 432_000)), BigInt(Math.floor(timeMs / 1_000))];
    this.#svm.setClock(new this.#makeClock(BigInt(slot), time, epoch, epoch + 1n, time));
  }

  /** Lamports that a byte of an account costs, its 128 bytes of overhead included. */
  get rentPerByte(): bigint {
    return this.#svm.getRent().lamportsPerByteYear;
  }

  set rentPerByte(lamports: bigint) {
    this.#svm.setRent(new this.#makeRent(lamports, 1, 50));
  }

  minimum(space: number): bigint {
    return this.#svm.minimumBalanceForRentExemption(BigInt(space));
  }

  account(address: Text58): Account | null {
    const found = this.#svm.getAccount(address as Address);
    if (!found.exists || found.lamports === 0n) return null;
    const { lamports, programAddress: owner, data, executable } = found;
    return { lamports, owner, data: Uint8Array.from(data), executable };
  }

  /** As it was after a slot. */
  accountAt(address: Text58, slot: number): Account | null {
    const kept = this.#kept.get(address);
    return kept ? (kept.findLast((one) => one.slot <= slot)?.account ?? null) : this.account(address);
  }

  /** Sets an account by no transaction, or deletes it. */
  setAccount(address: Text58, account: Account | null): void {
    this.#keep([address], () => {
      const { lamports, owner, data, executable } = account ?? nothing;
      const where = { address: address as Address, programAddress: owner as Address };
      this.#svm.setAccount({ ...where, lamports: lamportsOf(lamports), data, executable, space: BigInt(data.length) });
    });
  }

  /** Adds a program that is compiled for the virtual machine. */
  addProgram(address: Text58, elf: Uint8Array): void {
    this.#svm.addProgram(address as Address, elf);
  }

  /** The token accounts of an owner after a slot. */
  tokenAccountsOf(owner: Text58, slot: number): Text58[] {
    const all = new Set(this.#kept.keys());
    for (const program of tokenPrograms) {
      for (const { address } of this.#svm.getProgramAccounts(program as Address)) all.add(address);
    }
    return [...all].filter((address) => {
      const account = this.accountAt(address, slot);
      return account !== null && tokenAccountOf(account)?.owner === owner;
    });
  }

  /** Executes a transaction. */
  execute(tx: SolanaTransaction): Outcome {
    return this.#keep(this.resolve(tx).keys, () => this.#run(tx, (whole) => this.#svm.sendTransaction(whole)));
  }

  /** Executes a transaction, and changes nothing. */
  simulate(tx: SolanaTransaction): Outcome & { readonly after: (address: Text58) => Account | null } {
    let changed: ReturnType<SimulatedTransactionInfo['postAccounts']> = [];
    const outcome = this.#run(tx, (whole) => {
      const result = this.#svm.simulateTransaction(whole);
      if ('err' in result) return result;
      changed = result.postAccounts();
      return result.meta();
    });
    const after = (address: Text58): Account | null => {
      const found = changed.find((one) => one.address === address);
      if (!found) return this.account(address);
      const { lamports, programAddress: owner, data, executable } = found;
      return lamports === 0n ? null : { lamports, owner, data: Uint8Array.from(data), executable };
    };
    return { ...outcome, after };
  }

  /** The accounts of a transaction. A table that is none gives no accounts. */
  resolve({ keys, lookups }: SolanaTransaction): Pick<Outcome, 'keys' | 'loaded'> {
    const of = (which: 'writable' | 'readonly') =>
      lookups.flatMap((lookup) => {
        const listed = this.account(lookup.table)?.data.slice(56) ?? new Uint8Array();
        return lookup[which].map((index) => base58.encode(listed.slice(index * 32, index * 32 + 32)));
      });
    const loaded = { writable: of('writable'), readonly: of('readonly') };
    return { keys: [...keys, ...loaded.writable, ...loaded.readonly], loaded };
  }

  #run(
    tx: SolanaTransaction,
    act: (whole: Parameters<LiteSVM['sendTransaction']>[0]) => TransactionMetadata | FailedTransactionMetadata,
  ): Outcome {
    const { keys, loaded } = this.resolve(tx);
    const [preBalances, preTokenBalances] = [this.#balances(keys), this.#tokenBalances(keys)];
    const result = act(getTransactionDecoder().decode(tx.wire));
    const [postBalances, postTokenBalances] = [this.#balances(keys), this.#tokenBalances(keys)];
    const error = 'err' in result ? errorOf(result) : null;
    const meta = 'err' in result ? result.meta() : result;
    const fee = sum(preBalances) - sum(postBalances);
    const returned = meta.returnData();
    return {
      error,
      isCharged: fee > 0n,
      fee,
      keys,
      loaded,
      preBalances,
      postBalances,
      preTokenBalances,
      postTokenBalances,
      logs: meta.logs(),
      units: meta.computeUnitsConsumed(),
      inner: meta.innerInstructions().map((calls) =>
        calls.map((call) => ({
          programIdIndex: call.instruction().programIdIndex(),
          accounts: [...call.instruction().accounts()],
          data: Uint8Array.from(call.instruction().data()),
          stackHeight: call.stackHeight(),
        })),
      ),
      returnData:
        returned.data().length === 0
          ? null
          : { programId: base58.encode(Uint8Array.from(returned.programId())), data: Uint8Array.from(returned.data()) },
    };
  }

  #balances(keys: readonly Text58[]): bigint[] {
    return keys.map((address) => this.account(address)?.lamports ?? 0n);
  }

  /** Listed only where a token program is among the accounts, as agave does. */
  #tokenBalances(keys: readonly Text58[]): TokenBalance[] {
    if (!keys.some((key) => tokenPrograms.includes(key))) return [];
    return keys.flatMap((address, accountIndex) => {
      const account = this.account(address);
      const held = account && tokenAccountOf(account);
      const mint = held && this.account(held.mint);
      const decimals = mint && decimalsOf(mint);
      if (!account || !held || decimals === null) return [];
      const { mint: of, owner, amount } = held;
      return [{ accountIndex, mint: of, owner, amount, decimals, programId: account.owner }];
    });
  }

  /** Keeps what accounts were like before and after a change. */
  #keep<T>(addresses: readonly Text58[], change: () => T): T {
    for (const address of addresses) {
      if (!this.#kept.has(address)) this.#kept.set(address, [{ slot: -1, account: this.account(address) }]);
    }
    const result = change();
    for (const address of new Set(addresses))
      this.#kept.get(address)?.push({ slot: this.#slot, account: this.account(address) });
    return result;
  }
}

const nothing: Account = { lamports: 0n, owner: programs.system, data: new Uint8Array(), executable: false };

function sum(amounts: readonly bigint[]): bigint {
  return amounts.reduce((total, one) => total + one, 0n);
}
