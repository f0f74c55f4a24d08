import type { EntityManager } from '@mikro-orm/postgresql';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import { sql } from '../../base/db/sql.ts';
import { networkById } from '../../chains/networks/networks.ts';
import type { FoundOutput, FoundSpend } from '../../chains/own-outputs.ts';
import type { BlockRef, ChainAdapter, ScanResult, Transfer } from '../../chains/port/chain-adapter.ts';
import type { CurrencyCatalogue } from '../../market/currencies/currency-catalogue.ts';
import type { DepositPurpose } from '../rows/deposit.entity.ts';

/** A transfer and its block. The block is null while the transfer is in the mempool. */
export interface SeenTransfer {
  readonly transfer: Transfer;
  readonly block: BlockRef | null;
}

/** The owner of an address of the gateway. */
interface Target {
  readonly purpose: DepositPurpose;
  readonly orderId: string | null;
  /** Index of a deposit address. Null for the hot wallet and for shared addresses. */
  readonly index: number | null;
  /** Confirmations that the order requires on its own chain. */
  readonly required: number | null;
  readonly orderNetwork: string | null;
}

/** A transfer to one of the gateway's addresses. */
export interface OwnTransfer extends SeenTransfer {
  readonly target: Target;
}

/** A transfer that brings coins from outside. */
export interface Arrival extends OwnTransfer {
  readonly asset: { readonly coin: string; readonly network: string; readonly decimals: number };
  readonly confirmationsRequired: number;
  /** The transfers of a payment in several outputs. Absent for one transfer. */
  readonly parts?: readonly Arrival[];
}

/** Addresses that one query looks up. */
const lookUpBatch = 10_000;

/** Selects the transfers to the gateway's addresses, each with the order of its address. */
export async function ownTransfers(
  em: EntityManager,
  adapter: ChainAdapter,
  sightings: readonly SeenTransfer[],
): Promise<OwnTransfer[]> {
  const seen = sightings.filter(({ transfer }) => transfer.amount > 0n);
  if (seen.length === 0) return [];
  const targets = new Map<string, Target>();
  for (let start = 0; start < seen.length; start += lookUpBatch) {
    const batch = seen.slice(start, start + lookUpBatch).map(({ transfer }) => transfer);
    for (const [name, target] of await lookUp(em, batch)) targets.set(name, target);
  }
  const hot = await adapter.hotWallet();
  // A wallet with a tag is the address of deposits, where any other tag names an order or none.
  if (hot.tag !== null) targets.set(`${hot.address} `, unassigned);
  targets.set(`${hot.address} ${hot.tag ?? ''}`, { ...unassigned, purpose: 'funding' });
  return seen.flatMap(({ transfer, block }) => {
    const { address, tag, doubt } = transfer;
    // An unshared address takes a transfer with any tag. A transfer to a shared address without a
    // known tag belongs to no order.
    const target = targets.get(`${address} ${tag ?? ''}`) ?? targets.get(`${address} `);
    if (!target) return [];
    const isWallet = target.purpose === 'funding' && !adapter.traits.paysFromDeposits;
    // Its kind proves nothing about the purpose of its tag.
    const belongsToNone = doubt === 'unusual_kind' && !isWallet;
    return [{ transfer, block, target: belongsToNone ? { ...unassigned, index: target.index } : target }];
  });
}

/** The target of a transfer that belongs to no order and is no funding. */
const unassigned: Target = { purpose: 'order', orderId: null, index: null, required: null, orderNetwork: null };

/**
 * Selects the transfers of known assets that bring coins from outside. Transfers of our own
 * payments (change, sweeps, gas) are omitted.
 */
export async function findArrivals(
  em: EntityManager,
  catalogue: CurrencyCatalogue,
  chain: string,
  own: readonly OwnTransfer[],
): Promise<Arrival[]> {
  if (own.length === 0) return [];
  const rows = await sql<{ txid: string }>(
    em,
    'select txid from payment_attempt where chain = ? and txid in (select jsonb_array_elements_text(?::jsonb))',
    [chain, JSON.stringify([...new Set(own.map(({ transfer }) => transfer.txid))])],
  );
  const ours = new Set(rows.map(({ txid }) => txid));
  return own.flatMap((sighting) => {
    const { transfer, target } = sighting;
    if (ours.has(transfer.txid)) return [];
    const currency = catalogue.asset(chain, transfer.contract);
    // Fee coins belong in the ledger even where the catalogue has no such currency.
    const gas = target.purpose === 'funding' && transfer.contract === null ? catalogue.gasCoin(chain) : undefined;
    const asset = currency ?? gas;
    if (!asset) return [];
    // The order's requirement is for its own chain; chains of one family share addresses.
    const isOfChain = networkById(target.orderNetwork ?? '')?.chain === chain;
    const confirmationsRequired = (isOfChain ? target.required : null) ?? currency?.minConfirmations ?? 1;
    return [{ ...sighting, asset, confirmationsRequired }];
  });
}

/**
 * The keys of outputs with which a transaction, signed by hand, gave change back to the hot wallet:
 * it spends outputs of the hot wallet. They bring no coins from outside.
 *
 * @param spends the outputs that the scanned blocks spend, ours or not.
 */
export async function changeByHand(
  em: EntityManager,
  chain: string,
  own: readonly OwnTransfer[],
  spends: readonly FoundSpend[],
): Promise<ReadonlySet<string>> {
  const toHot = own.filter(({ block, target }) => block !== null && target.purpose === 'funding');
  const txids = new Set(toHot.map(({ transfer }) => transfer.txid));
  const inputs = spends.filter(({ txid }) => txids.has(txid));
  if (inputs.length === 0) return new Set();
  const rows = await sql<{ key: string }>(
    em,
    `select key from own_output
      where chain = ? and index is null and key in (select jsonb_array_elements_text(?::jsonb))`,
    [chain, JSON.stringify(inputs.map(({ key }) => key))],
  );
  // An output may be made and spent in the same scan.
  const hot = new Set([...rows.map(({ key }) => key), ...toHot.map(({ transfer }) => transfer.key)]);
  const byHand = new Set(inputs.filter(({ key }) => hot.has(key)).map(({ txid }) => txid));
  return new Set(
    toHot
      .map(({ transfer }) => transfer)
      .filter(({ txid }) => byHand.has(txid))
      .map(({ key }) => key),
  );
}

/**
 * Removes arrivals that a mempool showed and that are no arrivals after all. Left behind, they
 * would keep their outputs from being spent.
 */
export async function forgetFunding(em: EntityManager, chain: string, keys: readonly string[]): Promise<void> {
  if (keys.length === 0) return;
  await sql(
    em,
    `delete from deposit where chain = ? and key in (select jsonb_array_elements_text(?::jsonb))
        and purpose = 'funding' and credits = 0 and state in ('mempool', 'orphaned')`,
    [chain, JSON.stringify(keys)],
  );
}

/**
 * Divides arrivals into payments. A payment is what one transaction brings to one order in one
 * asset, at one address with one tag. Transfers without an order stay single.
 */
export function paymentsOf(arrivals: readonly Arrival[]): (readonly Arrival[])[] {
  return [...Map.groupBy(arrivals, paymentName).values()];
}

/**
 * Sums the outputs of each payment. The sum has the key of its first output. Where keys have
 * digests, because a block decides what a transaction does, the sum's key has one of all outputs.
 */
export function summed(arrivals: readonly Arrival[]): Arrival[] {
  return paymentsOf(arrivals).map((outputs) => {
    const [first, ...others] = outputs.toSorted((one, other) => compareKeys(one.transfer.key, other.transfer.key));
    if (first === undefined) throw new Error('a payment has an output');
    if (others.length === 0) return first;
    const parts = [first, ...others];
    const amount = parts.reduce((sum, { transfer }) => sum + transfer.amount, 0n);
    return { ...first, transfer: { ...first.transfer, key: keyOfSum(parts), amount }, parts };
  });
}

function keyOfSum(parts: readonly Arrival[]): string {
  const keys = parts.map(({ transfer }) => transfer.key);
  const [first = ''] = keys;
  if (/^[^:]*:\d+$/.test(first)) return first;
  return `${first}+${bytesToHex(sha256(utf8ToBytes(keys.join(' ')))).slice(0, 16)}`;
}

function paymentName({ transfer, block, target, asset }: Arrival): string {
  const { key, txid, address, tag, contract } = transfer;
  if (target.orderId === null) return JSON.stringify([key, block?.hash ?? null]);
  // A traced transfer may be part of a deposit that was found by its balance. It has no other kind
  // of output next to it.
  const way = isTraced(transfer) ? 'trace' : 'output';
  return JSON.stringify([
    target.orderId,
    block?.hash ?? null,
    way,
    txid,
    address,
    tag,
    contract,
    asset.coin,
    asset.network,
  ]);
}

/** Puts 'txid:2' before 'txid:10'. */
function compareKeys(one: string, other: string): number {
  if (one.length !== other.length) return one.length - other.length;
  if (one === other) return 0;
  return one < other ? -1 : 1;
}

/** Whether a trace showed the transfer: coins that a contract sent on. */
export function isTraced({ key, contract }: Pick<Transfer, 'key' | 'contract'>): boolean {
  return contract === null && /:trace\d+:/.test(key);
}

/** Finds the leased addresses among the transfers' targets, by address and tag. */
async function lookUp(em: EntityManager, transfers: readonly Transfer[]): Promise<[string, Target][]> {
  const rows = await sql<{
    address: string;
    tag: string | null;
    order_id: string | null;
    index: number | null;
    required: number | null;
    network: string | null;
  }>(
    em,
    `with seen as (select jsonb_array_elements_text(?::jsonb) as address)
     select a.address, a.tag, o.id as order_id, a.index::int as index, o.deposit_confirmations_required as required,
            o.network_from as network
       from seen join deposit_address a on a.address = seen.address and a.leased_at is not null
       left join exchange_order o on o.deposit_address_id = a.id
      where a.tag is null
         or a.tag in (select jsonb_array_elements_text(?::jsonb))
     union all
     select s.shared_address, null, null, null, null, null
       from seen join deposit_account s on s.shared_address = seen.address`,
    [
      JSON.stringify([...new Set(transfers.map(({ address }) => address))]),
      JSON.stringify([...new Set(transfers.map(({ tag }) => tag ?? ''))]),
    ],
  );
  return rows.map(({ address, tag, order_id: orderId, index, required, network }) => [
    `${address} ${tag ?? ''}`,
    { purpose: 'order', orderId, index, required, orderNetwork: network },
  ]);
}

/**
 * The outputs of found transfers. Each key once, because one statement must not insert a row twice.
 */
export function outputsOf(own: readonly OwnTransfer[]): FoundOutput[] {
  const outputs = own.flatMap(({ transfer: { key, address, amount }, block, target: { index } }) =>
    block === null ? [] : [{ key, address, amount, index, height: block.height, blockHash: block.hash }],
  );
  return [...new Map(outputs.map((output) => [output.key, output])).values()];
}

/** The outputs that transactions in these blocks spend. */
export function spendsOf(blocks: ScanResult['blocks']): FoundSpend[] {
  return blocks.flatMap(({ ref, spends = [] }) =>
    spends.map(({ key, txid }) => ({ key, txid, height: ref.height, blockHash: ref.hash })),
  );
}
