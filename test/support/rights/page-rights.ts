import { newMember } from '../staff/staff-client.ts';
import { cellOf, send } from './rights-answer.ts';
import type { Cell } from './rights-record.ts';
import type { Surface } from './rights-surface.ts';
import { memberCookie, type RightsWorld, staffRoles } from './rights-world.ts';

type Listener = 'public' | 'internal';

/** A path that no contract and no schema names. */
interface Page {
  /** The listener, the method, and the path as people know it. */
  readonly name: string;
  /** The path of a request; the one of the name unless given. */
  readonly path?: (made: Made) => string;
  readonly body?: (made: Made) => unknown;
}

/** What the requests name. */
interface Made {
  /** Paths of order pages. */
  readonly paths: Readonly<Record<'open' | 'renewed' | 'revoked' | 'off' | 'wrong' | 'style', string>>;
  readonly token: string;
}

const orderPage = (kind: keyof Made['paths']) => (made: Made) => made.paths[kind];
const foreignPaths = [
  'GET /livez',
  'GET /readyz',
  'GET /metrics',
  'POST /graphql',
  'GET /sign-in',
  'POST /sign-in',
  'GET /console',
  'GET /console/orders.csv',
  'GET /playground',
];

const pages: readonly Page[] = [
  { name: 'public GET /o/{token}', path: orderPage('open') },
  { name: 'public GET /o/{token} (renewed since)', path: orderPage('renewed') },
  { name: 'public GET /o/{token} (revoked)', path: orderPage('revoked') },
  { name: 'public GET /o/{token} (of a partner without pages)', path: orderPage('off') },
  { name: 'public GET /o/{token} (wrong token)', path: orderPage('wrong') },
  { name: 'public POST /o/{token}', path: orderPage('open') },
  { name: 'public GET /o/{file}', path: orderPage('style') },
  { name: 'public GET /' },
  { name: 'public GET /cabinet' },
  { name: 'public GET /cabinet/orders' },
  { name: 'public GET /cabinet/api/nothing' },
  { name: 'public GET /api/v1/docs' },
  { name: 'public GET /api/v1/docs/postman.json' },
  { name: 'public GET /api/v1/docs/swagger-ui-bundle.js' },
  { name: 'public GET /api/v1/llms.txt' },
  { name: 'public GET /api/v1/partner/nothing' },
  ...foreignPaths.map((name) => ({ name: `public ${name}` })),
  { name: 'internal GET /' },
  { name: 'internal GET /livez' },
  { name: 'internal GET /readyz' },
  { name: 'internal GET /metrics' },
  { name: 'internal GET /graphql' },
  { name: 'internal GET /console' },
  { name: 'internal GET /console/orders' },
  { name: 'internal GET /console/orders.csv' },
  { name: 'internal GET /playground' },
  { name: 'internal GET /playground/boot.js' },
  { name: 'internal GET /sign-in' },
  { name: 'internal GET /sign-in/page.css' },
  { name: 'internal GET /sign-in/icon.svg' },
  { name: 'internal GET /sign-in/oidc' },
  { name: 'internal GET /sign-in/oidc/callback' },
  { name: 'internal POST /sign-in (right token)', body: ({ token }) => ({ token }) },
  { name: 'internal POST /sign-in (wrong token)', body: ({ token }) => ({ token: token.toUpperCase() }) },
  { name: 'internal POST /sign-out', body: () => ({}) },
  { name: 'internal GET /nothing' },
  { name: 'internal GET /api/v1/currencies' },
  { name: 'internal GET /api/v1/partner/orders' },
  { name: 'internal GET /cabinet' },
  { name: 'internal GET /o/{token}', path: orderPage('open') },
];

const callers = {
  none: 'no credentials',
  foreign: 'no credentials, from another origin',
  key: 'partner key',
  memberCookie: 'cookie of a member',
  revoked: 'revoked token',
  expired: 'expired session',
  token: 'token of an admin',
  foreignSession: 'session of an admin, from another origin',
} as const;
const sessionOf = (role: string): string => `session of ${/^[ao]/.test(role) ? 'an' : 'a'} ${role}`;

interface Caller {
  readonly name: string;
  readonly headers: () => Promise<Readonly<Record<string, string>>>;
}

async function callersOf(world: RightsWorld): Promise<Caller[]> {
  const { gateway, main, expired, otherAdmin } = world;
  const own = { Origin: world.internalUrl };
  const elsewhere = { Origin: 'https://evil.example' };
  const always = (headers: Readonly<Record<string, string>>) => async () => headers;
  const bearer = (token: string) => ({ Authorization: `Bearer ${token}` });
  const [admin, revoked] = [await newMember(gateway, 'admin'), await newMember(gateway, 'admin')];
  await otherAdmin.data(`mutation { staffRevoke(id: "${revoked.id}", reason: "x") { change { id } } }`);
  // Signed in for each cell, as one of the requests signs out.
  const session = (member: typeof admin, origin: Readonly<Record<string, string>>) => async () => ({
    Cookie: await world.signedIn(member),
    ...origin,
  });
  const roles: Caller[] = [];
  for (const role of staffRoles) {
    roles.push({ name: sessionOf(role), headers: session(await newMember(gateway, role), own) });
  }
  return [
    { name: callers.none, headers: always(own) },
    { name: callers.foreign, headers: always(elsewhere) },
    { name: callers.key, headers: always({ ...bearer(main.key), 'X-API-Key': main.key, ...own }) },
    { name: callers.memberCookie, headers: always({ Cookie: memberCookie(main.owner), ...own }) },
    { name: callers.revoked, headers: always({ ...bearer(revoked.token), ...own }) },
    { name: callers.expired, headers: always({ Cookie: expired.staffCookie, ...own }) },
    { name: callers.token, headers: always({ ...bearer(admin.token), ...own }) },
    { name: callers.foreignSession, headers: session(admin, elsewhere) },
    ...roles,
  ];
}

/** Orders whose pages are open, or not any more. */
async function made(world: RightsWorld): Promise<Made> {
  const { gateway, main } = world;
  const [pageless, member] = [await world.account('Pageless shop'), await newMember(gateway, 'viewer')];
  const pathOf = async ({ id }: { readonly id: string }, key: string): Promise<string> => {
    const { json } = await gateway.call('GET', `/partner/orders/${id}/details`, { key });
    return new URL(json.public_url).pathname;
  };
  const paged = async (key: string) => {
    const order = await gateway.order({}, key);
    return { id: order.id, path: await pathOf(order, key) };
  };
  const [open, renewed, revoked] = [await paged(main.key), await paged(main.key), await paged(main.key)];
  const off = await paged(pageless.key);
  await gateway.call('POST', `/partner/orders/${renewed.id}/page`, { key: main.key });
  await gateway.call('DELETE', `/partner/orders/${revoked.id}/page`, { key: main.key });
  await gateway.partners.change(pageless.id, { orderPage: false });
  const { text } = await send({ method: 'GET', url: `${world.restUrl}${open.path}` });
  const style = /\/o\/page-\w+\.css/.exec(text)?.[0] ?? '';
  if (style === '') throw new Error('the page of an order names no style');
  return {
    paths: {
      open: open.path,
      renewed: renewed.path,
      revoked: revoked.path,
      off: off.path,
      wrong: `${open.path.slice(0, -4)}AAAA`,
      style,
    },
    token: member.token,
  };
}

async function open(world: RightsWorld): Promise<(operation: string) => Promise<Cell[]>> {
  const [all, known] = [await callersOf(world), await made(world)];
  const urls: Readonly<Record<Listener, string>> = { public: world.restUrl, internal: world.internalUrl };
  return async (operation) => {
    const page = pages.find(({ name }) => name === operation);
    if (!page) throw new Error(`there is no request of ${operation} in page-rights.ts`);
    const [listener = '', method = '', path = ''] = operation.split(' ');
    const cells: Cell[] = [];
    for (const { name, headers } of all) {
      const url = `${urls[listener as Listener]}${page.path?.(known) ?? path}`;
      const answer = await send({ method, url, headers: await headers(), body: page.body?.(known) });
      cells.push({ operation, caller: name, got: cellOf(answer) });
    }
    return cells;
  };
}

/** What everyone gets, without credentials. */
const openPages = [
  'internal GET /livez',
  'internal GET /metrics',
  'internal GET /readyz',
  'internal GET /sign-in',
  'internal GET /sign-in/icon.svg',
  'internal GET /sign-in/page.css',
  // The token is the credential.
  'internal POST /sign-in (right token)',
  // Ends no session, and takes the cookie from the browser.
  'internal POST /sign-out',
  'public GET /api/v1/docs',
  'public GET /api/v1/docs/postman.json',
  'public GET /api/v1/docs/swagger-ui-bundle.js',
  'public GET /api/v1/llms.txt',
  'public GET /cabinet',
  'public GET /cabinet/orders',
  'public GET /o/{file}',
  'public GET /o/{token}',
];

const isOpen = ({ got }: Cell): boolean => got.startsWith('2');
const isInternal = ({ operation }: Cell): boolean => operation.startsWith('internal ');

/** Pages and files of both listeners, and what operators read. */
export const pageRights: Surface = {
  name: 'pages',
  operations: pages.map(({ name }) => name),
  strangers: [],
  open,
  invariants: {
    'without credentials only these are served': (table) =>
      table.of(callers.none).filter((cell) => isOpen(cell) !== openPages.includes(cell.operation)),
    'the public listener serves everyone alike': (table) =>
      table.cells.filter((cell) => !isInternal(cell) && cell.got !== table.got(cell.operation, callers.none)),
    'the public listener has nothing of the internal one, nor the other way round': (table) => [
      ...table.cells.filter(
        (cell) => foreignPaths.includes(cell.operation.slice('public '.length)) && !cell.got.startsWith('404'),
      ),
      ...table.cells.filter(
        (cell) => /^internal \S+ \/(?:api|cabinet|o)\b/.test(cell.operation) && !cell.got.startsWith('404'),
      ),
    ],
    'partners and ended sessions get from the internal listener what everyone gets': (table) => [
      ...table.unlike(callers.key, callers.none),
      ...table.unlike(callers.memberCookie, callers.none),
      ...table.unlike(callers.revoked, callers.none),
      ...table.unlike(callers.expired, callers.none),
    ],
    'a page of another origin signs no one in or out, and gets no file of orders': (table) =>
      table
        .of(callers.foreign, callers.foreignSession)
        .filter((cell) => isInternal(cell) && isOpen(cell) && /POST|orders\.csv/.test(cell.operation)),
    'an order page is there for its token only': (table) =>
      table.cells.filter((cell) => cell.operation.startsWith('public GET /o/{token} (') && isOpen(cell)),
  },
};
