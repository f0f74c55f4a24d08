import type { MikroORM } from '@mikro-orm/postgresql';
import type { Command } from 'commander';
import { systemClock } from '../../base/clock.ts';
import { sql } from '../../base/db/sql.ts';
import { AppError } from '../../base/errors.ts';
import { Big, formatDecimal, fractionDigits, isStorable, parseDecimal, toUnits } from '../../base/money.ts';
import { busyBlocks } from '../../chains/sandbox/sandbox-adapters.ts';
import { SandboxChain } from '../../chains/sandbox/sandbox-chain.ts';
import { rulesByName } from '../../chains/sandbox/sandbox-rules.ts';
import { inventsPrices } from '../../config/checks.ts';
import { isBelievable, largestJump } from '../../market/rates/price-book.ts';
import { SharedPriceWindows } from '../../market/rates/price-windows.ts';
import { Order } from '../../orders/order.entity.ts';
import { orderNamed } from '../../orders/short-id.ts';
import { verb, wholeNumberUpTo } from './arguments.ts';
import { type DatabaseContext, withDatabase } from './context.ts';
import { type Fields, print } from './output.ts';
import { chainOf } from './sandbox-chains.ts';
import { sandboxVenueCommands } from './sandbox-venue-commands.ts';

interface SandboxContext extends DatabaseContext {
  readonly sandbox: SandboxChain;
}

const blocks = wholeNumberUpTo(99_999, 1);

function withSandbox<T>(command: (context: SandboxContext) => Promise<T>): Promise<T> {
  return withDatabase((context) =>
    command({
      ...context,
      sandbox: new SandboxChain({
        orm: context.orm,
        clock: systemClock,
        rules: rulesByName(context.config.SANDBOX_RULES),
      }),
    }),
  );
}

/** Adds the commands that act as the user, the miners and the market on the sandbox's chains. */
export function sandboxCommands(program: Command): void {
  const sandbox = program.command('sandbox').description('the chains and prices of the sandbox');
  userCommands(sandbox);
  minerCommands(sandbox);
  marketCommands(sandbox);
  sandboxVenueCommands(sandbox);
  verb(sandbox, 'status', 'show the chains').action(async ({ json }) => {
    const heads = await withSandbox(({ sandbox: node }) => node.heads());
    print({ chains: [...heads].map(([chain, { height, hash }]): Fields => ({ chain, height, hash })) }, json);
  });
}

function userCommands(sandbox: Command): void {
  verb(sandbox, 'deposit', "send coins to an order's deposit address, as its user would")
    .requiredOption('--order <id>', 'id or short id of the order')
    .option('--amount <amount>', "amount in the coin's units; the expected amount by default")
    .option('--tag <tag>', "memo or tag of the deposit; the order's own by default, 'none' for none")
    .option('--coin <coin>', "a coin of the chain other than the order's")
    .option('--network <network>', "network of that coin; the order's by default")
    .action(async ({ order, amount, tag, coin, network, json }) => {
      print(await withSandbox((context) => deposit(context, { order, amount, tag, coin, network })), json);
    });
  verb(sandbox, 'refuse', 'make payments to an address fail on its chain, or work again')
    .requiredOption('--network <network>', 'a network of the chain')
    .requiredOption('--address <address>', 'recipient')
    .option('--undo', 'let them work again')
    .action(async ({ network, address, undo, json }) => {
      const chain = await withSandbox(async ({ networks, sandbox: node }) => {
        const found = chainOf(networks, network);
        await (undo ? node.accept(found, address) : node.refuse(found, address));
        return found;
      });
      print({ chain, address, refused: undo !== true }, json);
    });
}

function minerCommands(sandbox: Command): void {
  verb(sandbox, 'mine', 'make blocks; without a network on the chains with pending work')
    .option('--blocks <n>', 'how many', blocks, 1)
    .option('--network <network>', 'a network of the chain')
    .action(async ({ blocks: count, network, json }) => {
      const mined = await withSandbox(async (context) => {
        const { sandbox: node } = context;
        const chains = await chainsOf(context, network);
        for (const chain of chains) await node.mine(chain, count);
        return chains;
      });
      print({ blocks: count, chains: mined }, json);
    });
  verb(sandbox, 'reorg', 'replace the newest blocks with empty ones; their transactions wait for a block again')
    .requiredOption('--depth <n>', 'number of blocks', blocks)
    .option('--network <network>', 'a network of the chain; the chains with pending work by default')
    .option('--drop', 'forget the transactions of the removed blocks')
    .action(async ({ depth, network, drop, json }) => {
      const replaced = await withSandbox(async (context) => {
        const { sandbox: node } = context;
        const chains = await chainsOf(context, network);
        for (const chain of chains) await node.reorg(chain, depth, { keep: drop !== true });
        return chains;
      });
      print({ depth, chains: replaced }, json);
    });
}

function marketCommands(sandbox: Command): void {
  verb(sandbox, 'price', 'fix the price of a coin, or release it')
    .requiredOption('--coin <coin>', 'ticker')
    .requiredOption('--price <usd>', "price of one unit in US dollars, or 'auto'")
    .action(async ({ coin, price, json }) => {
      const fixed = await withSandbox((context) => {
        const { config, networks } = context;
        if (networks.areOfValue)
          throw new AppError('invalid_value', 'these networks are of value, and so no price is made up');
        if (!inventsPrices(config))
          throw new AppError('invalid_value', 'prices come from PRICE_SOURCES, and the sandbox makes none up');
        return setPrice(context, coin, price);
      });
      print(fixed, json);
    });
  verb(sandbox, 'inventory', "limit the liquidity venue's stock of a coin, or lift the limit")
    .requiredOption('--coin <coin>', 'ticker')
    .requiredOption('--amount <amount>', "in the coin's units, or 'plenty'")
    .action(async ({ coin, amount, json }) => {
      const limited = await withSandbox((context) => {
        const { config, networks } = context;
        if (networks.areOfValue || config.VENUE !== null || config.SANDBOX_VENUE === 'on')
          throw new AppError('invalid_value', 'exchanges are made at VENUE, and the sandbox makes none');
        return setInventory(context, coin, amount);
      });
      print(limited, json);
    });
}

interface DepositOptions {
  readonly order: string;
  readonly amount: string | undefined;
  readonly tag: string | undefined;
  readonly coin: string | undefined;
  readonly network: string | undefined;
}

async function deposit(context: SandboxContext, options: DepositOptions): Promise<Fields> {
  const { orm, sandbox, networks } = context;
  const order = await findOrder(orm, options.order);
  const coin = options.coin ?? order.coinFrom;
  const network = options.network ?? order.networkFrom;
  const currencies = await context.currencies.list();
  const currency = currencies.find((row) => row.coin === coin && row.network === network);
  if (!currency) throw new AppError('currency_not_found', `there is no ${coin} on ${network}`);
  const chain = chainOf(networks, network);
  const text = options.amount ?? formatDecimal(order.amountFromExpected);
  const amount = parseDecimal(text);
  if (!amount?.gt('0') || fractionDigits(amount) > currency.decimals || !isStorable(amount)) {
    throw new AppError(
      'invalid_amount',
      `'${text}' is not an amount of ${coin} with at most ${currency.decimals} decimals`,
    );
  }
  const { address, tag: ownTag } = order.depositAddress;
  const tag = options.tag === undefined ? ownTag : options.tag === 'none' ? null : options.tag;
  const txid = await sandbox.pay(chain, {
    to: address,
    tag,
    contract: currency.contract,
    amount: toUnits(amount, currency.decimals),
    busyBlocks: busyBlocks(chain, currencies),
  });
  return { order: order.id, txid, chain, coin, network, amount: formatDecimal(amount), address, tag };
}

async function findOrder(orm: MikroORM, id: string): Promise<Order> {
  const where = orderNamed(id);
  const order = where && (await orm.em.fork().findOne(Order, where, { populate: ['depositAddress'] }));
  if (!order) throw new AppError('order_not_found', `there is no order ${id.slice(0, 60)}`);
  return order;
}

/** Returns the chain of a network, or the chains with pending work, or all chains. */
async function chainsOf({ orm, networks }: SandboxContext, network: string | undefined): Promise<string[]> {
  if (network !== undefined) return [chainOf(networks, network)];
  if (networks.chains('sandbox').length === 0) {
    const live = [...networks.live.keys()].join(', ');
    throw new AppError('invalid_value', `no chain here is of the sandbox: ${live} are real, and all others are off`);
  }
  const rows = await sql<{ chain: string; busy: boolean }>(
    orm.em.fork(),
    `select chain, height < busy_until
            or exists (select 1 from sandbox_tx t where t.chain = c.chain and t.state = 'mempool') as busy
       from sandbox_chain c order by chain`,
  );
  const own = rows.filter(({ chain }) => networks.state(chain) === 'sandbox');
  const busy = own.filter((row) => row.busy);
  return (busy.length > 0 ? busy : own).map(({ chain }) => chain);
}

async function setPrice(context: SandboxContext, coin: string, text: string): Promise<Fields> {
  const { orm, currencies } = context;
  await knownCoin(currencies, coin);
  const em = orm.em.fork();
  if (text === 'auto') {
    await sql(em, 'delete from sandbox_price where coin = ?', [coin]);
    return { coin, price: 'auto' };
  }
  const price = parseDecimal(text);
  if (!price?.gt('0') || !isStorable(price)) {
    throw new AppError('invalid_amount', `'${text}' is not a price; a good value: 64000.5, or auto`);
  }
  await requireBelievable(context, coin, price);
  await sql(
    em,
    `insert into sandbox_price (coin, price, set_at) values (?, ?, ?)
     on conflict (coin) do update set price = excluded.price, set_at = excluded.set_at`,
    [coin, formatDecimal(price), systemClock.now()],
  );
  return { coin, price: formatDecimal(price) };
}

/**
 * Refuses a price that a running gateway would not believe. One that starts believes any price.
 *
 * @throws AppError invalid_amount
 */
async function requireBelievable({ orm, config }: SandboxContext, coin: string, price: Big): Promise<void> {
  const window = await new SharedPriceWindows(orm).newest(systemClock.now());
  const ageMs = systemClock.now().getTime() - (window?.startsAt.getTime() ?? 0);
  if (ageMs > (config.FIXED_RATE_WINDOW_SEC + config.PRICE_MAX_AGE_SEC) * 1_000) return;
  const [set] = await sql<{ price: string }>(
    orm.em.fork(),
    'select trim_scale(price)::text as price from sandbox_price where coin = ?',
    [coin],
  );
  const known = set?.price ?? window?.prices.reference[coin];
  if (known === undefined || isBelievable(price, new Big(known))) return;
  const side = price.gt(known) ? 'large' : 'small';
  const detail = `${formatDecimal(price)} is too ${side}: the gateway ignores a price that jumps by more than a factor of ${formatDecimal(largestJump)}; the price is ${known}, so go there in steps`;
  throw new AppError('invalid_amount', detail);
}

async function setInventory({ orm, currencies }: SandboxContext, coin: string, text: string): Promise<Fields> {
  await knownCoin(currencies, coin);
  const em = orm.em.fork();
  if (text === 'plenty') {
    await sql(em, 'delete from sandbox_inventory where coin = ?', [coin]);
    return { coin, amount: 'plenty' };
  }
  const amount = parseDecimal(text);
  if (!amount || amount.lt('0') || !isStorable(amount)) {
    throw new AppError('invalid_amount', `'${text}' is not an amount; a good value: 12.5, or plenty`);
  }
  await sql(
    em,
    `insert into sandbox_inventory (coin, amount) values (?, ?)
     on conflict (coin) do update set amount = excluded.amount`,
    [coin, formatDecimal(amount)],
  );
  return { coin, amount: formatDecimal(amount) };
}

async function knownCoin(currencies: SandboxContext['currencies'], coin: string): Promise<void> {
  if (!(await currencies.list()).some((row) => row.coin === coin))
    throw new AppError('unknown_coin', `there is no coin ${coin.slice(0, 20)}`);
}
