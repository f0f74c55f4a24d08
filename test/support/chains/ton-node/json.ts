import type { AccountStatus, TransactionActionPhase, TransactionBouncePhase, TransactionComputePhase } from '@ton/core';
import {
  beginCell,
  Cell,
  type CommonMessageInfo,
  loadMessage,
  type Message,
  storeStateInit,
  type TransactionDescription,
} from '@ton/core';
import type { Executed, TonBlock } from './blocks.ts';
import { base64Of, hashOf, normalHash, rawOf } from './names.ts';
import type { AccountRow } from './vm.ts';

/**
 * Blocks, transactions and accounts in the form of Toncenter's version 3: hashes in base64,
 * accounts with capitals, 64-bit numbers as text. A member that has no value is null or absent, as
 * the index has it.
 */

export type Json = Record<string, unknown>;

const shard = '8000000000000000';
const nothing = base64Of(0n);
const statuses = { uninitialized: 'uninit', 'non-existing': 'nonexist', active: 'active', frozen: 'frozen' } as const;

export function blockJson(block: TonBlock, globalId: number): Json {
  const { seqno, timeMs, startLt, endLt, rootHash, fileHash, executed } = block;
  const id = { workchain: -1, shard, seqno };
  return {
    ...{ workchain: -1, shard, seqno, root_hash: rootHash, file_hash: fileHash, global_id: globalId, version: 0 },
    ...{ after_merge: false, before_split: false, after_split: false, want_merge: true, want_split: false },
    ...{ key_block: false, vert_seqno_incr: false, flags: 1, gen_utime: String(Math.floor(timeMs / 1_000)) },
    ...{ start_lt: String(startLt), end_lt: String(endLt), validator_list_hash_short: 0, gen_catchain_seqno: 1 },
    ...{ min_ref_mc_seqno: seqno - 1, prev_key_block_seqno: 1, vert_seqno: 1, master_ref_seqno: 0 },
    ...{ rand_seed: rootHash, created_by: nothing, tx_count: executed.length, masterchain_block_ref: id },
    prev_blocks: [{ workchain: -1, shard, seqno: seqno - 1 }],
  };
}

export function transactionJson(one: Executed): Json {
  const { tx, account, hash, seqno, traceId, externalHash } = one;
  const { description } = tx;
  return {
    ...{ account, hash, lt: String(tx.lt), now: tx.now, mc_block_seqno: seqno, trace_id: traceId },
    ...(externalHash === null ? {} : { trace_external_hash: externalHash }),
    ...{ prev_trans_hash: base64Of(tx.prevTransactionHash), prev_trans_lt: String(tx.prevTransactionLt) },
    ...{ orig_status: statusOf(tx.oldStatus), end_status: statusOf(tx.endStatus) },
    ...{ total_fees: String(tx.totalFees.coins), total_fees_extra_currencies: {} },
    description: descriptionJson(description),
    block_ref: { workchain: 0, shard, seqno },
    in_msg: messageJson(one.inMessage),
    out_msgs: one.outMessages.map(messageJson),
    account_state_before: stateJson(one.before, tx.stateUpdate.oldHash),
    account_state_after: stateJson(one.after, tx.stateUpdate.newHash),
    ...{ emulated: false, finality: 'finalized' },
  };
}

export function statusOf(status: AccountStatus): string {
  return statuses[status];
}

function descriptionJson(description: TransactionDescription): Json {
  if (description.type !== 'generic') return { type: description.type };
  const { aborted, destroyed, creditFirst, storagePhase, creditPhase, computePhase, actionPhase, bouncePhase } =
    description;
  return {
    ...{ type: 'ord', aborted, destroyed, credit_first: creditFirst },
    ...(storagePhase
      ? {
          storage_ph: {
            storage_fees_collected: String(storagePhase.storageFeesCollected),
            status_change: storagePhase.statusChange,
          },
        }
      : {}),
    ...(creditPhase ? { credit_ph: { credit: String(creditPhase.credit.coins) } } : {}),
    compute_ph: computeJson(computePhase),
    ...(actionPhase ? { action: actionJson(actionPhase) } : {}),
    ...(bouncePhase ? { bounce: bounceJson(bouncePhase) } : {}),
  };
}

function computeJson(phase: TransactionComputePhase): Json {
  if (phase.type === 'skipped') return { skipped: true, reason: phase.reason.replaceAll('-', '_') };
  return {
    ...{ skipped: false, success: phase.success, msg_state_used: phase.messageStateUsed },
    ...{ account_activated: phase.accountActivated, gas_fees: String(phase.gasFees), gas_used: String(phase.gasUsed) },
    ...{ gas_limit: String(phase.gasLimit) },
    ...(phase.gasCredit ? { gas_credit: String(phase.gasCredit) } : {}),
    ...{ mode: phase.mode, exit_code: phase.exitCode, vm_steps: phase.vmSteps },
    ...{ vm_init_state_hash: base64Of(phase.vmInitStateHash), vm_final_state_hash: base64Of(phase.vmFinalStateHash) },
  };
}

function actionJson(phase: TransactionActionPhase): Json {
  const { cells, bits } = phase.totalMessageSize;
  return {
    ...{ success: phase.success, valid: phase.valid, no_funds: phase.noFunds, status_change: phase.statusChange },
    ...(typeof phase.totalFwdFees === 'bigint' ? { total_fwd_fees: String(phase.totalFwdFees) } : {}),
    ...(typeof phase.totalActionFees === 'bigint' ? { total_action_fees: String(phase.totalActionFees) } : {}),
    ...{ result_code: phase.resultCode, tot_actions: phase.totalActions, spec_actions: phase.specActions },
    ...{ skipped_actions: phase.skippedActions, msgs_created: phase.messagesCreated },
    ...{ action_list_hash: base64Of(phase.actionListHash) },
    tot_msg_size: { cells: String(cells), bits: String(bits) },
  };
}

function bounceJson(phase: TransactionBouncePhase): Json {
  if (phase.type === 'negative-funds') return { type: 'negfunds' };
  const size = { cells: String(phase.messageSize.cells), bits: String(phase.messageSize.bits) };
  return phase.type === 'no-funds'
    ? { type: 'nofunds', msg_size: size, req_fwd_fees: String(phase.requiredForwardFees) }
    : { type: 'ok', msg_size: size, msg_fees: String(phase.messageFees), fwd_fees: String(phase.forwardFees) };
}

const noInfo = {
  ...{ source: null, destination: null, value: null, value_extra_currencies: {}, fwd_fee: null, ihr_fee: null },
  ...{ created_lt: null, created_at: null, opcode: null, ihr_disabled: null, bounce: null, bounced: null },
  ...{ import_fee: null },
};

export function messageJson(cell: Cell): Json {
  const message = loadMessage(cell.beginParse());
  const body = message.body.beginParse();
  const opcode = body.remainingBits >= 32 ? body.preloadUint(32) : null;
  return {
    hash: hashOf(cell),
    ...noInfo,
    ...infoJson(message.info),
    opcode: opcode === null ? null : `0x${opcode.toString(16).padStart(8, '0')}`,
    message_content: { ...contentOf(message.body), decoded: decodedOf(message) },
    init_state: initOf(message),
    ...(message.info.type === 'external-in' ? { hash_norm: normalHash(message) } : {}),
  };
}

function infoJson(info: CommonMessageInfo): Json {
  if (info.type === 'external-in') {
    return { destination: rawOf(info.dest), import_fee: String(info.importFee) };
  }
  const times = { created_lt: String(info.createdLt), created_at: String(info.createdAt) };
  if (info.type === 'external-out') return { source: rawOf(info.src), ...times };
  const { src, dest, value, forwardFee, ihrFee, ihrDisabled, bounce, bounced } = info;
  return {
    ...{ source: rawOf(src), destination: rawOf(dest), value: String(value.coins), fwd_fee: String(forwardFee) },
    ...{ ihr_fee: String(ihrFee), ...times, ihr_disabled: ihrDisabled, bounce, bounced },
  };
}

function contentOf(body: Cell): Json {
  return { hash: hashOf(body), body: body.toBoc({ idx: false }).toString('base64') };
}

function initOf({ init }: Message): Json | null {
  return init ? contentOf(beginCell().store(storeStateInit(init)).endCell()) : null;
}

/** A comment as the index reads it. */
function decodedOf({ body }: Message): Json | null {
  const slice = body.beginParse();
  if (slice.remainingBits < 32 || slice.loadUint(32) !== 0) return null;
  try {
    const comment = slice.loadStringTail();
    return { '@type': 'text_comment', type: 'text_comment', comment };
  } catch {
    return null;
  }
}

/** An account as a transaction names it. */
function stateJson(row: AccountRow, hash: Uint8Array): Json {
  const { account } = row.account;
  const { code, data } = cellsOf(row);
  return {
    hash: base64Of(hash),
    balance: account ? String(account.storage.balance.coins) : null,
    ...{ extra_currencies: account ? {} : null, account_status: statusOfRow(row), frozen_hash: null },
    ...{ data_hash: data && hashOf(data), code_hash: code && hashOf(code) },
  };
}

export function statusOfRow({ account: { account } }: AccountRow): string {
  return account ? account.storage.state.type : 'nonexist';
}

export function cellsOf({ account: { account } }: AccountRow): { code: Cell | null; data: Cell | null } {
  const state = account?.storage.state;
  const init = state?.type === 'active' ? state.state : null;
  return { code: init?.code ?? null, data: init?.data ?? null };
}

/** An account as `accountStates` tells it. */
export function accountJson(address: string, row: AccountRow, withBoc: boolean): Json {
  const { code, data } = cellsOf(row);
  const { account, lastTransactionHash, lastTransactionLt } = row.account;
  const boc = (cell: Cell | null): string | undefined => cell?.toBoc({ idx: false }).toString('base64');
  return {
    ...{ address, account_state_hash: accountHash(row), balance: String(account?.storage.balance.coins ?? 0n) },
    ...{ extra_currencies: {}, status: statusOfRow(row) },
    ...{ last_transaction_hash: base64Of(lastTransactionHash), last_transaction_lt: String(lastTransactionLt) },
    ...(data ? { data_hash: hashOf(data) } : {}),
    ...(code ? { code_hash: hashOf(code) } : {}),
    ...(withBoc ? { data_boc: boc(data), code_boc: boc(code) } : {}),
    ...{ contract_methods: null, interfaces: [] },
  };
}

function accountHash({ boc }: AccountRow): string {
  const [account] = Cell.fromBase64(boc).refs;
  return account ? hashOf(account) : nothing;
}
