import type { EntityManager, MikroORM } from '@mikro-orm/postgresql';
import { type BlockRef, type ChainAdapter, ChainError, type Cursor, type Transfer } from '../chains/chain-adapter.ts';
import { allNetworks, foreignGasCoins, networkById } from '../chains/networks.ts';
import { Big, formatDecimal, fromUnits } from '../money.ts';

/**
 * What is compared. `deposits` and `hot`: the book with the chains. `chain`: a chain that gave no answer. `clients`: the
 * book with the rows of orders. `rest`: orders that have ended, with zero. `accounts`: the accounts that follow from
 * rows. `venue`: the book with the venue's fills and orders. `trades`: the rows with the venue's fills, and what trades
 * left at an exchange. `book`: the book with zero.
 * `histories`, `addresses`, `payments`: what must hold for every order and every payment.
 */
const reconcileChecks = [
  'chain',
  'deposits',
  'hot',
  'clients',
  'rest',
  'accounts',
  'venue',
  'trades',
  'book',
  'histories',
  'addresses',
  'payments',
] as const;

export type ReconcileCheck = (typeof reconcileChecks)[number];

/**
 * One comparison. Amounts are decimal text with the signs of the book: what we hold is positive, what we owe is
 * negative. `difference` is `expected - in_flight - actual`, or 1 where no amounts are compared.
 */
export interface ReconcileRow {
  readonly check: ReconcileCheck;
  /** An asset ('USDT on TRC20'), or what else is compared. */
  readonly subject: string;
  /** By the chains, the venue or the rows. */
  readonly expected: string;
  /** By the book, or by what is checked. */
  readonly actual: string;
  /** What has happened outside and is rightly not booked yet. */
  readonly in_flight: string;
  readonly difference: string;
}

export interface ReconcileReport {
  /** The totals of each asset, zero or not, and of the rest only what differs. */
  readonly rows: readonly ReconcileRow[];
  /** How many rows differ. */
  readonly differences: number;
  /** How many comparisons each check made. */
  readonly checked: Readonly<Record<ReconcileCheck, number>>;
}

/** An exchange as the venue itself tells of it. Amounts are decimal text. */
export interface VenueFill {
  /** Id of the order. */
  readonly clientId: string;
  readonly sellCoin: string;
  readonly sellAmount: string;
  readonly buyCoin: string;
  readonly bought: string;
}

export interface ReconcileOptions {
  readonly orm: MikroORM;
  /** By chain. What the book holds on a chain without an adapter is a difference: nobody has seen it. */
  readonly adapters: ReadonlyMap<string, ChainAdapter>;
  /** Every fill of the venue in place of the sandbox venue. Trades at exchanges are in the journal of their orders. */
  readonly venueFills?: readonly VenueFill[];
}

/** A balance of the book. */
export interface LedgerBalance {
  readonly account: string;
  readonly coin: string;
  readonly network: string;
  readonly balance: string;
}

/** Holdings that an adapter is asked about at once. */
const batchSize = 500;
/** Questions to an adapter at the same time. */
const width = 4;
/** Blocks that one scan reads. */
const maxBlocks = 10_000;
/** A chain that makes a block while it is read is read again so often. */
const maxReadings = 5;

const zero = new Big('0');

/**
 * Derives every balance anew, from the chains, the venue and the rows of orders, and compares it with the book. Shares
 * no code with what writes the book, so that a mistake there shows here. Changes nothing, and may run beside gateways.
 */
export async function reconcile({ orm, adapters, venueFills }: ReconcileOptions): Promise<ReconcileReport> {
  const tally = new Tally();
  const currencies = await currenciesByChain(orm);
  for (const [chain, assets] of currencies) {
    const adapter = adapters.get(chain);
    if (adapter) await reconcileChain(orm, adapter, assets, tally);
  }
  await inSnapshot(orm, async (em) => {
    await checkUnseen(em, adapters, currencies, tally);
    await checkClients(em, tally);
    await checkRest(em, tally);
    await checkAccounts(em, tally);
    await checkVenue(em, venueFills, tally);
    await checkBook(em, tally);
    await checkHistories(em, tally);
    await checkAddresses(em, tally);
    await checkPayments(em, tally);
  });
  return tally.report();
}

/** Every balance of the book, by account and asset. */
export async function ledgerBalances(orm: MikroORM): Promise<readonly LedgerBalance[]> {
  const rows = await orm.em.fork().execute<LedgerBalance[]>(
    `select account, coin, network, sum(amount)::text as balance from ledger_line
      group by account, coin, network having sum(amount) <> 0 order by account, coin, network`,
  );
  return rows.map(({ balance, ...row }) => ({ ...row, balance: formatDecimal(balance) }));
}

/** The report as a table for people: the rows that have something to say, and a summary. */
export function renderReport({ rows, differences, checked }: ReconcileReport): string {
  const shown = rows.filter(({ expected, actual, in_flight, difference }) =>
    [expected, actual, in_flight, difference].some((value) => value !== '0'),
  );
  const lines = [
    ['check', 'subject', 'expected', 'actual', 'in flight', 'difference'],
    ...shown.map((row) => [row.check, row.subject, row.expected, row.actual, row.in_flight, row.difference]),
  ];
  const widths = lines.reduce<number[]>(
    (most, line) => line.map((cell, column) => Math.max(cell.length, most[column] ?? 0)),
    [],
  );
  const table = lines.map((line) =>
    line
      .map((cell, column) => (column < 2 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0)))
      .join('  ')
      .trimEnd(),
  );
  const checks = Object.values(checked).reduce((sum, count) => sum + count, 0);
  return [...(shown.length > 0 ? table : []), `reconcile: ${checks} checks, ${differences} differences`].join('\n');
}

/** Collects rows and counts. */
class Tally {
  readonly #rows: ReconcileRow[] = [];
  readonly #checked = new Map<ReconcileCheck, number>();

  count(check: ReconcileCheck, comparisons: number): void {
    this.#checked.set(check, (this.#checked.get(check) ?? 0) + comparisons);
  }

  /** Compares amounts. */
  amounts(check: ReconcileCheck, subject: string, expected: Big, actual: Big, inFlight: Big = zero): void {
    this.#rows.push(amountsRow(check, subject, expected, actual, inFlight));
  }

  /** Notes that something is not as it must be. */
  fault(check: ReconcileCheck, subject: string, expected: string, actual: string): void {
    this.#rows.push(faultRow(check, subject, expected, actual));
  }

  add(rows: readonly ReconcileRow[]): void {
    this.#rows.push(...rows);
  }

  report(): ReconcileReport {
    const checked = Object.fromEntries(reconcileChecks.map((check) => [check, this.#checked.get(check) ?? 0]));
    const differences = this.#rows.filter(isDifferent).length;
    const rows = reconcileChecks.flatMap((check) => this.#rows.filter((row) => row.check === check));
    return { rows, differences, checked: checked as Record<ReconcileCheck, number> };
  }
}

function amountsRow(
  check: ReconcileCheck,
  subject: string,
  expected: Big,
  actual: Big,
  inFlight: Big = zero,
): ReconcileRow {
  return {
    check,
    subject,
    expected: plain(expected),
    actual: plain(actual),
    in_flight: plain(inFlight),
    difference: plain(expected.minus(inFlight).minus(actual)),
  };
}

function faultRow(check: ReconcileCheck, subject: string, expected: string, actual: string): ReconcileRow {
  return { check, subject, expected, actual, in_flight: '0', difference: '1' };
}

function isDifferent({ difference }: ReconcileRow): boolean {
  return difference !== '0';
}

function plain(value: Big): string {
  return value.eq(zero) ? '0' : formatDecimal(value);
}

function sum(values: Iterable<Big>): Big {
  return [...values].reduce((total, value) => total.plus(value), zero);
}

/** Reads the database as it is at one moment. Whole tables are read, for which a request's limits are too small. */
function inSnapshot<T>(orm: MikroORM, read: (em: EntityManager) => Promise<T>): Promise<T> {
  return orm.em.fork().transactional(
    async (em) => {
      await em.execute(
        `select set_config('statement_timeout', '10min', true), set_config('work_mem', '64MB', true),
                set_config('jit', 'off', true)`,
      );
      return read(em);
    },
    { isolationLevel: 'repeatable read', readOnly: true },
  );
}

async function inParallel<T, R>(items: readonly T[], ask: (item: T) => Promise<R>): Promise<R[]> {
  const answers: R[] = [];
  for (let start = 0; start < items.length; start += width) {
    answers.push(...(await Promise.all(items.slice(start, start + width).map(ask))));
  }
  return answers;
}

/** A currency where it is on a chain. */
interface ChainCurrency {
  readonly coin: string;
  readonly network: string;
  readonly contract: string | null;
  readonly decimals: number;
}

async function currenciesByChain(orm: MikroORM): Promise<Map<string, ChainCurrency[]>> {
  const rows = await orm.em
    .fork()
    .execute<ChainCurrency[]>('select coin, network, contract, decimals from currency order by coin, network');
  const byChain = Map.groupBy(rows, ({ network }) => networkById(network)?.chain ?? '');
  for (const [chain, { coin, network, decimals }] of Object.entries(foreignGasCoins)) {
    byChain.get(chain)?.push({ coin, network, contract: null, decimals });
  }
  return byChain;
}

function assetName({ coin, network }: { coin: string; network: string }): string {
  return `${coin} on ${network}`;
}

/** One asset of a chain; several currencies may be the same one. */
interface ChainAsset {
  readonly contract: string | null;
  readonly decimals: number;
  readonly name: string;
  readonly currencies: ReadonlySet<string>;
}

function chainAssets(currencies: readonly ChainCurrency[]): ChainAsset[] {
  return [...Map.groupBy(currencies, ({ contract }) => contract)].map(([contract, group]) => ({
    contract,
    decimals: group[0]?.decimals ?? 0,
    name: group.map(assetName).join(', '),
    currencies: new Set(group.map(assetName)),
  }));
}

/** Asks one chain, again while it moves on under the reading. A chain that does not answer is told of, and no more. */
async function reconcileChain(
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
      const { rows, isSteady } = await readChain(orm, adapter, assets);
      if (!isSteady && rows.some(isDifferent) && reading < maxReadings) continue;
      tally.add(rows);
      return;
    }
  } catch (error) {
    if (!(error instanceof ChainError)) throw error;
    tally.fault('chain', adapter.chain, 'an answer', `${error.code}: ${error.message}`);
  }
}

/** What the scanner stored of a chain. */
interface ScannerState {
  readonly version: string;
  readonly height: number;
  /** Null where the chain itself does not say what is final. */
  readonly final: number | null;
  readonly cursor_blocks: BlockRef[];
}

const stateSql = `select version::text as version, height::int as height, final_height::int as final, cursor_blocks
    from chain_state where chain = ?`;

/** What is on a chain above the scanner's cursor, up to the chain's head. */
interface Ahead {
  readonly orphaned: ReadonlySet<string>;
  readonly transfers: readonly Transfer[];
  readonly head: string;
}

async function scanAhead(adapter: ChainAdapter, state: ScannerState | undefined): Promise<Ahead> {
  const orphaned = new Set<string>();
  const blocks = new Map<string, readonly Transfer[]>();
  const isBegun = state !== undefined && state.cursor_blocks.length > 0;
  let cursor: Cursor = isBegun ? { window: state.cursor_blocks } : await adapter.start(adapter.startHeight);
  for (;;) {
    const result = await adapter.scan(cursor, maxBlocks);
    // A block of an earlier turn may be gone in a later one.
    for (const { hash } of result.orphaned) if (!blocks.delete(hash)) orphaned.add(hash);
    for (const { ref, transfers } of result.blocks) blocks.set(ref.hash, transfers);
    cursor = result.cursor;
    const top = cursor.window.at(-1);
    if (!top || top.height >= result.head || result.blocks.length === 0) {
      return { orphaned, transfers: [...blocks.values()].flat(), head: top?.hash ?? '' };
    }
  }
}

interface DepositRow {
  readonly key: string;
  readonly purpose: 'order' | 'funding';
  readonly coin: string | null;
  readonly network: string | null;
  readonly amount: string;
  readonly state: 'mempool' | 'mined' | 'credited' | 'orphaned';
  readonly height: number | null;
  readonly block_hash: string | null;
  readonly required: number;
}

interface AttemptRow {
  readonly payment: string;
  readonly kind: 'payout' | 'refund' | 'sweep' | 'gas';
  /** What the transaction states, in the chain's own coin. */
  readonly fee: string;
  readonly coin: string;
  readonly network: string;
  readonly amount: string;
  readonly txid: string;
  readonly raw: string;
  readonly reserves: string[];
  readonly expires_at: number | null;
}

async function readChain(
  orm: MikroORM,
  adapter: ChainAdapter,
  assets: readonly ChainAsset[],
): Promise<{ rows: ReconcileRow[]; isSteady: boolean }> {
  const { chain } = adapter;
  const [before] = await orm.em.fork().execute<ScannerState[]>(stateSql, [chain]);
  const ahead = await scanAhead(adapter, before);
  const stored = await inSnapshot(orm, (em) => readStored(em, chain, ahead, assets));
  const hotWallet = await adapter.hotWallet();
  const moved = await movedUnbooked(adapter, stored.attempts, assets);
  const rows: ReconcileRow[] = [];
  for (const asset of assets) {
    const held = await heldByAddresses(adapter, stored.addresses, asset);
    const arriving = notCreditedYet(stored, ahead, asset, 'order', (address) => stored.addresses.has(address));
    const inFlight = arriving.plus(moved.deposits.get(asset) ?? zero);
    rows.push(amountsRow('deposits', asset.name, held, stored.balance('deposits', asset), inFlight));
  }
  for (const asset of assets) {
    const [units] = await adapter.balances([hotWallet], asset.contract);
    const held = new Big(fromUnits(units ?? 0n, asset.decimals));
    const arriving = notCreditedYet(stored, ahead, asset, 'funding', (address) => address === hotWallet.address);
    const inFlight = arriving.plus(moved.hot.get(asset) ?? zero);
    rows.push(amountsRow('hot', asset.name, held, stored.balance('hot', asset), inFlight));
  }
  for (const payment of moved.twice) {
    rows.push(faultRow('payments', `payment ${payment} on ${chain}`, '1 success', 'more'));
  }
  const isSteady = before?.version === stored.version && (await adapter.head()).hash === ahead.head;
  return { rows, isSteady };
}

/** What the database knows of a chain, at one moment. */
interface Stored {
  readonly version: string | undefined;
  readonly height: number;
  readonly final: number | null;
  readonly addresses: ReadonlySet<string>;
  readonly deposits: readonly DepositRow[];
  readonly attempts: readonly AttemptRow[];
  /** Transactions of our own among those above the cursor: they bring nothing from outside. */
  readonly ownTxids: ReadonlySet<string>;
  balance(account: 'deposits' | 'hot', asset: ChainAsset): Big;
}

async function readStored(
  em: EntityManager,
  chain: string,
  ahead: Ahead,
  assets: readonly ChainAsset[],
): Promise<Stored> {
  const networks = allNetworks().filter((network) => network.chain === chain);
  const keychains = JSON.stringify([...new Set(networks.map(({ keychain }) => keychain))]);
  const [state] = await em.execute<ScannerState[]>(stateSql, [chain]);
  const addresses = await em.execute<{ address: string }[]>(
    `select address from deposit_address
      where leased_at is not null and keychain in (select jsonb_array_elements_text(?::jsonb))
     union
     select shared_address from deposit_account
      where shared_address is not null and keychain in (select jsonb_array_elements_text(?::jsonb))`,
    [keychains, keychains],
  );
  const deposits = await em.execute<DepositRow[]>(
    `select key, purpose, coin, network, amount::text as amount, state, height::int as height, block_hash,
            confirmations_required as required
       from deposit
      where chain = ? and (state = 'mined'
         or key in (select jsonb_array_elements_text(?::jsonb))
         or block_hash in (select jsonb_array_elements_text(?::jsonb)))`,
    [chain, JSON.stringify(ahead.transfers.map(({ key }) => key)), JSON.stringify([...ahead.orphaned])],
  );
  const attempts = await em.execute<AttemptRow[]>(
    `select p.id as payment, p.kind, a.fee::text as fee, p.coin, p.network, p.amount::text as amount, a.txid, a.raw,
            to_jsonb(a.reserves) as reserves, a.expires_at_height::int as expires_at
       from payment p join payment_attempt a on a.payment_id = p.id
      where p.chain = ? and p.state not in ('confirmed', 'dead') and a.raw is not null
        and not exists (select 1 from ledger_transaction x
                         where x.kind = 'payment_fee' and x.reference = p.id || ':' || a.attempt)
      order by p.id, a.attempt`,
    [chain],
  );
  const balances = await em.execute<{ account: string; coin: string; network: string; amount: string }[]>(
    `select account, coin, network, sum(amount)::text as amount from ledger_line
      where account in ('deposits', 'hot') and network in (select jsonb_array_elements_text(?::jsonb))
      group by account, coin, network`,
    [JSON.stringify(networks.map(({ id }) => id))],
  );
  const txids = await em.execute<{ txid: string }[]>(
    'select txid from payment_attempt where chain = ? and txid in (select jsonb_array_elements_text(?::jsonb))',
    [chain, JSON.stringify([...new Set(ahead.transfers.map(({ txid }) => txid))])],
  );
  const own = new Set(assets.flatMap(({ currencies }) => [...currencies]));
  return {
    version: state?.version,
    height: state?.height ?? 0,
    final: state?.final ?? null,
    addresses: new Set(addresses.map(({ address }) => address)),
    deposits: deposits.filter(({ coin, network }) => own.has(`${coin} on ${network}`)),
    attempts,
    ownTxids: new Set(txids.map(({ txid }) => txid)),
    balance: (account, { currencies }) =>
      sum(
        balances
          .filter((row) => row.account === account && currencies.has(assetName(row)))
          .map(({ amount }) => new Big(amount)),
      ),
  };
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
    if (deposit.purpose !== purpose || !asset.currencies.has(`${deposit.coin} on ${deposit.network}`)) continue;
    if (deposit.state === 'credited' && isGone(deposit)) amounts.push(zero.minus(deposit.amount));
    const minedAt = deposit.height ?? 0;
    const isUnripe = height - minedAt + 1 < deposit.required || (final !== null && minedAt > final);
    if (deposit.state === 'mined' && !isGone(deposit) && isUnripe) amounts.push(new Big(deposit.amount));
  }
  for (const { key, txid, address, contract, amount } of ahead.transfers) {
    if (contract !== asset.contract || !isOurs(address) || known.has(key) || ownTxids.has(txid)) continue;
    amounts.push(new Big(fromUnits(amount, asset.decimals)));
  }
  return sum(amounts);
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
async function checkUnseen(
  em: EntityManager,
  adapters: ReadonlyMap<string, ChainAdapter>,
  currencies: ReadonlyMap<string, readonly ChainCurrency[]>,
  tally: Tally,
): Promise<void> {
  const seen = new Set(
    [...currencies].flatMap(([chain, assets]) => (adapters.has(chain) ? assets.map(assetName) : [])),
  );
  const rows = await em.execute<{ account: 'deposits' | 'hot'; coin: string; network: string; amount: string }[]>(
    `select account, coin, network, sum(amount)::text as amount from ledger_line
      where account in ('deposits', 'hot') group by account, coin, network having sum(amount) <> 0`,
  );
  for (const { account, amount, ...asset } of rows) {
    if (seen.has(assetName(asset))) continue;
    tally.count(account, 1);
    tally.amounts(account, `${assetName(asset)}, which no chain was asked about`, zero, new Big(amount));
  }
}

/**
 * What was exchanged of no deposit and was too small to send back. That it was given up is only in the book; how much
 * it must have been is in the rows.
 */
const unclaimedSql = `
  select d.order_id, d.coin, d.network,
         d.amount - coalesce(case when o.deposit_id = d.id and t.state = 'filled' then t.amount_from end, 0) as amount
    from ledger_transaction x
    join deposit d on d.id::text = x.reference
    left join exchange_order o on o.id = d.order_id
    left join trade t on t.order_id = d.order_id
   where x.kind = 'unclaimed'`;

interface TotalRow {
  readonly coin: string;
  readonly network: string;
  readonly expected: string;
  readonly actual: string;
}

/** What each user is owed. */
async function checkClients(em: EntityManager, tally: Tally): Promise<void> {
  const rows = await em.execute<(TotalRow & { order_name: string | null; balances: number })[]>(
    `with change as (
       select order_id, coin, network, -amount as expected, 0::numeric as actual
         from deposit where state = 'credited' and order_id is not null
       union all
       select order_id, coin_from, network_from, amount_from, 0 from trade where state = 'filled'
       union all
       select order_id, coin_to, network_to, -amount_to, 0 from trade where state = 'filled'
       union all
       select order_id, coin, network, amount + case when kind = 'refund' then fee_charged else 0 end, 0
         from payment where state = 'confirmed' and order_id is not null
       union all
       select order_id, coin, network, amount, 0 from (${unclaimedSql}) as unclaimed
       union all
       select x.order_id, l.coin, l.network, 0, l.amount
         from ledger_line l join ledger_transaction x on x.id = l.transaction_id where l.account = 'client'
     ), owed as materialized (
       select order_id, coin, network, sum(expected) as expected, sum(actual) as actual
         from change group by order_id, coin, network
     )
     select null as order_name, coin, network, sum(expected)::text as expected, sum(actual)::text as actual,
            count(*)::int as balances
       from owed group by coin, network
     union all
     select coalesce(o.short_id, owed.order_id::text, 'no order'), owed.coin, owed.network, owed.expected::text,
            owed.actual::text, 0
       from owed left join exchange_order o on o.id = owed.order_id where owed.expected <> owed.actual
     order by order_name nulls first, coin, network`,
  );
  for (const { order_name: order, balances, expected, actual, ...asset } of rows) {
    tally.count('clients', balances);
    const subject = order === null ? assetName(asset) : `${order}, ${assetName(asset)}`;
    tally.amounts('clients', subject, new Big(expected), new Big(actual));
  }
}

/**
 * Orders that have ended owe nothing but what waits to be sent back beside them: extra deposits, and remainders whose
 * refund is under way or which staff decide about. A deposit that was used and then reorganised away is owed to us, for
 * good if it never returns: a loss that the deposit itself shows, and no difference.
 */
async function checkRest(em: EntityManager, tally: Tally): Promise<void> {
  const [count] = await em.execute<{ orders: number }[]>(
    `select count(*)::int as orders from exchange_order where status in ('completed', 'refunded')`,
  );
  tally.count('rest', count?.orders ?? 0);
  const rows = await em.execute<(TotalRow & { order_name: string })[]>(
    `with ended as materialized (
       select id, short_id, deposit_id from exchange_order where status in ('completed', 'refunded')
     ), settled as materialized (
       select deposit_id, leg from payment where state = 'confirmed' and deposit_id is not null
       union all
       select d.id, case when o.deposit_id = d.id then 'excess' else 'main' end
         from ledger_transaction x
         join deposit d on d.id::text = x.reference left join exchange_order o on o.id = d.order_id
        where x.kind = 'unclaimed'
     ), change as (
       select x.order_id, l.coin, l.network, 0::numeric as expected, l.amount as actual
         from ledger_line l join ledger_transaction x on x.id = l.transaction_id
        where l.account = 'client' and x.order_id is not null
       union all
       select d.order_id, d.coin, d.network, -d.amount, 0
         from deposit d join ended o on o.id = d.order_id and o.deposit_id is distinct from d.id
        where d.state = 'credited'
          and not exists (select 1 from settled s where s.deposit_id = d.id and s.leg = 'main')
       union all
       select d.order_id, d.coin, d.network, t.amount_from - d.amount, 0
         from ended o
         join deposit d on d.id = o.deposit_id and d.state = 'credited'
         join trade t on t.order_id = o.id and t.state in ('filled', 'unwound') and t.amount_from < d.amount
        where not exists (select 1 from settled s where s.deposit_id = d.id and s.leg = 'excess')
          and (d.problem is not null
               or exists (select 1 from payment p where p.deposit_id = d.id and p.leg = 'excess'))
       union all
       select d.order_id, d.coin, d.network,
              case when t.amount_from < d.amount
                        and not exists (select 1 from settled s where s.deposit_id = d.id and s.leg = 'excess')
                   then t.amount_from else d.amount end, 0
         from ended o join deposit d on d.order_id = o.id
         left join trade t on t.order_id = o.id and o.deposit_id = d.id and t.state in ('filled', 'unwound')
        where d.state <> 'credited' and d.credited_at is not null
          and exists (select 1 from settled s where s.deposit_id = d.id and s.leg = 'main')
     )
     select o.short_id as order_name, c.coin, c.network, sum(c.expected)::text as expected,
            sum(c.actual)::text as actual
       from change c join ended o on o.id = c.order_id
      group by o.short_id, c.coin, c.network having sum(c.expected) <> sum(c.actual)
      order by o.short_id, c.coin, c.network`,
  );
  for (const { order_name: order, expected, actual, ...asset } of rows) {
    tally.amounts('rest', `${order}, ${assetName(asset)}`, new Big(expected), new Big(actual));
  }
}

/**
 * Trades at exchanges, from the journal of their orders. `exchange_moved`: what the account moved, of each coin. `exchange_said`:
 * what the order's own exchange makes of it. `exchange_cash`: what is left between the two once a trade is over, where
 * a coin that the order does not name stands on the venue.
 */
const exchangeTrades = `
  exchange_moved as materialized (
    select o.client_id, o.leg = 'sale' as is_sale, c.coin, sum(c.amount) as amount
      from venue_order o
      cross join lateral (
        select o.base as coin, case o.side when 'buy' then o.filled else -o.filled end as amount
        union all
        select o.quote, case o.side when 'buy' then -o.cost else o.cost end
        union all
        select fee ->> 'coin', -(fee ->> 'amount')::numeric from jsonb_array_elements(o.fees) as fee
      ) as c
     where o.state = 'closed' group by 1, 2, 3
  ), exchange_said as (
    select client_id, sell_coin as coin, -sell_amount as amount from venue_trade where outcome = 'filled'
    union all
    select client_id, buy_coin, bought from venue_trade where outcome = 'filled'
  ), exchange_cash as (
    select v.client_id, c.coin, case c.coin when t.coin_from then t.network_from when t.coin_to then t.network_to
                                            else v.venue end as network, sum(c.amount) as amount
      from venue_trade v
      join (select client_id, coin, amount from exchange_moved
            union all
            select client_id, coin, -amount from exchange_said) as c on c.client_id = v.client_id
      left join trade t on t.order_id = v.client_id
     where v.outcome = 'rejected' or v.squared_at is not null
     group by 1, 2, 3
  )`;

/** The accounts that follow from rows alone. */
async function checkAccounts(em: EntityManager, tally: Tally): Promise<void> {
  const rows = await em.execute<(TotalRow & { account: string })[]>(
    `with ${exchangeTrades}, change as (
       select 'suspense' as account, coin, network, -amount as expected, 0::numeric as actual
         from deposit where state = 'credited' and order_id is null and purpose = 'order'
       union all
       select 'suspense', coin, network, amount + fee_charged, 0
         from payment where state = 'confirmed' and order_id is null and kind = 'refund'
       union all
       select 'service_fee', coin_to, network_to, -service_fee, 0 from trade where state = 'filled'
       union all
       select 'network_fee', coin_to, network_to, -network_fee, 0 from trade where state = 'filled'
       union all
       select 'network_fee', coin, network, -fee_charged, 0 from payment where state = 'confirmed' and kind = 'refund'
       union all
       select 'trading', coin_to, network_to, amount_to + service_fee + network_fee - bought, 0
         from trade where state = 'filled'
       union all
       select 'trading', coin_to, network_to, -bought, 0 from trade where state = 'unwound'
       union all
       select 'trading', coin_from, network_from, amount_from, 0 from trade where state = 'unwound'
       union all
       select 'trading', coin, network, -amount, 0 from exchange_cash
       union all
       select 'unclaimed', coin, network, -amount, 0 from (${unclaimedSql}) as unclaimed
       union all
       select account, coin, network, 0, amount from ledger_line
        where account in ('suspense', 'service_fee', 'network_fee', 'trading', 'unclaimed')
     )
     select account, coin, network, sum(expected)::text as expected, sum(actual)::text as actual
       from change group by account, coin, network order by account, coin, network`,
  );
  tally.count('accounts', rows.length);
  for (const { account, expected, actual, ...asset } of rows) {
    tally.amounts('accounts', `${account}, ${assetName(asset)}`, new Big(expected), new Big(actual));
  }
}

interface VenueRow {
  readonly subject: string;
  readonly expected: string;
  readonly actual: string;
  readonly in_flight: string;
}

/**
 * Our balance with the venue, and each trade with its fill. A fill whose trade still waits for the answer is in flight:
 * the venue will give the same answer when it is asked again. At an exchange, so is all that the orders of a trade have
 * moved before it is decided, and what they moved beyond its fill before it is squared.
 */
async function checkVenue(
  em: EntityManager,
  venueFills: readonly VenueFill[] | undefined,
  tally: Tally,
): Promise<void> {
  const fills = venueFills
    ? `select "clientId" as client_id, "sellCoin" as sell_coin, "sellAmount" as sell_amount, "buyCoin" as buy_coin, bought
         from jsonb_to_recordset(?::jsonb)
              as f ("clientId" text, "sellCoin" text, "sellAmount" numeric, "buyCoin" text, bought numeric)`
    : 'select client_id, sell_coin, sell_amount, buy_coin, bought from sandbox_fill';
  const values = venueFills ? [JSON.stringify(venueFills)] : [];
  const filled = `with ${exchangeTrades}, fill as (${fills}), fill_line as (
       select client_id, buy_coin as coin, bought as amount from fill
       union all
       select client_id, sell_coin, -sell_amount from fill
     ), venue as (
       select f.client_id, f.coin, f.amount, case when t.state = 'intended' then f.amount else 0 end as in_flight
         from fill_line f left join trade t on t.order_id::text = f.client_id
     )`;
  const coins = await em.execute<VenueRow[]>(
    `${filled}, change as (
       select coin, amount as expected, 0::numeric as actual, in_flight from venue
       union all
       select m.coin, m.amount, 0,
              case when v.outcome = 'filled' and v.squared_at is null then m.amount
                   when v.outcome is null and t.state = 'intended' then m.amount else 0 end
         from exchange_moved m
         join venue_trade v on v.client_id = m.client_id
         left join trade t on t.order_id = m.client_id
       union all
       select s.coin, 0, 0, case when v.squared_at is null and t.state is distinct from 'intended' then -s.amount
                                 when v.squared_at is not null and t.state = 'intended' then s.amount else 0 end
         from exchange_said s
         join venue_trade v on v.client_id = s.client_id
         left join trade t on t.order_id = s.client_id
       union all
       select coin, 0, amount, 0 from ledger_line where account = 'venue'
     )
     select coin as subject, sum(expected)::text as expected, sum(actual)::text as actual,
            sum(in_flight)::text as in_flight
       from change group by coin order by coin`,
    values,
  );
  tally.count('venue', coins.length);
  const [count] = await em.execute<{ trades: number }[]>(
    `select (select count(*) from trade where state in ('filled', 'unwound'))::int
            + (select count(*) from venue_trade where outcome = 'rejected' or squared_at is not null)::int as trades`,
  );
  tally.count('trades', count?.trades ?? 0);
  // At an exchange, what was bought is what the orders before the sale brought: by them, not by what the trade says.
  const trades = await em.execute<VenueRow[]>(
    `${filled}, exchange_fill as (
       select client_id, sell_coin as coin, -sell_amount as amount from venue_trade where outcome = 'filled'
       union all
       select client_id, buy_coin, sell_amount from venue_trade where outcome = 'filled' and sell_coin = buy_coin
       union all
       select v.client_id, v.buy_coin, m.amount
         from venue_trade v
         join exchange_moved m on m.client_id = v.client_id and m.coin = v.buy_coin and not m.is_sale
        where v.outcome = 'filled' and v.sell_coin <> v.buy_coin
     ), change as (
       select client_id, coin, null as network, amount as expected, 0::numeric as actual, in_flight from venue
       union all
       select f.client_id::text, f.coin, null, f.amount, 0, case when t.state = 'intended' then f.amount else 0 end
         from exchange_fill f left join trade t on t.order_id = f.client_id
       union all
       select order_id::text, coin_to, null, 0, bought, 0 from trade where state in ('filled', 'unwound')
       union all
       select order_id::text, coin_from, null, 0, -amount_from, 0 from trade where state in ('filled', 'unwound')
       union all
       select client_id::text, coin, network, amount, 0, 0 from exchange_cash
       union all
       select x.reference, l.coin, l.network, 0, l.amount, 0
         from ledger_line l join ledger_transaction x on x.id = l.transaction_id
        where l.account = 'venue' and x.kind = 'venue_cash'
     ), differing as (
       select client_id, coin, network, sum(expected) as expected, sum(actual) as actual, sum(in_flight) as in_flight
         from change group by client_id, coin, network having sum(expected) - sum(in_flight) <> sum(actual)
     )
     select coalesce(o.short_id, d.client_id) || ', ' || d.coin || coalesce(' on ' || d.network || ', left', '') as subject,
            d.expected::text as expected, d.actual::text as actual, d.in_flight::text as in_flight
       from differing d left join exchange_order o on o.id::text = d.client_id order by subject`,
    values,
  );
  for (const [check, rows] of [['venue', coins] as const, ['trades', trades] as const]) {
    for (const { subject, expected, actual, in_flight: inFlight } of rows) {
      tally.amounts(check, subject, new Big(expected), new Big(actual), new Big(inFlight));
    }
  }
}

/** Every transaction, and so the whole book, sums to zero in each asset. */
async function checkBook(em: EntityManager, tally: Tally): Promise<void> {
  const totals = await em.execute<{ coin: string; network: string; amount: string }[]>(
    `select coin, network, sum(amount)::text as amount from ledger_line group by coin, network order by coin, network`,
  );
  const uneven = await em.execute<{ coin: string; network: string; amount: string; name: string }[]>(
    `select x.kind || ' ' || x.reference as name, u.coin, u.network, u.amount::text as amount
       from (select transaction_id, coin, network, sum(amount) as amount from ledger_line
              group by transaction_id, coin, network having sum(amount) <> 0) u
       join ledger_transaction x on x.id = u.transaction_id order by name`,
  );
  tally.count('book', totals.length);
  for (const { amount, ...asset } of totals) tally.amounts('book', assetName(asset), zero, new Big(amount));
  for (const { amount, name, ...asset } of uneven) {
    tally.amounts('book', `${name}, ${assetName(asset)}`, zero, new Big(amount));
  }
}

interface FaultRow {
  readonly subject: string;
  readonly expected: string;
  readonly actual: string;
}

function addFaults(tally: Tally, check: ReconcileCheck, rows: readonly FaultRow[]): void {
  for (const { subject, expected, actual } of rows) tally.fault(check, subject, expected, actual);
}

/** Each order's events follow one another without a gap, and the order stands where the last one says. */
async function checkHistories(em: EntityManager, tally: Tally): Promise<void> {
  const [count] = await em.execute<{ orders: number }[]>('select count(*)::int as orders from exchange_order');
  tally.count('histories', count?.orders ?? 0);
  const rows = await em.execute<FaultRow[]>(
    `with numbered as (
       select order_id, seq, from_status, to_status, row_number() over story as number,
              lag(to_status) over story as before
         from order_event window story as (partition by order_id order by seq)
     ), history as materialized (
       select n.order_id, count(*) as events, max(n.seq) as last,
              count(*) filter (where n.seq <> n.number or n.from_status is distinct from n.before
                                  or (n.number = 1 and n.to_status <> 'waiting_deposit')
                                  or (n.number > 1 and e.to_status is null)) as breaks
         from numbered n
         left join order_status_edge e on e.from_status = n.from_status and e.to_status = n.to_status
        group by n.order_id
     )
     select o.short_id || ', events' as subject, o.event_seq || ' in a row' as expected,
            coalesce(h.events, 0) || ', ' || coalesce(h.breaks, 0) || ' out of place' as actual
       from exchange_order o left join history h on h.order_id = o.id
      where h.order_id is null or h.breaks > 0 or h.last <> o.event_seq or h.events <> o.event_seq
     union all
     select o.short_id || ', status', coalesce(e.to_status, 'none'), o.status
       from exchange_order o
       left join history h on h.order_id = o.id
       left join order_event e on e.order_id = o.id and e.seq = h.last
      where e.to_status is distinct from o.status
     order by subject`,
  );
  addFaults(tally, 'histories', rows);
}

/** Each order has a deposit address, and no other order has the same. */
async function checkAddresses(em: EntityManager, tally: Tally): Promise<void> {
  const [count] = await em.execute<{ orders: number }[]>('select count(*)::int as orders from exchange_order');
  tally.count('addresses', count?.orders ?? 0);
  const rows = await em.execute<FaultRow[]>(
    `select short_id || ', deposit address' as subject, '1 order' as expected,
            case when address is null then 'no address' when leased_at is null then 'not given out'
                 else orders || ' orders' end as actual
       from (select o.short_id, a.address, a.leased_at, count(*) over (partition by a.address, a.tag) as orders
               from exchange_order o left join deposit_address a on a.id = o.deposit_address_id) as used
      where address is null or leased_at is null or orders > 1 order by short_id`,
  );
  addFaults(tally, 'addresses', rows);
}

/** A payment succeeds once, and a leg of a deposit is paid once. */
async function checkPayments(em: EntityManager, tally: Tally): Promise<void> {
  const [count] = await em.execute<{ payments: number }[]>('select count(*)::int as payments from payment');
  tally.count('payments', count?.payments ?? 0);
  const rows = await em.execute<FaultRow[]>(
    `select 'payment ' || p.id || ', ' || p.state as subject,
            case p.state when 'confirmed' then '1 success' when 'dead' then '0 successes' else '0 or 1 successes' end
              as expected,
            count(a.attempt)::text as actual
       from payment p
       left join payment_attempt a on a.payment_id = p.id and a.mined_height is not null and a.dead_at is null
      group by p.id, p.state
     having count(a.attempt) > 1 or (p.state = 'confirmed' and count(a.attempt) <> 1)
         or (p.state = 'dead' and count(a.attempt) > 0)
     union all
     select 'deposit ' || deposit_id || ', ' || leg, '1 payment', count(*)::text
       from payment where state = 'confirmed' and deposit_id is not null
      group by deposit_id, leg having count(*) > 1
     order by subject`,
  );
  addFaults(tally, 'payments', rows);
}
