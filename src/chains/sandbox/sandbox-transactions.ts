import type { ChainTraits, PaymentIntent, PreparedTx } from '../port/chain-adapter.ts';
import { SignerError } from '../port/signer.ts';
import type { OpenedTx, SigningKey, SigningKeys, TransactionSigner } from '../port/transaction-signer.ts';
import { expiryKind, type SandboxRules, traitsOf, usualRules } from './sandbox-rules.ts';
import {
  decodePayload,
  reservationOf,
  type SandboxPayload,
  sandboxAddress,
  sandboxTxid,
  signSandboxTx,
} from './sandbox-tx.ts';

/** The purpose of BIP44 with coin type 1, which stands for the test networks of all coins. */
export const sandboxKeyPath = "m/44'/1'/0'";

/**
 * Reads and signs the transactions of the sandbox. One account pays on all of its chains, and
 * nothing is swept.
 */
export class SandboxTransactions implements TransactionSigner {
  /** Of the chains with tags, which differ from the others in their deposits alone. */
  readonly traits: ChainTraits;
  readonly #key: SigningKey;
  readonly #address: string;
  readonly #rules: SandboxRules;

  constructor(keys: Pick<SigningKeys, 'ed25519'>, rules: SandboxRules = usualRules) {
    this.traits = traitsOf(rules, 'shared');
    this.#key = keys.ed25519(sandboxKeyPath);
    this.#address = sandboxAddress(this.#key.publicKey);
    this.#rules = rules;
  }

  hotWallet(): string {
    return this.#address;
  }

  isHotWallet(_chain: string, address: string): boolean {
    return address === this.#address;
  }

  open(chain: string, intent: PaymentIntent, tx: PreparedTx): OpenedTx {
    const payload = openPayload(tx.payload);
    const { builtAtMs } = payload;
    return {
      faults: findFaults({ chain, from: this.#address, intent, tx, payload }, this.#rules),
      ...(builtAtMs === undefined ? {} : { builtAtMs }),
      sign: () => ({ txid: sandboxTxid(tx.payload), raw: signSandboxTx(tx.payload, this.#key.privateKey) }),
    };
  }
}

function openPayload(text: string): SandboxPayload {
  try {
    return decodePayload(text);
  } catch (error) {
    throw new SignerError('refused', 'the payload is not a sandbox transaction', error);
  }
}

interface Request {
  readonly chain: string;
  readonly from: string;
  readonly intent: PaymentIntent;
  readonly tx: PreparedTx;
  readonly payload: SandboxPayload;
}

function findFaults({ chain, from, intent, tx, payload }: Request, rules: SandboxRules): string[] {
  const attempt = rules.exclusive ? undefined : `${intent.id}:${intent.attempt}`;
  const conditions: readonly (readonly [string, boolean])[] = [
    ['the sandbox sweeps nothing', intent.from === null],
    ['the chain of the transaction is not the one asked for', payload.chain === chain],
    ['the transaction does not pay from the hot wallet', payload.from === from],
    ['the recipient (to) of the transaction is not that of the payment', payload.to === intent.to],
    ['the tag of the transaction is not that of the payment', payload.tag === intent.tag],
    ['the contract of the transaction is not that of the payment', payload.contract === intent.contract],
    ['the amount of the transaction is not that of the payment', payload.amount === intent.amount.toString()],
    ['the fee of the transaction is not the one stated', payload.fee === tx.fee.toString()],
    ['the attempt of the transaction is not that of the payment', payload.attempt === attempt],
    [
      `the reserves are not the ${rules.exclusive ? 'nonce' : 'attempt'} of the transaction`,
      tx.reserves.length === 1 && tx.reserves[0] === reservationOf(payload),
    ],
    expiryCondition(payload, tx, rules),
  ];
  return conditions.filter(([, holds]) => !holds).map(([fault]) => fault);
}

/**
 * If the gateway believed in another expiry than that of the bytes, it would pay again while they
 * can still confirm.
 */
function expiryCondition({ expiresAt }: SandboxPayload, tx: PreparedTx, rules: SandboxRules): [string, boolean] {
  const kind = expiryKind(rules);
  if (kind === 'none') {
    const holds = tx.expiresAt === null && expiresAt === undefined;
    return ['the transaction never expires, and it states that it does', holds];
  }
  const member = kind === 'time' ? 'timeMs' : 'height';
  const isSame = expiresAt !== undefined && JSON.stringify(expiresAt) === JSON.stringify(tx.expiresAt);
  return [`the expiry of the transaction is not the ${kind} stated`, isSame && member in expiresAt];
}
