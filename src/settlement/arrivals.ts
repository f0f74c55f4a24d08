import type { EntityManager } from '@mikro-orm/postgresql';
import type { BlockRef, ChainAdapter, Transfer } from '../chains/chain-adapter.ts';
import { networkById } from '../chains/networks.ts';
import type { CurrencyCatalogue } from '../currencies/currency-catalogue.ts';
import type { DepositPurpose } from './deposit.entity.ts';

/** A transfer, in the block that holds it; null while it is in none. */
export interface Sighting {
  readonly transfer: Transfer;
  readonly block: BlockRef | null;
}

/** Whose an address of ours is. */
interface Target {
  readonly purpose: DepositPurpose;
  readonly orderId: string | null;
  /** Index of a deposit address; null for the hot wallet and for shared addresses. */
  readonly index: number | null;
  /** Confirmations that the order asks for on its own chain. */
  readonly required: number | null;
  readonly orderNetwork: string | null;
}

/** A transfer to one of our addresses. */
export interface OwnSighting extends Sighting {
  readonly target: Target;
}

/** One that brings coins from outside. */
export interface Arrival extends OwnSighting {
  readonly asset: { readonly coin: string; readonly network: string; readonly decimals: number };
  readonly confirmationsRequired: number;
}

/** Addresses that one statement looks up. */
const lookUpBatch = 10_000;

/** The transfers to addresses that are ours, with the order that each address was given to. */
export async function ownSightings(
  em: EntityManager,
  adapter: ChainAdapter,
  sightings: readonly Sighting[],
): Promise<OwnSighting[]> {
  const seen = sightings.filter(({ transfer }) => transfer.amount > 0n);
  if (seen.length === 0) return [];
  const targets = new Map<string, Target>();
  for (let start = 0; start < seen.length; start += lookUpBatch) {
    const batch = seen.slice(start, start + lookUpBatch).map(({ transfer }) => transfer);
    for (const [name, target] of await lookUp(em, batch)) targets.set(name, target);
  }
  const hot = await adapter.hotWallet();
  targets.set(`${hot.address} ${hot.tag ?? ''}`, {
    purpose: 'funding',
    orderId: null,
    index: null,
    required: null,
    orderNetwork: null,
  });
  return seen.flatMap(({ transfer, block }) => {
    const { address, tag } = transfer;
    // An address of its own takes a transfer whatever its tag; a shared one without a known tag is nobody's.
    const target = targets.get(`${address} ${tag ?? ''}`) ?? targets.get(`${address} `);
    return target ? [{ transfer, block, target }] : [];
  });
}

/** Those in assets we know that bring coins from outside: not what we moved ourselves, as change, sweeps and gas. */
export async function findArrivals(
  em: EntityManager,
  catalogue: CurrencyCatalogue,
  chain: string,
  own: readonly OwnSighting[],
): Promise<Arrival[]> {
  if (own.length === 0) return [];
  const rows = await em.execute<{ txid: string }[]>(
    'select txid from payment_attempt where chain = ? and txid in (select jsonb_array_elements_text(?::jsonb))',
    [chain, JSON.stringify([...new Set(own.map(({ transfer }) => transfer.txid))])],
  );
  const ours = new Set(rows.map(({ txid }) => txid));
  return own.flatMap((sighting) => {
    const { transfer, target } = sighting;
    if (ours.has(transfer.txid)) return [];
    const currency = catalogue.asset(chain, transfer.contract);
    // Coins for fees are ours to book even where they are no currency of the catalogue.
    const gas = target.purpose === 'funding' && transfer.contract === null ? catalogue.gasCoin(chain) : undefined;
    const asset = currency ?? gas;
    if (!asset) return [];
    // What the order asks for is meant for its own chain, and addresses of several chains are the same.
    const isOfChain = networkById(target.orderNetwork ?? '')?.chain === chain;
    const confirmationsRequired = (isOfChain ? target.required : null) ?? currency?.minConfirmations ?? 1;
    return [{ ...sighting, asset, confirmationsRequired }];
  });
}

/** Which of the transfers go to addresses that were given out, by address and tag. */
async function lookUp(em: EntityManager, transfers: readonly Transfer[]): Promise<[string, Target][]> {
  const rows = await em.execute<
    {
      address: string;
      tag: string | null;
      order_id: string | null;
      index: number | null;
      required: number | null;
      network: string | null;
    }[]
  >(
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
