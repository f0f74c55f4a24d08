import type { StaffRole } from '../../src/staff/staff-member.entity.ts';
import type { TestGateway } from './gateway.ts';

// biome-ignore lint/suspicious/noExplicitAny: replies are looked at member by member
type Json = any;

/** What the staff API answered. */
export interface StaffReply {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly data: Json;
  readonly errors: {
    message: string;
    path?: string[];
    extensions: { code: string; kind?: string; request_id: string };
  }[];
  readonly extensions: Json;
}

export type StaffClient = (query: string, variables?: Record<string, unknown>) => Promise<StaffReply>;

/** Asks the staff API as whoever has the token; rejects when there is no answer in time. */
export function staffClient(internalUrl: string, token: string | null, timeoutMs?: number): StaffClient {
  return async (query, variables = {}) => {
    const reply = await fetch(`${internalUrl}/graphql`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...(token === null ? {} : { Authorization: `Bearer ${token}` }) },
      body: JSON.stringify({ query, variables }),
      ...(timeoutMs === undefined ? {} : { signal: AbortSignal.timeout(timeoutMs) }),
    });
    const text = await reply.text();
    const { data = null, errors = [], extensions } = JSON.parse(text);
    return { status: reply.status, headers: reply.headers, text, data, errors, extensions };
  };
}

/** What went wrong, by the kind that it is refused with. */
export function kinds({ errors }: Pick<StaffReply, 'errors'>): (string | undefined)[] {
  return errors.map(({ extensions }) => extensions.kind ?? extensions.code);
}

/** Somebody of the staff, who asks. */
export interface Member {
  readonly id: string;
  readonly email: string;
  readonly token: string;
  readonly ask: StaffClient;
  readonly data: (query: string, variables?: Record<string, unknown>) => Promise<Json>;
}

let members = 0;

/** A new member of a role, with a client. */
export async function newMember(gateway: TestGateway, role: StaffRole): Promise<Member> {
  const email = `${role}${++members}@example.com`;
  const { member, token } = await gateway.staff.create(email, role);
  const ask = staffClient(gateway.app.internalUrl, token);
  return {
    id: member.id,
    email,
    token,
    ask,
    data: async (query, variables) => {
      const reply = await ask(query, variables);
      if (reply.errors.length > 0) throw new Error(reply.text);
      return reply.data;
    },
  };
}
