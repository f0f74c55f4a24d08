/** What an account may use without a fee, and has used; it comes back evenly within a day. */
interface Allowance {
  readonly limit: bigint;
  readonly used: bigint;
  /** Milliseconds. */
  readonly at: number;
}

/** An account. Amounts are in sun. */
export interface TronAccount {
  readonly balance: bigint;
  readonly isContract: boolean;
  /** Milliseconds. */
  readonly createdAt: number;
  /** Address of the key that signs for it. */
  readonly ownerKey: string;
  /** Bandwidth that every account has. */
  readonly free: Allowance;
  /** Bandwidth and energy for what is staked. */
  readonly bandwidth: Allowance;
  readonly energy: Allowance;
}

type Resource = 'free' | 'bandwidth' | 'energy';

const dayMs = 86_400_000n;
/** Bandwidth a day that costs nothing. */
export const freeBandwidth = 600n;

/** What is used of an allowance at a time in milliseconds. */
export function usedAt({ used, at }: Allowance, time: number): bigint {
  const left = dayMs - BigInt(Math.max(0, time - at));
  return left <= 0n ? 0n : (used * left) / dayMs;
}

/** The accounts after a block. Addresses are 42 hexadecimal digits. */
export class Ledger {
  readonly #accounts: Map<string, TronAccount>;

  constructor(accounts: ReadonlyMap<string, TronAccount> = new Map()) {
    this.#accounts = new Map(accounts);
  }

  copy(): Ledger {
    return new Ledger(this.#accounts);
  }

  get(address: string): TronAccount | null {
    return this.#accounts.get(address) ?? null;
  }

  /** Changes an account, which is made when it is new. */
  set(address: string, time: number, changes: Partial<TronAccount>): void {
    const none = { limit: 0n, used: 0n, at: time };
    const fresh: TronAccount = {
      ...{ balance: 0n, isContract: false, createdAt: time, ownerKey: address },
      ...{ free: { ...none, limit: freeBandwidth }, bandwidth: none, energy: none },
    };
    this.#accounts.set(address, { ...(this.get(address) ?? fresh), ...changes });
  }

  /** Adds coins, or takes them. @throws Error when it has too few. */
  add(address: string, amount: bigint, time: number): void {
    const balance = (this.get(address)?.balance ?? 0n) + amount;
    if (balance < 0n) throw new Error(`${address} has ${-balance} sun too few`);
    this.set(address, time, { balance });
  }

  /** The unused part of a resource. */
  left(address: string, resource: Resource, time: number): bigint {
    const allowance = this.get(address)?.[resource];
    if (!allowance) return 0n;
    const left = allowance.limit - usedAt(allowance, time);
    return left > 0n ? left : 0n;
  }

  /** Uses an amount of a resource, all of it or nothing. Returns whether it was enough. */
  use(address: string, resource: Resource, amount: bigint, time: number): boolean {
    const allowance = this.get(address)?.[resource];
    if (!allowance || this.left(address, resource, time) < amount) return false;
    const used = usedAt(allowance, time) + amount;
    this.set(address, time, { [resource]: { ...allowance, used, at: time } });
    return true;
  }
}
