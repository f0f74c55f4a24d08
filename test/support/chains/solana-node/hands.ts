import type { Instruction } from '@solana/kit';
import { inner } from './forwarder.ts';
import { associated, computeBudget, extensions, instruction, memo, system, token } from './instructions.ts';
import {
  associatedAddress,
  bytesOf,
  joined,
  keyOf,
  programs,
  type SolanaKey,
  seededAddress,
  type Text58,
  wrappedSol,
} from './keys.ts';
import { littleEndian } from './reader.ts';
import type { Draft } from './signing.ts';
import type { Account } from './tokens.ts';

/** A kind of token. */
export interface Mint {
  readonly address: Text58;
  readonly program: Text58;
  readonly decimals: number;
  /** Makes tokens. */
  readonly authority: SolanaKey;
  /** Accounts that each transfer names in addition. */
  readonly further: readonly Text58[];
}

export interface MintOptions {
  readonly program?: 'token' | 'token2022';
  readonly decimals?: number;
  /** Of Token-2022: what each transfer takes from its receiver. */
  readonly transferFee?: { readonly basisPoints: number; readonly most: bigint };
  /** Of Token-2022: each transfer calls a program, here one that does nothing. */
  readonly hasHook?: boolean;
  /** Of Token-2022: may take all tokens. */
  readonly permanentDelegate?: Text58;
}

/** The transaction that makes a mint, and the mint. */
export function mintDraft(
  name: string,
  payer: Text58,
  options: MintOptions,
  minimum: (space: number) => bigint,
): { readonly mint: Mint; readonly draft: Draft } {
  const { program = 'token', decimals = 6, transferFee, hasHook = false, permanentDelegate } = options;
  const [key, authority] = [keyOf(`mint ${name} ${payer}`), keyOf(`authority of ${name} ${payer}`)];
  const { address } = key;
  const extended: readonly (readonly [number, Instruction])[] = [
    ...(transferFee
      ? [[112, extensions.transferFee(address, authority.address, transferFee.basisPoints, transferFee.most)] as const]
      : []),
    ...(hasHook ? [[68, extensions.transferHook(address, authority.address, programs.computeBudget)] as const] : []),
    ...(permanentDelegate ? [[36, extensions.permanentDelegate(address, permanentDelegate)] as const] : []),
  ];
  const space = extended.length === 0 ? 82 : extended.reduce((sum, [size]) => sum + size, 166);
  const owner = programs[program];
  const mint = {
    address,
    program: owner,
    decimals,
    authority,
    further: hasHook ? [programs.computeBudget] : [],
  };
  const instructions = [
    system.createAccount(payer, address, minimum(space), space, owner),
    ...extended.map(([, made]) => made),
    token.initializeMint(owner, address, decimals, authority.address),
  ];
  return { mint, draft: { instructions, signers: [key] } };
}

/** Makes tokens at the associated account of an owner. */
export function giveDraft(payer: Text58, owner: Text58, mint: Mint, amount: bigint): Draft {
  const { program, address, authority } = mint;
  const account = associatedAddress(owner, address, program);
  const instructions = [
    associated.create(payer, owner, address, program),
    token.mintTo(program, address, account, authority.address, amount),
  ];
  return { instructions, signers: [authority] };
}

/** Pays tokens to the associated account of an owner, which is made when there is none. */
export function tokenPayment(from: Text58, to: Text58, mint: Mint, amount: bigint): Instruction[] {
  const { address, program, decimals, further } = mint;
  const [source, target] = [from, to].map((owner) => associatedAddress(owner, address, program));
  const accounts = { from: source ?? '', mint: address, to: target ?? '', owner: from };
  return [
    associated.create(from, to, address, program),
    token.transferChecked(program, accounts, amount, decimals, further),
  ];
}

/** How strangers bring coins otherwise than by a transfer. */
export type UnusualCoins = 'inner-call' | 'with-seed' | 'closed-account' | 'lookup' | 'version-1' | 'memo' | 'priority';
/** How strangers bring tokens otherwise than to the associated account. */
export type UnusualTokens = 'inner-call' | 'other-account' | 'reopened-account' | 'wrapped';

/** What building an unusual payment needs of a network. */
export interface Site {
  readonly payer: SolanaKey;
  readonly minimum: (space: number) => bigint;
  /** Executes a transaction that no block shows. */
  readonly setUp: (draft: Draft) => void;
  readonly setAccount: (address: Text58, account: Account) => void;
  readonly newKey: () => SolanaKey;
}

/** A transaction that brings coins by one of the ways. */
export function unusualCoins(site: Site, kind: UnusualCoins, to: Text58, amount: bigint): Draft {
  const { payer } = site;
  const plain = system.transfer(payer.address, to, amount);
  switch (kind) {
    case 'inner-call':
      return { instructions: [inner(plain)] };
    case 'with-seed':
      return seededDraft(site, to, amount);
    case 'closed-account':
      return closingDraft(site, to, amount);
    case 'lookup':
      return { ...tableDraft(site, to), instructions: [plain], version: 0 };
    case 'version-1':
      return { instructions: [plain], version: 1 };
    case 'memo':
      return { instructions: [memo('"thanks"\n\u202e</b>'), plain] };
    case 'priority':
      return { instructions: [computeBudget.price(2_000_000n), plain], units: 20_000 };
    default:
      throw new Error('an unknown kind');
  }
}

/** A transaction that brings tokens by one of the ways. */
export function unusualTokens(site: Site, kind: UnusualTokens, to: Text58, mint: Mint, amount: bigint): Draft {
  const { payer } = site;
  if (kind === 'wrapped') {
    const account = associatedAddress(to, wrappedSol, programs.token);
    const instructions = [
      associated.create(payer.address, to, wrappedSol, programs.token),
      system.transfer(payer.address, account, amount),
      token.syncNative(programs.token, account),
    ];
    return { instructions };
  }
  if (kind === 'inner-call') return { instructions: tokenPayment(payer.address, to, mint, amount).map(inner) };
  const key = site.newKey();
  const opened = openInstructions(site, key, mint, to);
  const source = associatedAddress(payer.address, mint.address, mint.program);
  const accounts = { from: source, mint: mint.address, to: key.address, owner: payer.address };
  const paid = token.transferChecked(mint.program, accounts, amount, mint.decimals, mint.further);
  if (kind === 'other-account') return { instructions: [...opened, paid], signers: [key] };
  // The payer keeps the right to close it, and opens it again at the same address.
  const authority = token.setAuthority(mint.program, key.address, payer.address, 'close', payer.address);
  const given = token.setAuthority(mint.program, key.address, payer.address, 'owner', to);
  const own = openInstructions(site, key, mint, payer.address);
  site.setUp({ instructions: [...own, authority, given], signers: [key] });
  const closed = token.closeAccount(mint.program, key.address, payer.address, payer.address);
  return { instructions: [closed, ...opened, paid], signers: [key] };
}

function openInstructions({ payer, minimum }: Site, key: SolanaKey, mint: Mint, owner: Text58): Instruction[] {
  // With the extension for withheld fees, where the mint has fees.
  const space = mint.program === programs.token ? 165 : 178;
  return [
    system.createAccount(payer.address, key.address, minimum(space), space, mint.program),
    token.initializeAccount(mint.program, key.address, mint.address, owner),
  ];
}

/** Coins of an address that a seed makes, of which the payer is the base. */
function seededDraft({ payer, setAccount }: Site, to: Text58, amount: bigint): Draft {
  const seed = `seed ${amount}`;
  const from = seededAddress(payer.address, seed, programs.system);
  setAccount(from, { lamports: amount, owner: programs.system, data: new Uint8Array(), executable: false });
  return { instructions: [system.transferWithSeed(from, payer.address, seed, to, amount)] };
}

/** Coins of an account of wrapped SOL, which closing sends without a transfer. */
function closingDraft({ payer, minimum, newKey, setUp }: Site, to: Text58, amount: bigint): Draft {
  const key = newKey();
  const rent = minimum(165);
  const lamports = amount > rent ? amount : rent;
  const instructions = [
    system.createAccount(payer.address, key.address, lamports, 165, programs.token),
    token.initializeAccount(programs.token, key.address, wrappedSol, payer.address),
  ];
  setUp({ instructions, signers: [key] });
  return { instructions: [token.closeAccount(programs.token, key.address, to, payer.address)] };
}

/** The receiver comes from a table of addresses. */
function tableDraft({ setAccount, newKey, minimum }: Site, to: Text58): Pick<Draft, 'tables'> {
  const table = newKey().address;
  const listed = [newKey().address, to];
  const data = joined([
    ...[littleEndian(1, 4), littleEndian(2n ** 64n - 1n, 8), littleEndian(1, 8), Uint8Array.of(0, 0)],
    ...[new Uint8Array(34), ...listed.map(bytesOf)],
  ]);
  setAccount(table, { lamports: minimum(data.length), owner: programs.lookup, data, executable: false });
  return { tables: { [table]: listed } };
}

/** An instruction that fails when it is executed: there is no such instruction. */
export function failing(): Instruction {
  return instruction(programs.system, [], littleEndian(255, 4));
}

/** A token account of Token-2022 whose owner asks for a memo with each transfer. */
export function memoAccount(owner: Text58, mint: Text58, minimum: (space: number) => bigint): Account {
  const head = [bytesOf(mint), bytesOf(owner), new Uint8Array(8), new Uint8Array(36), Uint8Array.of(1)];
  const rest = [new Uint8Array(12), new Uint8Array(8), new Uint8Array(36), Uint8Array.of(2)];
  // Extension 7 says that the owner stays the same, extension 8 that a memo is required.
  const data = joined([...head, ...rest, Uint8Array.of(7, 0, 0, 0), Uint8Array.of(8, 0, 1, 0, 1)]);
  return { lamports: minimum(data.length), owner: programs.token2022, data, executable: false };
}
