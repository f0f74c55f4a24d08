import { mostViews } from '../../../src/accounts/staff/order-views.ts';
import { type SettledGateway, startSettledGateway } from '../../support/gateway/settled-gateway.ts';
import { kinds, type Member, newMember } from '../../support/staff/staff-client.ts';

let gateway: SettledGateway;
let ada: Member;

beforeAll(async () => {
  gateway = await startSettledGateway();
});
afterAll(() => gateway?.stop());
beforeEach(async () => {
  ada = await newMember(gateway, 'viewer');
});

const save = (by: Member, name: string, query: string) =>
  by.ask('mutation ($name: String!, $query: String!) { orderViewSave(name: $name, query: $query) { id name query } }', {
    name,
    query,
  });
const remove = (by: Member, id: string) => by.ask('mutation ($id: ID!) { orderViewRemove(id: $id) { name } }', { id });
const views = async (of: Member): Promise<{ id: string; name: string; query: string }[]> =>
  (await of.data('{ orderViews { id name query } }')).orderViews;

describe('own views of the order list', () => {
  it('are kept by name, in one order of filters, and replaced under the same name', async () => {
    expect((await save(ada, '  Big ones ', 'coin=BTC&status=FAILED,REFUNDED&q=')).data.orderViewSave).toMatchObject({
      name: 'Big ones',
      query: 'status=FAILED%2CREFUNDED&coin=BTC',
    });
    await save(ada, 'a day', 'from=2026-01-01&to=2026-01-01');
    await save(ada, 'Big ones', 'held=1');
    expect((await views(ada)).map(({ name, query }) => [name, query])).toEqual([
      ['a day', 'from=2026-01-01&to=2026-01-01'],
      ['Big ones', 'held=1'],
    ]);
  });

  it('are seen and removed by their member only', async () => {
    const eve = await newMember(gateway, 'admin');
    const { id } = (await save(ada, 'mine', 'held=1')).data.orderViewSave;
    await save(eve, 'mine', 'coin=ETH');
    expect(kinds(await remove(eve, id))).toEqual(['not_found']);
    expect(kinds(await remove(eve, 'nothing'))).toEqual(['not_found']);
    expect((await views(eve)).map(({ query }) => query)).toEqual(['coin=ETH']);
    expect((await remove(ada, id)).data.orderViewRemove.name).toBe('mine');
    expect(await views(ada)).toEqual([]);
    expect(kinds(await remove(ada, id))).toEqual(['not_found']);
    expect(await views(eve)).toHaveLength(1);
  });

  it(`are at most ${mostViews}, also from two windows at once`, async () => {
    for (let view = 1; view < mostViews; view++) await save(ada, `view ${view}`, 'held=1');
    const replies = await Promise.all(['one', 'two', 'three'].map((name) => save(ada, name, 'held=1')));
    const refused = replies.filter(({ errors }) => errors.length > 0);
    expect(refused.flatMap(kinds)).toEqual(['invalid_value', 'invalid_value']);
    expect(refused[0]?.errors[0]?.message).toBe('a member has at most 20 views; remove one first');
    expect(await views(ada)).toHaveLength(mostViews);
    expect((await save(ada, 'view 1', 'coin=ETH')).errors).toEqual([]);
  });

  it.each([
    ['', 'held=1', 'invalid_value'],
    ['x'.repeat(41), 'held=1', 'invalid_value'],
    ['two\nlines', 'held=1', 'invalid_value'],
    ['nothing', '', 'invalid_value'],
    ['nothing', 'q=&coin=', 'invalid_value'],
    ['odd', 'state=FAILED', 'unknown_field'],
    ['odd', 'status=ODD', 'unknown_value'],
    ['odd', 'after=abc', 'unknown_field'],
    ['twice', 'coin=BTC&coin=ETH', 'invalid_value'],
    ['long', `q=${encodeURIComponent('ä'.repeat(200))}`, 'invalid_value'],
  ])('are refused, case %#: %j', async (name, query, kind) => {
    expect(kinds(await save(ada, name, query))).toEqual([kind]);
    expect(await views(ada)).toEqual([]);
  });
});
