import { createHash } from 'node:crypto';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import type { MemberOperation } from '../../../src/accounts/members/rights.ts';
import { membersContract, readCabinetContract } from '../../../src/surfaces/rest/cabinet/contract.ts';
import { SoftAuthenticator } from './soft-authenticator.ts';

export const cabinetOrigin = 'http://localhost:18080';
export const cabinetSettings = { CABINET_URL: cabinetOrigin, RATE_LIMIT_CABINET_PER_MIN: '100000' } as const;

export interface CabinetReply {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: answers of many shapes
  readonly json: any;
}

export interface CabinetCall {
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

// biome-ignore lint/suspicious/noExplicitAny: the contracts as they were read
const contracts: Readonly<Record<string, any>> = { cabinet: readCabinetContract(), partner: membersContract() };

/** The paths of both contracts that members use. */
export const memberPaths = Object.values(contracts).flatMap(({ paths }) =>
  Object.entries<Record<string, { operationId: MemberOperation; requestBody?: unknown }>>(paths),
);

const ajv = new Ajv2020({ strict: false, allErrors: true });
addFormats.default(ajv);
for (const [name, contract] of Object.entries(contracts)) ajv.addSchema(contract, name);

/** A browser at the cabinet: its cookie and its passkey. Each answer must fit the contract. */
export class CabinetClient {
  readonly #url: string;
  passkey = new SoftAuthenticator(cabinetOrigin);
  cookie: string | null = null;

  /** @param url of the public listener. */
  constructor(url: string) {
    this.#url = url;
  }

  /** Another browser that has the same cookie. */
  copy(): CabinetClient {
    const other = new CabinetClient(this.#url);
    other.cookie = this.cookie;
    other.passkey = this.passkey;
    return other;
  }

  async call(method: string, path: string, { body, headers = {} }: CabinetCall = {}): Promise<CabinetReply> {
    const response = await fetch(`${this.#url}/cabinet/api${path}`, {
      method,
      headers: {
        ...(method === 'GET' ? {} : { Origin: cabinetOrigin }),
        ...(this.cookie === null ? {} : { Cookie: `__Host-partner=${this.cookie}` }),
        ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    const isJson = response.headers.get('content-type')?.startsWith('application/json') ?? false;
    const json = isJson ? JSON.parse(text) : undefined;
    // The contract describes amounts as numbers.
    if (headers.Amounts === undefined) checkAnswer(method, path, response, json);
    const set = /^__Host-partner=([\w-]*);/.exec(response.headers.get('set-cookie') ?? '');
    if (set) this.cookie = set[1] || null;
    return { status: response.status, headers: response.headers, text, json };
  }

  /** @throws Error unless the answer is a success. */
  async done(method: string, path: string, call: CabinetCall = {}): Promise<CabinetReply['json']> {
    const { status, text, json } = await this.call(method, path, call);
    if (status >= 300) throw new Error(`${method} ${path}: ${status} ${text}`);
    return json;
  }

  /** Accepts an invitation with this browser's passkey. */
  async accept(link: string): Promise<CabinetReply> {
    const token = tokenOf(link);
    const { options } = await this.done('POST', '/invitations/open', { body: { token } });
    const credential = this.passkey.register(options);
    return this.call('POST', '/invitations/accept', { body: { token, credential } });
  }

  async signIn(): Promise<CabinetReply> {
    const { options } = await this.done('POST', '/sign-in/options');
    return this.call('POST', '/sign-in', { body: { credential: this.passkey.use(options) } });
  }

  /** The header of a request that the passkey confirmed. */
  async confirmed(
    operation: MemberOperation,
    method: string,
    path: string,
    body?: unknown,
  ): Promise<{ 'X-Confirmation': string }> {
    const begun = { body: { operation, request_digest: requestDigest(method, path, body) } };
    const { options } = await this.done('POST', '/confirmations/options', begun);
    const answer = { body: { credential: this.passkey.use(options) } };
    const { confirmation } = await this.done('POST', '/confirmations', answer);
    return { 'X-Confirmation': confirmation };
  }

  /** Sends a request that the passkey confirms first. */
  async sure(operation: MemberOperation, method: string, path: string, body?: unknown): Promise<CabinetReply> {
    const headers = await this.confirmed(operation, method, path, body);
    return this.call(method, path, { headers, ...(body === undefined ? {} : { body }) });
  }
}

/** The digest of a request, which the passkey confirms. */
export function requestDigest(method: string, path: string, body?: unknown): string {
  const sent = body === undefined ? '' : typeof body === 'string' ? body : JSON.stringify(body);
  return createHash('sha256').update(`${method} /cabinet/api${path}\n${sent}`).digest('base64url');
}

/** Makes the member of an accepted invitation one whom staff did not invite in the last days. */
export async function forgetLink(
  query: (sql: string, values: unknown[]) => Promise<unknown>,
  { json }: Pick<CabinetReply, 'json'>,
): Promise<void> {
  await query('update partner_member set linked_by_staff_at = null where id = $1', [json.member.id]);
}

export const tokenOf = (link: string): string => link.split('#')[1] ?? '';

function checkAnswer(method: string, path: string, { status, headers }: Response, json: unknown): void {
  const name = path.startsWith('/partner/') ? 'partner' : 'cabinet';
  const contract = contracts[name];
  const found = Object.entries(contract.paths).find(([template]) =>
    new RegExp(`^${template.replace(/\{\w+\}/g, '[^/]+')}$`).test(path.split('?')[0] ?? ''),
  );
  // biome-ignore lint/suspicious/noExplicitAny: the contract as it was read
  const operation = (found?.[1] as any)?.[method.toLowerCase()]; // a path of the document
  if (!operation) return;
  const answer = operation.responses[status] ?? operation.responses.default;
  const named = answer.$ref
    ? answer.$ref
        .slice(2)
        .split('/')
        .reduce((at: never, key: string) => at[key], contract)
    : answer;
  const type = headers.get('content-type')?.split(';')[0] ?? '';
  // Text, such as a CSV, is documented by its type.
  if (type !== 'application/json' && named.content?.[type]) return;
  const schema = named.content?.['application/json']?.schema;
  if (!schema) {
    if (json !== undefined) throw new Error(`${method} ${path} ${status} has a body that is not documented`);
    return;
  }
  const validate = ajv.compile(inContract(name, schema) as object);
  if (!validate(json)) {
    throw new Error(
      `${method} ${path} ${status} does not fit: ${ajv.errorsText(validate.errors)} ${JSON.stringify(json)}`,
    );
  }
}

/** A part of a contract with its references from outside. */
export function inContract(name: string, value: unknown): unknown {
  if (Array.isArray(value)) return value.map((inner) => inContract(name, inner));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [key, key === '$ref' ? `${name}${inner}` : inContract(name, inner)]),
  );
}
