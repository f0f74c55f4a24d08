import type { EntityManager, MikroORM } from '@mikro-orm/postgresql';
import type { Clock } from '../../base/clock.ts';
import { Big, fromUnits } from '../../base/money.ts';
import { type ChainAdapter, ChainError } from '../../chains/port/chain-adapter.ts';
import { accountOfDeposits } from '../../chains/port/deposit-account.ts';
import { assetName, type ChainAsset, type ChainCurrency, chainAssets } from './assets.ts';
import { Tally } from './report.ts';
import { readScannerState, type ScanAhead, scanAhead } from './scan-ahead.ts';
import { inSnapshot } from './snapshot.ts';
import { type DepositRow, ledgerHoldings, readStoredChain, type StoredChain } from './stored-chain.ts';

/** Balances that one request to an adapter reads. */
const batchSize = 500;
/** Concurrent requests to an adapter. */
const width = 4;
/** Attempts to read a chain without a new block in between. */
const maxReadings = 5;

/**
 * How long a final deposit of a due order may wait for its credit. After that it differs, and the
 * attention list of staff calls the order overdue.
 */
const creditWithinMs = 600_000;

/**
 * How long an arrival at the hot wallet may wait for the list of an exchange. The gateway credits
 * it after half an hour in any case.
 */
const listWithinMs = 2_400_000;

/** How the subject of a balance ends whose chain was not read. */
export const unreadChain = ', which no chain was asked about';

const zero = new Big('0');

/**
 * Reconciles one chain. Reads it again when a new block arrives during the read. A chain without an
 * answer is reported as one fault and ends its check.
 */
export async function reconcileChain(
  orm: MikroORM,
  adapter: ChainAdapter,
  currencies: readonly ChainCurrency[],
  clock: Clock,
  tally: Tally,
): Promise<void> {
  const assets = chainAssets(currencies);
  tally.count('chain', 1);
  tally.count('deposits', assets.length);
  tally.count('hot', assets.length);
  try {
    for (let reading = 1; ; reading++) {
      const { found, isSteady } = await readChain(orm, adapter, assets, clock);
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
  clock: Clock,
): Promise<{ found: Tally; isSteady: boolean }> {
  const { chain } = adapter;
  const scanned = await readScannerState(orm.em.fork(), chain);
  const ahead = await scanAhead(adapter, scanned);
  const before = (ms: number): Date => new Date(clock.now().getTime() - ms);
  const expected = { dueAfter: before(creditWithinMs), listedAfter: before(listWithinMs) };
  const stored = await inSnapshot(orm, (em) => readStoredChain(em, chain, ahead, assets, expected));
  const hotWallet = await adapter.hotWallet();
  const moved = await movedUnbooked(adapter, stored, assets);
  const found = new Tally();
  // Addresses of deposits from which the wallet pays count once, as the wallet.
  const paysFromDeposits = accountOfDeposits(adapter.traits) === 'hot';
  const isHot = (address: string): boolean =>
    address === hotWallet.address || (paysFromDeposits && stored.addresses.has(address));
  const isDeposit = (address: string): boolean => stored.addresses.has(address) && !isHot(address);
  const depositAddresses = [...stored.addresses].filter(isDeposit);
  for (const asset of assets) {
    const held = await heldByAddresses(adapter, depositAddresses, asset);
    const arriving = paysFromDeposits ? zero : notCreditedYet(stored, ahead, asset, ['order'], isDeposit);
    const left = leftOut(stored, asset, isDeposit);
    const inFlight = arriving.plus(moved.deposits.get(asset) ?? zero).plus(left);
    found.amounts('deposits', asset.name, held, stored.balance('deposits', asset), inFlight);
  }
  for (const asset of assets) {
    const [units] = await adapter.balances([{ address: hotWallet.address, tag: null }], asset.contract);
    const held = new Big(fromUnits(units ?? 0n, asset.decimals));
    const purposes = paysFromDeposits ? (['order', 'funding'] as const) : (['funding'] as const);
    const arriving = notCreditedYet(stored, ahead, asset, purposes, isHot);
    const left = leftOut(stored, asset, isHot);
    const cost = fromUnits(asset.contract === null ? ahead.costs : 0n, asset.decimals);
    const inFlight = arriving
      .plus(moved.hot.get(asset) ?? zero)
      .plus(left)
      .minus(cost);
    found.amounts('hot', asset.name, held, stored.balance('hot', asset), inFlight);
  }
  for (const payment of moved.twice) {
    found.fault('payments', `payment ${payment} on ${chain}`, '1 success', 'more');
  }
  const isSteady = scanned?.version === stored.version && (await adapter.head()).hash === ahead.head;
  return { found, isSteady };
}

async function heldByAddresses(
  adapter: ChainAdapter,
  addresses: readonly string[],
  { contract, decimals }: ChainAsset,
): Promise<Big> {
  // The whole address with all tags: on a shared address every tag is ours.
  const holdings = addresses.map((address) => ({ address, tag: null }));
  const batches = Array.from({ length: Math.ceil(holdings.length / batchSize) }, (_, index) =>
    holdings.slice(index * batchSize, (index + 1) * batchSize),
  );
  const balances = await inParallel(batches, (batch) => adapter.balances(batch, contract));
  const units = balances.flat().reduce((total, balance) => total + balance, 0n);
  return new Big(fromUnits(units, decimals));
}

/**
 * The amount that the chain holds and the ledger rightly omits: deposits from outside without
 * enough confirmations, and transfers above the scanner's cursor. A deposit that was credited from
 * an orphaned block counts negative until the scanner notices the reorg. Confirmations count from
 * the scanner's height, because a deposit is credited only once the scanner has seen it ripen. Then
 * its order is due, and the settler credits the deposit in its turn.
 */
function notCreditedYet(
  { deposits, parts, ownTxids, height, final }: StoredChain,
  ahead: ScanAhead,
  asset: ChainAsset,
  purposes: readonly DepositRow['purpose'][],
  isOurs: (address: string) => boolean,
): Big {
  const isGone = ({ block_hash: hash }: DepositRow) => hash !== null && ahead.orphaned.has(hash);
  const amounts: Big[] = [];
  const known = new Set<string>();
  for (const deposit of deposits) {
    if (!isGone(deposit) && (deposit.state === 'mined' || deposit.state === 'credited')) known.add(deposit.key);
    if (!purposes.includes(deposit.purpose) || !asset.currencies.has(assetName(deposit))) continue;
    if (deposit.state === 'credited' && isGone(deposit)) amounts.push(zero.minus(deposit.amount));
    const minedAt = deposit.height ?? 0;
    const isUnripe = height - minedAt + 1 < deposit.required || (final !== null && minedAt > final);
    const mayWait = isUnripe || deposit.is_due;
    if (deposit.state === 'mined' && !isGone(deposit) && mayWait) amounts.push(new Big(deposit.amount));
  }
  for (const { key, txid, address, contract, amount } of ahead.transfers) {
    if (contract !== asset.contract || !isOurs(address) || ownTxids.has(txid)) continue;
    if (known.has(parts.get(key) ?? key)) continue;
    amounts.push(new Big(fromUnits(amount, asset.decimals)));
  }
  return amounts.reduce((total, amount) => total.plus(amount), zero);
}

/** Sums the transfers that the scanner left out because the ledger cannot hold them. */
function leftOut(stored: StoredChain, { contract, decimals }: ChainAsset, isOurs: (address: string) => boolean): Big {
  return stored.leftOut
    .filter((one) => one.contract === contract && isOurs(one.address))
    .reduce((total, { amount }) => total.plus(fromUnits(BigInt(amount), decimals)), zero);
}

/** Changes of holdings that are not in the ledger yet, by asset. */
interface Moved {
  readonly deposits: ReadonlyMap<ChainAsset, Big>;
  readonly hot: ReadonlyMap<ChainAsset, Big>;
  /** Payments with more than one successful transaction. */
  readonly twice: ReadonlySet<string>;
}

/** Finds what our own mined transactions moved before the ledger booked them. */
async function movedUnbooked(
  adapter: ChainAdapter,
  { attempts, spends }: StoredChain,
  assets: readonly ChainAsset[],
): Promise<Moved> {
  const moved = { deposits: new Map<ChainAsset, Big>(), hot: new Map<ChainAsset, Big>() };
  const add = (account: 'deposits' | 'hot', asset: ChainAsset | undefined, amount: Big) => {
    if (asset) moved[account].set(asset, (moved[account].get(asset) ?? zero).plus(amount));
  };
  const native = assets.find(({ contract }) => contract === null);
  for (const { amount, gas, ...spend } of spends) {
    const asset = assets.find(({ currencies }) => currencies.has(assetName(spend)));
    add('hot', asset, zero.minus(amount));
    add('hot', native, zero.minus(gas));
  }
  const paid = new Set<string>();
  const twice = new Set<string>();
  const statuses = await inParallel(attempts, ({ txid, raw, reserves, expires: expiresAt }) =>
    adapter.status({ txid, raw, reserves, expiresAt }),
  );
  for (const [index, attempt] of attempts.entries()) {
    const status = statuses[index];
    if (status?.state !== 'mined') continue;
    // A second success is not in flight: the amount that it took stays a difference.
    if (status.success && paid.has(attempt.payment)) {
      twice.add(attempt.payment);
      continue;
    }
    const payer = attempt.kind === 'sweep' && adapter.traits.sweepFee === 'swept' ? 'deposits' : 'hot';
    if (native) add(payer, native, zero.minus(fromUnits(status.fee, native.decimals)));
    if (!status.success) continue;
    paid.add(attempt.payment);
    const asset = assets.find(({ currencies }) => currencies.has(assetName(attempt)));
    // A sweep of the chain's own coin delivers the amount minus its stated fee, where it pays that.
    const isReduced = payer === 'deposits' && asset === native;
    const amount = new Big(attempt.amount).minus(isReduced ? attempt.fee : '0');
    add(payer, asset, zero.minus(amount));
    if (attempt.kind === 'sweep') add('hot', asset, amount);
    if (attempt.kind === 'gas') add('deposits', asset, amount);
  }
  return { ...moved, twice };
}

/** Reports ledger balances on chains that were not read, and in currencies that no longer exist. */
export async function checkUnreadChains(
  em: EntityManager,
  adapters: ReadonlyMap<string, ChainAdapter>,
  currencies: ReadonlyMap<string, readonly ChainCurrency[]>,
  tally: Tally,
): Promise<void> {
  const seen = new Set(
    [...currencies].flatMap(([chain, assets]) => (adapters.has(chain) ? assets.map(assetName) : [])),
  );
  for (const { account, amount, ...asset } of await ledgerHoldings(em)) {
    if (seen.has(assetName(asset))) continue;
    tally.count(account, 1);
    tally.amounts(account, `${assetName(asset)}${unreadChain}`, zero, amount);
  }
}

async function inParallel<T, R>(items: readonly T[], ask: (item: T) => Promise<R>): Promise<R[]> {
  const answers: R[] = [];
  for (let start = 0; start < items.length; start += width) {
    answers.push(...(await Promise.all(items.slice(start, start + width).map(ask))));
  }
  return answers;
}
