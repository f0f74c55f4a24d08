import { ed25519 } from '@noble/curves/ed25519.js';
import {
  type Address,
  appendTransactionMessageInstructions,
  type Blockhash,
  compileTransaction,
  compressTransactionMessageUsingAddressLookupTables,
  createTransactionMessage,
  getTransactionEncoder,
  type Instruction,
  pipe,
  type SignatureBytes,
  setTransactionMessageComputeUnitLimit,
  setTransactionMessageFeePayer,
  setTransactionMessageLifetimeUsingBlockhash,
  setTransactionMessageLoadedAccountsDataSizeLimit,
  setTransactionMessagePriorityFeeLamports,
} from '@solana/kit';
import { computeBudget } from './instructions.ts';
import type { SolanaKey, Text58 } from './keys.ts';
import { decodeTransaction, type SolanaTransaction, type Version } from './transaction.ts';

/** What a transaction does, apart from who pays for it. */
export interface Draft {
  readonly instructions: readonly Instruction[];
  /** Sign in addition to the payer. */
  readonly signers?: readonly SolanaKey[];
  readonly version?: Version;
  /** The most compute units. Another number makes another transaction of the same content. */
  readonly units?: number;
  /** Tables of addresses, which only version 0 uses. */
  readonly tables?: Readonly<Record<Text58, readonly Text58[]>>;
}

/** A signed transaction, encoded by the library of Solana itself. */
export function signTransaction(payer: SolanaKey, blockhash: Text58, draft: Draft): SolanaTransaction {
  const compiled = compileTransaction(messageOf(payer.address, blockhash, draft));
  const signed = [payer, ...(draft.signers ?? [])].map(
    ({ address, secret }) => [address, ed25519.sign(Uint8Array.from(compiled.messageBytes), secret)] as const,
  );
  const signatures = { ...compiled.signatures, ...Object.fromEntries(signed) } as Record<Address, SignatureBytes>;
  return decodeTransaction(Uint8Array.from(getTransactionEncoder().encode({ ...compiled, signatures })));
}

function messageOf(payer: Text58, hash: Text58, draft: Draft) {
  const { version = 'legacy', tables, units } = draft;
  const limited = units === undefined ? [] : [computeBudget.limit(units)];
  const instructions = version === 1 ? draft.instructions : [...limited, ...draft.instructions];
  const feePayer = payer as Address;
  // Only the hash is part of the bytes.
  const lifetime = { blockhash: hash as Blockhash, lastValidBlockHeight: 0n };
  if (version === 'legacy') {
    return pipe(
      createTransactionMessage({ version }),
      (message) => setTransactionMessageFeePayer(feePayer, message),
      (message) => setTransactionMessageLifetimeUsingBlockhash(lifetime, message),
      (message) => appendTransactionMessageInstructions(instructions, message),
    );
  }
  if (version === 1) {
    return pipe(
      createTransactionMessage({ version }),
      (message) => setTransactionMessageFeePayer(feePayer, message),
      (message) => setTransactionMessageLifetimeUsingBlockhash(lifetime, message),
      (message) => appendTransactionMessageInstructions(instructions, message),
      (message) => setTransactionMessageComputeUnitLimit(units ?? 200_000, message),
      (message) => setTransactionMessageLoadedAccountsDataSizeLimit(1_000_000, message),
      (message) => setTransactionMessagePriorityFeeLamports(3n, message),
    );
  }
  const whole = pipe(
    createTransactionMessage({ version }),
    (message) => setTransactionMessageFeePayer(feePayer, message),
    (message) => setTransactionMessageLifetimeUsingBlockhash(lifetime, message),
    (message) => appendTransactionMessageInstructions(instructions, message),
  );
  if (!tables) return whole;
  const listed = Object.fromEntries(Object.entries(tables).map(([table, all]) => [table, all as Address[]]));
  return compressTransactionMessageUsingAddressLookupTables(whole, listed as Record<Address, Address[]>);
}
