import { base58 } from '@scure/base';
import { RpcError, unsupportedVersion } from './errors.ts';
import { programs, type Text58 } from './keys.ts';
import type { Applied } from './slots.ts';
import { type Account, decimalsOf, type TokenBalance, tokenAccountOf } from './tokens.ts';
import { isWritable, type SolanaTransaction } from './transaction.ts';
import type { Outcome } from './vm.ts';

type Json = Record<string, unknown>;

/** Of the node's program. */
export const version = '4.1.2';

/** A value with the slot that it is of. */
export function inContext({ slot }: { readonly slot: number }, value: unknown): Json {
  return { context: { apiVersion: version, slot }, value };
}

export type Details = 'full' | 'accounts' | 'signatures' | 'none';

export interface TransactionForm {
  readonly details: Details;
  readonly encoding: 'json' | 'base64';
  /** Null when the client names none, and then gets only the oldest. */
  readonly maxVersion: number | null;
}

/** What an epoch of rent means for an account that pays none: 2^64 - 1. */
const rentEpoch = 18_446_744_073_709_551_615n;

/**
 * A transaction of a block.
 *
 * @throws RpcError for one of a version that the client does not read.
 */
export function transactionJson({ tx, outcome }: Applied, form: TransactionForm): Json {
  const { version } = tx;
  if (version !== 'legacy' && version > (form.maxVersion ?? -1)) throw unsupportedVersion(version);
  const shown = form.maxVersion === null ? {} : { version };
  if (form.details === 'accounts') {
    const accountKeys = outcome.keys.map((pubkey, index) => ({
      pubkey,
      signer: index < tx.header.numRequiredSignatures,
      source: index < tx.keys.length ? 'transaction' : 'lookupTable',
      writable: isWritable(tx, index),
    }));
    return { meta: briefMeta(outcome), transaction: { accountKeys, signatures: tx.signatures }, ...shown };
  }
  const { loaded, logs, units, inner, returnData } = outcome;
  const meta = {
    ...briefMeta(outcome),
    computeUnitsConsumed: units,
    innerInstructions: inner.flatMap((calls, index) =>
      calls.length === 0
        ? []
        : [{ index, instructions: calls.map((call) => ({ ...call, data: base58.encode(call.data) })) }],
    ),
    loadedAddresses: loaded,
    logMessages: logs,
    rewards: null,
    ...(returnData ? { returnData: returnDataJson(returnData) } : {}),
  };
  return { meta, transaction: encoded(tx, form.encoding), ...shown };
}

function briefMeta(outcome: Outcome): Json {
  const { error, fee, preBalances, postBalances } = outcome;
  return {
    err: error,
    fee,
    postBalances,
    postTokenBalances: outcome.postTokenBalances.map(tokenBalanceJson),
    preBalances,
    preTokenBalances: outcome.preTokenBalances.map(tokenBalanceJson),
    status: statusOf(error),
  };
}

/** The older form of the same, which answers still hold. */
export function statusOf(error: Outcome['error']): Json {
  return error === null ? { Ok: null } : { Err: error };
}

function tokenBalanceJson({ accountIndex, mint, owner, programId, amount, decimals }: TokenBalance): Json {
  return { accountIndex, mint, owner, programId, uiTokenAmount: amountJson(amount, decimals) };
}

/** An amount of tokens. Only `amount` is exact. */
export function amountJson(amount: bigint, decimals: number): Json {
  const digits = String(amount).padStart(decimals + 1, '0');
  const [whole, part] = [digits.slice(0, digits.length - decimals), digits.slice(digits.length - decimals)];
  const uiAmountString = decimals === 0 ? whole : `${whole}.${part}`.replace(/\.?0+$/, '');
  return { amount: String(amount), decimals, uiAmount: amount === 0n ? null : Number(uiAmountString), uiAmountString };
}

function encoded(tx: SolanaTransaction, encoding: TransactionForm['encoding']): unknown {
  if (encoding === 'base64') return [Buffer.from(tx.wire).toString('base64'), 'base64'];
  const message = {
    accountKeys: tx.keys,
    header: tx.header,
    instructions: tx.instructions.map(({ program, accounts, data }) => ({
      accounts,
      data: base58.encode(data),
      programIdIndex: program,
      stackHeight: 1,
    })),
    recentBlockhash: tx.blockhash,
    ...(tx.version === 0 ? { addressTableLookups: tx.lookups.map(lookupJson) } : {}),
    ...(tx.config ? { transactionConfig: tx.config } : {}),
  };
  return { message, signatures: tx.signatures };
}

function lookupJson({ table, writable, readonly }: SolanaTransaction['lookups'][number]): Json {
  return { accountKey: table, writableIndexes: writable, readonlyIndexes: readonly };
}

export function returnDataJson({ programId, data }: NonNullable<Outcome['returnData']>): Json {
  return { data: [Buffer.from(data).toString('base64'), 'base64'], programId };
}

const mostInBase58 = 128;

/** How an account is to be shown. */
export interface AccountForm {
  readonly encoding: 'base58' | 'base64' | 'jsonParsed';
  readonly slice: { readonly offset: number; readonly length: number } | null;
}

/** An account; parsed only when it is one of tokens. */
export function accountJson(
  account: Account | null,
  { encoding, slice }: AccountForm,
  find: (address: Text58) => Account | null,
): Json | null {
  if (!account) return null;
  const { lamports, owner, data, executable } = account;
  const parsed = encoding === 'jsonParsed' ? parsedToken(account, find) : null;
  const shown = slice ? data.slice(slice.offset, slice.offset + slice.length) : data;
  if (encoding === 'base58' && shown.length > mostInBase58) {
    const text = `Encoded binary (base 58) data should be less than ${mostInBase58} bytes, please use Base64 encoding.`;
    throw new RpcError('invalidRequest', text);
  }
  const bytes =
    encoding === 'base58' ? [base58.encode(shown), 'base58'] : [Buffer.from(shown).toString('base64'), 'base64'];
  return { data: parsed ?? bytes, executable, lamports, owner, rentEpoch, space: data.length };
}

function parsedToken(account: Account, find: (address: Text58) => Account | null): Json | null {
  const held = tokenAccountOf(account);
  const mint = held && find(held.mint);
  const decimals = mint ? decimalsOf(mint) : null;
  if (!held || decimals === null) return null;
  const { amount, isNative, mint: of, owner, state } = held;
  const info = { isNative, mint: of, owner, state, tokenAmount: amountJson(amount, decimals) };
  const program = account.owner === programs.token ? 'spl-token' : 'spl-token-2022';
  return { parsed: { info, type: 'account' }, program, space: account.data.length };
}
