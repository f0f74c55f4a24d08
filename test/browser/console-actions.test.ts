import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Kind, OperationTypeNode, parse } from 'graphql';
import type { Locator, Page } from 'playwright-core';
import type { StaffRole } from '../../src/accounts/staff/staff-member.entity.ts';
import { addressExample } from '../../src/chains/addresses/address.ts';
import { WatchedGateway } from '../support/exchanges/watched-account.ts';
import { failedOrder } from '../support/gateway/settled-gateway.ts';
import { describeInBrowser } from '../support/staff/chromium.ts';
import { axeFaults, type ConsoleSetup, consoleUrl, settled, setUpConsole } from '../support/staff/console.ts';
import { type Member, newMember } from '../support/staff/staff-client.ts';
import { type StaffStates, staffStates } from '../support/staff/staff-states.ts';

/**
 * A dialog of the console: how a member gets to it, what the member types, and what the page shows
 * then.
 */
interface Row {
  /** The operation of web/console/operations.graphql. */
  readonly mutation: string;
  /** The text of its button. */
  readonly name: string;
  /** Makes the state in which the member can act, and returns the page. */
  readonly path: () => Promise<string>;
  /** The part of the page that has the button; without it the whole page. */
  readonly within?: (page: Page) => Locator;
  /** What is typed or chosen, by the names of the fields. */
  readonly values?: Readonly<Record<string, string>> | (() => Promise<Record<string, string>>);
  /** Labels of the boxes that are switched. */
  readonly checks?: readonly string[];
  /** Whether the action waits for a second member. */
  readonly isProposal?: boolean;
  /** Waits until the page shows what came of it. */
  readonly shows: (page: Page) => Promise<void>;
}

/** What the tests read of an element of a page. */
interface Shown {
  readonly tagName: string;
  readonly ownerDocument: { readonly activeElement: unknown };
  readonly validity: { readonly valueMissing: boolean };
}

/** Mutations that have no dialog, each with its reason. */
const withoutDialog: Readonly<Record<string, string>> = {
  NoteOrder: 'a note is typed on the page of the order, and is its own reason',
  TakeItem: 'a button of the item; nothing of value moves, so it needs no reason',
  ReleaseItem: 'the same button as of TakeItem',
  SaveOrderView: "a member's own list of filters",
  RemoveOrderView: "a member's own list of filters",
};

const operations = parse(readFileSync('web/console/operations.graphql', 'utf8')).definitions.flatMap((definition) =>
  definition.kind === Kind.OPERATION_DEFINITION && definition.operation === OperationTypeNode.MUTATION
    ? [definition]
    : [],
);

/**
 * The mutation of the staff API that an operation of the console sends: its name in the audit
 * log.
 */
function sentBy(operation: string): string {
  const definition = operations.find(({ name }) => name?.value === operation);
  const [field] = definition?.selectionSet.selections ?? [];
  if (field?.kind !== Kind.FIELD) throw new Error(`${operation} sends nothing`);
  return field.name.value;
}

describeInBrowser('the dialogs of the console', () => {
  let setup: ConsoleSetup;
  let page: Page;
  let other: Member;
  let states: StaffStates;
  let watched: WatchedGateway;

  beforeAll(async () => {
    setup = await setUpConsole({ seeded: 0 });
    other = await newMember(setup.gateway, 'admin');
    states = staffStates(setup.gateway, other);
    watched = await WatchedGateway.on(setup.gateway);
    page = await setup.open('admin', '/me', { bypassCSP: true, colorScheme: 'light' });
  });
  afterAll(() => setup?.stop());

  const region = (name: string) => (at: Page) => at.getByRole('region', { name, exact: true });
  const item = (text: () => string) => (at: Page) => at.getByRole('listitem').filter({ hasText: text() });
  const row = (text: () => string) => (at: Page) => at.getByRole('row').filter({ hasText: text() });
  const seen =
    (text: string | RegExp | (() => string)) =>
    async (at: Page): Promise<void> =>
      at
        .getByRole('main')
        .getByText(typeof text === 'function' ? text() : text)
        .first()
        .waitFor();
  /** An outcome that the dialog itself shows; it is then closed. */
  const told =
    (text: string | RegExp) =>
    async (at: Page): Promise<void> => {
      await at.getByRole('dialog').getByText(text).first().waitFor();
      await at.keyboard.press('Escape');
    };
  const gone = async (place: Locator): Promise<void> => place.waitFor({ state: 'detached' });

  /** What the state of the present row is about: a text by which its place on the page is found. */
  let about = '';
  const partner = async (): Promise<string> => `/partners/${await states.partnerId()}`;
  const partnerWithWebhook = async (): Promise<string> => {
    const id = await states.partnerId();
    await states.webhookId(id);
    return `/partners/${id}`;
  };
  const orderOf = async (making: Promise<{ id: string }>): Promise<string> => `/orders/${(await making).id}`;
  /** A deposit without the tag of its order, which `about` names. */
  const untagged = async (path: string): Promise<string> => {
    const { orderId } = await states.untaggedDeposit();
    const [order] = await setup.gateway.query<{ short_id: string }>(
      'select short_id from exchange_order where id = $1',
      [orderId],
    );
    about = order?.short_id ?? '';
    return path;
  };
  const newestUnassigned = (at: Page) => region('Deposits without an order')(at).getByRole('listitem').first();
  const member = async (): Promise<string> => {
    about = (await newMember(setup.gateway, 'viewer')).email;
    return '/staff';
  };
  const staffChange = async (): Promise<string> => {
    const { id, email } = await newMember(setup.gateway, 'viewer');
    await states.proposedRole(id);
    about = email;
    return '/staff';
  };
  const proposal = async (path: (id: string) => string): Promise<string> => {
    const order = await states.heldOrder();
    await states.proposedRelease(order);
    about = (await setup.gateway.show(order)).short_id;
    return path(order.id);
  };
  /** A month of a new partner that is to be paid. Its arguments name it in mutations. */
  const payable = async (path: (partnerId: string, month: string) => string | Promise<string>): Promise<string> => {
    const month = await states.payableMonth();
    const partnerId = month.match(/partnerId: "([^"]+)"/)?.[1] ?? '';
    const rows = await setup.gateway.query<{ name: string }>(
      "update partner set name = 'Shop ' || right(id::text, 12) where id = $1 returning name",
      [partnerId],
    );
    about = rows[0]?.name ?? '';
    return path(partnerId, month);
  };
  const rateToBtc = async (coin: string): Promise<string> => {
    const input = `{ coinFrom: "${coin}", networkFrom: "${coin}", coinTo: "BTC" }`;
    return (await other.data(`{ quote(input: ${input}) { rate } }`)).quote.rate;
  };

  /** Lets the account at the exchange be in the books. */
  const openedAccount = async (): Promise<void> => {
    const [waiting] = await setup.gateway.query<{ id: string }>(
      `select id from staff_action where action = 'venue_opening' and state = 'proposed'`,
    );
    if (waiting) await states.made(`actionReject(id: "${waiting.id}", reason: "x")`);
    const [opened] = await setup.gateway.query(`select from venue_account where opened_at is not null`);
    if (!opened) await watched.open();
  };

  const people = region('People');
  const keys = region('Keys');
  const webhooks = region('Webhooks');
  const access = region('Requests and pages');
  const terms = region('Fees and limits');

  const rows: readonly Row[] = [
    {
      mutation: 'HoldOrder',
      name: 'Hold',
      path: () => orderOf(setup.gateway.order()),
      shows: seen('Nothing is paid until it is released'),
    },
    {
      mutation: 'ReleaseOrder',
      name: 'Release',
      path: () => orderOf(states.heldOrder()),
      isProposal: true,
      shows: seen('Another member must approve it: you proposed it'),
    },
    {
      mutation: 'RetryPayout',
      name: 'Retry payout',
      path: () => orderOf(states.unpaidOrder()),
      isProposal: true,
      shows: seen('Another member must approve it: you proposed it'),
    },
    {
      mutation: 'RefundOrder',
      name: 'Refund',
      path: () => orderOf(failedOrder(setup.gateway)),
      values: { address: addressExample('BTC') },
      isProposal: true,
      shows: seen(addressExample('BTC')),
    },
    {
      mutation: 'AssignDeposit',
      name: 'Assign',
      path: () => untagged('/attention'),
      within: newestUnassigned,
      values: async () => ({ orderId: about, evidence: 'signed by the sender' }),
      isProposal: true,
      shows: async () => {},
    },
    {
      mutation: 'RefundOrder',
      name: 'Return',
      path: () => untagged('/attention'),
      within: newestUnassigned,
      values: { address: addressExample('XRP'), evidence: 'signed by the sender' },
      isProposal: true,
      shows: async () => {},
    },
    {
      mutation: 'MarkFailed',
      name: 'Mark failed',
      path: () => orderOf(states.heldBackOrder()),
      shows: async (at) => at.locator('.page-head').getByText('Failed', { exact: true }).waitFor(),
    },
    {
      mutation: 'VenuePrice',
      name: 'Venue price',
      path: async () => {
        const order = await states.leaveUnsold(await states.paidIn());
        await setup.gateway.query("update trade set problem = 'the exchange left 8 LTC' where order_id = $1", [
          order.id,
        ]);
        return `/orders/${order.id}`;
      },
      values: { price: '80' },
      isProposal: true,
      shows: seen('Worst price 80'),
    },
    {
      mutation: 'ApproveAction',
      name: 'Approve',
      path: () => proposal(() => '/attention'),
      within: (at) => region('Proposals')(at).getByRole('listitem').filter({ hasText: about }),
      shows: async (at) => region('Decided lately')(at).getByText(about).waitFor(),
    },
    {
      mutation: 'RejectAction',
      name: 'Reject',
      path: () => proposal((id) => `/orders/${id}`),
      shows: seen('Release rejected'),
    },
    {
      mutation: 'StopPayouts',
      name: 'Stop payouts',
      path: async () => '/money',
      values: { asset: 'ZEC/ZEC' },
      shows: async (at) => item(() => 'ZEC ZEC')(at).waitFor(),
    },
    {
      mutation: 'ResumePayouts',
      name: 'Resume',
      path: async () => {
        await states.made('payoutStop(coin: "DOGE", network: "DOGE", reason: "x")');
        return '/money';
      },
      within: item(() => 'DOGE DOGE'),
      isProposal: true,
      shows: async (at) =>
        item(() => 'DOGE DOGE')(at)
          .getByText('proposed to resume')
          .waitFor(),
    },
    {
      mutation: 'ProposeOpening',
      name: 'Take into the books',
      path: async () => {
        await watched.turn(2);
        return '/money';
      },
      within: region('Account at Kraken'),
      isProposal: true,
      shows: seen('admin@staff.example proposed it'),
    },
    {
      mutation: 'ClassifyEntry',
      name: 'Classify',
      path: async () => {
        about = 'an-address-of-a-stranger';
        await watched.withdraw('BTC', 'BTC', { gross: '1', fee: '0', state: 'done', address: about });
        await watched.turn();
        return '/money';
      },
      within: item(() => about),
      values: { class: 'COST' },
      isProposal: true,
      shows: async (at) =>
        item(() => about)(at)
          .getByText('admin@staff.example proposed cost')
          .waitFor(),
    },
    {
      mutation: 'ClassifyEntry',
      name: 'Accept the rest',
      path: async () => {
        const txid = await watched.arrive('BTC', 'BTC', '0.9');
        about = await watched.withdraw('BTC', 'BTC', { gross: '1', fee: '0', txid, state: 'done' });
        await watched.mine('BTC');
        await watched.turn();
        return '/money';
      },
      within: row(() => about),
      isProposal: true,
      shows: async (at) =>
        row(() => about)(at)
          .getByText('admin@staff.example proposed cost')
          .waitFor(),
    },
    {
      mutation: 'ClassifyEntry',
      name: 'Classify difference',
      path: async () => {
        await openedAccount();
        watched.account.add('USDT', '7');
        await watched.turn(2);
        return '/money';
      },
      within: (at) => region('Account at Kraken')(at).getByRole('row').filter({ hasText: 'USDT' }),
      values: { class: 'TRADING' },
      isProposal: true,
      shows: async (at) => region('Account at Kraken')(at).getByText('admin@staff.example proposed trading').waitFor(),
    },
    {
      mutation: 'HoldCommission',
      name: 'Hold',
      path: () => payable((id) => `/commission/${id}`),
      within: region('Months'),
      shows: async (at) => region('Months')(at).getByText('Held', { exact: true }).waitFor(),
    },
    {
      mutation: 'ReleaseCommission',
      name: 'Release',
      path: () =>
        payable(async (_, month) => {
          await states.made(`commissionHold${month}`);
          return '/commission';
        }),
      within: row(() => about),
      isProposal: true,
      shows: async (at) =>
        row(() => about)(at)
          .getByText('admin@staff.example proposed commission release')
          .waitFor(),
    },
    {
      mutation: 'PayCommission',
      name: 'Pay',
      path: () => payable(() => '/commission'),
      within: row(() => about),
      isProposal: true,
      shows: async (at) =>
        row(() => about)(at)
          .getByText('admin@staff.example proposed commission pay')
          .waitFor(),
    },
    {
      mutation: 'CancelCommission',
      name: 'Cancel the payment',
      path: () => payable(() => '/commission'),
      within: row(() => about),
      isProposal: true,
      shows: async (at) =>
        row(() => about)(at)
          .getByText('admin@staff.example proposed commission cancel')
          .waitFor(),
    },
    {
      mutation: 'CorrectCommission',
      name: 'Correct',
      path: () => payable((id) => `/commission/${id}`),
      within: (at) => at.locator('.page-head'),
      values: { asset: 'BTC/BTC', amount: '-0.01' },
      isProposal: true,
      shows: seen('admin@staff.example proposed commission correct by -0.01 BTC'),
    },
    {
      mutation: 'SetCommissionAddress',
      name: 'Set address',
      path: () => payable((id) => `/commission/${id}`),
      values: { asset: 'BTC/BTC', address: addressExample('BTC') },
      isProposal: true,
      shows: seen('admin@staff.example proposed commission address'),
    },
    {
      mutation: 'SwitchCurrency',
      name: 'Switches',
      path: async () => '/catalogue',
      within: row(() => 'XMR XMR'),
      checks: ['Partners see the currency'],
      shows: async (at) =>
        row(() => 'XMR XMR')(at)
          .getByText('Hidden')
          .waitFor(),
    },
    {
      mutation: 'SetTerms',
      name: 'Terms',
      path: async () => '/catalogue',
      within: row(() => 'XMR XMR'),
      values: { minConfirmations: '17' },
      shows: async (at) =>
        row(() => 'XMR XMR')(at)
          .getByText('17', { exact: true })
          .waitFor(),
    },
    {
      mutation: 'OverridePrice',
      name: 'Set a price',
      path: async () => '/catalogue?tab=prices',
      values: async () => ({ coinFrom: 'LTC', coinTo: 'BTC', price: await rateToBtc('LTC') }),
      shows: async (at) => row(() => 'LTC → BTC')(at).waitFor(),
    },
    {
      mutation: 'EndOverride',
      name: 'End',
      path: async () => {
        const endsAt = new Date(setup.gateway.clock.now().getTime() + 600_000).toISOString();
        const given = `coinFrom: "DASH", coinTo: "BTC", price: "${await rateToBtc('DASH')}", endsAt: "${endsAt}"`;
        await other.data(`mutation { priceOverride(input: { ${given} }, reason: "x") { price } }`);
        return '/catalogue?tab=prices';
      },
      within: row(() => 'DASH → BTC'),
      shows: (at) => gone(row(() => 'DASH → BTC')(at)),
    },
    {
      mutation: 'CreatePartner',
      name: 'New partner',
      path: async () => '/partners?q=row+shop',
      values: { name: 'Row Shop' },
      shows: async (at) => at.getByRole('link', { name: 'Row Shop' }).waitFor(),
    },
    {
      mutation: 'ChangePartner',
      name: 'Rename',
      path: partner,
      values: { name: 'Renamed Shop' },
      shows: async (at) => at.getByRole('heading', { name: 'Renamed Shop' }).waitFor(),
    },
    {
      mutation: 'ChangePartner',
      name: 'Block',
      path: partner,
      shows: async (at) => at.getByRole('button', { name: 'Unblock' }).waitFor(),
    },
    {
      mutation: 'ChangePartner',
      name: 'Unblock',
      path: async () => {
        const id = await states.partnerId();
        await setup.gateway.partners.change(id, { status: 'inactive' });
        return `/partners/${id}`;
      },
      shows: async (at) => at.getByRole('button', { name: 'Block', exact: true }).waitFor(),
    },
    {
      mutation: 'ChangePartner',
      name: 'Fees',
      path: partner,
      within: terms,
      values: { float: '0.0125' },
      shows: async (at) =>
        terms(at)
          .getByText(/^1\.25\s?% its own$/)
          .waitFor(),
    },
    {
      mutation: 'ChangePartner',
      name: 'Limits',
      path: partner,
      within: terms,
      values: { requests: '4321' },
      shows: async (at) => terms(at).getByText('4,321').waitFor(),
    },
    {
      mutation: 'ChangePartner',
      name: 'Require signatures',
      path: partner,
      within: access,
      shows: async (at) => access(at).getByText('must be signed').waitFor(),
    },
    {
      mutation: 'ChangePartner',
      name: 'Stop requiring signatures',
      path: async () => {
        const id = await states.partnerId();
        await setup.gateway.partners.change(id, { requireSignature: true });
        return `/partners/${id}`;
      },
      within: access,
      shows: async (at) => access(at).getByText('need no signature').waitFor(),
    },
    {
      mutation: 'ChangePartner',
      name: 'Open public status',
      path: partner,
      within: access,
      shows: async (at) => access(at).getByText('open to everyone with the id').waitFor(),
    },
    {
      mutation: 'ChangePartner',
      name: 'Close public status',
      path: async () => {
        const id = await states.partnerId();
        await setup.gateway.partners.change(id, { publicStatus: true });
        return `/partners/${id}`;
      },
      within: access,
      shows: async (at) => access(at).getByText('needs a key').waitFor(),
    },
    {
      mutation: 'ChangePartner',
      name: 'Order page',
      path: partner,
      within: access,
      values: { displayName: 'Coin Shop' },
      checks: ['Its orders have a page'],
      shows: async (at) => access(at).getByText('on, as Coin Shop').waitFor(),
    },
    {
      mutation: 'HandOverItem',
      name: 'Hand over',
      path: async () => {
        about = (await setup.gateway.show(await states.heldOrder())).short_id;
        return '/attention';
      },
      within: item(() => about),
      values: async () => ({ to: other.id }),
      shows: seen(() => other.email),
    },
    {
      mutation: 'InviteMember',
      name: 'Invite',
      path: partner,
      within: people,
      values: { name: 'Ada Osei', role: 'DEVELOPER' },
      shows: told('This is the only time'),
    },
    {
      mutation: 'RecoverMember',
      name: 'Recover',
      path: async () => `/partners/${(await states.partnerMember()).partnerId}`,
      within: people,
      shows: told('This is the only time'),
    },
    {
      mutation: 'WithdrawInvitation',
      name: 'Withdraw',
      path: async () => `/partners/${(await states.partnerInvitation()).partnerId}`,
      within: people,
      shows: async (at) => people(at).getByText('No person has come yet').waitFor(),
    },
    {
      mutation: 'RenewOrderPage',
      name: 'New page link',
      path: () => orderOf(states.orderWithPage()),
      shows: told('The link before works no more'),
    },
    {
      mutation: 'RevokeOrderPage',
      name: 'End page link',
      path: () => orderOf(states.orderWithPage()),
      shows: told('The link works no more'),
    },
    {
      mutation: 'IssueKey',
      name: 'New key',
      path: partner,
      within: keys,
      values: { label: 'made by a row' },
      shows: async (at) => {
        await told('This is the only time')(at);
        await keys(at).getByText('made by a row').waitFor();
      },
    },
    {
      mutation: 'RollKey',
      name: 'Roll',
      path: partner,
      within: keys,
      values: { hours: '5' },
      shows: async (at) => {
        await told('This is the only time')(at);
        await keys(at).getByText(/^Ends/).waitFor();
      },
    },
    {
      mutation: 'ChangeKey',
      name: 'Change',
      path: partner,
      within: keys,
      values: { label: 'renamed by a row', cidrs: '203.0.113.0/24, 198.51.100.7/32' },
      checks: ['Change orders'],
      shows: async (at) => {
        await keys(at).getByText('renamed by a row').waitFor();
        await keys(at).getByText('203.0.113.0/24, 198.51.100.7/32').waitFor();
      },
    },
    {
      mutation: 'RevokeKey',
      name: 'Revoke',
      path: partner,
      within: keys,
      shows: async (at) => keys(at).getByText('Revoked').waitFor(),
    },
    {
      mutation: 'CreateWebhook',
      name: 'Add an endpoint',
      path: partner,
      within: webhooks,
      values: { url: 'https://hooks.example.com/new', coinFrom: 'BTC', amounts: 'NUMBER' },
      checks: ['order.completed', 'order.refunded'],
      shows: async (at) => {
        await told('This is the only time')(at);
        await webhooks(at).getByText('order.completed, order.refunded').waitFor();
        await webhooks(at).getByText('BTC → any coin').waitFor();
        await webhooks(at).getByText('as numbers').waitFor();
      },
    },
    {
      mutation: 'ChangeWebhook',
      name: 'Change',
      path: partnerWithWebhook,
      within: webhooks,
      values: { url: 'https://hooks.example.com/moved' },
      shows: async (at) => webhooks(at).getByText('https://hooks.example.com/moved').first().waitFor(),
    },
    {
      mutation: 'ChangeWebhook',
      name: 'Disable',
      path: partnerWithWebhook,
      within: webhooks,
      shows: async (at) => webhooks(at).getByRole('button', { name: 'Enable' }).waitFor(),
    },
    {
      mutation: 'ChangeWebhook',
      name: 'Enable',
      path: async () => {
        const id = await states.partnerId();
        const webhook = await states.webhookId(id);
        await other.data(
          `mutation { webhookChange(id: "${webhook}", endpoint: { status: DISABLED }, reason: "x") { id } }`,
        );
        return `/partners/${id}`;
      },
      within: webhooks,
      shows: async (at) => webhooks(at).getByRole('button', { name: 'Disable' }).waitFor(),
    },
    {
      mutation: 'TestWebhook',
      name: 'Send a test',
      path: partnerWithWebhook,
      within: webhooks,
      shows: async (at) => webhooks(at).locator('details').first().waitFor(),
    },
    {
      mutation: 'RotateWebhookSecret',
      name: 'New secret',
      path: partnerWithWebhook,
      within: webhooks,
      values: { hours: '0' },
      shows: told('This is the only time'),
    },
    {
      mutation: 'ReplayWebhook',
      name: 'Send again',
      path: async () => `/partners/${(await states.deliveredEvent()).partnerId}`,
      within: (at) => webhooks(at).locator('details').last(),
      shows: async (at) => webhooks(at).getByText(', sent again').waitFor(),
    },
    {
      mutation: 'DeleteWebhook',
      name: 'Delete',
      path: partnerWithWebhook,
      within: webhooks,
      shows: async (at) => webhooks(at).getByText('No endpoint.').waitFor(),
    },
    {
      mutation: 'InviteStaff',
      name: 'Invite',
      path: async () => '/staff',
      values: { email: 'row@staff.example', role: 'SUPPORT' },
      shows: async (at) => {
        await told('waits for a second admin')(at);
        await item(() => 'row@staff.example')(at).waitFor();
      },
    },
    {
      mutation: 'SetStaffRole',
      name: 'Role',
      path: member,
      within: row(() => about),
      values: { role: 'SUPPORT' },
      shows: async (at) => {
        await told('waits for a second admin')(at);
        await item(() => about)(at).waitFor();
      },
    },
    {
      mutation: 'RenewStaffToken',
      name: 'New token',
      path: member,
      within: row(() => about),
      shows: told('waits for a second admin'),
    },
    {
      mutation: 'RevokeStaff',
      name: 'Revoke',
      path: member,
      within: row(() => about),
      shows: async (at) => {
        await told('waits for a second admin')(at);
        await row(() => about)(at)
          .getByText('Suspended')
          .waitFor();
      },
    },
    {
      mutation: 'ApproveStaffChange',
      name: 'Approve',
      path: staffChange,
      within: item(() => about),
      shows: async (at) => {
        await told('Done.')(at);
        await row(() => about)(at)
          .getByText('Support', { exact: true })
          .waitFor();
      },
    },
    {
      mutation: 'RejectStaffChange',
      name: 'Reject',
      path: staffChange,
      within: item(() => about),
      shows: (at) => gone(item(() => about)(at)),
    },
    {
      mutation: 'EndSession',
      name: 'End',
      path: async () => {
        await (await setup.open('admin', '/me')).close();
        return '/me';
      },
      within: item(() => 'Another browser'),
      shows: (at) => gone(item(() => 'Another browser')(at)),
    },
  ];

  it('are all in the table', () => {
    const named = operations.map(({ name }) => name?.value ?? '');
    const tabled = new Set([...rows.map(({ mutation }) => mutation), ...Object.keys(withoutDialog)]);
    expect([...tabled].sort()).toEqual([...named].sort());
    const source = readdirSync('web/console', { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.tsx'))
      .map((file) => readFileSync(join('web/console', file), 'utf8'))
      .join('\n');
    // An operation that no page sends would be in the table in vain.
    expect(named.filter((name) => !source.includes(`send(${name}Document`))).toEqual([]);
  });

  async function focused(button: Locator): Promise<boolean> {
    return button.evaluate((element: Shown) => element === element.ownerDocument.activeElement);
  }

  async function fill(dialog: Locator, { values = {}, checks = [] }: Row): Promise<Record<string, string>> {
    const typed = typeof values === 'function' ? await values() : values;
    for (const [name, value] of Object.entries(typed)) {
      const field = dialog.locator(`[name="${name}"]`);
      const isChoice = await field.evaluate((element: Shown) => element.tagName === 'SELECT');
      if (isChoice) await field.selectOption(value);
      else await field.fill(value);
    }
    for (const label of checks) await dialog.getByLabel(label).click();
    return typed;
  }

  it.each(rows.map((one) => [`${one.mutation}: ${one.name}`, one] as const))('%s', async (_title, one) => {
    const path = await one.path();
    await page.goto(consoleUrl(setup.gateway, path));
    await settled(page);
    const place = one.within?.(page) ?? page.getByRole('main');
    if (await place.evaluate((element: Shown) => element.tagName === 'DETAILS')) {
      await place.locator('summary').click();
    }
    const button = place.getByRole('button', { name: one.name, exact: true });
    const dialog = page.getByRole('dialog');

    // The keyboard opens it, and Escape leads back to where it was.
    await button.focus();
    await page.keyboard.press('Enter');
    await dialog.waitFor();
    await page.keyboard.press('Escape');
    await gone(dialog);
    expect(await focused(button)).toBe(true);
    await page.keyboard.press('Enter');
    await dialog.waitFor();
    // Colours are right once the dialog has faded in.
    await page.evaluate(
      `Promise.all(document.querySelector('dialog').getAnimations({ subtree: true }).map(({ finished }) => finished)).then(() => true)`,
    );
    expect(await axeFaults(page)).toEqual([]);
    expect(await dialog.getByText('until a second member approves it').count()).toBe(one.isProposal ? 1 : 0);

    // Without a reason it is refused: by the browser, and by the server when blanks get past it.
    const typed = await fill(dialog, one);
    const reason = dialog.locator('[name="reason"]');
    const submit = dialog.locator('footer button[type="submit"]');
    await submit.click();
    expect(await reason.evaluate(({ validity }: Shown) => validity.valueMissing)).toBe(true);
    await reason.fill('   ');
    await submit.click();
    await dialog
      .locator('label')
      .filter({ has: page.locator('[name="reason"]') })
      .getByText('a reason of 1 to 1000 characters')
      .waitFor();
    expect(await reason.getAttribute('aria-invalid')).toBe('true');
    expect(await focused(reason)).toBe(true);
    for (const [name, value] of Object.entries(typed)) {
      expect([name, await dialog.locator(`[name="${name}"]`).inputValue()]).toEqual([name, value]);
    }

    const why = `tried by the row ${one.mutation} ${one.name}`;
    await reason.fill(why);
    await submit.focus();
    await page.keyboard.press('Enter');
    await one.shows(page);
    await gone(dialog);
    const audited = await setup.gateway.query<{ operation: string; email: string }>(
      'select a.operation, s.email from audit_log a join staff_member s on s.id = a.staff_id where a.reason = $1',
      [why],
    );
    expect(audited).toEqual([{ operation: sentBy(one.mutation), email: 'admin@staff.example' }]);
  });

  describe('with values that cannot be', () => {
    const open = async (name: string, within: (at: Page) => Locator): Promise<Locator> => {
      await page.goto(consoleUrl(setup.gateway, await partner()));
      await settled(page);
      await within(page).getByRole('button', { name, exact: true }).click();
      const dialog = page.getByRole('dialog');
      await dialog.locator('[name="reason"]').fill('to be refused');
      return dialog;
    };
    const refused = async (dialog: Locator, name: string, value: string, text: string): Promise<void> => {
      const field = dialog.locator(`[name="${name}"]`);
      await field.fill(value);
      await dialog.locator('footer button[type="submit"]').click();
      await dialog
        .locator('label')
        .filter({ has: page.locator(`[name="${name}"]`) })
        .getByText(text)
        .waitFor();
      expect(await field.getAttribute('aria-invalid')).toBe('true');
      expect(await field.inputValue()).toBe(value);
      expect(await dialog.locator('[name="reason"]').inputValue()).toBe('to be refused');
    };

    it('keep what was typed, and show each fault at its field', async () => {
      const limits = await open('Limits', terms);
      await limits.locator('[name="orders"]').fill('77');
      await refused(limits, 'requests', '1e3', "'1e3' is no whole number");
      await refused(limits, 'requests', '99999999999', 'is too large: at most');
      await refused(limits, 'requests', '0', 'a rate limit is a whole number from 1');
      await refused(limits, 'markupBps', '501', 'basis points from 0 to 500');
      // Both faults of the server at once, and the field that has none is as it was typed.
      expect(await limits.locator('[aria-invalid]').count()).toBe(2);
      expect(await limits.locator('[name="orders"]').inputValue()).toBe('77');
    });

    it('keep the hint of a field at fault, for eyes and for screen readers', async () => {
      const roll = await open('Roll', keys);
      await refused(roll, 'hours', '169', 'the old key may live on for 0 to 168');
      const label = roll.locator('label').filter({ has: page.locator('[name="hours"]') });
      await label.getByText('0 to 168', { exact: true }).waitFor();
      const described = await roll.locator('[name="hours"]').getAttribute('aria-describedby');
      const texts = await Promise.all(
        (described ?? '').split(' ').map((id) => page.locator(`[id="${id}"]`).innerText()),
      );
      expect(texts).toEqual([expect.stringContaining('the old key may live on'), '0 to 168']);
    });

    it.each([
      ['Fees', terms, 'float', '0.7', 'a fee rate is a fraction'],
      ['Order page', access, 'displayName', 'x'.repeat(61), 'a display name has 1 to 60'],
      ['Add an endpoint', webhooks, 'url', 'http://10.0.0.1/', 'url is not allowed'],
      ['Roll', keys, 'hours', '169', 'the old key may live on for 0 to 168'],
    ] as const)('as %s', async (name, within, field, value, text) => {
      await refused(await open(name, within), field, value, text);
    });
  });

  it('of a partner are offered to those who may', async () => {
    const { partnerId } = await states.deliveredEvent();
    const offered: Record<string, string[]> = {};
    for (const role of ['viewer', 'support', 'operator', 'admin'] as const satisfies readonly StaffRole[]) {
      const opened = await setup.open(role, `/partners/${partnerId}`);
      await settled(opened);
      if (role === 'operator' || role === 'admin') await opened.getByRole('button', { name: 'New secret' }).waitFor();
      await webhooks(opened).locator('details summary').last().click();
      const names = await opened.getByRole('main').getByRole('button').allInnerTexts();
      offered[role] = [...new Set(names.map((name) => name.trim()).filter((name) => /^[A-Z]/.test(name)))].sort();
      await opened.context().close();
    }
    const copies = offered.viewer ?? [];
    const may = (role: StaffRole): string[] => (offered[role] ?? []).filter((name) => !copies.includes(name));
    expect(may('support')).toEqual([]);
    const operator = [
      ...[
        'Add an endpoint',
        'Block',
        'Change',
        'Delete',
        'Disable',
        'Invite',
        'New key',
        'New secret',
        'Open public status',
      ],
      ...['Order page', 'Rename', 'Require signatures', 'Revoke', 'Roll', 'Send a test', 'Send again'],
    ];
    expect(may('operator')).toEqual(operator);
    expect(may('admin')).toEqual([...operator, 'Fees', 'Limits'].sort());
    expect(copies.filter((name) => rows.some((one) => one.name === name))).toEqual([]);
  });
});
