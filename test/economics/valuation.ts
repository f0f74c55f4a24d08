import type { World } from './world.ts';

/** What the house won, in US dollars; negative is a loss. */
export interface HouseResult {
  readonly total: number;
  /** By day since the world began. */
  readonly days: readonly number[];
  /** By the name of the account whose orders made it. */
  readonly accounts: ReadonlyMap<string, number>;
  /** Orders whose user owes the house coins, as what was paid in went away again. */
  readonly debits: number;
}

/** Something that the house won or lost. */
interface Movement {
  readonly at: Date | string;
  readonly partner: string | null;
  readonly coin: string;
  /** In the coin's units; positive for the house. */
  readonly amount: string;
}

/**
 * What the house won and lost, from its own ledger. Every movement counts at the market's price of
 * its moment:
 *
 * - fees that users paid, and what a trade gave more or less than was agreed;
 * - at our own inventory, both sides of each trade at their market value. The inventory trades at
 *   the
 *   gateway's price, not at the market's;
 * - what payments cost: on a real chain as the ledger says. The sandbox takes next to nothing for a
 *   payment, so there each
 *   transaction counts as the network fee that the currency charges users;
 * - at an exchange, what its account gained beyond what is booked: positions that are not closed
 *   yet;
 * - what users owe at the end, which is lost.
 *
 * What the house holds is taken as hedged: a move of the market after a trade is no result of the
 * trade.
 */
export async function houseResult(world: World): Promise<HouseResult> {
  const real = JSON.stringify(world.realNetworks);
  const booked = await world.rows<Movement>(
    `select t.at, o.partner_id as partner, l.coin, (-l.amount)::text as amount
       from ledger_line l join ledger_transaction t on t.id = l.transaction_id
       left join exchange_order o on o.id = t.order_id
      where l.account in ('service_fee', 'network_fee', 'trading')
         or (l.account = 'venue' and t.kind = 'trade'
             and exists (select from sandbox_fill f where f.client_id = t.order_id::text))
         or (l.account = 'network_cost' and l.network in (select jsonb_array_elements_text(?::jsonb)))`,
    [real],
  );
  const paid = await world.rows<Movement>(
    `select coalesce(p.ended_at, a.sent_at, a.prepared_at) as at, o.partner_id as partner, p.coin,
            (-c.network_fee)::text as amount
       from payment_attempt a join payment p on p.id = a.payment_id
       join currency c on c.coin = p.coin and c.network = p.network
       left join exchange_order o on o.id = p.order_id
      where a.mined_height is not null and p.network not in (select jsonb_array_elements_text(?::jsonb))`,
    [real],
  );
  const owed = await world.rows<Movement>(
    `select max(t.at) as at, o.partner_id as partner, l.coin, (-sum(l.amount))::text as amount
       from ledger_line l join ledger_transaction t on t.id = l.transaction_id
       join exchange_order o on o.id = t.order_id
      where l.account = 'client' group by o.id, o.partner_id, l.coin, l.network having sum(l.amount) > 0`,
  );
  const names = new Map(world.accounts.map(({ name, caller }) => [caller.partner.id, name]));
  const days: number[] = Array.from({ length: Math.ceil(world.days) }, () => 0);
  const accounts = new Map(world.accounts.map(({ name }) => [name, 0]));
  let total = 0;
  for (const { at, partner, coin, amount } of [...booked, ...paid, ...owed]) {
    const moment = new Date(at);
    const won = Number(amount) * world.market.priceAt(coin, moment);
    const day = Math.floor((moment.getTime() - world.startMs) / 86_400_000);
    total += won;
    days[day] = (days[day] ?? 0) + won;
    const name = names.get(partner ?? '') ?? 'of no order';
    accounts.set(name, (accounts.get(name) ?? 0) + won);
  }
  const open = await openPositions(world);
  total += open;
  if (open !== 0) accounts.set('open positions', open);
  days[days.length - 1] = (days.at(-1) ?? 0) + open;
  return { total, days, accounts, debits: owed.length };
}

/** What the account at the exchange gained beyond what the book says of it, in US dollars. */
async function openPositions(world: World): Promise<number> {
  const { exchange, market } = world;
  if (!exchange) return 0;
  const booked = await world.rows<{ coin: string; amount: string }>(
    `select coin, sum(amount)::text as amount from ledger_line where account = 'venue' or account like 'venue:%' group by coin`,
  );
  return booked.reduce((left, { coin, amount }) => left - Number(amount) * market.price(coin), exchange.gainedUsd());
}

/** How many orders came how far, and what was exchanged in US dollars. */
export interface Turnover {
  readonly created: number;
  /** Orders with a deposit that the gateway credited. */
  readonly funded: number;
  readonly exchanged: number;
  /** Refunds that were paid. */
  readonly refunds: number;
  readonly usd: number;
}

export async function turnoverOf(world: World): Promise<Turnover> {
  const [counts] = await world.rows<Record<'created' | 'funded' | 'refunds', number>>(
    `select (select count(*)::int from exchange_order) as created,
            (select count(distinct order_id)::int from deposit where credits > 0) as funded,
            (select count(*)::int from payment where kind = 'refund' and state = 'confirmed') as refunds`,
  );
  const trades = await world.rows<{ coin: string; amount: string; at: Date | string }>(
    `select coin_from as coin, amount_from::text as amount, settled_at as at from trade
      where state in ('filled', 'unwound')`,
  );
  const usd = trades.reduce(
    (sum, { coin, amount, at }) => sum + Number(amount) * world.market.priceAt(coin, new Date(at)),
    0,
  );
  return { created: 0, funded: 0, refunds: 0, ...counts, exchanged: trades.length, usd };
}
