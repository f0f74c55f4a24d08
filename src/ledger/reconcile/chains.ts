import type { EntityManager, MikroORM } from '@mikro-orm/postgresql';
import { type ChainAdapter, ChainError } from '../../chains/chain-adapter.ts';
import { Big, fromUnits } from '../../money.ts';
import { assetName, type ChainAsset, type ChainCurrency, chainAssets } from './assets.ts';
import { Tally } from './report.ts';
import { type Ahead, readScannerState, scanAhead } from './scan-ahead.ts';
import { inSnapshot } from './snapshot.ts';
import { type AttemptRow, type DepositRow, heldByBook, readStored, type Stored } from './stored-chain.ts';

/** Holdings that an adapter is asked about at once. */
const batchSize = 500;
/** Questions to an adapter at the same time. */
const width = 4;
/** A chain that makes a block while it is read is read again so often. */
const maxReadings = 5;

const zero = new Big('0');

/** Asks one chain, again while it moves on under the reading. A chain that does not answer is told of, and no more. */
export async function reconcileChain(
  orm: MikroORM,
  adapter: ChainAdapter,
  currencies: readonly ChainCurrency[],
  tally: Tally,
): Promise<void> {
  const assets = chainAssets(currencies);
  tally.count('chain', 1);
  tally.count('deposits', assets.length);
  tally.count('hot', assets.length);
  try {
    for (let reading = 1; ; reading++) {
      const { found, isSteady } = await readChain(orm, adapter, assets);
      if (!isSteady && found.differences() > 0 && reading < maxReadings) continue;
      tally.add(found);
      return;
    }
  } catch (error) {
    if (!(error instanceof ChainError)) throw error;
    tally.fault('chain', adapter.chain, 'an answer', `${error.code}: ${error.message}`);
  }
}

async function readChain(
  orm: MikroORM,
  adapter: ChainAdapter,
  assets: readonly ChainAsset[],
): Promise<{ found: Tally; isSteady: boolean }> {
  const { chain } = adapter;
  const before = await readScannerState(orm.em.fork(), chain);
  const ahead = await scanAhead(adapter, before);
  const stored = await inSnapshot(orm, (em) => readStored(em, chain, ahead, assets));
  const hotWallet = await adapter.hotWallet();
  const moved = await movedUnbooked(adapter, stored.attempts, assets);
  const found = new Tally();
  for (const asset of assets) {
    const held = await heldByAddresses(adapter, stored.addresses, asset);
    const arriving = notCreditedYet(stored, ahead, asset, 'order', (address) => stored.addresses.has(address));
    const left = leftOut(stored, asset, (address) => stored.addresses.has(address));
    const inFlight = arriving.plus(moved.deposits.get(asset) ?? zero).plus(left);
    found.amounts('deposits', asset.name, held, stored.balance('deposits', asset), inFlight);
  }
  for (const asset of assets) {
    const [units] = await adapter.balances([hotWallet], asset.contract);
    const held = new Big(fromUnits(units ?? 0n, asset.decimals));
    const arriving = notCreditedYet(stored, ahead, asset, 'funding', (address) => address === hotWallet.address);
    const left = leftOut(stored, asset, (address) => address === hotWallet.address);
    const inFlight = arriving.plus(moved.hot.get(asset) ?? zero).plus(left);
    found.amounts('hot', asset.name, held, stored.balance('hot', asset), inFlight);
  }
  for (const payment of moved.twice) {
    found.fault('payments', `payment ${payment} on ${chain}`, '1 success', 'more');
  }
  const isSteady = before?.version === stored.version && (await adapter.head()).hash === ahead.head;
  return { found, isSteady };
}

async function heldByAddresses(
  adapter: ChainAdapter,
  addresses: ReadonlySet<string>,
  { contract, decimals }: ChainAsset,
): Promise<Big> {
  // The whole address, whatever the tag: on a shared one, each is ours.
  const holdings = [...addresses].map((address) => ({ address, tag: null }));
  const batches = Array.from({ length: Math.ceil(holdings.length / batchSize) }, (_, index) =>
    holdings.slice(index * batchSize, (index + 1) * batchSize),
  );
  const balances = await inParallel(batches, (batch) => adapter.balances(batch, contract));
  const units = balances.flat().reduce((total, balance) => total + balance, 0n);
  return new Big(fromUnits(units, decimals));
}

/**
 * What the chain shows and the book rightly does not: coins from outside that lack confirmations, and those that lie above the
 * scanner's cursor. What was credited from a block that is gone counts negative until the scanner follows. Counted from
 * the scanner's height, because no deposit ripens before the scanner has seen it do so.
 */
function notCreditedYet(
  { deposits, ownTxids, height, final }: Stored,
  ahead: Ahead,
  asset: ChainAsset,
  purpose: DepositRow['purpose'],
  isOurs: (address: string) => boolean,
): Big {
  const isGone = ({ block_hash: hash }: DepositRow) => hash !== null && ahead.orphaned.has(hash);
  const amounts: Big[] = [];
  const known = new Set<string>();
  for (const deposit of deposits) {
    if (!isGone(deposit) && (deposit.state === 'mined' || deposit.state === 'credited')) known.add(deposit.key);
    if (deposit.purpose !== purpose || !asset.currencies.has(assetName(deposit))) continue;
    if (deposit.state === 'credited' && isGone(deposit)) amounts.push(zero.minus(deposit.amount));
    const minedAt = deposit.height ?? 0;
    const isUnripe = height - minedAt + 1 < deposit.required || (final !== null && minedAt > final);
    if (deposit.state === 'mined' && !isGone(deposit) && isUnripe) amounts.push(new Big(deposit.amount));
  }
  for (const { key, txid, address, contract, amount } of ahead.transfers) {
    if (contract !== asset.contract || !isOurs(address) || known.has(key) || ownTxids.has(txid)) continue;
    amounts.push(new Big(fromUnits(amount, asset.decimals)));
  }
  return amounts.reduce((total, amount) => total.plus(amount), zero);
}

/** What the scanner left out, because it cannot be booked. */
function leftOut(stored: Stored, { contract, decimals }: ChainAsset, isOurs: (address: string) => boolean): Big {
  return stored.leftOut
    .filter((one) => one.contract === contract && isOurs(one.address))
    .reduce((total, { amount }) => total.plus(fromUnits(BigInt(amount), decimals)), zero);
}

/** Changes of what is held that the book has not seen yet, by asset. */
interface Moved {
  readonly deposits: ReadonlyMap<ChainAsset, Big>;
  readonly hot: ReadonlyMap<ChainAsset, Big>;
  /** Payments that succeeded more than once. */
  readonly twice: ReadonlySet<string>;
}

/** What transactions of ours moved before they were booked, each in a block. */
async function movedUnbooked(
  adapter: ChainAdapter,
  attempts: readonly AttemptRow[],
  assets: readonly ChainAsset[],
): Promise<Moved> {
  const moved = { deposits: new Map<ChainAsset, Big>(), hot: new Map<ChainAsset, Big>() };
  const add = (account: 'deposits' | 'hot', asset: ChainAsset | undefined, amount: Big) => {
    if (asset) moved[account].set(asset, (moved[account].get(asset) ?? zero).plus(amount));
  };
  const native = assets.find(({ contract }) => contract === null);
  const paid = new Set<string>();
  const twice = new Set<string>();
  const statuses = await inParallel(attempts, ({ txid, raw, reserves, expires_at: expiresAt }) =>
    adapter.status({ txid, raw, reserves, expiresAt }),
  );
  for (const [index, attempt] of attempts.entries()) {
    const status = statuses[index];
    if (status?.state !== 'mined') continue;
    // A second success is no payment in flight: it stays a difference of what it took.
    if (status.success && paid.has(attempt.payment)) {
      twice.add(attempt.payment);
      continue;
    }
    const payer = attempt.kind === 'sweep' ? 'deposits' : 'hot';
    if (native) add(payer, native, zero.minus(fromUnits(status.fee, native.decimals)));
    if (!status.success) continue;
    paid.add(attempt.payment);
    const asset = assets.find(({ currencies }) => currencies.has(assetName(attempt)));
    // A sweep in the chain's own coin brings what its stated fee leaves.
    const isReduced = attempt.kind === 'sweep' && asset === native;
    const amount = new Big(attempt.amount).minus(isReduced ? attempt.fee : '0');
    add(payer, asset, zero.minus(amount));
    if (attempt.kind === 'sweep') add('hot', asset, amount);
    if (attempt.kind === 'gas') add('deposits', asset, amount);
  }
  return { ...moved, twice };
}

/** What the book holds on chains that nobody asked, or in currencies that are no more. */
export async function checkUnseen(
  em: EntityManager,
  adapters: ReadonlyMap<string, ChainAdapter>,
  currencies: ReadonlyMap<string, readonly ChainCurrency[]>,
  tally: Tally,
): Promise<void> {
  const seen = new Set(
    [...currencies].flatMap(([chain, assets]) => (adapters.has(chain) ? assets.map(assetName) : [])),
  );
  for (const { account, amount, ...asset } of await heldByBook(em)) {
    if (seen.has(assetName(asset))) continue;
    tally.count(account, 1);
    tally.amounts(account, `${assetName(asset)}, which no chain was asked about`, zero, amount);
  }
}

async function inParallel<T, R>(items: readonly T[], ask: (item: T) => Promise<R>): Promise<R[]> {
  const answers: R[] = [];
  for (let start = 0; start < items.length; start += width) {
    answers.push(...(await Promise.all(items.slice(start, start + width).map(ask))));
  }
  return answers;
}
