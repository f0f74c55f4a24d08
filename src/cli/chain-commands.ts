import { type Command, InvalidArgumentError } from 'commander';
import { AppError } from '../errors.ts';
import { withDatabase } from './context.ts';
import { type Fields, print } from './output.ts';

function height(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('must be a height: a whole number from 0');
  return Number.parseInt(text, 10);
}

/** Commands on the chains as the gateway sees them. */
export function chainCommands(program: Command): void {
  const chain = program.command('chain').description('the chains as the gateway sees them');
  chain
    .command('list')
    .description('show how far each chain was read, who works on it, and what is wrong')
    .option('--json', 'print one JSON object and nothing else')
    .action(async ({ json }) => {
      const chains = await withDatabase(({ orm }) =>
        orm.em.fork().execute<Fields[]>(
          `select chain, height::int as height, head::int as head, (head - height)::int as behind,
                  to_char(scanned_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as scanned_at,
                  case when lease_until >= now() then lease_owner::text end as worker,
                  coalesce(problem, failure) as problem
             from chain_state order by chain`,
        ),
      );
      print({ chains }, json);
    });
  chain
    .command('rescan')
    .description('read a chain again above a height; deposits that are still there are credited again')
    .requiredOption('--chain <chain>', 'name of the chain, as in chain list')
    .requiredOption('--from <height>', 'the last block that is surely right', height)
    .option('--json', 'print one JSON object and nothing else')
    .action(async ({ chain: name, from, json }) => {
      const rows = await withDatabase(({ orm }) =>
        // A new fence makes whoever works on the chain read its row again.
        orm.em.fork().execute<unknown[]>(
          `update chain_state set rescan_from = ?, fence = fence + 1, lease_owner = null, lease_until = null
            where chain = ? returning chain`,
          [from, name],
        ),
      );
      if (rows.length === 0)
        throw new AppError('invalid_value', `there is no chain ${name.slice(0, 30)}; see chain list`);
      print({ chain: name, rescan_from: from }, json);
    });
}
