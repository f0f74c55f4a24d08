import type { MikroORM } from '@mikro-orm/postgresql';
import { allNetworks } from '../networks.ts';
import { SandboxAdapter } from './sandbox-adapter.ts';
import type { SandboxChain } from './sandbox-chain.ts';

/** What decides how long a chain has something to do after a transaction. */
interface Confirmed {
  readonly network: string;
  readonly minConfirmations: number;
}

/** Where the database keeps the address that payments come from. */
export const hotWalletSetting = 'hot_wallet:sandbox';

/** An adapter for each chain, all of them sandbox chains. */
export function sandboxAdapters(
  chains: readonly string[],
  node: SandboxChain,
  hotAddress: string,
  currencies: readonly Confirmed[],
): SandboxAdapter[] {
  return chains.map(
    (chain) => new SandboxAdapter({ chain, node, hotAddress, busyBlocks: busyBlocks(chain, currencies) }),
  );
}

/** So many blocks follow a transaction by the clock: what the slowest coin of the chain needs, and some for its payout. */
export function busyBlocks(chain: string, currencies: readonly Confirmed[]): number {
  const networks = new Set(
    allNetworks()
      .filter((network) => network.chain === chain)
      .map(({ id }) => id),
  );
  const needed = currencies.filter(({ network }) => networks.has(network)).map((row) => row.minConfirmations);
  return Math.max(2, ...needed) + 2;
}

/** The address that payments come from, for processes that hold no keys; null before a first start. */
export async function knownHotWallet(orm: MikroORM): Promise<string | null> {
  const [row] = await orm.em
    .fork()
    .execute<{ value: string }[]>('select value from setting where name = ?', [hotWalletSetting]);
  return row?.value ?? null;
}
