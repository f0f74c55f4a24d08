import { base58 } from '@scure/base';
import { isObject } from '../xrp-node/json.ts';
import { invalidParams, nodeUnhealthy, RpcError } from './errors.ts';
import type { Text58 } from './keys.ts';
import {
  accountFormOf,
  addressOf,
  type Config,
  commitmentOf,
  configAt,
  minContextSlotOf,
  type Params,
  required,
} from './params.ts';
import { type TxError, textOf } from './results.ts';
import { accountJson, inContext, returnDataJson } from './shown.ts';
import { blockhashAge, type SolanaBlock } from './slots.ts';
import { decodeTransaction, feeOf, idOf, isSigned, Malformed, type SolanaTransaction } from './transaction.ts';
import type { View } from './view.ts';

type Json = Record<string, unknown>;

/** The most bytes of a transaction, by whether it is of version 1. */
const mostBytes = { older: 1_232, version1: 4_096 };

/** A transaction as a request holds it. @throws RpcError for one that is none. */
function readTransaction(params: Params, { encoding = 'base58' }: Config): SolanaTransaction {
  const text = required(params, 0);
  if (typeof text !== 'string') throw invalidParams('Invalid params: invalid type, expected a string.');
  if (encoding !== 'base58' && encoding !== 'base64') {
    throw invalidParams(`unsupported encoding: ${String(encoding)}. Supported encodings: base58, base64`);
  }
  const wire = bytesOf(text, encoding);
  const most = wire[0] === 0x81 ? mostBytes.version1 : mostBytes.older;
  if (wire.length > most) {
    throw invalidParams(
      `decoded solana_transaction::versioned::VersionedTransaction too large: ${wire.length} bytes (max: ${most} bytes)`,
    );
  }
  try {
    return decodeTransaction(wire);
  } catch (error) {
    if (!(error instanceof Malformed)) throw error;
    throw invalidParams(`failed to deserialize solana_transaction::versioned::VersionedTransaction: ${error.message}`);
  }
}

function bytesOf(text: string, encoding: 'base58' | 'base64'): Uint8Array {
  if (encoding === 'base64') {
    const bytes = Buffer.from(text, 'base64');
    if (bytes.toString('base64') !== text) throw invalidParams('invalid base64 encoding: InvalidByte');
    return Uint8Array.from(bytes);
  }
  try {
    return base58.decode(text);
  } catch {
    throw invalidParams('invalid base58 encoding: InvalidCharacter');
  }
}

/** What simulation on top of a block would give. */
interface Trial {
  readonly error: TxError | null;
  readonly logs: readonly string[];
  readonly units: bigint;
  readonly after: (address: Text58) => ReturnType<View['account']>;
  readonly returnData: Json | null;
}

function trialOf(view: View, tx: SolanaTransaction, bank: SolanaBlock, checksBlockhash: boolean): Trial {
  const refusal = view.chain.refusal(tx, bank.height, { signatures: false, blockhash: checksBlockhash });
  if (refusal !== null) {
    const after = (address: Text58) => view.account(address, bank);
    return { error: refusal, logs: [], units: 0n, after, returnData: null };
  }
  const { error, logs, units, after, returnData } = view.chain.vm.simulate(tx);
  return { error, logs, units, after, returnData: returnData && returnDataJson(returnData) };
}

/** The members that both methods answer. */
function trialJson({ error, logs, units, returnData }: Trial): Json {
  return {
    accounts: null,
    err: error,
    innerInstructions: null,
    loadedAccountsDataSize: 0,
    logs,
    replacementBlockhash: null,
    returnData,
    unitsConsumed: units,
  };
}

const signatureFailure = () => new RpcError('signatureFailure', 'Transaction signature verification failure');

/** https://solana.com/docs/rpc/http/sendtransaction */
export function sendTransaction(view: View, params: Params): unknown {
  const config = configAt(params, 1);
  const tx = readTransaction(params, config);
  const { send } = view.faults;
  if (send?.reaches) view.chain.take(tx);
  if (send?.error !== undefined) throw new RpcError(send.error, `simulated: ${send.error}`);
  if (config.skipPreflight !== true) {
    const commitment = commitmentOf({ commitment: config.preflightCommitment ?? undefined });
    const bank = view.bank(commitment, minContextSlotOf(config));
    if (!isSigned(tx)) throw signatureFailure();
    if (view.faults.unhealthy !== undefined) throw nodeUnhealthy(view.faults.unhealthy);
    const trial = trialOf(view, tx, bank, true);
    if (trial.error !== null) {
      const message = `Transaction simulation failed: ${textOf(trial.error)}`;
      throw new RpcError('preflightFailure', message, trialJson(trial));
    }
  }
  if (send?.reaches !== false) view.chain.take(tx);
  return send?.id ?? idOf(tx);
}

/** https://solana.com/docs/rpc/http/simulatetransaction */
export function simulateTransaction(view: View, params: Params): unknown {
  const config = configAt(params, 1);
  const tx = readTransaction(params, config);
  const bank = view.bank(commitmentOf(config), minContextSlotOf(config));
  const replaces = config.replaceRecentBlockhash === true;
  if (config.sigVerify === true) {
    if (replaces) throw invalidParams('sigVerify may not be used with replaceRecentBlockhash');
    if (!isSigned(tx)) throw signatureFailure();
  }
  const trial = trialOf(view, tx, bank, !replaces);
  const replacementBlockhash = replaces
    ? { blockhash: bank.hash, lastValidBlockHeight: bank.height + blockhashAge }
    : null;
  const fee = trial.error === 'BlockhashNotFound' ? null : feeOf(tx, view.chain.lamportsPerSignature);
  return inContext(bank, { ...trialJson(trial), accounts: accountsAfter(config, trial), fee, replacementBlockhash });
}

function accountsAfter({ accounts }: Config, { error, after }: Trial): unknown {
  if (!isObject(accounts)) return null;
  const { addresses, encoding = 'base64' } = accounts;
  if (!Array.isArray(addresses)) throw invalidParams('Invalid params: missing field `addresses`.');
  if (encoding === 'base58') throw invalidParams('base58 encoding not supported');
  const form = accountFormOf({ encoding });
  return addresses.map(addressOf).map((address) => (error === null ? accountJson(after(address), form, after) : null));
}

/** https://solana.com/docs/rpc/http/getfeeformessage */
export function getFeeForMessage(view: View, params: Params): unknown {
  const config = configAt(params, 1);
  const bank = view.bank(commitmentOf(config), minContextSlotOf(config));
  const message = bytesOf(String(required(params, 0)), 'base64');
  const signers = message[(message[0] ?? 0) & 0x80 ? 1 : 0] ?? 0;
  const signatures = new Uint8Array(signers * 64);
  const isVersion1 = message[0] === 0x81;
  const parts = isVersion1 ? [message, signatures] : [Uint8Array.of(signers), signatures, message];
  const tx = decodeTransaction(Uint8Array.from(Buffer.concat(parts)));
  const refusal = view.chain.refusal(tx, bank.height, { signatures: false, blockhash: true });
  return inContext(bank, refusal === 'BlockhashNotFound' ? null : feeOf(tx, view.chain.lamportsPerSignature));
}
