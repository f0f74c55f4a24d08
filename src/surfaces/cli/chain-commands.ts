import { type EntityManager, LockMode } from '@mikro-orm/postgresql';
import { type Command, InvalidArgumentError } from 'commander';
import { sql } from '../../base/db/sql.ts';
import { AppError } from '../../base/errors.ts';
import type { LiveNetworks } from '../../chains/families/live-networks.ts';
import { ChainState } from '../../chains/port/chain-state.entity.ts';
import { changing, verb, wholeNumber } from './arguments.ts';
import { withDatabase, writtenDown } from './context.ts';
import { type Fields, print } from './output.ts';

function id(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new InvalidArgumentError('must be an id, as chain left-out shows it');
  return Number.parseInt(text, 10);
}

/** Adds the commands on the chains in the gateway's view. */
export function chainCommands(program: Command): void {
  const chain = program.command('chain').description("the chains in the gateway's view");
  verb(chain, 'list', 'show the scanned height, the worker and the problem of each chain').action(async ({ json }) => {
    const chains = await withDatabase(({ orm }) =>
      sql<Fields>(
        orm.em.fork(),
        `select chain, height::int as height, head::int as head, (head - height)::int as behind,
                  to_char(scanned_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as scanned_at,
                  case when lease_until >= now() then lease_owner::text end as worker,
                  coalesce(problem, failure) as problem, internal_transfers,
                  to_char(failing_since at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as since
             from chain_state order by chain`,
      ),
    );
    print({ chains }, json);
  });
  verb(chain, 'left-out', 'show transfers to our addresses that could not become deposits, and acknowledge one')
    .option('--acknowledge <id>', 'removes the transfer from the items of attention', id)
    .option('--reason <text>', 'reason for the audit log', 'by command line')
    .action(async ({ acknowledge: seen, json, reason }) => {
      const transfers = await withDatabase(async (context) => {
        if (seen !== undefined) {
          await writtenDown(context, { command: 'chain left-out', reason }, async (em) => {
            await acknowledge(em, seen);
            return { result: null, target: `left_out_transfer:${seen}` };
          });
        }
        return sql<Fields>(
          context.orm.em.fork(),
          `select id::int as id, chain, reason, txid, address, contract, amount, height::int as height,
                  to_char(seen_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as seen_at,
                  acknowledged_at is not null as acknowledged
             from left_out_transfer order by acknowledged_at is not null, id limit 1000`,
        );
      });
      print({ transfers }, json);
    });
  changing(
    chain,
    'rescan',
    'scan a chain again above a block that was already read; deposits that still exist are credited again',
  )
    .requiredOption('--chain <chain>', 'name of the chain, as in chain list')
    .requiredOption('--from <height>', 'the last block that is certainly correct', wholeNumber)
    .action(async ({ chain: name, from, json, reason }) => {
      const asked = await withDatabase((context) =>
        writtenDown(context, { command: 'chain rescan', reason }, async (em) => {
          const rescanFrom = await askRescan(em, context.networks, name, from);
          const confirmed = await confirmedAbove(em, name, rescanFrom);
          const result = { rescan_from: rescanFrom, confirmed_payments: confirmed };
          return { result, target: `chain:${name}`, after: { rescan_from: rescanFrom } };
        }),
      );
      print({ chain: name, ...asked }, json);
    });
}

/** Acknowledges a left-out transfer. Its row stays in the table. */
async function acknowledge(em: EntityManager, id: number): Promise<void> {
  const rows = await sql(
    em,
    'update left_out_transfer set acknowledged_at = now() where id = ? and acknowledged_at is null returning id',
    [id],
  );
  if (rows.length === 0) throw new AppError('invalid_value', `there is no open left-out transfer ${id}`);
}

/**
 * Returns the txids of payments that confirmed in a block above a height. The gateway does not
 * check them again.
 */
async function confirmedAbove(em: EntityManager, chain: string, height: number): Promise<string[]> {
  const rows = await sql<{ txid: string }>(
    em,
    `select a.txid from payment p join payment_attempt a on a.payment_id = p.id and a.dead_at is null
      where p.chain = ? and p.state = 'confirmed' and a.mined_height > ? order by a.mined_height, a.txid`,
    [chain, height],
  );
  return rows.map(({ txid }) => txid);
}

/**
 * Requests a rescan and returns its height. Of several requests that no worker has started yet, the
 * lowest counts.
 */
async function askRescan(em: EntityManager, networks: LiveNetworks, chain: string, from: number): Promise<number> {
  const state = await em.findOne(ChainState, { chain }, { lockMode: LockMode.PESSIMISTIC_WRITE });
  if (!state) throw new AppError('invalid_value', `there is no chain ${chain.slice(0, 30)}; see chain list`);
  const start = networks.live.get(chain)?.startHeight ?? 0;
  if (from < start || from > state.height) {
    throw new AppError(
      'invalid_value',
      `${chain} begins at block ${start} and was read up to ${state.height}; a rescan is from one of these`,
    );
  }
  // A new fencing token makes the worker of the chain read its row again.
  state.fence = String(BigInt(state.fence) + 1n);
  state.leaseOwner = null;
  state.leaseUntil = null;
  state.rescanFrom = Math.min(state.rescanFrom ?? from, from);
  return state.rescanFrom;
}
