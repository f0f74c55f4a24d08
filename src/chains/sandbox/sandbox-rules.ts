import { networkOfChain } from '../networks/networks.ts';
import type { ChainTraits } from '../port/chain-adapter.ts';
import { sandboxTraits } from './sandbox-tx.ts';

/**
 * What the sandbox chains of a node do. Other rules than the usual ones imitate other kinds of
 * chains, for tests. All processes of a gateway have the same.
 */
export interface SandboxRules {
  /** Whether waiting transactions are shown. Without it, payments must expire. */
  readonly mempool: boolean;
  /** Whether blocks may be taken back. Without it, a block is final at once. */
  readonly reorgs: boolean;
  /** How long after the newest block a payment can confirm; null for ever. */
  readonly expiry: { readonly heights: number } | { readonly ms: number } | null;
  /** Whether a payment uses a nonce, so that all its attempts exclude each other. */
  readonly exclusive: boolean;
  /** Whether some heights have no block. */
  readonly gaps: boolean;
  /** Whether a chain with tags pays from its deposit address. */
  readonly paysFromDeposits: boolean;
}

export const usualRules: SandboxRules = {
  mempool: true,
  reorgs: true,
  expiry: null,
  exclusive: true,
  gaps: false,
  paysFromDeposits: false,
};

/** Rules that differ from the usual ones, by names for tests. */
export const sandboxVariants = {
  usual: usualRules,
  /** As Cardano: blocks with gaps, expiry by height, and conflicts. */
  gaps: { ...usualRules, expiry: { heights: 120 }, gaps: true },
  'expiry-height': { ...usualRules, expiry: { heights: 60 } },
  'expiry-time': { ...usualRules, expiry: { ms: 6_000 } },
  /** As XRP: validated blocks only, and a payment keeps its number until it ends. */
  final: { ...usualRules, mempool: false, reorgs: false, expiry: { heights: 60 } },
  /** As Solana: final blocks with gaps. */
  'final-gaps': { ...usualRules, mempool: false, reorgs: false, expiry: { heights: 120 }, gaps: true },
  /** As Tron: only the expiry keeps two attempts apart. */
  'not-exclusive': { ...usualRules, mempool: false, expiry: { ms: 10_000 }, exclusive: false },
  /** Chains with tags pay from the address that all their orders share. */
  shared: { ...usualRules, paysFromDeposits: true },
  /** As XRP and Stellar: shared, of validated blocks, and a payment keeps its number. */
  tagged: { ...usualRules, mempool: false, reorgs: false, expiry: { heights: 60 }, paysFromDeposits: true },
} as const satisfies Record<string, SandboxRules>;

/** @throws Error for a name that no rules have. */
export function rulesByName(name: string): SandboxRules {
  const found = Object.entries(sandboxVariants).find(([one]) => one === name);
  if (found) return found[1];
  throw new Error(`there are no sandbox rules '${name}': choose ${Object.keys(sandboxVariants).join(', ')}`);
}

/**
 * What a chain of these rules does.
 *
 * @param deposits Whether its orders share an address.
 * @throws RangeError for rules that no chain can have: a payment that is not shown and never
 *   expires, or one that neither excludes its next attempt nor expires by time.
 */
export function traitsOf(rules: SandboxRules, deposits: ChainTraits['deposits'] = 'per_order'): ChainTraits {
  const { mempool, reorgs, exclusive } = rules;
  const expiry = expiryKind(rules);
  if (!mempool && expiry === 'none') throw new RangeError('payments that are not shown must expire');
  if (!exclusive && expiry !== 'time') throw new RangeError('payments that do not exclude each other expire by time');
  const paysFromDeposits = deposits === 'shared' && rules.paysFromDeposits;
  const death = { conflict: exclusive, expiry };
  return { ...sandboxTraits, deposits, paysFromDeposits, mempool, reorgs, exclusive, death };
}

/** Whether the orders of a sandbox chain share an address: where those of its real network do. */
export function depositsOf(chain: string): ChainTraits['deposits'] {
  return networkOfChain(chain)?.deposit === 'shared' ? 'shared' : 'per_order';
}

export function expiryKind({ expiry }: SandboxRules): ChainTraits['death']['expiry'] {
  if (expiry === null) return 'none';
  return 'ms' in expiry ? 'time' : 'height';
}

/** The height of the block above another one. */
export function nextHeight({ gaps }: SandboxRules, height: number): number {
  // Of 0 to 3 empty heights, so that no two blocks in turn have the same distance.
  return height + 1 + (gaps ? height % 5 : 0);
}
