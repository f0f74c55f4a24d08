import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js';
import { sign, type TronKey } from './crypto.ts';
import { encodeMessage, Message } from './protobuf.ts';

/** The contract types that have an effect here, by their numbers in the protocol. */
const contractTypes = new Map([
  [1, 'TransferContract'],
  [2, 'TransferAssetContract'],
  [31, 'TriggerSmartContract'],
] as const);

/** `Other` is any contract that only a test puts into a block, where it has no effect. */
export type ContractType = 'TransferContract' | 'TransferAssetContract' | 'TriggerSmartContract' | 'Other';

/** What a transaction does. Addresses are 42 hexadecimal digits; amounts of coins are in sun. */
export interface TronCall {
  readonly type: ContractType;
  readonly owner: string;
  /** The recipient, or the contract that is called. */
  readonly to: string;
  /** Coins, or units of the TRC-10 token. */
  readonly amount: bigint;
  /** Data of a call; name of a TRC-10 token. */
  readonly data: Uint8Array;
  /** Name of another contract. */
  readonly other?: string;
  /** TRC-10 tokens that come with a call. They have no effect here. */
  readonly token?: { readonly id: bigint; readonly amount: bigint } | undefined;
}

/** A transaction as a node reads it from its bytes. */
export interface TronTransaction {
  /** sha256 of the raw bytes. */
  readonly txid: string;
  readonly raw: Uint8Array;
  readonly signatures: readonly Uint8Array[];
  readonly refBlockBytes: string;
  readonly refBlockHash: string;
  /** Milliseconds. */
  readonly expiration: bigint;
  readonly timestamp: bigint;
  readonly memo: Uint8Array;
  readonly feeLimit: bigint;
  readonly permissionId: bigint;
  readonly call: TronCall;
}

/** Results of an execution, by their numbers in the protocol. */
const results = {
  SUCCESS: 1n,
  REVERT: 2n,
  ILLEGAL_OPERATION: 8n,
  OUT_OF_ENERGY: 10n,
  OUT_OF_TIME: 11n,
  UNKNOWN: 13n,
} as const;

export type ContractResult = keyof typeof results;

/** @throws Error when the bytes are no transaction of one contract. */
export function decodeTransaction(bytes: Uint8Array): TronTransaction {
  const outer = new Message(bytes);
  return decodeRaw(outer.bytes(1), outer.all(2));
}

/** @throws Error when the bytes are no raw data of one contract. */
export function decodeRaw(raw: Uint8Array, signatures: readonly Uint8Array[]): TronTransaction {
  const message = new Message(raw);
  const contracts = message.all(11);
  const contract = contracts[0];
  if (contracts.length !== 1 || !contract) throw new Error(`${contracts.length} contracts instead of 1`);
  const outer = new Message(contract);
  return {
    txid: bytesToHex(sha256(raw)),
    raw,
    signatures,
    refBlockBytes: bytesToHex(message.bytes(1)),
    refBlockHash: bytesToHex(message.bytes(4)),
    expiration: message.int(8),
    timestamp: message.int(14),
    memo: message.bytes(10),
    feeLimit: message.int(18),
    permissionId: outer.int(5),
    call: decodeCall(Number(outer.int(1)), new Message(outer.bytes(2))),
  };
}

function decodeCall(number: number, any: Message): TronCall {
  const type = contractTypes.get(number as 1);
  const url = Buffer.from(any.bytes(1)).toString('utf8');
  if (!type) {
    const other = url.replace('type.googleapis.com/protocol.', '');
    return { type: 'Other', owner: '', to: '', amount: 0n, data: any.bytes(2), other };
  }
  if (url !== `type.googleapis.com/protocol.${type}`) throw new Error(`${type} has the type URL ${url}`);
  const value = new Message(any.bytes(2));
  const address = (member: number): string => bytesToHex(value.bytes(member));
  const empty = new Uint8Array();
  if (type === 'TransferContract')
    return { type, owner: address(1), to: address(2), amount: value.int(3), data: empty };
  if (type === 'TransferAssetContract')
    return { type, owner: address(2), to: address(3), amount: value.int(4), data: value.bytes(1) };
  const token = { id: value.int(6), amount: value.int(5) };
  return { type, owner: address(1), to: address(2), amount: value.int(3), data: value.bytes(4), token };
}

/** What else a transaction says, apart from its call. */
export interface Terms {
  /** Id of the reference block, as 64 digits. */
  readonly reference: string;
  readonly expiration: number;
  readonly timestamp: number;
  readonly feeLimit?: bigint;
  readonly memo?: string;
}

/** The raw bytes of a transaction. @throws Error for another contract. */
export function encodeRaw(call: TronCall, terms: Terms): Uint8Array {
  const { type, data, amount } = call;
  if (type === 'Other') throw new Error('bytes of another contract cannot be made');
  const [owner, to] = [hexToBytes(call.owner), hexToBytes(call.to)];
  const members = {
    TransferContract: [
      [1, owner],
      [2, to],
      [3, amount],
    ],
    TransferAssetContract: [
      [1, data],
      [2, owner],
      [3, to],
      [4, amount],
    ],
    TriggerSmartContract: [
      [1, owner],
      [2, to],
      [3, amount],
      [4, data],
      [5, call.token?.amount ?? 0n],
      [6, call.token?.id ?? 0n],
    ],
  } as const;
  const number = [...contractTypes].find(([, name]) => name === type)?.[0] ?? 0;
  const url = Buffer.from(`type.googleapis.com/protocol.${type}`);
  const any = encodeMessage([
    [1, url],
    [2, [encodeMessage(members[type])]],
  ]);
  const contract = encodeMessage([
    [1, BigInt(number)],
    [2, any],
  ]);
  return encodeMessage([
    [1, hexToBytes(terms.reference.slice(12, 16))],
    [4, hexToBytes(terms.reference.slice(16, 32))],
    [8, BigInt(terms.expiration)],
    [10, Buffer.from(terms.memo ?? '')],
    [11, [contract]],
    [14, BigInt(terms.timestamp)],
    [18, terms.feeLimit ?? 0n],
  ]);
}

/** The signed transaction, as it is broadcast. */
export function signRaw(raw: Uint8Array, key: TronKey): Uint8Array {
  return encodeMessage([
    [1, raw],
    [2, [sign(raw, key)]],
  ]);
}

/** Bytes that a block holds of it: with its result, or without. */
export function encodeMined(tx: Pick<TronTransaction, 'raw' | 'signatures'>, result?: ContractResult): Uint8Array {
  const ret = result === undefined ? [] : [encodeMessage([[3, results[result]]])];
  return encodeMessage([
    [1, tx.raw],
    [2, tx.signatures],
    [5, ret],
  ]);
}

/** What it counts against the bandwidth: its bytes, and 64 for its result. */
export function bandwidthOf(tx: TronTransaction): bigint {
  return BigInt(encodeMined(tx).length + 64);
}
