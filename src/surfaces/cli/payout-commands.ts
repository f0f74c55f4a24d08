import type { Command } from 'commander';
import { systemClock } from '../../base/clock.ts';
import { AppError } from '../../base/errors.ts';
import { payoutRules } from '../../config/payout-rules.ts';
import { openHolds, payoutSpending } from '../../operations/payout-brakes.ts';
import { verb } from './arguments.ts';
import { withServices, writtenDown } from './context.ts';
import { print } from './output.ts';

/**
 * Adds the commands on automatic payouts. Only two members of staff can resume stopped payouts, by
 * the staff API.
 */
export function payoutCommands(program: Command): void {
  const payouts = program.command('payouts').description('automatic payouts and refunds: their holds and limits');
  verb(payouts, 'status', 'show the holds that are open, and what is used of each limit in US dollars').action(
    async ({ json }) => {
      const [holds, limits] = await withServices(async ({ orm, config }) => {
        const em = orm.em.fork();
        const rules = payoutRules(config);
        const spending = await payoutSpending(em, systemClock.now());
        return [
          (await openHolds(em)).map((hold) => ({
            hold: hold.id,
            cause: hold.cause,
            asset: nameOf(hold),
            since: hold.openedAt.toISOString(),
            stands: hold.isStanding,
            waiting: hold.waiting,
            detail: hold.detail,
          })),
          spending.map(({ coin, network, hourUsd, dayUsd, waiting }) => {
            const { hour, day } = coin === null || network === null ? rules.overall : rules.asset({ coin, network });
            const used = { hour_usd: hourUsd, of_hour: hour, day_usd: dayUsd, of_day: day, waiting };
            return { asset: nameOf({ coin, network }), ...used };
          }),
        ] as const;
      });
      if (json) return print({ holds, limits }, true);
      print({ holds }, false);
      print({ limits }, false);
    },
  );
  verb(
    payouts,
    'stop',
    'hold payouts and refunds of one asset, or of all assets, at once; two members of staff resume them',
  )
    .option('--coin <coin>', 'ticker; omitted with --network for all assets')
    .option('--network <network>', 'network')
    .requiredOption('--reason <text>', 'why, 1 to 1000 characters')
    .action(async ({ coin, network, reason, json }: StopOptions) => {
      if ((coin === undefined) !== (network === undefined)) {
        throw new AppError('missing_field', 'give --coin and --network, or neither');
      }
      const hold = await withServices(async (context) => {
        const { currencies, holds } = context;
        const asset = coin === undefined || network === undefined ? null : { coin, network };
        const known = (await currencies.list()).some((row) => row.coin === coin && row.network === network);
        if (asset && !known) throw new AppError('currency_not_found', `there is no ${coin} on ${network}`);
        return writtenDown(context, { command: 'payouts stop', reason }, async (em) => {
          const id = await holds.stop(em, asset, reason, null);
          return { result: id, target: `hold:${id}`, after: { coin: coin ?? null, network: network ?? null } };
        });
      });
      print({ hold, asset: nameOf({ coin: coin ?? null, network: network ?? null }) }, json ?? false);
    });
}

interface StopOptions {
  readonly coin?: string;
  readonly network?: string;
  readonly reason: string;
  readonly json?: true;
}

function nameOf({ coin, network }: { coin: string | null; network: string | null }): string {
  return coin === null ? 'all assets' : `${coin} on ${network}`;
}
