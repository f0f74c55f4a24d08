import { forgetEndedAssignees } from '../../../src/orders/read/attention.ts';
import { readingStatements } from '../../support/database/statement-count.ts';
import { type SettledGateway, startSettledGateway } from '../../support/gateway/settled-gateway.ts';
import { kinds, type Member, newMember } from '../../support/staff/staff-client.ts';

const statements: string[] = [];
let gateway: SettledGateway;
let viewer: Member;
let ada: Member;
let eve: Member;
let operator: Member;

beforeAll(async () => {
  gateway = await startSettledGateway({ outside: { onStatement: (sql) => statements.push(sql) } });
  viewer = await newMember(gateway, 'viewer');
  ada = await newMember(gateway, 'support');
  eve = await newMember(gateway, 'support');
  operator = await newMember(gateway, 'operator');
});
afterAll(() => gateway?.stop());

/** The item of a new order that is held, and its order. */
async function heldItem(): Promise<{ itemId: string; orderId: string }> {
  const { id } = await gateway.order();
  await ada.data(`mutation { orderHold(orderId: "${id}", reason: "odd") { id } }`);
  return { itemId: `held_order:${id}`, orderId: id };
}

const assigneeOf = async (itemId: string, member = viewer): Promise<string | null> => {
  const { attention } = await member.data('{ attention(limit: 500) { id assignee { since member { email } } } }');
  const item = attention.find(({ id }: { id: string }) => id === itemId);
  expect(item).toBeDefined();
  return item.assignee?.member.email ?? null;
};

const take = (by: Member, itemId: string) =>
  by.ask(`mutation { attentionTake(itemId: "${itemId}") { id assignee { member { id } } } }`);
const release = (by: Member, itemId: string) =>
  by.ask(`mutation { attentionRelease(itemId: "${itemId}") { id assignee { since } } }`);
const handOver = (by: Member, itemId: string, from: Member | null, to: Member) =>
  by.ask(
    `mutation { attentionHandOver(itemId: "${itemId}", from: ${from ? `"${from.id}"` : null}, to: "${to.id}", reason: "shift ends") {
       assignee { member { id } } } }`,
  );
const messages = ({ errors }: Awaited<ReturnType<typeof take>>) => errors.map(({ message }) => message);

describe('the member of an attention item', () => {
  it('takes it, is seen by the others, and releases it', async () => {
    const { itemId } = await heldItem();
    expect(await assigneeOf(itemId)).toBeNull();
    expect((await take(ada, itemId)).data.attentionTake.assignee.member.id).toBe(ada.id);
    expect(await assigneeOf(itemId)).toBe(ada.email);
    expect(messages(await take(ada, itemId))).toEqual(['you work on this item already']);
    expect((await release(ada, itemId)).data.attentionRelease.assignee).toBeNull();
    expect(await assigneeOf(itemId)).toBeNull();
    const again = await release(ada, itemId);
    expect([kinds(again), messages(again)]).toEqual([
      ['action_not_possible'],
      ['another member acted first: no member works on this item now'],
    ]);
  });

  it('is one, when several take it at once, and the others learn who', async () => {
    const { itemId } = await heldItem();
    const members = [ada, eve, operator];
    const replies = await Promise.all(members.map((member) => take(member, itemId)));
    const won = members.filter((_member, index) => replies[index]?.errors.length === 0);
    expect(won).toHaveLength(1);
    const email = await assigneeOf(itemId);
    expect(email).toBe(won[0]?.email);
    for (const reply of replies.filter(({ errors }) => errors.length > 0)) {
      expect([kinds(reply), messages(reply)]).toEqual([
        ['action_not_possible'],
        [`another member acted first: ${email} works on this item now`],
      ]);
    }
  });

  it('is released by another member only with the permission', async () => {
    const { itemId } = await heldItem();
    await take(ada, itemId);
    const refused = await release(eve, itemId);
    expect([kinds(refused), messages(refused)]).toEqual([
      ['insufficient_role'],
      [`${ada.email} works on this item; an operator can release it`],
    ]);
    expect(await assigneeOf(itemId)).toBe(ada.email);
    expect((await release(operator, itemId)).errors).toEqual([]);
    expect(await assigneeOf(itemId)).toBeNull();
  });

  it('changes by a hand-over of who has the permission, to who may take items', async () => {
    const { itemId } = await heldItem();
    expect(kinds(await handOver(eve, itemId, null, eve))).toEqual(['insufficient_role']);
    expect((await handOver(operator, itemId, null, ada)).data.attentionHandOver.assignee.member.id).toBe(ada.id);
    expect((await handOver(operator, itemId, ada, eve)).data.attentionHandOver.assignee.member.id).toBe(eve.id);
    const late = await handOver(operator, itemId, ada, operator);
    expect([kinds(late), messages(late)]).toEqual([
      ['action_not_possible'],
      [`another member acted first: ${eve.email} works on this item now`],
    ]);
    expect(kinds(await handOver(operator, itemId, eve, viewer))).toEqual(['staff_not_found']);
    expect(kinds(await handOver(operator, itemId, eve, eve))).toEqual(['action_not_possible']);
    expect(await assigneeOf(itemId)).toBe(eve.email);
    const { attentionAssignees } = await operator.data('{ attentionAssignees { id email } }');
    const emails = attentionAssignees.map(({ email }: { email: string }) => email);
    expect(emails).toEqual(expect.arrayContaining([ada.email, eve.email, operator.email]));
    expect(emails).not.toContain(viewer.email);
    const rows = await gateway.query(
      `select operation, staff_id, reason, before, after from audit_log where target = $1 order by id`,
      [`attention:${itemId}`],
    );
    const row = { operation: 'attentionHandOver', staff_id: operator.id, reason: 'shift ends' };
    expect(rows).toEqual([
      { ...row, before: { assignee: null }, after: { assignee: ada.email } },
      { ...row, before: { assignee: ada.email }, after: { assignee: eve.email } },
    ]);
  });

  it('is none of an item that ended, also when it comes again', async () => {
    const { itemId, orderId } = await heldItem();
    const lasting = await heldItem();
    await take(ada, itemId);
    await take(ada, lasting.itemId);
    const { made } = await ada.data(`mutation { made: orderNote(orderId: "${orderId}", text: "x") { id } }`);
    expect(made.id).toBeDefined();
    await gateway.query('update exchange_order set held_at = null, hold_reason = null where id = $1', [orderId]);
    expect(kinds(await take(eve, itemId))).toEqual(['not_found']);
    expect(kinds(await take(eve, 'held_order:nothing'))).toEqual(['not_found']);
    const forget = () => forgetEndedAssignees(gateway.app.orm.em.fork(), gateway.clock.now());
    expect(await forget()).toBe(1);
    await gateway.query("update exchange_order set held_at = now(), hold_reason = 'again' where id = $1", [orderId]);
    expect(await assigneeOf(itemId)).toBeNull();
    expect(await assigneeOf(lasting.itemId)).toBe(ada.email);
    expect(await forget()).toBe(0);
  });

  it('is none who was revoked', async () => {
    const leaver = await newMember(gateway, 'support');
    const { itemId } = await heldItem();
    await take(leaver, itemId);
    await gateway.query('update staff_member set revoked_at = now() where id = $1', [leaver.id]);
    expect(await forgetEndedAssignees(gateway.app.orm.em.fork(), gateway.clock.now())).toBe(1);
    expect(await assigneeOf(itemId)).toBeNull();
  });

  it('is read with all items at once', async () => {
    const one = await heldItem();
    await take(ada, one.itemId);
    const ask = () => assigneeOf(one.itemId).then(() => undefined);
    const few = await readingStatements(statements, ask);
    for (const member of [ada, eve, operator]) await take(member, (await heldItem()).itemId);
    expect(await readingStatements(statements, ask)).toBe(few);
  });
});

describe('an item tells what it is about', () => {
  const query = '{ attention(limit: 500) { kind subjectId detail reason partner { name } hold { coin network } } }';
  const found = async (subjectId: string) =>
    (await operator.data(query)).attention.find((item: { subjectId: string }) => item.subjectId === subjectId);

  it('a hold by staff tells the reason of the member, to those who may read actions', async () => {
    const { orderId } = await heldItem();
    expect(await found(orderId)).toMatchObject({ kind: 'HELD_ORDER', detail: 'staff', reason: expect.any(String) });
    await gateway.query("update exchange_order set hold_reason = 'ledger differs' where id = $1", [orderId]);
    expect(await found(orderId)).toMatchObject({ detail: 'ledger differs', reason: null });
  });

  it('a hold of payouts and its proposal tell the asset, and a proposal its reason', async () => {
    const stop = 'payoutStop(coin: "LTC", network: "LTC", reason: "odd payments")';
    const { made } = await operator.data(`mutation { made: ${stop} { id } }`);
    expect(await found(made.id)).toMatchObject({ kind: 'PAYOUT_HOLD', hold: { coin: 'LTC', network: 'LTC' } });
    const resume = `payoutResume(holdId: "${made.id}", acknowledge: true, reason: "they were fine")`;
    const { proposal } = await operator.data(`mutation { proposal: ${resume} { id } }`);
    expect(await found(proposal.id)).toMatchObject({
      kind: 'PROPOSAL_OPEN',
      reason: 'they were fine',
      hold: { coin: 'LTC', network: 'LTC' },
    });
  });

  it('quotes that cost more than they earn tell the name of the partner', async () => {
    const { id } = await gateway.partner();
    await gateway.query('update partner set quote_cut_since = now(), quote_adverse_bps = 90 where id = $1', [id]);
    const { partner } = await operator.data(`{ partner(id: "${id}") { name } }`);
    expect(await found(id)).toMatchObject({ kind: 'ADVERSE_QUOTES', partner: { name: partner.name } });
  });

  it('is read for many items with as many statements as for few', async () => {
    const ask = async (): Promise<void> => void (await operator.data(query));
    const few = await readingStatements(statements, ask);
    for (let made = 0; made < 3; made++) await heldItem();
    expect(await readingStatements(statements, ask)).toBe(few);
  });
});
