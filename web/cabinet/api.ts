import type {
  components as partnerComponents,
  operations as partnerOperations,
} from '../../client/src/generated/contract.ts';
import { isActive } from '../ui/activity.ts';
import { GatewayError, queryClient } from '../ui/failure.ts';
import { type components, type operations, places } from './generated/contract.ts';
import { noteAnswer } from './line.ts';

export type Schemas = components['schemas'];
export type Me = Schemas['Me'];

/** Schemas of the partner contract. Amounts are strings. */
export type PartnerSchemas = partnerComponents['schemas'];

/** The operations of both contracts. The partner contract's are below /partner. */
type Operations = operations & Omit<partnerOperations, keyof operations>;

/** The name of an operation of the cabinet's API. */
export type Operation = keyof Operations & keyof typeof places;

type JsonOf<Part> = Part extends { content: { 'application/json': infer Body } } ? Body : undefined;
type Answers<Name extends Operation> = Operations[Name]['responses'];

/** What an operation answers; undefined for one that answers nothing. */
export type Answer<Name extends Operation> = {
  [Status in keyof Answers<Name>]: Status extends 200 | 201
    ? JsonOf<Answers<Name>[Status]>
    : Status extends 204
      ? undefined
      : never;
}[keyof Answers<Name>];

type BodyOf<Name extends Operation> = Operations[Name] extends { requestBody: infer Body } ? JsonOf<Body> : undefined;
type PathOf<Name extends Operation> = Operations[Name]['parameters'] extends { path: infer Path } ? Path : undefined;
type QueryOf<Name extends Operation> = NonNullable<Operations[Name]['parameters']['query']>;

/** What a request carries. */
export type Asked<Name extends Operation> = {
  readonly query?: QueryOf<Name>;
  readonly signal?: AbortSignal;
  /** Keeps the request from extending the session. */
  readonly isBackground?: boolean;
  /** Makes a repetition of the request count once. */
  readonly idempotencyKey?: string;
} & (BodyOf<Name> extends undefined ? unknown : { readonly body: BodyOf<Name> }) &
  (PathOf<Name> extends undefined ? unknown : { readonly path: PathOf<Name> });

/** What any request carries. */
interface Sent {
  readonly body?: unknown;
  readonly path?: Record<string, string>;
  readonly query?: object;
  readonly signal?: AbortSignal;
  readonly isBackground?: boolean;
  readonly idempotencyKey?: string;
}

interface Refusal {
  readonly detail?: string;
  readonly code?: string;
  readonly request_id?: string;
  readonly errors?: readonly { readonly field: string; readonly detail: string }[];
}

const statusKinds: Readonly<Record<number, string>> = {
  401: 'unauthorized',
  404: 'not_found',
  429: 'rate_limited',
  502: 'unavailable',
  503: 'unavailable',
  504: 'unavailable',
};

/** Where the operations of the cabinet's API are. */
const base = '/cabinet/api';

function placeOf(name: Operation): [method: string, path: string] {
  const [method = '', path = ''] = places[name].split(' ');
  return [method, path];
}

/** The address of an operation. Path parameters are in braces. */
export function addressOf(name: Operation, path: Readonly<Record<string, string>> = {}, query: object = {}): string {
  const place = placeOf(name)[1].replace(/\{(\w+)\}/g, (_found, part: string) => encodeURIComponent(path[part] ?? ''));
  const given = Object.entries(query)
    .filter(([, value]) => value !== undefined && value !== '')
    .map(([part, value]) => [part, String(value)]);
  return `${base}${place}${given.length === 0 ? '' : `?${new URLSearchParams(given)}`}`;
}

const unanswered = (): GatewayError => new GatewayError('offline', 'the gateway does not answer; it may be restarting');

async function once<Name extends Operation>(
  name: Name,
  asked: Asked<Name>,
  confirmation: string | null = null,
): Promise<Answer<Name>> {
  const [method] = placeOf(name);
  const { body, path, query, signal, isBackground, idempotencyKey } = asked as Sent;
  const response = await fetch(addressOf(name, path, query), {
    method,
    headers: {
      // The partner contract's amounts are numbers otherwise.
      Amounts: 'string',
      ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
      ...(isBackground || !isActive() ? { 'X-Background': '1' } : {}),
      ...(idempotencyKey === undefined ? {} : { 'Idempotency-Key': idempotencyKey }),
      ...(confirmation === null ? {} : { 'X-Confirmation': confirmation }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    ...(signal ? { signal } : {}),
  }).catch((error: unknown) => {
    if (signal?.aborted) throw error;
    throw unanswered();
  });
  if (response.status === 204) return undefined as Answer<Name>;
  const answer: unknown = await response.json().catch((error: unknown) => {
    if (signal?.aborted) throw error;
    // The connection was lost within the answer, or the answer is another server's.
    if (response.ok) throw unanswered();
    return {};
  });
  if (response.ok) return answer as Answer<Name>;
  const { detail, code, request_id, errors } = answer as Refusal;
  const wait = Number(response.headers.get('Retry-After') ?? Number.NaN);
  throw new GatewayError(
    statusKinds[response.status] ?? code ?? 'failed',
    detail ?? `the gateway answered ${response.status}`,
    {
      requestId: request_id ?? response.headers.get('X-Request-Id'),
      retryAfterSec: Number.isFinite(wait) ? wait : null,
      faults: errors ?? [],
    },
  );
}

/**
 * Asks the cabinet's API. When the operation needs the passkey again, asks for it and repeats. What
 * is wrong with the request itself is told before that.
 *
 * @throws GatewayError
 * @throws PasskeyError
 */
export async function call<Name extends Operation>(name: Name, asked: Asked<Name>): Promise<Answer<Name>> {
  try {
    const answer = await once(name, asked).catch(async (error: unknown) => {
      if (!(error instanceof GatewayError && error.kind === 'passkey_required')) throw error;
      return once(name, asked, await confirmationOf(name as Schemas['ConfirmedOperation'], asked));
    });
    noteAnswer(null);
    return answer;
  } catch (error) {
    // A refused sign-in says nothing of a session.
    if (!signIns.has(name)) noteAnswer(error);
    if (error instanceof GatewayError && lostRights.has(error.kind)) {
      void queries.invalidateQueries({ queryKey: sessionKey });
    }
    throw error;
  }
}

const signIns: ReadonlySet<Operation> = new Set(['beginSignIn', 'signIn', 'openInvitation', 'acceptInvitation']);

/** What the query of who is signed in is stored under. */
export const sessionKey = ['me'] as const;

/** Refusals by which a page learns that the person, or the partner, may do less than before. */
const lostRights: ReadonlySet<string> = new Set(['insufficient_role', 'partner_inactive']);

/** Shows the passkey to the server. The confirmation holds for this very request. */
async function confirmationOf(operation: Schemas['ConfirmedOperation'], asked: object): Promise<string> {
  const { body, path, query } = asked as Sent;
  const { askPasskey, requestDigest } = await import('./webauthn.ts');
  const address = addressOf(operation, path, query);
  const digest = await requestDigest(placeOf(operation)[0], address, body === undefined ? '' : JSON.stringify(body));
  const { options } = await once('beginConfirmation', { body: { operation, request_digest: digest } });
  const credential = await askPasskey(options);
  return (await once('confirm', { body: { credential } })).confirmation;
}

export const queries = queryClient(() => undefined);

/** The options of a query for useQuery. What it asks for makes its key. */
export function query<Name extends Operation>(name: Name, asked: Omit<Asked<Name>, 'signal' | 'isBackground'>) {
  return {
    queryKey: [name, asked] as const,
    queryFn: ({ signal }: { signal: AbortSignal }) => call(name, { ...asked, signal } as Asked<Name>),
  };
}
