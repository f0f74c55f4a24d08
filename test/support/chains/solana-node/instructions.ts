import { AccountRole, type Address, type Instruction } from '@solana/kit';
import { associatedAddress, bytesOf, joined, programs, type Text58 } from './keys.ts';
import { littleEndian } from './reader.ts';

const { READONLY, WRITABLE, READONLY_SIGNER, WRITABLE_SIGNER } = AccountRole;
const rentSysvar = 'SysvarRent111111111111111111111111111111111';

type Role = readonly [Text58, AccountRole];

/** An instruction with its accounts in order. */
export function instruction(program: Text58, accounts: readonly Role[], ...data: readonly Uint8Array[]): Instruction {
  return {
    programAddress: program as Address,
    accounts: accounts.map(([address, role]) => ({ address: address as Address, role })),
    data: joined(data),
  };
}

const u8 = (value: number) => Uint8Array.of(value);
const u16 = (value: number) => littleEndian(value, 2);
const u32 = (value: number) => littleEndian(value, 4);
const u64 = (value: bigint) => littleEndian(value, 8);
const text = (value: string) => new TextEncoder().encode(value);
const longText = (value: string) => joined([u64(BigInt(text(value).length)), text(value)]);

/** https://docs.rs/solana-system-interface */
export const system = {
  createAccount: (from: Text58, made: Text58, lamports: bigint, space: number, owner: Text58) =>
    instruction(
      programs.system,
      [
        [from, WRITABLE_SIGNER],
        [made, WRITABLE_SIGNER],
      ],
      ...[u32(0), u64(lamports), u64(BigInt(space)), bytesOf(owner)],
    ),
  transfer: (from: Text58, to: Text58, lamports: bigint) =>
    instruction(
      programs.system,
      [
        [from, WRITABLE_SIGNER],
        [to, WRITABLE],
      ],
      ...[u32(2), u64(lamports)],
    ),
  /** `base` signs, and pays where it is `from`. */
  createAccountWithSeed: (
    from: Text58,
    made: Text58,
    { base, seed, lamports, owner }: { base: Text58; seed: string; lamports: bigint; owner: Text58 },
  ) =>
    instruction(
      programs.system,
      [[from, WRITABLE_SIGNER], [made, WRITABLE], ...(base === from ? [] : [[base, READONLY_SIGNER] as const])],
      ...[u32(3), bytesOf(base), longText(seed), u64(lamports), u64(0n), bytesOf(owner)],
    ),
  /** The same as another transaction did, where the first account pays and signs. */
  again: (data: Uint8Array, accounts: readonly Text58[]) =>
    instruction(
      programs.system,
      accounts.map((address, index) => [address, index === 0 ? WRITABLE_SIGNER : WRITABLE] as const),
      data,
    ),
  transferWithSeed: (from: Text58, base: Text58, seed: string, to: Text58, lamports: bigint) =>
    instruction(
      programs.system,
      [
        [from, WRITABLE],
        [base, READONLY_SIGNER],
        [to, WRITABLE],
      ],
      ...[u32(11), u64(lamports), longText(seed), bytesOf(programs.system)],
    ),
};

/** https://docs.rs/spl-associated-token-account */
export const associated = {
  create: (payer: Text58, owner: Text58, mint: Text58, tokenProgram: Text58, { idempotent = true } = {}) =>
    instruction(
      programs.associated,
      [
        [payer, WRITABLE_SIGNER],
        [associatedAddress(owner, mint, tokenProgram), WRITABLE],
        [owner, READONLY],
        [mint, READONLY],
        [programs.system, READONLY],
        [tokenProgram, READONLY],
      ],
      u8(idempotent ? 1 : 0),
    ),
};

/** Of both token programs. https://docs.rs/spl-token */
export const token = {
  initializeMint: (program: Text58, mint: Text58, decimals: number, authority: Text58) =>
    instruction(program, [[mint, WRITABLE]], u8(20), u8(decimals), bytesOf(authority), u8(0)),
  initializeAccount: (program: Text58, account: Text58, mint: Text58, owner: Text58) =>
    instruction(
      program,
      [
        [account, WRITABLE],
        [mint, READONLY],
      ],
      ...[u8(18), bytesOf(owner)],
    ),
  mintTo: (program: Text58, mint: Text58, to: Text58, authority: Text58, amount: bigint) =>
    instruction(
      program,
      [
        [mint, WRITABLE],
        [to, WRITABLE],
        [authority, READONLY_SIGNER],
      ],
      ...[u8(7), u64(amount)],
    ),
  transferChecked: (
    program: Text58,
    { from, mint, to, owner }: { from: Text58; mint: Text58; to: Text58; owner: Text58 },
    amount: bigint,
    decimals: number,
    further: readonly Text58[] = [],
  ) =>
    instruction(
      program,
      [
        [from, WRITABLE],
        [mint, READONLY],
        [to, WRITABLE],
        [owner, READONLY_SIGNER],
        ...further.map((one) => [one, READONLY] as const),
      ],
      ...[u8(12), u64(amount), u8(decimals)],
    ),
  closeAccount: (program: Text58, account: Text58, to: Text58, owner: Text58) =>
    instruction(
      program,
      [
        [account, WRITABLE],
        [to, WRITABLE],
        [owner, READONLY_SIGNER],
      ],
      u8(9),
    ),
  /** Lets another one close an account, or gives the account to another owner. */
  setAuthority: (program: Text58, account: Text58, owner: Text58, kind: 'owner' | 'close', to: Text58) =>
    instruction(
      program,
      [
        [account, WRITABLE],
        [owner, READONLY_SIGNER],
      ],
      ...[u8(6), u8(kind === 'owner' ? 2 : 3), u8(1), bytesOf(to)],
    ),
  syncNative: (program: Text58, account: Text58) =>
    instruction(
      program,
      [
        [account, WRITABLE],
        [rentSysvar, READONLY],
      ],
      u8(17),
    ),
};

/** Of Token-2022, before the mint or the account is initialised. */
export const extensions = {
  transferFee: (mint: Text58, authority: Text58, basisPoints: number, most: bigint) =>
    instruction(
      programs.token2022,
      [[mint, WRITABLE]],
      ...[u8(26), u8(0), u8(1), bytesOf(authority), u8(1), bytesOf(authority), u16(basisPoints), u64(most)],
    ),
  transferHook: (mint: Text58, authority: Text58, hook: Text58) =>
    instruction(programs.token2022, [[mint, WRITABLE]], u8(36), u8(0), bytesOf(authority), bytesOf(hook)),
  permanentDelegate: (mint: Text58, delegate: Text58) =>
    instruction(programs.token2022, [[mint, WRITABLE]], u8(35), bytesOf(delegate)),
};

export function memo(words: string): Instruction {
  return instruction(programs.memo, [], text(words));
}

/** https://docs.rs/solana-compute-budget-interface */
export const computeBudget = {
  limit: (units: number) => instruction(programs.computeBudget, [], u8(2), u32(units)),
  /** In millionths of a lamport a unit. */
  price: (microLamports: bigint) => instruction(programs.computeBudget, [], u8(3), u64(microLamports)),
};
