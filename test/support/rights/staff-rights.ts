import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { buildSchema, type GraphQLField, isObjectType } from 'graphql';
import { createClient } from 'graphql-ws';
import { WebSocket } from 'ws';
import { rootFields, selectionOf } from '../http/schema-walk.ts';
import { type Member, newMember, proposeChange } from '../staff/staff-client.ts';
import { staffMutations } from '../staff/staff-mutations.ts';
import { socketUrl, upgradeStatus } from '../staff/staff-socket.ts';
import { type StaffStates, staffStates } from '../staff/staff-states.ts';
import { cellOf, isAllowed, send } from './rights-answer.ts';
import type { Cell } from './rights-record.ts';
import { baseOf, type Surface } from './rights-surface.ts';
import { memberCookie, type RightsWorld, type StaffRole, staffRoles } from './rights-world.ts';

const schema = buildSchema(readFileSync('schema/schema.graphql', 'utf8'));
const roots = rootFields(schema);

/** Fields below the roots that need a permission, which their description names. */
const nested = Object.values(schema.getTypeMap()).flatMap((type) => {
  if (!isObjectType(type) || roots.some((root) => root.type === type)) return [];
  return Object.values(type.getFields())
    .filter(({ description }) => /\bNeeds `/.test(description ?? ''))
    .map((field) => ({ name: `field ${type.name}.${field.name}`, typeName: type.name, field }));
});

/** What asks an operation, made so that an admin may do it. */
interface Made {
  readonly states: StaffStates;
  /** The member who will ask, or an admin in place of one who may not. */
  readonly actor: Member;
  readonly world: RightsWorld;
}

const range = '(from: "2026-01-01T00:00:00Z", to: "2026-01-03T00:00:00Z")';

/** Arguments of queries that need more than an example of each type. */
const queries: Readonly<Record<string, (made: Made) => Promise<string>>> = {
  order: async ({ world }) => `order(id: "${world.completed.id}") { __typename }`,
  partner: async ({ world }) => `partner(id: "${world.main.id}") { __typename }`,
  partnerCommission: async ({ world }) => `partnerCommission(partnerId: "${world.main.id}") { __typename }`,
  webhookEndpoints: async ({ world }) => `webhookEndpoints(partnerId: "${world.main.id}") { __typename }`,
  quote: async () =>
    'quote(input: { coinFrom: "BTC", networkFrom: "BTC", coinTo: "ETH", networkTo: "ETH" }) { __typename }',
  chainHistory: async () => `chainHistory${range} { __typename }`,
  stats: async () => `stats${range} { __typename }`,
  venueHistory: async () => `venueHistory${range} { __typename }`,
  walletHistory: async () => `walletHistory${range} { __typename }`,
};

/** Where an object of a type is found that a field below a root belongs to. */
const ways: Readonly<Record<string, (made: Made) => Promise<string>>> = {
  Order: async ({ world }) => `order(id: "${world.completed.id}")`,
  Partner: async ({ world }) => `partner(id: "${world.main.id}")`,
  AttentionItem: async ({ states }) => {
    await states.heldOrder();
    return 'attention(limit: 1)';
  },
  WebhookEndpoint: async ({ states }) => {
    const partnerId = await states.partnerId();
    await states.webhookId(partnerId);
    return `webhookEndpoints(partnerId: "${partnerId}")`;
  },
};

/** Mutations that need another right, or of objects that another member owns or decided about. */
const variants: Readonly<Record<string, (made: Made) => Promise<string>>> = {
  'mutation actionApprove (the own proposal)': async ({ states, actor }) => {
    const { id } = await states.heldOrder();
    const { made } = await actor.data(`mutation { made: orderRelease(orderId: "${id}", reason: "x") { id } }`);
    return `(id: "${made.id}", reason: "x")`;
  },
  'mutation attentionRelease (of another member)': async ({ states, world }) => {
    const itemId = `held_order:${(await states.heldOrder()).id}`;
    await world.otherAdmin.data(`mutation { attentionTake(itemId: "${itemId}") { id } }`);
    return `(itemId: "${itemId}")`;
  },
  'mutation orderViewRemove (of another member)': async ({ world }) => {
    const save = 'mutation { made: orderViewSave(name: "gone", query: "held=1") { id } }';
    return `(id: "${(await world.otherAdmin.data(save)).made.id}")`;
  },
  'mutation partnerChange (of fees)': async ({ states }) =>
    `(id: "${await states.partnerId()}", changes: { pricing: { float: "0.2" } }, reason: "x")`,
  'mutation partnerChange (of limits)': async ({ states }) =>
    `(id: "${await states.partnerId()}", changes: { limits: { requests: 7 } }, reason: "x")`,
  'mutation sessionEnd (of another member)': async ({ world }) => {
    const other = await newMember(world.gateway, 'viewer');
    const form = { method: 'POST', url: `${world.internalUrl}/sign-in`, body: { token: other.token } };
    await send({ ...form, headers: { Origin: world.internalUrl } });
    return `(id: "${(await other.data('{ sessions { id } }')).sessions[0].id}", reason: "x")`;
  },
  'mutation staffChangeApprove (the own proposal)': async ({ world, actor }) => {
    const { id } = await newMember(world.gateway, 'viewer');
    const { data } = await proposeChange(actor, `staffRole(id: "${id}", role: SUPPORT, reason: "x")`);
    return `(id: "${data.outcome.change.id}", reason: "x")`;
  },
};

/** Mutations whose object belongs to the member who sends them. */
const personal = /orderViewRemove|sessionEnd|attentionRelease|the own proposal/;
/** The role from which on a member can make such an object. */
const makers: Readonly<Record<string, StaffRole>> = {
  'mutation attentionRelease': 'support',
  'mutation actionApprove (the own proposal)': 'operator',
  'mutation staffChangeApprove (the own proposal)': 'admin',
};
/** Ends what there is only one of at a time, before a mutation makes it again. */
const putBack: Readonly<Record<string, (world: RightsWorld) => Promise<unknown>>> = {
  orderMarkFailed: closeHolds,
  payoutResume: closeHolds,
  payoutStop: closeHolds,
  // Of an override that is not there, a refusal is as good.
  priceOverride: ({ otherAdmin }) =>
    otherAdmin.ask('mutation { priceOverrideEnd(coinFrom: "LTC", coinTo: "BTC", reason: "x") { price } }'),
  priceOverrideEnd: ({ otherAdmin }) =>
    otherAdmin.ask('mutation { priceOverrideEnd(coinFrom: "DASH", coinTo: "BTC", reason: "x") { price } }'),
};

function closeHolds({ gateway, staff, otherAdmin }: RightsWorld): Promise<unknown> {
  return gateway.query(
    'update payout_hold set closed_at = opened_at, proposed_by = $1, closed_by = $2 where closed_at is null',
    [staff.admin.id, otherAdmin.id],
  );
}

interface Caller {
  readonly name: string;
  readonly headers: Readonly<Record<string, string>>;
  /** A member whose token or session it is, if it holds. */
  readonly member?: Member;
}

const callers = {
  none: 'no credentials',
  key: 'partner key',
  keyHeader: 'partner key, by X-API-Key',
  memberCookie: 'cookie of a member',
  unknown: 'unknown token',
  revoked: 'revoked token',
  replaced: 'replaced token',
  expired: 'expired session',
  ended: 'ended session',
  wrongHeader: 'token of an admin, by X-API-Key',
  foreign: 'session of an admin, from another origin',
  missing: 'session of an admin, without an origin',
  site: 'session of an admin, from another site',
  session: 'session of an admin',
} as const;

/** Those who come first may do nothing, so that what is prepared for one serves the next. */
async function callersOf(world: RightsWorld): Promise<Caller[]> {
  const { gateway, internalUrl, main, staff, adminCookie, expired, otherAdmin } = world;
  const bearer = (token: string) => ({ Authorization: `Bearer ${token}` });
  const own = { Origin: internalUrl };
  const cookie = { Cookie: adminCookie };
  const [revoked, replaced, gone] = [
    await newMember(gateway, 'admin'),
    await newMember(gateway, 'admin'),
    await newMember(gateway, 'admin'),
  ];
  const signedIn = await world.signedIn(gone);
  await send({ method: 'POST', url: `${internalUrl}/sign-out`, headers: { ...own, Cookie: signedIn }, body: {} });
  for (const change of [
    `staffRevoke(id: "${revoked.id}", reason: "x")`,
    `staffToken(id: "${replaced.id}", reason: "x")`,
  ]) {
    const { errors, text } = await proposeChange(otherAdmin, change);
    if (errors.length > 0) throw new Error(text);
  }
  const [id] = staff.admin.token.split('.');
  const [, secret] = otherAdmin.token.split('.');
  return [
    { name: callers.none, headers: {} },
    { name: callers.key, headers: bearer(main.key) },
    { name: callers.keyHeader, headers: { 'X-API-Key': main.key } },
    { name: callers.memberCookie, headers: { Cookie: memberCookie(main.owner), ...own } },
    { name: callers.unknown, headers: bearer(`${id}.${secret}`) },
    { name: callers.revoked, headers: bearer(revoked.token) },
    { name: callers.replaced, headers: bearer(replaced.token) },
    { name: callers.expired, headers: { Cookie: expired.staffCookie, ...own } },
    { name: callers.ended, headers: { Cookie: signedIn, ...own } },
    { name: callers.wrongHeader, headers: { 'X-API-Key': staff.admin.token } },
    { name: callers.foreign, headers: { ...cookie, Origin: 'https://evil.example' } },
    { name: callers.missing, headers: cookie },
    { name: callers.site, headers: { ...cookie, ...own, 'Sec-Fetch-Site': 'cross-site' } },
    ...staffRoles.map((role) => ({ name: role, headers: bearer(staff[role].token), member: staff[role] })),
    { name: callers.session, headers: { ...cookie, ...own }, member: staff.admin },
  ];
}

/** The text of an operation, with all that it needs. */
async function textOf(operation: string, made: Made): Promise<string> {
  const [kind = '', name = ''] = baseOf(operation).split(' ');
  const below = nested.find((one) => one.name === operation);
  if (below) return `{ ${await ways[below.typeName]?.(made)} { ${selectionOf(below.field)} } }`;
  const root = roots.find((one) => one.operation === kind && one.field.name === name);
  if (!root) throw new Error(`the schema has no ${operation}`);
  if (kind === 'mutation') {
    const { world, actor, states } = made;
    const given = variants[operation] ?? staffMutations({ ...world, actor, other: world.otherAdmin, states })[name];
    if (!given) throw new Error(`there is no call of ${operation} in staff-mutations.ts`);
    await putBack[name]?.(world);
    return `mutation { ${name}${await given(made)}${belowOf(root.field)} }`;
  }
  return `${kind} { ${(await queries[name]?.(made)) ?? selectionOf(root.field)} }`;
}

const belowOf = (field: GraphQLField<unknown, unknown>): string =>
  selectionOf(field).endsWith('}') ? ' { __typename }' : '';

async function open(world: RightsWorld): Promise<(operation: string) => Promise<Cell[]>> {
  const all = await callersOf(world);
  const states = staffStates(world.gateway, world.otherAdmin);
  return async (operation) => {
    const cells: Cell[] = [];
    const [kind] = operation.split(' ');
    let prepared: { readonly text: string; readonly actor: Member } | null = null;
    const isPersonal = personal.test(operation);
    for (const { name, headers, member } of all) {
      const lowest = staffRoles.indexOf(makers[operation] ?? 'viewer');
      const isMaker = member && staffRoles.findIndex((role) => world.staff[role] === member) >= lowest;
      const actor = isPersonal && isMaker ? member : world.staff.admin;
      const text: string =
        prepared?.actor === actor ? prepared.text : await textOf(operation, { states, actor, world });
      prepared = { text, actor };
      const got =
        kind === 'subscription' ? await heard(world, states, text, headers) : await answered(world, text, headers);
      cells.push({ operation, caller: name, got });
      if (kind === 'mutation' && isAllowed(got)) prepared = null;
    }
    return cells;
  };
}

async function answered({ internalUrl }: RightsWorld, query: string, headers: Caller['headers']): Promise<string> {
  return cellOf(await send({ method: 'POST', url: `${internalUrl}/graphql`, headers, body: { query } }));
}

/** What comes of a subscription: the status of a refused connection, a refusal, or an event. */
async function heard(
  world: RightsWorld,
  states: StaffStates,
  query: string,
  headers: Caller['headers'],
): Promise<string> {
  const url = socketUrl(world.internalUrl);
  const status = await upgradeStatus(url, headers);
  if (status !== 101) return String(status);
  class Socket extends WebSocket {
    constructor(address: string, protocols: string) {
      super(address, protocols, { headers });
    }
  }
  const client = createClient({ url, webSocketImpl: Socket, retryAttempts: 0 });
  try {
    const state = { got: '' };
    const first = client
      .iterate({ query })
      .next()
      .then(
        ({ value }) => {
          state.got = value?.errors ? `200 ${kindOf(value.errors)}` : '200';
        },
        (errors: unknown) => {
          state.got = `200 ${kindOf(errors)}`;
        },
      );
    // Nothing says when a subscription has begun to listen, so events are made until one comes.
    while (state.got === '') {
      await states.heldOrder();
      await Promise.race([first, sleep(200)]);
    }
    return state.got;
  } finally {
    await client.dispose();
  }
}

function kindOf(errors: unknown): string {
  const [error] = Array.isArray(errors) ? (errors as { extensions?: { kind?: string; code?: string } }[]) : [];
  return error?.extensions?.kind ?? error?.extensions?.code ?? 'failed';
}

const isOpen = ({ got }: Cell): boolean => isAllowed(got);
const isVariant = ({ operation }: Cell): boolean => operation in variants;
/** Mutations of what only the own member has. */
const ownMutations = ['orderViewRemove', 'orderViewSave', 'sessionEnd'];
/** All that support may change. */
const supportMutations = [
  ...ownMutations,
  'attentionRelease',
  'attentionTake',
  'orderHold',
  'orderNote',
  'orderPageRenew',
  'orderPageRevoke',
];
/** Prices, limits, terms and staff. */
const adminMutations = [
  'currencyTerms',
  'partnerChange (of fees)',
  'partnerChange (of limits)',
  'priceOverride',
  'priceOverrideEnd',
  'staffChangeApprove',
  'staffChangeReject',
  'staffInvite',
  'staffRevoke',
  'staffRole',
  'staffToken',
];
const isMutation = ({ operation }: Cell): boolean => operation.startsWith('mutation ');
const isOneOf = (names: readonly string[], { operation }: Cell): boolean =>
  [operation, baseOf(operation)].some((name) => names.includes(name.slice('mutation '.length)));

/** The fields of schema/schema.graphql. */
export const staffRights: Surface = {
  name: 'staff',
  operations: [
    ...roots.map(({ operation, field }) => `${operation} ${field.name}`),
    ...nested.map(({ name }) => name),
    ...Object.keys(variants),
  ],
  strangers: [...Object.keys(queries).map((name) => `query ${name}`), ...Object.keys(variants).map(baseOf)].filter(
    (name) => !roots.some(({ operation, field }) => `${operation} ${field.name}` === name),
  ),
  open,
  invariants: {
    'only a token or session that holds does anything': (table) =>
      table
        .of(
          callers.none,
          callers.key,
          callers.keyHeader,
          callers.memberCookie,
          callers.unknown,
          callers.revoked,
          callers.replaced,
          callers.expired,
          callers.ended,
          callers.wrongHeader,
        )
        .filter(isOpen),
    'a session does nothing for a page of another site': (table) =>
      table.of(callers.foreign, callers.missing, callers.site).filter(isOpen),
    'an admin does every operation': (table) =>
      table.of('admin', callers.session).filter((cell) => !isVariant(cell) && !isOpen(cell)),
    'a viewer changes nothing but own sessions and views': (table) =>
      table.of('viewer').filter((cell) => isMutation(cell) && isOpen(cell) && !isOneOf(ownMutations, cell)),
    'support changes nothing but holds, notes, pages and attention': (table) =>
      table.of('support').filter((cell) => isMutation(cell) && isOpen(cell) && !isOneOf(supportMutations, cell)),
    'an operator changes no prices, limits, terms or staff': (table) =>
      table.of('operator').filter((cell) => isOpen(cell) && isOneOf(adminMutations, cell)),
    'a role does what the roles below it do': (table) =>
      staffRoles.slice(1).flatMap((role, index) =>
        table.of(role).filter((cell) => {
          const below = table.got(cell.operation, staffRoles[index] ?? '');
          return !isOpen(cell) && below !== undefined && isAllowed(below);
        }),
      ),
    'a session has the rights of its member': (table) => table.unlike(callers.session, 'admin'),
    'what is of another member, or the own proposal, is refused without the permission for it': (table) =>
      table.of('viewer', 'support').filter((cell) => isVariant(cell) && isOpen(cell)),
  },
};
