import type { EntityManager } from '@mikro-orm/postgresql';
import { Command, Option } from 'commander';
import { type StaffMember, staffRoles } from '../../accounts/staff/staff-member.entity.ts';
import { ignoreClosedOutput } from '../../app/closed-output.ts';
import { StartError } from '../../app/start-error.ts';
import { migrate } from '../../base/db/database.ts';
import { AppError } from '../../base/errors.ts';
import { ConfigError } from '../../config/load-config.ts';
import { isFeedStalled, renumberFeed } from '../../orders/read/order-feed.ts';
import { changing, flag, verb, wholeNumber } from './arguments.ts';
import { chainCommands } from './chain-commands.ts';
import { type Change, type CommandContext, withChange, withDatabase, withServices, writtenDown } from './context.ts';
import { ledgerCommands } from './ledger-commands.ts';
import { networkCommands } from './network-commands.ts';
import { currencyFields, print, staffFields } from './output.ts';
import { partnerCommands } from './partner-commands.ts';
import { payoutCommands } from './payout-commands.ts';
import { sandboxCommands } from './sandbox-commands.ts';
import { venueCommands } from './venue-commands.ts';

function databaseCommands(program: Command): void {
  const db = program.command('db').description('the database');
  changing(db, 'migrate', 'bring the schema to the newest version').action(async ({ json, reason }) => {
    const applied = await withDatabase(async (context) => {
      const names = await migrate(context.orm, context.url);
      // Migrations run in their own transactions, and the first one creates the audit log.
      if (names.length > 0) {
        const done = { result: names, target: 'database', after: { applied: names } };
        await writtenDown(context, { command: 'db migrate', reason }, async () => done);
      }
      return names;
    });
    print({ applied, state: 'current' }, json);
  });
  changing(db, 'seed', 'add the currencies of the catalogue that are missing').action(async ({ json, reason }) => {
    const added = await withDatabase(async (context) => {
      if (context.schema !== 'current') {
        throw new StartError('migrations are missing; run: npm run -s cli -- db migrate');
      }
      return writtenDown(context, { command: 'db seed', reason }, async (em) => {
        const count = await context.currencies.seed(em);
        return { result: count, target: 'currencies', after: { added: count } };
      });
    });
    print({ currencies_added: added }, json);
  });
  changing(
    db,
    'renumber',
    'after a dump was restored into another PostgreSQL: let statistics and subscriptions continue',
  ).action(async ({ json, reason }) => {
    const events = await withDatabase(async (context) => {
      if (await isFeedStalled(context.orm.em.fork())) {
        return writtenDown(context, { command: 'db renumber', reason }, async (em) => {
          const count = await renumberFeed(em);
          return { result: count, target: 'events', after: { events: count } };
        });
      }
      throw new AppError(
        'action_not_possible',
        "events bear this PostgreSQL's own numbers; there is nothing to renumber",
      );
    });
    print({ events }, json);
  });
  verb(db, 'status', 'tell whether migrations are missing').action(async ({ json }) => {
    print({ state: await withDatabase(async ({ schema }) => schema) }, json);
  });
}

function staffCommands(program: Command): void {
  const staff = program.command('staff').description('members of staff and their tokens');
  changing(staff, 'create', 'add a member; the token is shown in full only once')
    .requiredOption('--email <address>', 'e-mail address')
    .addOption(new Option('--role <role>', 'role of the member').choices([...staffRoles]).makeOptionMandatory())
    .action(async ({ email, role, json, reason }) => {
      const change = { command: 'staff create', reason };
      const { member, token } = await withChange(change, async ({ staff: service }, em) => {
        const result = await service.invite(em, email, role);
        return { result, target: `staff:${result.member.id}`, after: staffFields(result.member) };
      });
      print({ id: member.id, email: member.email, role: member.role, token }, json);
    });
  verb(staff, 'list', 'show all members').action(async ({ json }) => {
    const members = await withServices(({ staff: service }) => service.list());
    print({ staff: members.map(staffFields) }, json);
  });
  changing(staff, 'role', 'give a member another role; its sessions end')
    .requiredOption('--email <address>', 'e-mail address')
    .addOption(new Option('--role <role>', 'role of the member').choices([...staffRoles]).makeOptionMandatory())
    .action(async ({ email, role, json, reason }) => {
      const change = { command: 'staff role', reason };
      const member = await withMember(change, email, async (service, em, { id }) => {
        const result = await service.changeRole(em, id, role);
        return { result, member: result };
      });
      print(staffFields(member), json);
    });
  changing(staff, 'token', 'give a member a new token, shown in full only once; the old token and all sessions end')
    .requiredOption('--email <address>', 'e-mail address')
    .action(async ({ email, json, reason }) => {
      const change = { command: 'staff token', reason };
      const issued = await withMember(change, email, async (service, em, { id }) => {
        const result = await service.rotateToken(em, id);
        return { result, member: result.member };
      });
      print({ id: issued.member.id, email: issued.member.email, token: issued.token }, json);
    });
  changing(staff, 'revoke', "end a member's token and sessions at once")
    .requiredOption('--email <address>', 'e-mail address')
    .action(async ({ email, json, reason }) => {
      const change = { command: 'staff revoke', reason };
      const member = await withMember(change, email, async (service, em, { id }) => {
        const result = await service.revoke(em, id);
        return { result, member: result };
      });
      print(staffFields(member), json);
    });
  changing(staff, 'resume', 'let a suspended member act again; open proposals to revoke the member end')
    .requiredOption('--email <address>', 'e-mail address')
    .action(async ({ email, json, reason }) => {
      const change = { command: 'staff resume', reason };
      const member = await withMember(change, email, async (service, em, { id }) => {
        const result = await service.resume(em, id);
        return { result, member: result };
      });
      print(staffFields(member), json);
    });
}

/** Changes the member with an address, in one transaction with the audit entry. */
async function withMember<T>(
  change: Change,
  email: string,
  action: (
    staff: CommandContext['staff'],
    em: EntityManager,
    member: StaffMember,
  ) => Promise<{ result: T; member: StaffMember }>,
): Promise<T> {
  return withChange(change, async ({ staff }, em) => {
    const found = await staff.byEmail(em, email);
    const before = staffFields(found);
    const { result, member } = await action(staff, em, found);
    return { result, target: `staff:${member.id}`, before, after: staffFields(member) };
  });
}

function currencyCommands(program: Command): void {
  const currency = program.command('currency').description('the catalogue of currencies');
  verb(currency, 'list', 'show all currencies').action(async ({ json }) => {
    const rows = await withServices(({ currencies }) => currencies.list());
    print({ currencies: rows.map(currencyFields) }, json);
  });
  changing(currency, 'set', 'change a currency; options that are not given stay as they are; in force within seconds')
    .requiredOption('--coin <coin>', 'ticker')
    .requiredOption('--network <network>', 'network')
    .option('--active <flag>', 'true or false', flag)
    .option('--deposit <flag>', 'accept deposits: true or false', flag)
    .option('--withdraw <flag>', 'make payouts: true or false', flag)
    .option('--min <amount>', "smallest amount per order, in the coin's units")
    .option('--max <amount>', "largest amount per order, in the coin's units")
    .option('--network-fee <amount>', "fee of a payout, in the coin's units")
    .option('--confirmations <n>', 'confirmations that a deposit needs', wholeNumber)
    .action(async (options) => {
      const changes = {
        ...(options.active === undefined ? {} : { isActive: options.active }),
        ...(options.deposit === undefined ? {} : { isDepositEnabled: options.deposit }),
        ...(options.withdraw === undefined ? {} : { isWithdrawEnabled: options.withdraw }),
        ...(options.min === undefined ? {} : { minAmount: options.min }),
        ...(options.max === undefined ? {} : { maxAmount: options.max }),
        ...(options.networkFee === undefined ? {} : { networkFee: options.networkFee }),
        ...(options.confirmations === undefined ? {} : { minConfirmations: options.confirmations }),
      };
      const change = { command: 'currency set', reason: options.reason };
      const changed = await withChange(change, async ({ currencies }, em) => {
        const known = (await currencies.lockAll(em)).find(
          ({ coin, network }) => coin === options.coin && network === options.network,
        );
        const before = known ? currencyFields(known) : null;
        const result = currencyFields(await currencies.change(options.coin, options.network, changes, em));
        return { result, target: `currency:${options.coin}/${options.network}`, before, after: result };
      });
      print(changed, options.json);
    });
}

ignoreClosedOutput();
const program = new Command('npm run -s cli --')
  .description(
    'Command line of the Exchange Partner Gateway. Works on DATABASE_URL, or on the embedded database of DATA_DIR.',
  )
  .showHelpAfterError('(add --help for what is accepted)');
databaseCommands(program);
partnerCommands(program);
staffCommands(program);
currencyCommands(program);
chainCommands(program);
networkCommands(program);
sandboxCommands(program);
ledgerCommands(program);
payoutCommands(program);
venueCommands(program);

program.parseAsync().catch((error: unknown) => {
  const lines =
    error instanceof ConfigError
      ? [error.message, ...error.problems.map((problem) => `  - ${problem}`)]
      : error instanceof AppError || error instanceof StartError
        ? [error.message]
        : [error instanceof Error ? error.message : 'failed'];
  process.stderr.write(`${lines.join('\n')}\n`);
  process.exit(1);
});
