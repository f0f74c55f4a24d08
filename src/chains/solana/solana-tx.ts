import { ed25519 } from '@noble/curves/ed25519.js';
import { bytesToHex, concatBytes, hexToBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import { base58 } from '@scure/base';
import type { Reservation } from '../port/chain-adapter.ts';
import type { SigningKey } from '../port/transaction-signer.ts';
import { associatedAccount, markerAddress, programs, type SolanaToken, solanaKey } from './solana-keys.ts';
import {
  type AccountRole,
  ByteReader,
  compactU16,
  decodeMessage,
  encodeMessage,
  type Instruction,
  longestTx,
  type SolanaMessage,
  uint32,
  uint64,
} from './solana-message.ts';

/** A transaction as it is built here. The wallet pays its fee. Amounts are in smallest units. */
export interface SolanaTx {
  readonly wallet: string;
  /** Of a final block; it is in no block 150 blocks later. */
  readonly blockhash: string;
  /** The most units of computing that it may use. */
  readonly computeLimit: number;
  /** What it offers for each unit in addition to the base fee, in millionths of a lamport. */
  readonly computePrice: bigint;
  readonly action: SolanaAction;
}

/** What a transaction does. Nothing else is ever built or signed. */
export type SolanaAction = SolanaPayment | CoinSweep | TokenSweep;

/** Pays from the wallet, after it has made its marker. */
export interface SolanaPayment {
  readonly kind: 'payment';
  readonly marker: { readonly seed: string; readonly rent: bigint };
  readonly to: string;
  /** Null for the chain's own coin. */
  readonly token: SolanaToken | null;
  readonly amount: bigint;
}

/** Brings coins of one deposit address to the wallet. */
export interface CoinSweep {
  readonly kind: 'coin_sweep';
  readonly owner: string;
  readonly amount: bigint;
}

/** Brings one token of a deposit address to the wallet, with the rent of emptied accounts. */
export interface TokenSweep {
  readonly kind: 'token_sweep';
  readonly owner: string;
  readonly token: SolanaToken;
  /** From accounts of the owner, each with its amount. An account that is emptied is closed. */
  readonly sources: readonly TokenSource[];
}

export interface TokenSource {
  readonly account: string;
  readonly amount: bigint;
  readonly isClosed: boolean;
}

/** More than a transaction holds besides its other instructions. */
export const mostSources = 8;

/** The sum of what a transaction moves. */
export function amountOf(action: SolanaAction): bigint {
  if (action.kind !== 'token_sweep') return action.amount;
  return action.sources.reduce((sum, { amount }) => sum + amount, 0n);
}

/** Numbers of instructions. https://docs.rs/solana-system-interface, https://docs.rs/spl-token-interface */
const numbers = {
  system: { transfer: 2, createAccountWithSeed: 3 },
  budget: { limit: 2, price: 3 },
  associated: { createIdempotent: 1 },
  token: { closeAccount: 9, transferChecked: 12 },
} as const;

const signs = (address: string): AccountRole => ({ address, isSigner: true, isWritable: false });
const pays = (address: string): AccountRole => ({ address, isSigner: true, isWritable: true });
const changes = (address: string): AccountRole => ({ address, isSigner: false, isWritable: true });
const reads = (address: string): AccountRole => ({ address, isSigner: false, isWritable: false });

/** Makes an empty account. The chain refuses it when the account has coins. */
function createMarker(wallet: string, { seed, rent }: SolanaPayment['marker']): Instruction {
  const bytes = utf8ToBytes(seed);
  return {
    program: programs.system,
    accounts: [pays(wallet), changes(markerAddress(wallet, seed))],
    data: concatBytes(
      uint32(numbers.system.createAccountWithSeed),
      solanaKey(wallet),
      uint64(BigInt(bytes.length)),
      bytes,
      uint64(rent),
      uint64(0n),
      solanaKey(programs.system),
    ),
  };
}

function transfer(from: string, to: string, amount: bigint): Instruction {
  const data = concatBytes(uint32(numbers.system.transfer), uint64(amount));
  return { program: programs.system, accounts: [pays(from), changes(to)], data };
}

/** Makes the account in which an owner keeps a token, unless there is one. */
function createAssociated(payer: string, owner: string, token: SolanaToken): Instruction {
  return {
    program: programs.associated,
    accounts: [
      pays(payer),
      changes(associatedAccount(owner, token)),
      reads(owner),
      reads(token.mint),
      reads(programs.system),
      reads(token.program),
    ],
    data: Uint8Array.of(numbers.associated.createIdempotent),
  };
}

/** The chain compares the token's decimals. */
function transferChecked(
  { mint, program, decimals }: SolanaToken,
  { from, to, owner, amount }: { from: string; to: string; owner: string; amount: bigint },
): Instruction {
  return {
    program,
    accounts: [changes(from), reads(mint), changes(to), signs(owner)],
    data: concatBytes(Uint8Array.of(numbers.token.transferChecked), uint64(amount), Uint8Array.of(decimals)),
  };
}

/** Closes an empty account, whose rent goes to the wallet. */
function closeAccount({ program }: SolanaToken, account: string, owner: string, wallet: string): Instruction {
  return {
    program,
    accounts: [changes(account), changes(wallet), signs(owner)],
    data: Uint8Array.of(numbers.token.closeAccount),
  };
}

function budget({ computeLimit, computePrice }: SolanaTx): Instruction[] {
  const instruction = (data: Uint8Array): Instruction => ({ program: programs.budget, accounts: [], data });
  return [
    instruction(concatBytes(Uint8Array.of(numbers.budget.limit), uint32(computeLimit))),
    instruction(concatBytes(Uint8Array.of(numbers.budget.price), uint64(computePrice))),
  ];
}

function actionInstructions(wallet: string, action: SolanaAction): Instruction[] {
  switch (action.kind) {
    case 'payment': {
      const { to, token, amount } = action;
      if (token === null) return [transfer(wallet, to, amount)];
      const moved = {
        from: associatedAccount(wallet, token),
        to: associatedAccount(to, token),
        ...{ owner: wallet, amount },
      };
      return [createAssociated(wallet, to, token), transferChecked(token, moved)];
    }
    case 'coin_sweep':
      return [transfer(action.owner, wallet, action.amount)];
    case 'token_sweep': {
      const { owner, token, sources } = action;
      const to = associatedAccount(wallet, token);
      return [
        createAssociated(wallet, wallet, token),
        ...sources.map(({ account, amount }) => transferChecked(token, { from: account, to, owner, amount })),
        ...sources.filter(({ isClosed }) => isClosed).map(({ account }) => closeAccount(token, account, owner, wallet)),
      ];
    }
  }
}

function messageOf(tx: SolanaTx): SolanaMessage {
  const { wallet, blockhash, action } = tx;
  const first = action.kind === 'payment' ? [createMarker(wallet, action.marker)] : [];
  return { payer: wallet, blockhash, instructions: [...first, ...budget(tx), ...actionInstructions(wallet, action)] };
}

/** The bytes that are signed. @throws RangeError for members that the format does not have. */
export function encodeTx(tx: SolanaTx): Uint8Array {
  return encodeMessage(messageOf(tx));
}

/** The addresses whose keys sign, in their order. */
export function signersOf({ wallet, action }: Pick<SolanaTx, 'wallet' | 'action'>): string[] {
  return action.kind === 'payment' ? [wallet] : [wallet, action.owner];
}

/** What the offer for computing costs at most, in lamports. */
export function priorityFeeOf({ computeLimit, computePrice }: Pick<SolanaTx, 'computeLimit' | 'computePrice'>): bigint {
  return (BigInt(computeLimit) * computePrice + 999_999n) / 1_000_000n;
}

/**
 * Reads the bytes of a transaction of ours.
 *
 * @throws Error for any others, also for the same in another form.
 */
export function decodeTx(encoded: Uint8Array): SolanaTx {
  const { payer: wallet, blockhash, instructions } = decodeMessage(encoded);
  const left = [...instructions];
  const next = (): Instruction => {
    const instruction = left.shift();
    if (instruction === undefined) throw new Error('it lacks an instruction');
    return instruction;
  };
  const isPayment = left[0]?.program === programs.system;
  const marker = isPayment ? readMarker(next()) : null;
  const computeLimit = readData(next(), programs.budget, [numbers.budget.limit], (from) => from.uint32());
  const computePrice = readData(next(), programs.budget, [numbers.budget.price], (from) => from.uint64());
  const action = marker === null ? readSweep(left) : readPayment(marker, left);
  const tx = { wallet, blockhash, computeLimit, computePrice, action };
  if (Buffer.compare(encodeTx(tx), encoded) !== 0) throw new Error('it has another form');
  return tx;
}

/** Reads the data of an instruction behind its number. */
function readData<T>(
  { program, data }: Instruction,
  expected: string,
  number: readonly number[],
  read: (from: ByteReader) => T,
): T {
  const from = new ByteReader(data);
  if (program !== expected || number.some((byte) => from.byte() !== byte)) {
    throw new Error('it has an instruction of another kind');
  }
  const value = read(from);
  from.end();
  return value;
}

const systemNumber = (number: number): number[] => [number, 0, 0, 0];

function readMarker(instruction: Instruction): SolanaPayment['marker'] {
  return readData(instruction, programs.system, systemNumber(numbers.system.createAccountWithSeed), (from) => {
    from.key();
    const seed = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(from.bytes(Number(from.uint64())));
    const rent = from.uint64();
    from.uint64();
    from.key();
    return { seed, rent };
  });
}

function readPayment(marker: SolanaPayment['marker'], instructions: readonly Instruction[]): SolanaPayment {
  const [first, second] = instructions;
  if (first === undefined) throw new Error('it lacks an instruction');
  if (second === undefined) {
    return { kind: 'payment', marker, to: addressAt(first, 1), token: null, amount: readTransfer(first) };
  }
  const { token, amount } = readTransferChecked(second);
  return { kind: 'payment', marker, to: addressAt(first, 2), token, amount };
}

function readSweep(instructions: readonly Instruction[]): CoinSweep | TokenSweep {
  const [first, ...others] = instructions;
  if (first?.program === programs.system) {
    return { kind: 'coin_sweep', owner: addressAt(first, 0), amount: readTransfer(first) };
  }
  const moves = others.filter(({ data }) => data[0] === numbers.token.transferChecked);
  const closed = others.slice(moves.length).map((each) => addressAt(each, 0));
  const [move] = moves;
  if (move === undefined) throw new Error('it moves nothing');
  const sources = moves.map((each) => {
    const account = addressAt(each, 0);
    return { account, amount: readTransferChecked(each).amount, isClosed: closed.includes(account) };
  });
  return { kind: 'token_sweep', owner: addressAt(move, 3), token: readTransferChecked(move).token, sources };
}

function readTransfer(instruction: Instruction): bigint {
  const number = systemNumber(numbers.system.transfer);
  return readData(instruction, programs.system, number, (from) => from.uint64());
}

function readTransferChecked(instruction: Instruction): { readonly token: SolanaToken; readonly amount: bigint } {
  const { program } = instruction;
  if (program !== programs.token && program !== programs.token2022) throw new Error('it calls another program');
  const number = [numbers.token.transferChecked];
  const { amount, decimals } = readData(instruction, program, number, (from) => ({
    amount: from.uint64(),
    decimals: from.byte(),
  }));
  return { token: { mint: addressAt(instruction, 1), program, decimals }, amount };
}

function addressAt({ accounts }: Instruction, place: number): string {
  const account = accounts[place];
  if (account === undefined) throw new Error('an instruction lacks an account');
  return account.address;
}

/** A signed transaction: its id, which is its first signature, and its bytes in base64. */
interface SignedBytes {
  readonly txid: string;
  readonly raw: string;
}

/** Signs with the keys of `signersOf`, in their order. Deterministic (RFC 8032). */
export function signSolanaTx(tx: SolanaTx, keys: readonly SigningKey[]): SignedBytes {
  const encoded = encodeTx(tx);
  return signedBytes(
    encoded,
    keys.map(({ privateKey }) => ed25519.sign(encoded, privateKey)),
  );
}

/** The same bytes without signatures, for a trial. */
export function unsignedTx(tx: SolanaTx): string {
  return signedBytes(
    encodeTx(tx),
    signersOf(tx).map(() => new Uint8Array(64)),
  ).raw;
}

function signedBytes(encoded: Uint8Array, signatures: readonly Uint8Array[]): SignedBytes {
  const whole = concatBytes(compactU16(signatures.length), ...signatures, encoded);
  if (whole.length > longestTx) throw new RangeError(`a transaction has at most ${longestTx} bytes`);
  return { txid: base58.encode(signatures[0] ?? new Uint8Array()), raw: Buffer.from(whole).toString('base64') };
}

/**
 * Reads signed bytes.
 *
 * @throws Error when they are no transaction of the form that is built here, or a key did not sign.
 */
export function openSolanaTx(raw: string): { readonly txid: string; readonly tx: SolanaTx } {
  const whole = Buffer.from(raw, 'base64');
  if (whole.toString('base64') !== raw) throw new Error('it is not base64');
  const from = new ByteReader(Uint8Array.from(whole));
  const signatures = Array.from({ length: from.compactU16() }, () => from.bytes(64));
  const encoded = from.rest;
  const tx = decodeTx(encoded);
  const signers = signersOf(tx);
  if (signers.length !== signatures.length) throw new Error('it has another number of signatures');
  for (const [index, signature] of signatures.entries()) {
    const key = solanaKey(signers[index] ?? '');
    if (!ed25519.verify(signature, encoded, key, { zip215: false })) throw new Error('a key did not sign it');
  }
  return { txid: base58.encode(signatures[0] ?? new Uint8Array()), tx };
}

/** An unsigned transaction as text. */
export interface SolanaPayload {
  /** The number of the payment's marker; null for a sweep. */
  readonly marker: number | null;
  /** Path of the swept address's key; null for a payment from the wallet. */
  readonly path: string | null;
  readonly tx: SolanaTx;
}

export function encodePayload({ marker, path, tx }: SolanaPayload): string {
  return JSON.stringify({ marker, path, tx: bytesToHex(encodeTx(tx)) });
}

/** @throws Error for a text that `encodePayload` does not make. */
export function decodePayload(text: string): SolanaPayload {
  const { marker, path, tx } = JSON.parse(text) as Record<'marker' | 'path' | 'tx', unknown>;
  const isKnown = (marker === null || Number.isInteger(marker)) && (path === null || typeof path === 'string');
  if (!isKnown || typeof tx !== 'string') throw new Error('this is no payload');
  const payload = { marker: marker as number | null, path: path as string | null, tx: decodeTx(hexToBytes(tx)) };
  if (encodePayload(payload) !== text) throw new Error('this is not a payload in its canonical form');
  return payload;
}

/**
 * What a transaction reserves. The chain makes a marker once. A sweep empties its address, and the
 * next one from there waits for it.
 */
export function reservationOf({ wallet, action }: Pick<SolanaTx, 'wallet' | 'action'>): Reservation {
  return action.kind === 'payment' ? `marker:${markerAddress(wallet, action.marker.seed)}` : `sweep:${action.owner}`;
}
