import { isDeepStrictEqual } from 'node:util';
import { asList, asObject, printable, unsound } from '../nodes/node-answer.ts';
import type { BlockRef } from '../port/chain-adapter.ts';
import { isSolanaKey } from './solana-keys.ts';

/** A final block. Its height here is its slot: between two blocks there may be empty slots. */
export interface SolanaHeader {
  readonly ref: BlockRef & { readonly timeMs: number };
  readonly parentSlot: number;
  /** The number of blocks below, by which transactions expire. */
  readonly blockHeight: number;
}

export interface SolanaBlock extends SolanaHeader {
  readonly transactions: readonly SolanaBlockTx[];
}

/** A transaction of a block, with the balances before and after it. */
export interface SolanaBlockTx {
  readonly txid: string;
  readonly hasFailed: boolean;
  /** It failed because the account that its first instruction makes was there already. */
  readonly wasMade: boolean;
  /** In lamports, as all balances of coins. The first account paid it. */
  readonly fee: bigint;
  readonly accounts: readonly string[];
  readonly before: readonly bigint[];
  readonly after: readonly bigint[];
  readonly tokensBefore: readonly TokenBalance[];
  readonly tokensAfter: readonly TokenBalance[];
}

/** What an account holds of a token. */
export interface TokenBalance {
  /** The place of the account among those of the transaction. */
  readonly place: number;
  readonly mint: string;
  /** Null where the node does not tell it. */
  readonly owner: string | null;
  readonly amount: bigint;
}

const maxUint64 = 2n ** 64n - 1n;
/** The largest number of a slot that is accepted. It fits the database's integer type. */
const maxSlot = 2 ** 31 - 1;

/** Reads a whole number. One of more than 15 digits comes as text, so that no digit is lost. */
export function asUint64(value: unknown, what: string): bigint {
  const isText = typeof value === 'string' && /^(0|[1-9]\d{0,19})$/.test(value);
  if (!isText && !(Number.isSafeInteger(value) && (value as number) >= 0)) throw unsound(`no whole number as ${what}`);
  const number = BigInt(value as string | number);
  if (number > maxUint64) throw unsound(`a ${what} out of range`);
  return number;
}

/** Reads an amount of a token, which is always text. A number would have passed through a float. */
export function asTokenAmount(value: unknown): bigint {
  if (typeof value !== 'string') throw unsound('no text as amount of a token');
  return asUint64(value, 'amount of a token');
}

export function asSlot(value: unknown, what: string): number {
  const number = asUint64(value, what);
  if (number > BigInt(maxSlot)) throw unsound(`a ${what} out of range`);
  return Number(number);
}

export function asKey(value: unknown, what: string): string {
  if (!isSolanaKey(value)) throw unsound(`no 32 bytes in base58 as ${what}`);
  return value;
}

/** Reads a signature, by the first of which the chain names a transaction. */
export function asTxid(value: unknown): string {
  if (typeof value !== 'string' || !/^[1-9A-HJ-NP-Za-km-z]{64,88}$/.test(value)) throw unsound('no signature as id');
  return value;
}

/** Whether an `err` says that a transaction failed. It is null for one that did not. */
export function hasError(err: unknown): boolean {
  if (err === undefined) throw unsound('no result of a transaction');
  return err !== null;
}

/**
 * Whether the first instruction failed with error 0, which the system program gives for an account
 * that is there already. https://docs.rs/solana-system-interface
 */
function isMadeError(err: unknown): boolean {
  return isDeepStrictEqual(err, { InstructionError: [0, { Custom: 0 }] });
}

/** An error of a transaction in one line, for people. */
export function errorText(err: unknown): string {
  return printable(typeof err === 'string' ? err : (JSON.stringify(err) ?? ''), 200);
}

/** Reads the header of the block in a slot. */
export function readHeader(answer: unknown, slot: number): SolanaHeader {
  const { blockhash, previousBlockhash, parentSlot, blockTime, blockHeight } = asObject(answer, 'block');
  const parent = asSlot(parentSlot, 'slot of a parent');
  // Block 0 names itself.
  if (parent >= slot && slot > 0) throw unsound('a block on top of a later one');
  const timeSec = asUint64(blockTime, 'time of a block');
  if (timeSec > 9_999_999_999n) throw unsound('a time of a block out of range');
  const ref = {
    height: slot,
    hash: asKey(blockhash, 'hash of a block'),
    parent: asKey(previousBlockhash, 'hash of a parent'),
    timeMs: Number(timeSec) * 1_000,
  };
  return { ref, parentSlot: parent, blockHeight: asSlot(blockHeight, 'height of a block') };
}

/** Reads the block in a slot, with the balances of its transactions. */
export function readBlock(answer: unknown, slot: number): SolanaBlock {
  const header = readHeader(answer, slot);
  const transactions = asList(asObject(answer, 'block').transactions, 'transactions').map(readBlockTx);
  if (new Set(transactions.map(({ txid }) => txid)).size !== transactions.length) throw unsound('a transaction twice');
  return { ...header, transactions };
}

function readBlockTx(answer: unknown): SolanaBlockTx {
  const { transaction, meta } = asObject(answer, 'transaction');
  const { signatures, accountKeys } = asObject(transaction, 'transaction');
  const result = asObject(meta, 'result of a transaction');
  const accounts = asList(accountKeys, 'accounts').map((each) => asKey(asObject(each, 'account').pubkey, 'account'));
  const tx = {
    txid: asTxid(asList(signatures, 'signatures')[0]),
    hasFailed: hasError(result.err),
    wasMade: isMadeError(result.err),
    fee: asUint64(result.fee, 'fee of a transaction'),
    accounts,
    before: readBalances(result.preBalances),
    after: readBalances(result.postBalances),
    tokensBefore: readTokenBalances(result.preTokenBalances, accounts.length),
    tokensAfter: readTokenBalances(result.postTokenBalances, accounts.length),
  };
  const { before, after } = tx;
  if (before.length !== accounts.length || after.length !== accounts.length || accounts.length === 0) {
    throw unsound('balances of other accounts than those of the transaction');
  }
  if (new Set(accounts).size !== accounts.length) throw unsound('an account twice');
  return tx;
}

function readBalances(answer: unknown): bigint[] {
  return asList(answer, 'balances').map((each) => asUint64(each, 'balance'));
}

function readTokenBalances(answer: unknown, accounts: number): TokenBalance[] {
  const found = asList(answer, 'balances of tokens').map((each): TokenBalance => {
    const { accountIndex, mint, owner, uiTokenAmount } = asObject(each, 'balance of a token');
    const place = Number(asUint64(accountIndex, 'place of an account'));
    if (place >= accounts) throw unsound('a balance of an account that the transaction does not name');
    return {
      ...{ place, mint: asKey(mint, 'mint') },
      owner: owner === undefined || owner === null ? null : asKey(owner, 'owner of a token account'),
      amount: asTokenAmount(asObject(uiTokenAmount, 'amount of a token').amount),
    };
  });
  if (new Set(found.map(({ place }) => place)).size !== found.length) throw unsound('a token account twice');
  return found;
}
