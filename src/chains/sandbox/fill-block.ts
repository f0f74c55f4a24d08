/** A waiting transaction, with the facts that the rules use. */
export interface WaitingTx {
  readonly txid: string;
  /** Null for coins from outside. */
  readonly account: {
    readonly address: string;
    /** Null for one that excludes no other one. */
    readonly nonce: bigint | null;
  } | null;
  readonly recipient: string;
  readonly contract: string | null;
  readonly amount: bigint;
  readonly fee: bigint;
  /** The recipient refuses payments. */
  readonly refused: boolean;
  /** A partner forced that no node had it. It holds back no other transaction. */
  readonly forced: boolean;
  /** False for a forced one that is lost now, or in a block already. Only its nonce is passed. */
  readonly waits: boolean;
}

interface BlockTx {
  readonly txid: string;
  /** False when it moved nothing. */
  readonly success: boolean;
}

/** The accounts that a block touches: their state before it and, once it is filled, after it. */
export class SandboxAccounts {
  readonly #nonces = new Map<string, bigint>();
  readonly #balances = new Map<string, { address: string; contract: string; amount: bigint }>();
  readonly #movedNonces = new Set<string>();
  readonly #movedBalances = new Set<string>();

  /** Adds an account, which from then on has balances. */
  open(address: string, nonce: bigint): void {
    this.#nonces.set(address, nonce);
  }

  /** Sets a balance. `contract` is '' for the chain's own coin. */
  hold(address: string, contract: string, amount: bigint): void {
    this.#balances.set(`${address} ${contract}`, { address, contract, amount });
  }

  nonce(address: string): bigint {
    return this.#nonces.get(address) ?? 0n;
  }

  balance(address: string, contract: string | null): bigint {
    return this.#balances.get(`${address} ${contract ?? ''}`)?.amount ?? 0n;
  }

  useNonce(address: string): void {
    this.#nonces.set(address, this.nonce(address) + 1n);
    this.#movedNonces.add(address);
  }

  /**
   * Changes the balance of an account. Addresses that are no accounts have no balance to change.
   */
  add(address: string, contract: string | null, amount: bigint): void {
    if (!this.#nonces.has(address)) return;
    this.hold(address, contract ?? '', this.balance(address, contract) + amount);
    this.#movedBalances.add(`${address} ${contract ?? ''}`);
  }

  changedNonces(): { address: string; nonce: string }[] {
    return [...this.#movedNonces].map((address) => ({ address, nonce: this.nonce(address).toString() }));
  }

  changedBalances(): { address: string; contract: string; amount: string }[] {
    return [...this.#movedBalances].flatMap((key) => {
      const held = this.#balances.get(key);
      return held === undefined ? [] : [{ ...held, amount: held.amount.toString() }];
    });
  }
}

/**
 * Decides which waiting transactions a block takes, in their order, and changes the accounts
 * accordingly. An account's transactions go in the order of their nonces without a gap. A
 * transaction with a later nonce waits for those before it, except for forced ones.
 */
export function fillBlock(waiting: readonly WaitingTx[], accounts: SandboxAccounts): BlockTx[] {
  const taken: BlockTx[] = [];
  const queue = new Map<string, WaitingTx>();
  /** The next transaction of the account. */
  const dequeue = (address: string): WaitingTx | undefined => {
    const key = `${address} ${accounts.nonce(address)}`;
    const tx = queue.get(key);
    queue.delete(key);
    return tx;
  };

  for (const waitingTx of waiting) {
    const { txid, account, recipient, contract, amount } = waitingTx;
    if (account === null) {
      accounts.add(recipient, contract, amount);
      taken.push({ txid, success: true });
      continue;
    }
    const { address, nonce } = account;
    if (nonce === null) {
      if (accounts.balance(address, null) < waitingTx.fee) continue;
      taken.push({ txid, success: execute(waitingTx, address, accounts) });
      continue;
    }
    if (waitingTx.forced && nonce < accounts.nonce(address)) {
      // The account's later transactions went without it.
      if (accounts.balance(address, null) < waitingTx.fee) continue;
      taken.push({ txid, success: execute(waitingTx, address, accounts) });
      continue;
    }
    queue.set(`${address} ${nonce}`, waitingTx);
    for (let tx = dequeue(address); tx !== undefined; tx = dequeue(address)) {
      if (!tx.waits) {
        accounts.useNonce(address);
        continue;
      }
      // Without its fee it keeps waiting, and so do the ones behind it.
      if (accounts.balance(address, null) < tx.fee) break;
      accounts.useNonce(address);
      taken.push({ txid: tx.txid, success: execute(tx, address, accounts) });
    }
  }
  return taken;
}

/**
 * Charges the fee. Moves the amount when the recipient accepts it and the account has it. Returns
 * whether it did.
 */
function execute(tx: WaitingTx, sender: string, accounts: SandboxAccounts): boolean {
  const { recipient, contract, amount, fee, refused } = tx;
  accounts.add(sender, null, -fee);
  if (refused || accounts.balance(sender, contract) < amount) return false;
  accounts.add(sender, contract, -amount);
  accounts.add(recipient, contract, amount);
  return true;
}
