import { readFileSync } from 'node:fs';
import { buildSchema, type GraphQLSchema, getNamedType, isLeafType } from 'graphql';
import type { MadeOrder } from '../../support/gateway/settled-gateway.ts';
import { rootFields, wholeSelectionOf } from '../../support/http/schema-walk.ts';
import { type Member, newMember, type StaffReply, staffClient } from '../../support/staff/staff-client.ts';
import { staffMutations } from '../../support/staff/staff-mutations.ts';
import { openSocket } from '../../support/staff/staff-socket.ts';
import { staffStates } from '../../support/staff/staff-states.ts';
import type { Json, Recording, TakeOptions } from './recording.ts';
import { nowhere, type World } from './world.ts';

/**
 * How deep the selection of a field goes, where the cost of an operation allows less than the usual
 * depth.
 */
const depths: Readonly<Record<string, number>> = {
  attention: 2,
  partners: 0,
  proposals: 0,
  order: 4,
  partnerCommission: 5,
  'partnerCommission with its months': 3,
  treasury: 4,
  staffChangeApprove: 3,
  staffChangeReject: 3,
  staffInvite: 3,
};
/** What would cost too much at the depth of a field. */
const omits: Readonly<Record<string, readonly string[]>> = { partnerCommission: ['PartnerCommission.months'] };
const usualDepth = 3;
/** A mutation answers with what the queries read in full. */
const mutationDepth = 1;

/** Times that PostgreSQL stamps, and measures of the machine's speed. */
const machine: TakeOptions = {
  moving: [
    [/"rolledAt":"[^"]+"/g, '"rolledAt":"<time of the database>"'],
    [/"behindSince":"[^"]+"/g, '"behindSince":"<time of the database>"'],
    [/(?<="workers":\[\{[^\]]*)"seenAt":"[^"]+"/g, '"seenAt":"<time of the database>"'],
    [/"p(50|99)Ms":[\d.]+/g, '"p$1Ms":<ms>'],
    [/"ms":\d+/g, '"ms":<ms>'],
    [/"oldestSec":\d+/g, '"oldestSec":<seconds of the database>'],
    [/"lastUsedAt":("[^"]+"|null)/g, '"lastUsedAt":<time or null>'],
    [/"refusals":\{"limited":\d+,"refused":\d+\}/g, '"refusals":{"limited":<count>,"refused":<count>}'],
    [/"(clientErrors|serverErrors|requests)":\d+/g, '"$1":<count>'],
    [/"nextAttemptAt":"[^"]+"/g, '"nextAttemptAt":<time>'],
  ],
  arrange: ({ data }) => arrange(data),
};

/**
 * Lines of one moment are booked in any order, and the counts of requests order their endpoints.
 */
function arrange(value: Json): void {
  if (typeof value !== 'object' || value === null) return;
  for (const [name, inner] of Object.entries<Json>(value)) {
    arrange(inner);
    if (name === 'ledgerLines') inner.sort((one: Json, other: Json) => compared(lineKey(one), lineKey(other)));
    // Which others were counted by now depends on the machine's speed.
    if (name === 'endpoints' && 'from' in value) {
      value.endpoints = inner.sort((one: Json, other: Json) => compared(one.endpoint, other.endpoint)).slice(0, 1);
    }
  }
}

const compared = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0);
const lineKey = ({ at, ...line }: Json): string => `${at} ${JSON.stringify(line)}`;

/** The staff API, each of whose answers is recorded, and the fields of its schema that they had. */
export class StaffRecorder {
  readonly schema: GraphQLSchema;
  readonly admin: Member;
  readonly other: Member;
  readonly #recording: Recording;
  readonly #world: World;
  readonly #selected = new Set<string>();
  readonly #answered = new Set<string>();

  private constructor(recording: Recording, world: World, [admin, other]: [Member, Member]) {
    this.schema = buildSchema(readFileSync('schema/schema.graphql', 'utf8'));
    this.#recording = recording;
    this.#world = world;
    this.admin = admin;
    this.other = other;
  }

  static async start(recording: Recording, world: World): Promise<StaffRecorder> {
    const { gateway } = world;
    return new StaffRecorder(recording, world, [await newMember(gateway, 'admin'), await newMember(gateway, 'admin')]);
  }

  /** Fields of the schema that no recorded operation asks for. */
  get unasked(): string[] {
    return this.#fields().filter((name) => !this.#selected.has(name));
  }

  /** Fields that were null or absent in every recorded answer. */
  get unanswered(): string[] {
    return this.#fields().filter((name) => !this.#answered.has(name));
  }

  /**
   * Records a root field with the whole selection below it. `call` is its arguments in parentheses.
   */
  async take(field: string, title: string, call = '', by: Member = this.admin): Promise<StaffReply> {
    const root = rootFields(this.schema).find((each) => each.field.name === field);
    if (!root) throw new Error(`the schema has no root field ${field}`);
    const own = depths[`${field} ${title}`];
    const levels = own ?? depths[field] ?? (root.operation === 'mutation' ? mutationDepth : usualDepth);
    const omitted = own === undefined ? omits[field] : [];
    const { text, fields } = wholeSelectionOf(root.field.type, levels, new Set(omitted));
    for (const name of fields) this.#selected.add(name);
    await this.#world.second();
    const reply = await by.ask(`${root.operation} { ${field}${call}${text} }`);
    this.#recording.take(
      `${field}${title === '' ? '' : ` ${title}`}`,
      `${root.operation} ${field}${call}`,
      reply,
      machine,
    );
    this.#note(getNamedType(root.field.type).name, reply.data?.[field]);
    return reply;
  }

  /** Records the answer to a text, which need not be an operation. */
  async ask(title: string, text: string, by: Member): Promise<void> {
    await this.#world.second();
    this.#recording.take(title, text.replaceAll(/\s+/g, ' '), await by.ask(text), machine);
  }

  /** Records a message of a subscription. */
  message(field: string, title: string, text: string): void {
    this.#recording.take(`${field} ${title}`, `subscription ${field}`, { status: null, headers: new Headers(), text });
    this.#note(
      getNamedType(rootFields(this.schema).find((root) => root.field.name === field)?.field.type)?.name ?? '',
      {
        ...JSON.parse(text).payload.data[field],
      },
    );
  }

  /** The selection of a subscription. */
  selection(field: string): string {
    const root = rootFields(this.schema).find((each) => each.field.name === field);
    if (!root) throw new Error(`the schema has no root field ${field}`);
    const { text, fields } = wholeSelectionOf(root.field.type, mutationDepth);
    for (const name of fields) this.#selected.add(name);
    return text;
  }

  #fields(): string[] {
    const roots = new Set(['Query', 'Mutation', 'Subscription']);
    return Object.values(this.schema.getTypeMap()).flatMap((type) =>
      'getFields' in type && 'getInterfaces' in type && !type.name.startsWith('__') && !roots.has(type.name)
        ? Object.keys(type.getFields()).map((name) => `${type.name}.${name}`)
        : [],
    );
  }

  #note(typeName: string, value: unknown): void {
    if (Array.isArray(value)) {
      for (const each of value) this.#note(typeName, each);
      return;
    }
    const type = this.schema.getType(typeName);
    if (typeof value !== 'object' || value === null || !type || !('getFields' in type)) return;
    for (const [name, inner] of Object.entries(value)) {
      if (inner === null || (Array.isArray(inner) && inner.length === 0)) continue;
      this.#answered.add(`${typeName}.${name}`);
      const field = type.getFields()[name];
      if (field && !isLeafType(getNamedType(field.type))) this.#note(getNamedType(field.type).name, inner);
    }
  }
}

/** What staff read of an order, as it is at this moment. */
export async function recordStaffOrder(staff: StaffRecorder, name: string, { id }: MadeOrder): Promise<void> {
  await staff.take('order', name, `(id: "${id}")`);
}

/**
 * Gives a partner and an order what only staff give them, and reads the partner. It is another
 * partner than that of the orders, whose API sees new prices and limits some seconds later.
 */
export async function recordSettings(staff: StaffRecorder, { gateway, order }: World): Promise<void> {
  const { id } = await gateway.partner();
  const partner = `"${id}"`;
  const limits =
    'requests: 700, orders: 300, lists: 60, openOrders: 900, fixedExposureUsd: 90000, fixedDayUsd: 900000, floatExposureUsd: 800000, quoteHoldSec: 20, markupBps: 300, keepsFixedCaps: true';
  const end = '"2026-03-01T00:00:00Z"';
  const key = `{ label: "shop", scopes: [ORDERS_READ], allowedCidrs: ["127.0.0.0/8"], defaultMarkupBps: 30, expiresAt: ${end} }`;
  const endpoint =
    '{ url: "https://hooks.example.com/", types: ["order.completed"], coinFrom: "BTC", coinTo: "USDT", amounts: NUMBER }';
  const calls: [field: string, call: string][] = [
    [
      'partnerChange',
      `(id: ${partner}, changes: { pricing: { float: "0.006", fixed: "0.02" }, limits: { ${limits} } }, reason: "agreed")`,
    ],
    ['memberInvite', `(partnerId: ${partner}, name: "Eve", role: FINANCE, reason: "asked")`],
    ['keyIssue', `(partnerId: ${partner}, key: ${key}, reason: "asked")`],
    ['webhookCreate', `(partnerId: ${partner}, endpoint: ${endpoint}, reason: "asked")`],
    ['orderNote', `(orderId: "${order('held').id}", text: "called the partner")`],
    ['attentionTake', `(itemId: "held_order:${order('held').id}")`],
  ];
  for (const [field, call] of calls) await staff.take(field, 'of a partner', call);
  await staff.take('partner', 'with settings', `(id: ${partner})`);
  await staff.take('webhookEndpoints', 'with settings', `(partnerId: ${partner})`);
}

/** Every query. */
export async function recordQueries(staff: StaffRecorder, world: World): Promise<void> {
  const { gateway, order } = world;
  const now = gateway.clock.now().getTime();
  const range = `from: "2026-01-01T00:00:00Z", to: "${new Date(now + 3_600_000).toISOString()}"`;
  const btc = 'coinFrom: "BTC", coinTo: "USDT", networkTo: "TRC20"';
  const calls: [field: string, title: string, call?: string][] = [
    ['me', ''],
    ['currencies', ''],
    ['order', 'by its short id', `(id: "${(await gateway.show(order('split'))).short_id}")`],
    ['order', 'with a note', `(id: "${order('held').id}")`],
    ['order', 'with another address', `(id: "${order('failed').id}")`],
    ['order', 'of nothing', `(id: "${nowhere}")`],
    ['orders', '', '(first: 10)'],
    ['orders', 'that failed', '(first: 5, filter: { statuses: [FAILED] })'],
    ['orders', 'that are held', '(first: 5, filter: { heldOnly: true })'],
    [
      'orders',
      'of a search',
      '(first: 5, filter: { search: "split-1" }, orderBy: { field: AMOUNT_FROM, direction: ASC })',
    ],
    ['orders', 'of no cursor', '(first: 5, after: "abc")'],
    ['orders', 'too many', '(first: 1000)'],
    ['partner', '', `(id: "${gateway.partnerId}")`],
    ['partner', 'of nothing', `(id: "${nowhere}")`],
    ['partners', ''],
    ['partnerList', '', '(first: 5)'],
    ['partnerList', 'of a search', '(first: 5, search: "no such shop")'],
    ['attention', '', '(limit: 10)'],
    ['attentionAssignees', ''],
    ['auditLog', '', '(first: 20)'],
    ['auditLog', 'of an operation', '(first: 5, operation: "orderHold")'],
    ['quote', 'float', `(input: { ${btc}, amount: "0.1" })`],
    ['quote', 'fixed', `(input: { ${btc}, amount: "0.1", rateType: FIXED, partnerId: "${gateway.partnerId}" })`],
    ['quote', 'below the minimum', `(input: { ${btc}, amount: "0.00000001" })`],
    ['priceOverrides', ''],
    ['proposals', ''],
    ['decidedProposals', ''],
    ['payoutBrakes', ''],
    ['ledgerBalances', ''],
    ['ledgerBalances', 'as they were', '(at: "2026-01-01T00:01:00Z")'],
    ['stats', 'by hour', `(${range}, interval: HOUR)`],
    ['stats', 'by partner', `(${range}, by: PARTNER)`],
    ['stats', 'by pair', `(${range}, by: PAIR)`],
    ['stats', 'of too long a range', '(from: "2020-01-01T00:00:00Z", to: "2026-01-02T00:00:00Z", interval: HOUR)'],
    ['system', ''],
    ['chainHistory', '', `(first: 3, ${range})`],
    ['walletHistory', '', `(first: 3, ${range})`],
    ['venueHistory', '', `(first: 3, ${range})`],
    ['treasury', ''],
    ['unassignedDeposits', '', '(first: 10)'],
    ['venueMovements', '', '(first: 10)'],
    ['venueMovements', 'of a kind', '(first: 10, venue: "binance", kind: DEPOSIT, coin: "XRP")'],
    ['commissions', '', '(month: "2026-01", first: 5)'],
    ['commissions', 'of no month', '(month: "January")'],
    ['commissionMonths', ''],
    ['partnerCommission', '', `(partnerId: "${gateway.partnerId}")`],
    ['partnerCommission', 'with its months', `(partnerId: "${gateway.partnerId}")`],
    ['partnerCommission', 'of nothing', `(partnerId: "${nowhere}")`],
    ['apiTraffic', ''],
    ['sessions', ''],
    ['staff', ''],
    ['staffChanges', ''],
    ['orderViews', ''],
    ['webhookEndpoints', '', `(partnerId: "${gateway.partnerId}")`],
    ['webhookEventTypes', ''],
  ];
  for (const [field, title, call] of calls) await staff.take(field, title, call);
}

/** Every mutation that succeeds, and the usual refusals. */
export async function recordMutations(staff: StaffRecorder, world: World): Promise<void> {
  const { gateway } = world;
  const { admin, other } = staff;
  const calls = staffMutations({ gateway, actor: admin, other, states: staffStates(gateway, other) });
  for (const { operation, field } of rootFields(staff.schema)) {
    if (operation !== 'mutation') continue;
    const call = await calls[field.name]?.();
    if (call === undefined) throw new Error(`there is no call of the mutation ${field.name}`);
    const { errors } = await staff.take(field.name, '', call);
    if (errors.length > 0) throw new Error(`${field.name}${call}: ${JSON.stringify(errors)}`);
  }
  const { data: invited } = await staff.other.ask(
    'mutation { staffInvite(email: "second@example.com", role: VIEWER, reason: "x") { change { id } } }',
  );
  await staff.take('staffChangeApprove', 'of a member', `(id: "${invited.staffInvite.change.id}", reason: "x")`);
  // What the mutations left is read as well: proposals, holds, changes of staff, views.
  for (const field of ['proposals', 'decidedProposals', 'payoutBrakes', 'staffChanges', 'orderViews', 'sessions']) {
    await staff.take(field, 'after the mutations');
  }
  await staff.take('priceOverrides', 'after the mutations');
  await staff.take('attention', 'after the mutations', '(limit: 13)');
  await staff.take('auditLog', 'after the mutations', '(first: 60)');
  await staff.take('staff', 'after the mutations');
}

/** What the staff API refuses. */
export async function recordRefusals(staff: StaffRecorder, world: World): Promise<void> {
  const { gateway } = world;
  const viewer = await newMember(gateway, 'viewer');
  const stranger: Member = { ...viewer, ask: staffClient(gateway.app.internalUrl, null) };
  const unknown: Member = { ...viewer, ask: staffClient(gateway.app.internalUrl, 'xs_nonsense') };
  const { id } = world.order('completed');
  const refused: [title: string, text: string, by?: Member][] = [
    ['me signed out', '{ me { id } }', stranger],
    ['me with an unknown token', '{ me { id } }', unknown],
    ['staff by a viewer', '{ staff { id } }', viewer],
    ['orderHold by a viewer', `mutation { orderHold(orderId: "${id}", reason: "x") { id } }`, viewer],
    ['orderHold without a reason', `mutation { orderHold(orderId: "${id}", reason: " ") { id } }`],
    ['orderHold of nothing', `mutation { orderHold(orderId: "${nowhere}", reason: "x") { id } }`],
    ['orderRelease of an order that is not held', `mutation { orderRelease(orderId: "${id}", reason: "x") { id } }`],
    ['orderMarkFailed of a completed order', `mutation { orderMarkFailed(orderId: "${id}", reason: "x") { id } }`],
    ['actionApprove of nothing', `mutation { actionApprove(id: "${nowhere}", reason: "x") { id } }`],
    [
      'partnerChange wrong',
      `mutation { partnerChange(id: "${gateway.partnerId}", changes: { pricing: { float: "2" } }, reason: "x") { id } }`,
    ],
    [
      'currencyTerms of no coin',
      'mutation { currencyTerms(coin: "NOPE", network: "BTC", terms: {}, reason: "x") { id } }',
    ],
    [
      'webhookCreate of a private address',
      `mutation { webhookCreate(partnerId: "${gateway.partnerId}", endpoint: { url: "https://10.0.0.1/" }, reason: "x") { secret } }`,
    ],
    [
      'partners too costly',
      '{ partners { keys { keyId label scopes } members { id name role } usage { created completed } } }',
    ],
    ['me misspelt', '{ me { idd } }'],
    ['me of broken text', '{ me {'],
    [
      'staffRole of the member who asks',
      `mutation { staffRole(id: "${staff.admin.id}", role: VIEWER, reason: "x") { enrolmentCode } }`,
    ],
  ];
  for (const [title, text, by] of refused) await staff.ask(title, text, by ?? staff.admin);
}

/**
 * Both subscriptions. Nothing says when one has begun to listen, so that orders are made until it
 * does. This comes last: how many orders that takes depends on the machine.
 */
export async function recordSubscriptions(staff: StaffRecorder, world: World): Promise<void> {
  const { gateway } = world;
  const held = async (): Promise<string> => {
    const { id } = await gateway.order();
    await staff.other.data(`mutation { orderHold(orderId: "${id}", reason: "odd") { id } }`);
    return id;
  };
  await subscribed(staff, world, 'orderChanged', async () => (await gateway.order()).id);
  await subscribed(staff, world, 'attentionChanged', held);
}

interface Message {
  readonly type: string;
  readonly payload?: { readonly data?: Readonly<Record<string, unknown>> };
}

/** Records the message about one more order, once a subscription listens. */
async function subscribed(
  staff: StaffRecorder,
  world: World,
  field: string,
  happen: () => Promise<string>,
): Promise<void> {
  const socket = await openSocket(world.gateway.app.internalUrl, staff.admin.token);
  const messages: string[] = [];
  let heard: () => void = () => {};
  socket.on('message', (data) => {
    messages.push(String(data));
    heard();
  });
  const query = `subscription { ${field}${staff.selection(field)} }`;
  socket.send(JSON.stringify({ id: '1', type: 'subscribe', payload: { query } }));
  const nextMessage = (ms: number): Promise<void> =>
    new Promise((resolve) => {
      heard = resolve;
      setTimeout(resolve, ms);
    });
  while (messages.length === 0) {
    await happen();
    if (messages.length === 0) await nextMessage(300);
  }
  await world.second();
  const id = await happen();
  for (const deadline = Date.now() + 150_000; Date.now() < deadline; ) {
    const found = messages.find((text) => text.includes(id));
    if (found) {
      const { type } = JSON.parse(found) as Message;
      if (type !== 'next') throw new Error(found);
      staff.message(field, 'of one order', found);
      socket.terminate();
      return;
    }
    await nextMessage(300);
  }
  throw new Error(`${field} sent nothing about ${id}: ${messages.slice(0, 3).join(' ')}`);
}
