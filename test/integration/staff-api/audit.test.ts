import { addressExample } from '../../../src/chains/addresses/address.ts';
import { buildStaffSchema } from '../../../src/graphql/server/schema.ts';
import { cabinetSettings } from '../../support/cabinet/cabinet-client.ts';
import { readingStatements } from '../../support/database/statement-count.ts';
import { failedOrder, type SettledGateway, startSettledGateway } from '../../support/gateway/settled-gateway.ts';
import { rootFields } from '../../support/http/schema-walk.ts';
import { StaffBrowser } from '../../support/staff/staff-browser.ts';
import { type Member, newMember } from '../../support/staff/staff-client.ts';
import { type StaffStates, staffStates } from '../../support/staff/staff-states.ts';

let gateway: SettledGateway;
let admin: Member;
let other: Member;
let states: StaffStates;
const statements: string[] = [];

beforeAll(async () => {
  gateway = await startSettledGateway({
    settings: cabinetSettings,
    outside: { onStatement: (sql) => statements.push(sql) },
  });
  admin = await newMember(gateway, 'admin');
  other = await newMember(gateway, 'admin');
  states = staffStates(gateway, other);
});
afterAll(() => gateway?.stop());

const memberId = async (): Promise<string> => (await newMember(gateway, 'viewer')).id;
/** A browser in which the admin signs in. */
const sessionId = async (): Promise<string> => {
  await new StaffBrowser(gateway.app.internalUrl).post('/sign-in', { token: admin.token });
  return (await admin.data('{ sessions { id } }')).sessions[0].id;
};
const keyId = async (): Promise<string> => (await gateway.partner()).keyId;
/** Arguments that set a coin's price in bitcoin to the market's. */
const override = async (coinFrom: string): Promise<string> => {
  const { quote } = await admin.data(
    `{ quote(input: { coinFrom: "${coinFrom}", networkFrom: "${coinFrom}", coinTo: "BTC" }) { rate } }`,
  );
  const endsAt = new Date(gateway.clock.now().getTime() + 600_000).toISOString();
  const input = `{ coinFrom: "${coinFrom}", coinTo: "BTC", price: "${quote.rate}", endsAt: "${endsAt}" }`;
  return `(input: ${input}, reason: "x")`;
};

/** A call of each mutation that succeeds. */
const calls: Readonly<Record<string, () => Promise<string>>> = {
  actionApprove: async () => `(id: "${await states.proposedRelease()}", reason: "x")`,
  actionReject: async () => `(id: "${await states.proposedRelease()}", reason: "x")`,
  attentionHandOver: async () =>
    `(itemId: "held_order:${(await states.heldOrder()).id}", to: "${(await newMember(gateway, 'support')).id}", reason: "x")`,
  attentionRelease: async () => {
    const itemId = `held_order:${(await states.heldOrder()).id}`;
    await admin.data(`mutation { attentionTake(itemId: "${itemId}") { id } }`);
    return `(itemId: "${itemId}")`;
  },
  attentionTake: async () => `(itemId: "held_order:${(await states.heldOrder()).id}")`,
  currencySwitch: async () => '(coin: "XMR", network: "XMR", switches: { isDepositEnabled: false }, reason: "x")',
  currencyTerms: async () => '(coin: "XMR", network: "XMR", terms: { minConfirmations: 9 }, reason: "x")',
  invitationWithdraw: async () => `(id: "${(await states.partnerInvitation()).invitationId}", reason: "x")`,
  keyChange: async () => `(keyId: "${await keyId()}", key: { label: "web" }, reason: "x")`,
  keyIssue: async () => `(partnerId: "${await states.partnerId()}", reason: "x")`,
  keyRevoke: async () => `(keyId: "${await keyId()}", reason: "x")`,
  keyRoll: async () => `(keyId: "${await keyId()}", hours: 1, reason: "x")`,
  memberInvite: async () => `(partnerId: "${await states.partnerId()}", name: "Ada", role: OWNER, reason: "x")`,
  memberRecover: async () => `(memberId: "${(await states.partnerMember()).memberId}", reason: "x")`,
  orderHold: async () => `(orderId: "${(await gateway.order()).id}", reason: "x")`,
  orderMarkFailed: async () => `(orderId: "${(await states.heldBackOrder()).id}", reason: "x")`,
  orderNote: async () => `(orderId: "${(await gateway.order()).id}", text: "called the partner")`,
  orderPageRenew: async () => {
    const { id } = await gateway.order();
    const [row] = await gateway.query<{ partner_id: string }>('select partner_id from exchange_order where id = $1', [
      id,
    ]);
    await gateway.partners.change(row?.partner_id ?? '', { orderPage: true, displayName: 'Wallet' });
    return `(orderId: "${id}", reason: "x")`;
  },
  orderPageRevoke: async () => `(orderId: "${(await gateway.order()).id}", reason: "x")`,
  orderRefund: async () => {
    const { id } = await failedOrder(gateway);
    return `(input: { orderId: "${id}", address: "${addressExample('BTC')}" }, reason: "x")`;
  },
  orderRelease: async () => `(orderId: "${(await states.heldOrder()).id}", reason: "x")`,
  orderRetryPayout: async () => `(orderId: "${(await states.unpaidOrder()).id}", reason: "x")`,
  orderViewRemove: async () => {
    const { made } = await admin.data('mutation { made: orderViewSave(name: "gone", query: "held=1") { id } }');
    return `(id: "${made.id}")`;
  },
  orderViewSave: async () => '(name: "BTC", query: "coin=BTC")',
  orderVenuePrice: async () =>
    `(orderId: "${(await states.leaveUnsold(await gateway.order())).id}", price: "80", reason: "x")`,
  partnerCreate: async () => '(name: "Shop", reason: "x")',
  partnerLimits: async () => `(id: "${await states.partnerId()}", limits: { requests: 7 }, reason: "x")`,
  partnerOrderPage: async () =>
    `(id: "${await states.partnerId()}", enabled: true, displayName: "Wallet", reason: "x")`,
  partnerPricing: async () => `(id: "${await states.partnerId()}", pricing: { float: "0.2" }, reason: "x")`,
  partnerPublicStatus: async () => `(id: "${await states.partnerId()}", enabled: true, reason: "x")`,
  partnerRename: async () => `(id: "${await states.partnerId()}", name: "Big Shop", reason: "x")`,
  partnerSignature: async () => `(id: "${await states.partnerId()}", required: true, reason: "x")`,
  partnerStatus: async () => `(id: "${await states.partnerId()}", status: INACTIVE, reason: "x")`,
  payoutResume: async () => {
    const id = await states.made('payoutStop(coin: "DOGE", network: "DOGE", reason: "x")');
    return `(holdId: "${id}", acknowledge: false, reason: "x")`;
  },
  payoutStop: async () => '(coin: "ZEC", network: "ZEC", reason: "x")',
  priceOverride: () => override('LTC'),
  priceOverrideEnd: async () => {
    await other.data(`mutation { priceOverride${await override('DASH')} { price } }`);
    return '(coinFrom: "DASH", coinTo: "BTC", reason: "x")';
  },
  sessionEnd: async () => `(id: "${await sessionId()}", reason: "x")`,
  staffChangeApprove: async () => `(id: "${await states.proposedRole()}", reason: "x")`,
  staffChangeReject: async () => `(id: "${await states.proposedRole()}", reason: "x")`,
  staffInvite: async () => '(email: "new@example.com", role: SUPPORT, reason: "x")',
  staffRevoke: async () => `(id: "${await memberId()}", reason: "x")`,
  staffRole: async () => `(id: "${await memberId()}", role: SUPPORT, reason: "x")`,
  webhookChange: async () => `(id: "${await states.webhookId()}", endpoint: { status: DISABLED }, reason: "x")`,
  webhookCreate: async () =>
    `(partnerId: "${await states.partnerId()}", endpoint: { url: "https://hooks.example.com/" }, reason: "x")`,
  webhookDelete: async () => `(id: "${await states.webhookId()}", reason: "x")`,
  webhookRotateSecret: async () => `(id: "${await states.webhookId()}", reason: "x")`,
  webhookReplay: async () => {
    const { webhookId, eventId } = await states.deliveredEvent();
    return `(id: "${webhookId}", eventIds: ["${eventId}"], reason: "x")`;
  },
  webhookTest: async () => `(id: "${await states.webhookId()}", reason: "x")`,
  staffToken: async () => `(id: "${await memberId()}", reason: "x")`,
};

/** Mutations that write no row, each with its reason. */
const unaudited: Readonly<Record<string, string>> = {
  orderViewRemove: 'an own view, which only its member sees',
  orderViewSave: 'an own view, which only its member sees',
};

const mutations = rootFields(await buildStaffSchema())
  .filter(({ operation }) => operation === 'mutation')
  .map(({ field }) => field.name);

describe('the audit log has a row of each mutation', () => {
  it('and this test has a call of each', () => {
    expect(Object.keys(calls).sort()).toEqual([...mutations].sort());
    expect(mutations).toEqual(expect.arrayContaining(Object.keys(unaudited)));
  });

  it.each(mutations)('%s', async (mutation) => {
    const call = await calls[mutation]?.();
    const rows = () =>
      gateway.query<{ id: string; target: string; reason: string }>(
        'select id, target, reason from audit_log where operation = $1 and staff_id = $2 order by id',
        [mutation, admin.id],
      );
    const earlier = await rows();
    const reply = await admin.ask(`mutation { ${mutation}${call} { __typename } }`);
    expect(reply.errors).toEqual([]);
    const written = (await rows()).slice(earlier.length);
    expect(written.length).toBe(mutation in unaudited ? 0 : 1);
    for (const { target, reason } of written) {
      expect(target).toMatch(/^\w+:./);
      expect(reason).not.toBe('');
    }
  });
});

describe('an entry of the audit log', () => {
  const query = `query ($target: String) { auditLog(first: 50, target: $target) { edges { node {
    operation target object { name orderId partnerId } proposal { step what } } } } }`;
  interface Entry {
    readonly operation: string;
    readonly target: string;
    readonly object: { readonly name: string; readonly orderId: string | null; readonly partnerId: string | null };
    readonly proposal: { readonly step: string; readonly what: string } | null;
  }
  const entries = async (target: string): Promise<Entry[]> =>
    (await admin.data(query, { target })).auditLog.edges.map(({ node }: { node: Entry }) => node);

  it('names its object, and the order or partner that has its page', async () => {
    const order = await states.heldOrder();
    const { short_id: shortId } = await gateway.show(order);
    const held = (await entries(`order:${order.id}`))[0];
    expect(held).toMatchObject({ object: { name: shortId, orderId: shortId, partnerId: null }, proposal: null });

    const { id, keyId } = await gateway.partner();
    await admin.data(`mutation { partnerRename(id: "${id}", name: "Named Shop", reason: "x") { id } }`);
    const key = `{ label: "web" }`;
    await admin.data(`mutation { keyChange(keyId: "${keyId}", key: ${key}, reason: "x") { keyId } }`);
    const webhook = await states.webhookId(id);
    expect((await entries(`partner:${id}`))[0]?.object).toEqual({ name: 'Named Shop', orderId: null, partnerId: id });
    const ofKey = (await entries(`key:${keyId}`))[0]?.object;
    expect(ofKey).toMatchObject({ name: expect.stringMatching(/^web ….{4} of Named Shop$/), partnerId: id });
    const ofWebhook = (await entries(`webhook:${webhook}`))[0]?.object;
    expect(ofWebhook).toMatchObject({ name: 'https://hooks.example.com/ of Named Shop', partnerId: id });

    const { partnerId, memberId: person } = await states.partnerMember();
    await admin.data(`mutation { memberRecover(memberId: "${person}", reason: "x") { link } }`);
    expect((await entries(`member:${person}`))[0]?.object).toMatchObject({
      name: expect.stringMatching(/^Ada of /),
      partnerId,
    });
    const hold = await states.made('payoutStop(coin: "BTC", network: "BTC", reason: "x")');
    expect((await entries(`hold:${hold}`))[0]?.object.name).toBe('payouts of BTC BTC');
    await admin.data(`mutation { attentionTake(itemId: "held_order:${order.id}") { id } }`);
    expect((await entries(`attention:held_order:${order.id}`))[0]?.object).toMatchObject({
      name: `held order, ${shortId}`,
      orderId: shortId,
    });
  });

  it('keeps the id of an object that is gone, or has no name', async () => {
    await admin.data(
      'mutation { currencySwitch(coin: "XMR", network: "XMR", switches: { isActive: true }, reason: "x") { id } }',
    );
    expect((await entries('currency:XMR/XMR'))[0]?.object).toEqual({ name: 'XMR/XMR', orderId: null, partnerId: null });
    const gone = '01900000-0000-7000-8000-000000000000';
    await gateway.query(
      `insert into audit_log (id, at, staff_id, operation, target, reason, request_id, ip)
       values ('01900000-0000-7000-8000-000000000001', now(), $1, 'webhookDelete', $2, 'x', 'r', 'i'),
              ('01900000-0000-7000-8000-000000000002', now(), $1, 'old', 'order:no uuid', 'x', 'r', 'i')`,
      [admin.id, `webhook:${gone}`],
    );
    expect((await entries(`webhook:${gone}`))[0]?.object.name).toBe(gone);
    expect((await entries('order:no uuid'))[0]?.object.name).toBe('no uuid');
  });

  it('says whether it proposed, approved, rejected or withdrew', async () => {
    const stepsOf = async (target: string) =>
      (await entries(target)).map(({ operation, proposal }) => [operation, proposal?.step, proposal?.what]).reverse();
    const order = await states.heldOrder();
    const decide = (by: Member, operation: string, id: string) =>
      by.data(`mutation { ${operation}(id: "${id}", reason: "x") { __typename } }`);
    await decide(admin, 'actionReject', await states.proposedRelease(order));
    await decide(other, 'actionReject', await states.proposedRelease(order));
    await decide(admin, 'actionApprove', await states.proposedRelease(order));
    expect(await stepsOf(`order:${order.id}`)).toEqual([
      ['orderHold', undefined, undefined],
      ['orderRelease', 'PROPOSED', 'release'],
      ['actionReject', 'REJECTED', 'release'],
      ['orderRelease', 'PROPOSED', 'release'],
      ['actionReject', 'WITHDRAWN', 'release'],
      ['orderRelease', 'PROPOSED', 'release'],
      ['actionApprove', 'APPROVED', 'release'],
    ]);
    const hold = await states.made('payoutStop(coin: "DASH", network: "DASH", reason: "x")');
    await states.made(`payoutResume(holdId: "${hold}", acknowledge: true, reason: "x")`);
    expect(await stepsOf(`hold:${hold}`)).toEqual([
      ['payoutStop', undefined, undefined],
      ['payoutResume', 'PROPOSED', 'resume_payouts'],
    ]);
    const member = await memberId();
    await decide(admin, 'staffChangeApprove', await states.proposedRole(member));
    expect(await stepsOf(`staff:${member}`)).toEqual([
      ['staffRole', 'PROPOSED', 'role'],
      ['staffChangeApprove', 'APPROVED', 'role'],
    ]);
  });

  it('costs as many statements for many entries as for few', async () => {
    for (let made = 0; made < 4; made++) await states.heldOrder();
    const cost = (first: number): Promise<number> =>
      readingStatements(statements, async () => {
        await admin.data(`{ auditLog(first: ${first}, operation: "orderHold") {
          edges { node { object { name } proposal { step } actor { email } } } } }`);
      });
    const few = await cost(2);
    expect(few).toBeGreaterThan(0);
    expect(await cost(6)).toBe(few);
  });
});
