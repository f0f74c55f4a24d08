import { randomBytes } from 'node:crypto';
import { type Command, InvalidArgumentError } from 'commander';
import { sandboxVenueName } from '../../app/open-sandbox.ts';
import { systemClock, systemMs } from '../../base/clock.ts';
import { AppError } from '../../base/errors.ts';
import { type Big, formatDecimal, fractionDigits, isStorable, parseDecimal, toUnits } from '../../base/money.ts';
import { knownHotWallet } from '../../chains/addresses/hot-wallet.ts';
import { busyBlocks } from '../../chains/sandbox/sandbox-adapters.ts';
import { SandboxChain } from '../../chains/sandbox/sandbox-chain.ts';
import { AccountRefusal, change, takeIn, withdraw } from '../../exchanges/sandbox/account.ts';
import type { ExchangeState, ImitatedMovement } from '../../exchanges/sandbox/exchange-state.ts';
import { venueNetwork } from '../../exchanges/sandbox/network-names.ts';
import { setFault } from '../../exchanges/sandbox/strikes.ts';
import { isVenueFault, type VenueFault, venueFaults } from '../../exchanges/sandbox/venue-faults.ts';
import type { Currency } from '../../market/currencies/currency.entity.ts';
import { VenueStore } from '../../settlement/sandbox/venue-store.ts';
import { verb, wholeNumber } from './arguments.ts';
import { type DatabaseContext, withDatabase } from './context.ts';
import { type Fields, print } from './output.ts';
import { chainOf } from './sandbox-chains.ts';

interface VenueContext extends DatabaseContext {
  readonly store: VenueStore;
}

/** In the smallest unit: what the sandbox's chains take for any transaction. */
const handFee = 1_000n;

/** Adds the commands that act at the imitated exchange, as people do on an exchange's page. */
export function sandboxVenueCommands(sandbox: Command): void {
  const venue = sandbox.command('venue').description('the imitated exchange of SANDBOX_VENUE');
  accountCommands(venue);
  transferCommands(venue);
  faultCommand(venue);
}

function accountCommands(venue: Command): void {
  verb(venue, 'show', 'show balances, deposits and withdrawals, faults and deposit addresses').action(
    async ({ json }) => {
      const lists = shown(await withVenue(({ store }) => stateOf(store)));
      if (json) print(lists, true);
      else for (const [name, rows] of Object.entries(lists)) print({ [name]: rows }, false);
    },
  );
  verb(venue, 'credit', 'give the account coins from outside, or take some away')
    .requiredOption('--coin <coin>', 'ticker')
    .requiredOption('--amount <amount>', "in the coin's units; a negative one is a debit, which no list shows")
    .option('--network <network>', 'network of the deposit that the list shows')
    .option('--silent', 'no list shows it')
    .action(async ({ coin, amount, network, silent, json }) => {
      const asked = { coin, amount, network, isSilent: silent === true };
      print(await withVenue((context) => credit(context, asked)), json);
    });
}

function transferCommands(venue: Command): void {
  verb(venue, 'withdraw', 'withdraw coins, as a person does on the page of the exchange')
    .requiredOption('--coin <coin>', 'ticker')
    .requiredOption('--network <network>', 'network of the coin')
    .requiredOption('--amount <amount>', "in the coin's units, with the fee of the exchange")
    .option('--address <address>', 'recipient; the hot wallet by default')
    .option('--tag <tag>', 'memo or tag of the recipient')
    .action(async ({ coin, network, amount, address, tag, json }) => {
      print(await withVenue((context) => withdrawal(context, { coin, network, amount, address, tag })), json);
    });
  verb(venue, 'send', 'send coins of the hot wallet to the exchange, signed by hand outside the gateway')
    .requiredOption('--coin <coin>', 'ticker')
    .requiredOption('--network <network>', 'network of the coin')
    .requiredOption('--amount <amount>', "in the coin's units")
    .action(async ({ coin, network, amount, json }) => {
      print(await withVenue((context) => send(context, { coin, network, amount })), json);
    });
}

function faultCommand(venue: Command): void {
  const known = Object.entries(venueFaults).map(([name, what]) => `  ${name.padEnd(20)}${what}`);
  verb(venue, 'fault', 'let something happen to the account, the next times')
    .argument('<name>', 'which fault', faultName)
    .option('--times <n>', 'how many times; 0 lifts it', wholeNumber, 1)
    .addHelpText('after', `\nFaults:\n${known.join('\n')}`)
    .action(async (fault: VenueFault, { times, json }) => {
      await withVenue(({ store }) => store.change((state) => setFault(state, fault, times)));
      print({ fault, times }, json);
    });
}

function faultName(text: string): VenueFault {
  if (!isVenueFault(text)) throw new InvalidArgumentError(`known are ${Object.keys(venueFaults).join(', ')}`);
  return text;
}

/** Runs a command on the state of the imitated exchange. */
function withVenue<T>(command: (context: VenueContext) => Promise<T>): Promise<T> {
  return withDatabase(async (context) => {
    const { config, networks, orm } = context;
    if (config.SANDBOX_VENUE === 'off' || networks.live.size > 0) {
      throw new AppError(
        'invalid_value',
        'there is no imitated exchange here: it needs SANDBOX_VENUE=on and sandbox networks',
      );
    }
    const store = new VenueStore(orm, sandboxVenueName(config));
    await stateOf(store);
    try {
      return await command({ ...context, store });
    } catch (error) {
      throw error instanceof AccountRefusal ? new AppError('invalid_value', error.message) : error;
    }
  });
}

async function stateOf(store: VenueStore): Promise<ExchangeState> {
  const state = await store.read();
  if (!state)
    throw new AppError('invalid_value', 'the imitated exchange has never run on this database; start the gateway once');
  return state;
}

function shown({ balances, movements, strikes, addresses }: ExchangeState) {
  return {
    balances: Object.entries(balances)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([coin, amount]): Fields => ({ coin, amount })),
    movements: movements.map(movementFields),
    faults: Object.entries(strikes).map(([fault, times]): Fields => ({ fault, times })),
    addresses: Object.entries(addresses).map(([network, { address, tag }]): Fields => ({ network, address, tag })),
  };
}

function movementFields(row: ImitatedMovement): Fields {
  const { kind, reference, coin, network, amount, fee, state, txid, payment, address, tag, fault, atMs } = row;
  return {
    ...{ kind, reference, coin, network, amount, fee, state, txid },
    paid_by: payment?.txid ?? null,
    ...{ address, tag },
    fault: fault ?? null,
    at: new Date(atMs).toISOString(),
  };
}

interface CreditOptions {
  readonly coin: string;
  readonly amount: string;
  readonly network: string | undefined;
  readonly isSilent: boolean;
}

async function credit({ store, currencies }: VenueContext, asked: CreditOptions): Promise<Fields> {
  const { coin, network } = asked;
  const amount = parseDecimal(asked.amount);
  if (!amount || amount.eq('0') || !isStorable(amount)) throw notAnAmount(asked.amount, coin);
  const rows = (await currencies.list()).filter((row) => row.coin === coin);
  const place = rows.find((row) => network === undefined || row.network === network);
  const isListed = !asked.isSilent && amount.gt('0');
  return store.change((state) => {
    if (state.balances[coin] === undefined)
      throw new AppError('unknown_coin', `the account has no ${coin.slice(0, 20)}`);
    if (!isListed) {
      change(state, coin, amount);
    } else {
      const name = place && venueNetwork(store.name, place.network);
      if (!place || !name) {
        throw new AppError(
          'currency_not_found',
          `no deposit of ${coin} comes over ${network ?? 'a chain'}; use --silent`,
        );
      }
      takeIn(state, {
        ...{ coin, network: name, amount: formatDecimal(amount), state: 'done' },
        txid: randomBytes(32).toString('hex'),
        address: state.addresses[place.network]?.address ?? null,
        tag: state.addresses[place.network]?.tag ?? null,
        atMs: systemMs(),
      });
    }
    return { coin, amount: formatDecimal(amount), listed: isListed, balance: state.balances[coin] ?? '0' };
  });
}

interface WithdrawalOptions {
  readonly coin: string;
  readonly network: string;
  readonly amount: string;
  readonly address: string | undefined;
  readonly tag: string | undefined;
}

async function withdrawal(context: VenueContext, asked: WithdrawalOptions): Promise<Fields> {
  const { store } = context;
  const { amount, currency, network } = await transferOf(context, asked);
  const address = asked.address ?? (await hotWallet(context));
  return store.change((state) =>
    movementFields(
      withdraw(state, {
        ...{ coin: currency.coin, networkId: currency.network, network, address },
        gross: formatDecimal(amount),
        fee: formatDecimal(currency.networkFee),
        tag: asked.tag ?? null,
        atMs: systemMs(),
      }),
    ),
  );
}

async function send(
  context: VenueContext,
  asked: Pick<WithdrawalOptions, 'coin' | 'network' | 'amount'>,
): Promise<Fields> {
  const { orm, store, currencies } = context;
  const { amount, currency, chain } = await transferOf(context, asked);
  const place = (await stateOf(store)).addresses[currency.network];
  if (!place) throw new AppError('unknown_network', `the exchange has no address on ${currency.network}`);
  const txid = await new SandboxChain({ orm, clock: systemClock }).spend(chain, {
    from: await hotWallet(context),
    to: place.address,
    tag: place.tag,
    contract: currency.contract,
    amount: toUnits(amount, currency.decimals),
    fee: handFee,
    busyBlocks: busyBlocks(chain, await currencies.list()),
  });
  const { coin, network } = currency;
  return { txid, chain, coin, network, amount: formatDecimal(amount), address: place.address, tag: place.tag };
}

/** A transfer of coins over a chain of the sandbox, as it was asked for. */
async function transferOf(
  { networks, currencies, store }: VenueContext,
  { coin, network, amount: text }: Pick<WithdrawalOptions, 'coin' | 'network' | 'amount'>,
): Promise<{ readonly amount: Big; readonly currency: Currency; readonly chain: string; readonly network: string }> {
  const chain = chainOf(networks, network);
  const currency = (await currencies.list()).find((row) => row.coin === coin && row.network === network);
  const name = venueNetwork(store.name, network);
  if (!currency || name === null) throw new AppError('currency_not_found', `there is no ${coin} on ${network}`);
  const amount = parseDecimal(text);
  if (!amount?.gt('0') || fractionDigits(amount) > currency.decimals || !isStorable(amount)) {
    throw notAnAmount(text, coin);
  }
  return { amount, currency, chain, network: name };
}

async function hotWallet({ orm }: VenueContext): Promise<string> {
  const address = await knownHotWallet(orm.em.fork(), 'sandbox');
  if (address === null) throw new AppError('invalid_value', 'the hot wallet is not known; start the gateway once');
  return address;
}

function notAnAmount(text: string, coin: string): AppError {
  return new AppError('invalid_amount', `'${text.slice(0, 60)}' is not an amount of ${coin}`);
}
