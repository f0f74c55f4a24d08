import { type Command, Option } from 'commander';
import type { Members } from '../../accounts/members/members.ts';
import { memberRoles } from '../../accounts/members/rights.ts';
import { keyScopes, usualScopes } from '../../accounts/partners/key-scope.ts';
import type { PartnerChanges } from '../../accounts/partners/partner-service.ts';
import { StartError } from '../../app/start-error.ts';
import { changing, flag, instant, list, rateOrDefault, verb, wholeNumber, wholeNumberOrDefault } from './arguments.ts';
import { type CommandContext, withChange, withServices } from './context.ts';
import { keyFields, partnerFields, print } from './output.ts';

/** The change that each option of `partner set` makes. */
const changeNames = {
  status: 'status',
  name: 'name',
  feeFloat: 'feeRateFloat',
  feeFixed: 'feeRateFixed',
  rateLimit: 'rateLimitPerMin',
  ordersLimit: 'ordersLimitPerMin',
  listsLimit: 'listsLimitPerMin',
  maxOpenOrders: 'maxOpenOrders',
  maxFixedUsd: 'maxFixedExposureUsd',
  maxFixedDayUsd: 'maxFixedDayUsd',
  maxFloatUsd: 'maxFloatExposureUsd',
  keepFixedCaps: 'keepsFixedCaps',
  maxMarkup: 'maxMarkupBps',
  quoteHold: 'quoteHoldSec',
  requireSignature: 'requireSignature',
  publicStatus: 'publicStatus',
  displayName: 'displayName',
  orderPage: 'orderPage',
} satisfies Record<string, keyof PartnerChanges>;

export function partnerCommands(program: Command): void {
  const partner = program.command('partner').description('partner accounts and their keys');
  accountCommands(partner);
  setCommand(partner);
  keyCommands(partner);
  keyChangeCommands(partner);
  memberCommands(partner);
}

function accountCommands(partner: Command): void {
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
}

function setCommand(partner: Command): void {
  changing(partner, 'set', 'change an account; options that are not given stay as they are')
    .requiredOption('--partner <id>', 'id of the partner')
    .addOption(new Option('--status <status>', 'an inactive partner gets 403').choices(['active', 'inactive']))
    .option('--name <name>', 'new name')
    .option('--fee-float <rate>', "service fee on float orders as a fraction (0.004), or 'default'", rateOrDefault)
    .option('--fee-fixed <rate>', "service fee on fixed orders as a fraction (0.008), or 'default'", rateOrDefault)
    .option('--rate-limit <n>', "requests a minute, or 'default'", wholeNumberOrDefault)
    .option('--orders-limit <n>', "orders created a minute, or 'default'", wholeNumberOrDefault)
    .option('--lists-limit <n>', "lists of orders read a minute, or 'default'", wholeNumberOrDefault)
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
    .option('--max-markup <n>', "largest markup in basis points, 0 to 500, or 'default'", wholeNumberOrDefault)
    .option(
      '--quote-hold <n>',
      "seconds for which binding quotes hold, 15 to 300, or 'default'; more than the gateway's needs a fixed fee above the gateway's",
      wholeNumberOrDefault,
    )
    .option('--require-signature <flag>', 'true refuses order requests without X-Signature', flag)
    .option('--public-status <flag>', 'true lets everyone who knows the UUID of an order read its status', flag)
    .option('--display-name <name>', 'what the order page calls the partner')
    .option('--order-page <flag>', 'true gives its orders a page for their users; needs a display name', flag)
    .action(async (options) => {
      const changes = changesOf(options);
      const change = { command: 'partner set', reason: options.reason };
      const changed = await withChange(change, async ({ partners }, em) => {
        const before = partnerFields(await partners.lock(options.partner, em));
        const result = partnerFields(await partners.change(options.partner, changes, em));
        return { result, target: `partner:${result.id}`, before, after: result };
      });
      print(changed, options.json);
    });
}

/** The changes whose options are given. */
function changesOf(options: Readonly<Record<string, unknown>>): PartnerChanges {
  const given = Object.entries(changeNames).filter(([option]) => options[option] !== undefined);
  return Object.fromEntries(given.map(([option, name]) => [name, options[option]]));
}

function memberCommands(partner: Command): void {
  changing(partner, 'invite', 'invite a person to the partner cabinet; the link is shown only once')
    .requiredOption('--partner <id>', 'id of the partner')
    .requiredOption('--name <name>', 'name of the person')
    .addOption(new Option('--role <role>', 'what the person may do').choices([...memberRoles]).default('owner'))
    .action(async ({ partner: id, name, role, json, reason }) => {
      const issued = await withChange({ command: 'partner invite', reason }, async ({ people }, em) => {
        const result = await cabinetMembers(people).invite(id, { name, role }, null, em);
        return { result, target: `partner:${id}`, after: { name, role } };
      });
      print({ link: issued.link, expires_at: issued.invitation.expiresAt.toISOString() }, json);
    });
  verb(partner, 'members', 'show the people who sign in to the partner cabinet')
    .requiredOption('--partner <id>', 'id of the partner')
    .action(async ({ partner: id, json }) => {
      const { members } = await withServices(({ people }) => cabinetMembers(people).team(id));
      const rows = members.map(({ id: memberId, name, role, passkeys }) => ({ id: memberId, name, role, passkeys }));
      print({ members: rows }, json);
    });
  changing(partner, 'recover', 'invite a member who has lost all passkeys; the link is shown only once')
    .requiredOption('--member <id>', 'id of the member')
    .action(async ({ member: id, json, reason }) => {
      const issued = await withChange({ command: 'partner recover', reason }, async ({ people }, em) => {
        const result = await cabinetMembers(people).recover(null, id, null, em);
        return { result, target: `member:${id}` };
      });
      print({ link: issued.link, expires_at: issued.invitation.expiresAt.toISOString() }, json);
    });
}

function cabinetMembers(people: CommandContext['people']): Members {
  if (people) return people.members;
  throw new StartError('there is no partner cabinet: set CABINET_URL (for example https://cabinet.example.com)');
}

function keyCommands(partner: Command): void {
  changing(partner, 'key', 'make a key; it is shown in full only once')
    .requiredOption('--partner <id>', 'id of the partner')
    .option('--label <text>', 'what the key is for', '')
    .option(
      '--scopes <list>',
      `comma-separated, of ${keyScopes.join(', ')}; by default ${usualScopes.join(', ')}`,
      list,
    )
    .option('--cidrs <list>', 'comma-separated networks that may use the key; all by default', list)
    .option('--expires <time>', 'end of the key, like 2027-01-31T00:00:00Z', instant)
    .option('--markup-bps <n>', 'markup of quotes and creates that name none, in basis points', wholeNumber)
    .action(async ({ partner: id, label, scopes, cidrs, expires, markupBps, json, reason }) => {
      const options = {
        label,
        ...(scopes === undefined ? {} : { scopes }),
        ...(cidrs === undefined ? {} : { allowedCidrs: cidrs }),
        ...(expires === undefined ? {} : { expiresAt: expires }),
        ...(markupBps === undefined ? {} : { defaultMarkupBps: markupBps }),
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
}

/** What staff do to a key that exists. */
function keyChangeCommands(partner: Command): void {
  changing(partner, 'roll', 'make a successor of a key and set an expiry for the old key')
    .requiredOption('--key <key_id>', 'id of the old key')
    .option('--hours <n>', 'hours until the old key expires, 0 to 168', wholeNumber, 24)
    .action(async ({ key, hours, json, reason }) => {
      const issued = await withChange({ command: 'partner roll', reason }, async ({ partners }, em) => {
        const result = await partners.rollKey(key, hours, em);
        return { result, target: `key:${key}`, after: { successor: result.keyId, hours } };
      });
      print({ key_id: issued.keyId, key: issued.key }, json);
    });
  changing(partner, 'key-set', 'change a live key; options that are not given stay as they are')
    .requiredOption('--key <key_id>', 'id of the key')
    .option('--label <text>', 'what the key is for')
    .option(
      '--markup-bps <n>',
      "markup of quotes and creates that name none, in basis points, or 'default' for none",
      wholeNumberOrDefault,
    )
    .action(async ({ key, label, markupBps, json, reason }) => {
      const options = {
        ...(label === undefined ? {} : { label }),
        ...(markupBps === undefined ? {} : { defaultMarkupBps: markupBps }),
      };
      const changed = await withChange({ command: 'partner key-set', reason }, async ({ partners }, em) => {
        const result = keyFields(await partners.changeKey(key, options, em));
        return { result, target: `key:${key}`, after: result };
      });
      print(changed, json);
    });
  changing(partner, 'revoke', 'revoke a key at once')
    .requiredOption('--key <key_id>', 'id of the key')
    .action(async ({ key, json, reason }) => {
      const ended = await withChange({ command: 'partner revoke', reason }, async ({ partners }, em) => {
        const result = keyFields(await partners.revokeKey(key, em));
        return { result, target: `key:${key}`, after: result };
      });
      print(ended, json);
    });
}
