import { bytesToHex } from '@noble/hashes/utils.js';
import type { MinedTransaction, TronBlock } from './blocks.ts';
import { type TronAccount, usedAt } from './ledger.ts';
import type { ContractResult, TronCall, TronTransaction } from './transaction.ts';
import type { InternalCall } from './vm.ts';

/** Text of an answer: big integers are plain numbers, as java-tron writes 64 bits. */
export function stringify(value: unknown): string {
  if (typeof value === 'bigint') return String(value);
  if (Array.isArray(value)) return `[${value.map(stringify).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${stringify(member)}`).join(',')}}`;
}

/** An object without members that java-tron leaves out: 0, empty text, false and empty lists. */
export function sparse(members: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(members).filter(([, value]) => {
      if (value === undefined || value === null || value === '' || value === false) return false;
      if (Array.isArray(value)) return value.length > 0;
      return value !== 0 && value !== 0n;
    }),
  );
}

export const hexOf = (text: string): string => Buffer.from(text, 'utf8').toString('hex');

/** A transaction with its result, when a block or the pool has one. */
export function transactionJson(tx: TronTransaction, result?: ContractResult): object {
  const { call } = tx;
  const value = {
    TransferContract: { amount: call.amount, owner_address: call.owner, to_address: call.to },
    TransferAssetContract: {
      ...{ amount: call.amount, asset_name: bytesToHex(call.data) },
      ...{ owner_address: call.owner, to_address: call.to },
    },
    TriggerSmartContract: {
      ...{ data: bytesToHex(call.data), owner_address: call.owner },
      ...{ contract_address: call.to, call_value: call.amount },
      ...{ call_token_value: call.token?.amount, token_id: call.token?.id },
    },
    Other: {},
  }[call.type];
  const type = call.other ?? call.type;
  const parameter = { value: sparse(value), type_url: `type.googleapis.com/protocol.${type}` };
  return {
    ...(result === undefined ? {} : { ret: [{ contractRet: result }] }),
    ...sparse({ signature: tx.signatures.map(bytesToHex) }),
    txID: tx.txid,
    raw_data: {
      contract: [{ parameter, type, ...sparse({ Permission_id: tx.permissionId }) }],
      ...sparse({
        ref_block_bytes: tx.refBlockBytes,
        ref_block_hash: tx.refBlockHash,
        expiration: tx.expiration,
        data: bytesToHex(tx.memo),
        fee_limit: tx.feeLimit,
        timestamp: tx.timestamp,
      }),
    },
    raw_data_hex: bytesToHex(tx.raw),
  };
}

/** A block, with or without its transactions. */
export function blockJson(block: TronBlock, isDetailed: boolean): object {
  const { number, txTrieRoot, witness, parentHash, timestamp, version } = block.header;
  const listed = block.transactions.map(({ tx, outcome }) => transactionJson(tx, outcome.result));
  return {
    blockID: block.id,
    block_header: {
      raw_data: sparse({ number, txTrieRoot, witness_address: witness, parentHash, version, timestamp }),
      witness_signature: block.signature,
    },
    ...sparse({ transactions: isDetailed ? listed : [] }),
  };
}

/** The result of a transaction in a block. */
export function infoJson({ tx, outcome }: MinedTransaction, { header }: TronBlock): Record<string, unknown> {
  const isCall = tx.call.type === 'TriggerSmartContract';
  const hasFailed = outcome.result !== 'SUCCESS';
  return {
    id: tx.txid,
    ...sparse({ fee: outcome.netFee + outcome.energyFee + outcome.otherFee }),
    ...sparse({ blockNumber: header.number, blockTimeStamp: header.timestamp }),
    contractResult: [outcome.returned],
    ...(isCall ? { contract_address: tx.call.to } : {}),
    receipt: sparse({
      energy_usage: outcome.energyUsage,
      energy_fee: outcome.energyFee,
      energy_usage_total: outcome.energyTotal,
      net_usage: outcome.netUsage,
      net_fee: outcome.netFee,
      ...(isCall ? { result: outcome.result } : {}),
    }),
    ...sparse({
      log: outcome.logs.map((log) => ({
        ...sparse({ address: log.address }),
        ...sparse({ topics: log.topics, data: log.data }),
      })),
      result: hasFailed ? 'FAILED' : '',
      resMessage: hasFailed ? hexOf(messageOf(outcome.result)) : '',
      internal_transactions: outcome.internal.map((one) => internalJson(one, tx.call.token)),
    }),
  };
}

/** What java-tron says of a call that failed. */
export function messageOf(result: ContractResult): string {
  if (result === 'REVERT') return 'REVERT opcode executed';
  return result === 'OUT_OF_ENERGY' ? "Not enough energy for 'SSTORE' operation executing" : 'Unknown Exception';
}

/** A call between contracts, which also passes on the tokens that came with the transaction. */
export function internalJson(call: InternalCall, token: TronCall['token']): object {
  const { hash, caller, to, amount, note, isRejected } = call;
  const passed = token && token.amount > 0n ? [{ callValue: token.amount, tokenId: String(token.id) }] : [];
  return {
    ...{ hash, caller_address: caller, transferTo_address: to },
    callValueInfo: [sparse({ callValue: amount }), ...passed],
    note: hexOf(note),
    ...sparse({ rejected: isRejected }),
  };
}

/** An account as `getaccount` answers. */
export function accountJson(address: string, account: TronAccount): object {
  const keys = [{ address: account.ownerKey, weight: 1 }];
  const operations = '7fff1fc0033efb0f000000000000000000000000000000000000000000000000';
  const active = { type: 'Active', id: 2, permission_name: 'active', threshold: 1, operations, keys };
  return {
    ...sparse({ address, type: account.isContract ? 'Contract' : '', balance: account.balance }),
    ...sparse({ create_time: account.createdAt, free_net_usage: account.free.used }),
    ...sparse({ latest_consume_free_time: account.free.used === 0n ? 0 : account.free.at }),
    account_resource: {},
    ...(account.isContract
      ? {}
      : { owner_permission: { permission_name: 'owner', threshold: 1, keys }, active_permission: [active] }),
  };
}

/** What `getaccountresource` answers, at a time in milliseconds. */
export function resourceJson({ free, bandwidth, energy }: TronAccount, time: number): object {
  return sparse({
    freeNetUsed: usedAt(free, time),
    freeNetLimit: free.limit,
    NetUsed: usedAt(bandwidth, time),
    NetLimit: bandwidth.limit,
    TotalNetLimit: 43_200_000_000,
    TotalNetWeight: 68_305_209_098,
    EnergyUsed: usedAt(energy, time),
    EnergyLimit: energy.limit,
    TotalEnergyLimit: 180_000_000_000,
    TotalEnergyWeight: 2_411_528_185,
  });
}
