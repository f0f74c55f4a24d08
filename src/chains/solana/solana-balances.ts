import { NodeFault } from '../nodes/node-answer.ts';
import { type BlockRef, ChainError } from '../port/chain-adapter.ts';
import { descending, readHolding } from './solana-mint.ts';
import { accountsAtOnce, type SolanaNode } from './solana-node.ts';
import { mostSources } from './solana-tx.ts';

/** Questions that a node gets at once. */
const atOnce = 20;

/** How often new blocks may become final while the balances of one block are read. */
const maxLooks = 3;

/** Balances in one final block, in the order of their addresses. */
interface FinalBalances {
  readonly block: BlockRef;
  readonly amounts: readonly bigint[];
}

/**
 * Reads balances in final blocks, in the smallest unit. Of a token, all accounts of an owner count.
 *
 * @param contract The token's mint; null for the chain's own coin.
 */
export async function balancesOf(
  node: SolanaNode,
  addresses: readonly string[],
  contract: string | null,
): Promise<readonly bigint[]> {
  return (await readBalances(node, addresses, contract)).amounts;
}

/**
 * Reads what sweeps can take, in one final block. No call names a block, but every answer names its
 * slot. Of a token only the largest accounts of an owner count, as many as one sweep takes from.
 * Strangers can give an address any number of accounts.
 *
 * @throws ChainError when new blocks become final in each of several readings.
 */
export async function finalBalancesOf(
  node: SolanaNode,
  addresses: readonly string[],
  contract: string | null,
): Promise<FinalBalances> {
  for (let look = 1; look <= maxLooks; look += 1) {
    const { slots, amounts } = await readBalances(node, addresses, contract, mostSources);
    const [slot, ...others] = slots;
    if (slot === undefined) return { block: (await node.head()).ref, amounts };
    if (others.length === 0) return { block: (await node.header(slot)).ref, amounts };
  }
  throw new ChainError('unsettled_answer', 'blocks become final faster than the node tells balances');
}

interface Reading {
  /** The slots for which the answers hold. */
  readonly slots: ReadonlySet<number>;
  readonly amounts: readonly bigint[];
}

async function readBalances(
  node: SolanaNode,
  addresses: readonly string[],
  contract: string | null,
  mostAccounts = Number.POSITIVE_INFINITY,
): Promise<Reading> {
  const { height } = (await node.head()).ref;
  const slots = new Set<number>();
  const amounts: bigint[] = [];
  if (contract === null) {
    for (let from = 0; from < addresses.length; from += accountsAtOnce) {
      const { slot, value } = await node.accounts(addresses.slice(from, from + accountsAtOnce), height);
      slots.add(slot);
      amounts.push(...value.map((account) => account?.lamports ?? 0n));
    }
    return { slots, amounts };
  }
  for (let from = 0; from < addresses.length; from += atOnce) {
    const some = addresses
      .slice(from, from + atOnce)
      .map((owner) => tokensOf(node, { owner, mint: contract, height, mostAccounts }));
    for (const { slot, amount } of await Promise.all(some)) {
      slots.add(slot);
      amounts.push(amount);
    }
  }
  return { slots, amounts };
}

async function tokensOf(
  node: SolanaNode,
  { owner, mint, height, mostAccounts }: { owner: string; mint: string; height: number; mostAccounts: number },
): Promise<{ readonly slot: number; readonly amount: bigint }> {
  const { slot, value } = await node.tokenAccounts(owner, mint, height);
  const held = [...value.values()].map((account) => readHolding(account, mint));
  if (held.some((each) => each.owner !== owner)) throw new NodeFault('unsound_answer', 'tells accounts of others');
  const amounts = held.map(({ amount }) => amount).sort(descending);
  return { slot, amount: amounts.slice(0, mostAccounts).reduce((sum, amount) => sum + amount, 0n) };
}
