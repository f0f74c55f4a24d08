import type { EntityManager } from '@mikro-orm/postgresql';
import { Command, InvalidArgumentError, Option } from 'commander';
import { systemClock } from '../clock.ts';
import { ConfigError } from '../config.ts';
import { CurrencyService } from '../currencies/currency-service.ts';
import { migrate, schemaState } from '../db/database.ts';
import { AppError } from '../errors.ts';
import { keyScopes } from '../partners/key-scope.ts';
import { isFeedStalled, renumberFeed } from '../reports/order-feed.ts';
import { type StaffMember, staffRoles } from '../staff/staff-member.entity.ts';
import { StartError } from '../start-error.ts';
import { chainCommands } from './chain-commands.ts';
import {
  type Change,
  type CommandContext,
  withChange,
  withDatabase,
  withLedger,
  withServices,
  writtenDown,
} from './context.ts';
import { ledgerCommands } from './ledger-commands.ts';
import { networkCommands } from './network-commands.ts';
import { currencyFields, keyFields, partnerFields, print, staffFields } from './output.ts';
import { payoutCommands } from './payout-commands.ts';
import { sandboxCommands } from './sandbox-commands.ts';

function wholeNumber(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('must be a whole number');
  return Number.parseInt(text, 10);
}

function wholeNumberOrDefault(text: string): number | null {
  return text === 'default' ? null : wholeNumber(text);
}

const rateOrDefault = (text: string): string | null => (text === 'default' ? null : text);

function list(text: string): string[] {
  const parts = text.split(',').map((part) => part.trim());
  // An empty list would mean 'all': a variable that is not set must not lift a restriction.
  if (parts.includes('')) throw new InvalidArgumentError('must be a comma-separated list without empty parts');
  return parts;
}

function flag(text: string): boolean {
  if (text !== 'true' && text !== 'false') throw new InvalidArgumentError('must be true or false');
  return text === 'true';
}

function instant(text: string): Date {
  const date = new Date(text);
  if (!/^\d{4}-\d{2}-\d{2}/.test(text) || Number.isNaN(date.getTime())) {
    throw new InvalidArgumentError('must be a time like 2027-01-31T00:00:00Z');
  }
  return date;
}

/** A verb that prints one result; `--json` makes it one JSON object. */
function verb(group: Command, name: string, description: string): Command {
  return group.command(name).description(description).option('--json', 'print one JSON object and nothing else');
}

/** A verb that changes something. Why is kept in the audit log. */
function changing(group: Command, name: string, description: string): Command {
  return verb(group, name, description).option('--reason <text>', 'why, for the audit log', 'by command line');
}

function databaseCommands(program: Command): void {
  const db = program.command('db').description('the database');
  changing(db, 'migrate', 'bring the schema to the newest version').action(async ({ json, reason }) => {
    const applied = await withDatabase(async (context) => {
      const names = await migrate(context.orm, context.url);
      // Migrations have transactions of their own, and the first of them makes the audit log.
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
      if ((await schemaState(context.orm)) !== 'current') {
        throw new StartError('migrations are missing; run: npm run -s cli -- db migrate');
      }
      return writtenDown(context, { command: 'db seed', reason }, async (em) => {
        const count = await new CurrencyService(context.orm, systemClock).seed(em);
        return { result: count, target: 'currencies', after: { added: count } };
      });
    });
    print({ currencies_added: added }, json);
  });
  changing(
    db,
    'renumber',
    'after a dump was restored into another PostgreSQL: let statistics and subscriptions go on',
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
    print({ state: await withDatabase(({ orm }) => schemaState(orm)) }, json);
  });
}

function partnerCommands(program: Command): void {
  const partner = program.command('partner').description('partner accounts and their keys');
  changing(partner, 'create', 'make an active account')
    .requiredOption('--name <name>', 'name of the partner')
    .action(async ({ name, json, reason }) => {
      const made = await withChange({ command: 'partner create', reason }, async ({ partners }, em) => {
        const result = partnerFields(await partners.create(name, em));
        return { result, target: `partner:${result.id}`, after: result };
      });
      print(made, json);
    });
  verb(partner, 'list', 'show all accounts').action(async ({ json }) => {
    const rows = await withServices(({ partners }) => partners.list());
    print({ partners: rows.map(partnerFields) }, json);
  });
  verb(partner, 'show', 'show one account')
    .requiredOption('--partner <id>', 'id of the partner')
    .action(async ({ partner: id, json }) => {
      print(await withServices(async ({ partners }) => partnerFields(await partners.get(id))), json);
    });
  changing(partner, 'set', 'change an account; what is not named stays')
    .requiredOption('--partner <id>', 'id of the partner')
    .addOption(new Option('--status <status>', 'an inactive partner gets 403').choices(['active', 'inactive']))
    .option('--name <name>', 'new name')
    .option('--fee-float <rate>', "service fee on float orders as a fraction (0.004), or 'default'", rateOrDefault)
    .option('--fee-fixed <rate>', "service fee on fixed orders as a fraction (0.008), or 'default'", rateOrDefault)
    .option('--rate-limit <n>', "requests a minute, or 'default'", wholeNumberOrDefault)
    .option('--orders-limit <n>', "orders created a minute, or 'default'", wholeNumberOrDefault)
    .option('--max-open-orders <n>', "orders that may wait for their deposit, or 'default'", wholeNumberOrDefault)
    .option(
      '--max-fixed-usd <n>',
      "worth of fixed orders created within an hour in US dollars, or 'default'",
      wholeNumberOrDefault,
    )
    .option(
      '--max-fixed-day-usd <n>',
      "worth of fixed orders created within a day in US dollars, or 'default'",
      wholeNumberOrDefault,
    )
    .option(
      '--max-float-usd <n>',
      "worth of float orders that wait or are between deposit and payout in US dollars, or 'default'",
      wholeNumberOrDefault,
    )
    .option('--keep-fixed-caps <flag>', 'true keeps the fixed caps when fixed orders cost more than they bring', flag)
    .option('--require-signature <flag>', 'true refuses order requests without X-Signature', flag)
    .action(async (options) => {
      const changes = {
        ...(options.status === undefined ? {} : { status: options.status }),
        ...(options.name === undefined ? {} : { name: options.name }),
        ...(options.feeFloat === undefined ? {} : { feeRateFloat: options.feeFloat }),
        ...(options.feeFixed === undefined ? {} : { feeRateFixed: options.feeFixed }),
        ...(options.rateLimit === undefined ? {} : { rateLimitPerMin: options.rateLimit }),
        ...(options.ordersLimit === undefined ? {} : { ordersLimitPerMin: options.ordersLimit }),
        ...(options.maxOpenOrders === undefined ? {} : { maxOpenOrders: options.maxOpenOrders }),
        ...(options.maxFixedUsd === undefined ? {} : { maxFixedExposureUsd: options.maxFixedUsd }),
        ...(options.maxFixedDayUsd === undefined ? {} : { maxFixedDayUsd: options.maxFixedDayUsd }),
        ...(options.maxFloatUsd === undefined ? {} : { maxFloatExposureUsd: options.maxFloatUsd }),
        ...(options.keepFixedCaps === undefined ? {} : { keepsFixedCaps: options.keepFixedCaps }),
        ...(options.requireSignature === undefined ? {} : { requireSignature: options.requireSignature }),
      };
      const change = { command: 'partner set', reason: options.reason };
      const changed = await withChange(change, async ({ partners }, em) => {
        const before = partnerFields(await partners.lock(options.partner, em));
        const result = partnerFields(await partners.change(options.partner, changes, em));
        return { result, target: `partner:${result.id}`, before, after: result };
      });
      print(changed, options.json);
    });
  changing(partner, 'key', 'make a key; it is shown whole this once')
    .requiredOption('--partner <id>', 'id of the partner')
    .option('--label <text>', 'what the key is for', '')
    .option('--scopes <list>', `comma-separated, of ${keyScopes.join(', ')}; all unless given`, list)
    .option('--cidrs <list>', 'comma-separated networks that may use the key; all unless given', list)
    .option('--expires <time>', 'end of the key, like 2027-01-31T00:00:00Z', instant)
    .action(async ({ partner: id, label, scopes, cidrs, expires, json, reason }) => {
      const options = {
        label,
        ...(scopes === undefined ? {} : { scopes }),
        ...(cidrs === undefined ? {} : { allowedCidrs: cidrs }),
        ...(expires === undefined ? {} : { expiresAt: expires }),
      };
      const issued = await withChange({ command: 'partner key', reason }, async ({ partners }, em) => {
        const result = await partners.issueKey(id, options, em);
        return { result, target: `key:${result.keyId}`, after: { partner: id, ...options } };
      });
      print({ key_id: issued.keyId, key: issued.key }, json);
    });
  verb(partner, 'keys', "show a partner's keys, without secrets")
    .requiredOption('--partner <id>', 'id of the partner')
    .action(async ({ partner: id, json }) => {
      const keys = await withServices(({ partners }) => partners.keys(id));
      print({ keys: keys.map(keyFields) }, json);
    });
  changing(partner, 'roll', 'make a successor of a key and give the old one an end')
    .requiredOption('--key <key_id>', 'id of the old key')
    .option('--hours <n>', 'how long the old key lives on, 0 to 168', wholeNumber, 24)
    .action(async ({ key, hours, json, reason }) => {
      const issued = await withChange({ command: 'partner roll', reason }, async ({ partners }, em) => {
        const result = await partners.rollKey(key, hours, em);
        return { result, target: `key:${key}`, after: { successor: result.keyId, hours } };
      });
      print({ key_id: issued.keyId, key: issued.key }, json);
    });
  changing(partner, 'revoke', 'end a key at once')
    .requiredOption('--key <key_id>', 'id of the key')
    .action(async ({ key, json, reason }) => {
      const ended = await withChange({ command: 'partner revoke', reason }, async ({ partners }, em) => {
        const result = keyFields(await partners.revokeKey(key, em));
        return { result, target: `key:${key}`, after: result };
      });
      print(ended, json);
    });
}

function staffCommands(program: Command): void {
  const staff = program.command('staff').description('members of staff and their tokens');
  changing(staff, 'create', 'add a member; the token is shown whole this once')
    .requiredOption('--email <address>', 'e-mail address')
    .addOption(new Option('--role <role>', 'what the member may do').choices([...staffRoles]).makeOptionMandatory())
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
    .addOption(new Option('--role <role>', 'what the member may do').choices([...staffRoles]).makeOptionMandatory())
    .action(async ({ email, role, json, reason }) => {
      const change = { command: 'staff role', reason };
      const member = await withMember(change, email, async (service, em, { id }) => {
        const result = await service.changeRole(em, id, role);
        return { result, member: result };
      });
      print(staffFields(member), json);
    });
  changing(staff, 'token', 'give a member a new token, shown whole this once; the old one and all sessions end')
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
  changing(staff, 'resume', 'let a member act again whom an admin suspended; open proposals to revoke them end')
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

/** Does something to the member of an address, in one transaction with its entry in the audit log. */
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
  changing(currency, 'set', 'change a currency; what is not named stays; in force within seconds')
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
ledgerCommands(program, withLedger);
payoutCommands(program, withServices);

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
