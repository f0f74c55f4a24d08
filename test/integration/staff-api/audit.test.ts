import { buildStaffSchema } from '../../../src/surfaces/graphql/schema.ts';
import { cabinetSettings } from '../../support/cabinet/cabinet-client.ts';
import { readingStatements } from '../../support/database/statement-count.ts';
import { type SettledGateway, startSettledGateway } from '../../support/gateway/settled-gateway.ts';
import { rootFields } from '../../support/http/schema-walk.ts';
import { type Member, newMember } from '../../support/staff/staff-client.ts';
import { staffMutations } from '../../support/staff/staff-mutations.ts';
import { type StaffStates, staffStates } from '../../support/staff/staff-states.ts';

let gateway: SettledGateway;
let admin: Member;
let other: Member;
let states: StaffStates;
/** Arguments of each mutation with which it succeeds. */
let calls: Readonly<Record<string, () => Promise<string>>>;
const statements: string[] = [];

beforeAll(async () => {
  gateway = await startSettledGateway({
    settings: cabinetSettings,
    outside: { onStatement: (sql) => statements.push(sql) },
  });
  admin = await newMember(gateway, 'admin');
  other = await newMember(gateway, 'admin');
  states = staffStates(gateway, other);
  calls = staffMutations({ gateway, actor: admin, other, states });
});
afterAll(() => gateway?.stop());

const memberId = async (): Promise<string> => (await newMember(gateway, 'viewer')).id;

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
    await admin.data(`mutation { partnerChange(id: "${id}", changes: { name: "Named Shop" }, reason: "x") { id } }`);
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
