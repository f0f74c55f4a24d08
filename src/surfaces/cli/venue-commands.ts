import { type Command, InvalidArgumentError, Option } from 'commander';
import { systemClock } from '../../base/clock.ts';
import { formatDecimal } from '../../base/money.ts';
import { type MovementKind, type MovementState, movementKinds, movementStates } from '../../exchanges/exchange.ts';
import { type ReconcileReport, reconcileVenues, renderReport } from '../../ledger/reconcile.ts';
import {
  movementId,
  type VenueAccountStatus,
  venueAccounts,
  venueMovements,
  venueReadingMaxAgeMs,
} from '../../operations/venue-status.ts';
import { heldCoins } from '../../settlement/treasury/held-coins.ts';
import { verb, wholeNumber } from './arguments.ts';
import { withServices } from './context.ts';
import { type Fields, print } from './output.ts';

/** Most movements of one answer. */
const mostListed = 1_000;

/**
 * Adds the commands on our account at the exchange. They ask no exchange: workers read it once a
 * minute. Two members of staff open the account and classify its entries, by the staff API.
 */
export function venueCommands(program: Command): void {
  const venue = program.command('venue').description('our account at the exchange, as workers last read it');
  verb(venue, 'balances', 'show what the account holds of each coin, and what the books hold').action(
    async ({ json }) => {
      const accounts = await withServices(({ orm }) => venueAccounts(orm.em.fork(), systemClock.now()));
      print({ balances: accounts.flatMap(balanceFields) }, json);
    },
  );
  verb(venue, 'movements', 'show deposits and withdrawals as the exchange lists them, newest first')
    .addOption(new Option('--kind <kind>', 'only these').choices([...movementKinds]))
    .option('--coin <coin>', 'only of this ticker')
    .addOption(new Option('--state <state>', 'only in this state').choices([...movementStates]))
    .option('--limit <n>', `most rows, 1 to ${mostListed}`, limit, 50)
    .action(async ({ json, limit: most, ...filter }: MovementOptions) => {
      const movements = await withServices(({ orm }) =>
        venueMovements(orm.em.fork(), filter, { backwards: false, cursor: null, limit: most }),
      );
      const rows = movements.map(
        ({ at, venue: name, kind, reference, amount, fee, isInternal, changedAt, ...row }) => ({
          at: at.toISOString(),
          venue: name,
          kind,
          reference,
          coin: row.coin,
          network: row.network,
          txid: row.txid,
          address: row.address,
          tag: row.tag,
          state: row.state,
          told: row.told,
          part: row.part,
          amount: formatDecimal(amount),
          fee: formatDecimal(fee),
          internal: isInternal,
          changed_at: changedAt.toISOString(),
        }),
      );
      print({ movements: rows }, json ?? false);
    });
  verb(
    venue,
    'check',
    'compare the account and coins on their way with the ledger; exit code 1 on a difference, on a withdrawal that is none of ours, and when the account was not read for 5 minutes',
  ).action(async ({ json }) => {
    const found = await withServices(async ({ orm }) => {
      const em = orm.em.fork();
      const accounts = await venueAccounts(em, systemClock.now());
      const foreign = await venueMovements(em, { kind: 'withdrawal', part: 'foreign' }, firstListed);
      const held = (await Promise.all(accounts.map(({ venue: name }) => heldCoins(orm.em.fork(), name)))).flat();
      return { report: await reconcileVenues(orm), accounts, held, foreign: foreign.map(movementId) };
    });
    const nowMs = systemClock.now().getTime();
    const { report, held, foreign } = found;
    const accounts = found.accounts.map((account) => accountFields(account, nowMs));
    if (json) {
      const { rows, differences } = report;
      process.stdout.write(`${JSON.stringify({ rows, differences, accounts, held, foreign_withdrawals: foreign })}\n`);
    } else {
      process.stdout.write(`${renderReport(report)}\n`);
      print({ accounts }, false);
      print({ held_coins: held.map((row) => ({ ...row })) }, false);
      print({ foreign_withdrawals: foreign.map((id) => ({ id })) }, false);
    }
    if (isAmiss(report, found.accounts, nowMs) || foreign.length > 0) process.exitCode = 1;
  });
}

const firstListed = { backwards: false, cursor: null, limit: mostListed };

interface MovementOptions {
  readonly kind?: MovementKind;
  readonly coin?: string;
  readonly state?: MovementState;
  readonly limit: number;
  readonly json?: true;
}

function limit(text: string): number {
  const most = wholeNumber(text);
  if (most < 1 || most > mostListed) throw new InvalidArgumentError(`must be from 1 to ${mostListed}`);
  return most;
}

function isAmiss({ differences }: ReconcileReport, accounts: readonly VenueAccountStatus[], nowMs: number): boolean {
  const isOld = (at: Date | null): boolean => at === null || nowMs - at.getTime() > venueReadingMaxAgeMs;
  return differences > 0 || accounts.some((one) => one.isWatched && (isOld(one.listedAt) || isOld(one.balancesAt)));
}

function balanceFields({ venue, balances }: VenueAccountStatus): Fields[] {
  return balances.map(({ coin, total, free, booked, inFlight, difference, differing, comparedAt, readAt }) => ({
    venue,
    coin,
    total,
    free,
    booked,
    in_flight: inFlight,
    difference,
    differing,
    compared_at: comparedAt?.toISOString() ?? null,
    read_at: readAt.toISOString(),
  }));
}

/** Ages in seconds. Null for what was never read. */
function accountFields(account: VenueAccountStatus, nowMs: number): Fields {
  const { venue, isWatched, openedAt, listedAt, balancesAt, failingSince, failure } = account;
  const age = (at: Date | null): number | null =>
    at === null ? null : Math.max(0, Math.round((nowMs - at.getTime()) / 1000));
  return {
    venue,
    watched: isWatched,
    opened_at: openedAt?.toISOString() ?? null,
    lists_age_sec: age(listedAt),
    balances_age_sec: age(balancesAt),
    failing_since: failingSince?.toISOString() ?? null,
    failure,
  };
}
