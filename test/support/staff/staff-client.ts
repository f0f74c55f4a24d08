import type { StaffRole } from '../../../src/accounts/staff/staff-member.entity.ts';
import type { TestGateway } from '../gateway/gateway.ts';

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

/** Asks the staff API with the token; rejects when there is no answer in time. */
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

/** A member of staff, with a client of the staff API. */
export interface Member {
  readonly id: string;
  readonly email: string;
  readonly token: string;
  readonly ask: StaffClient;
  readonly data: (query: string, variables?: Record<string, unknown>) => Promise<Json>;
}

/** How many members each database has got, so that addresses do not depend on other tests. */
const members = new Map<string, number>();

/** A new member of a role, with a client. */
export async function newMember(gateway: TestGateway, role: StaffRole): Promise<Member> {
  const number = (members.get(gateway.databaseUrl) ?? 0) + 1;
  members.set(gateway.databaseUrl, number);
  const email = `${role}${number}@example.com`;
  const { member, token } = await gateway.staff.create(email, role);
  return memberWith(gateway, member.id, email, token);
}

function memberWith(gateway: TestGateway, id: string, email: string, token: string): Member {
  const ask = staffClient(gateway.app.internalUrl, token);
  return {
    id,
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

/** Proposes a change of staff, as `staffRole(id: "...", role: VIEWER, reason: "x")`. */
export function proposeChange(by: Member, mutation: string): Promise<StaffReply> {
  return by.ask(
    `mutation { outcome: ${mutation} {
       enrolmentCode change { id state alone } member { id email role hasToken revokedAt suspendedAt approvesFrom }
     } }`,
  );
}

/** A change of staff that one admin proposes and another approves; what came of it. */
export async function changeStaff(by: Member, approver: Member, mutation: string): Promise<Json> {
  const proposed = await proposeChange(by, mutation);
  if (proposed.errors.length > 0) throw new Error(proposed.text);
  const approved = await proposeChange(
    approver,
    `staffChangeApprove(id: "${proposed.data.outcome.change.id}", reason: "x")`,
  );
  if (approved.errors.length > 0) throw new Error(approved.text);
  return approved.data.outcome;
}

/** Uses an enrolment code as the invited member does. Null when it is refused. */
export async function enrol(gateway: TestGateway, code: string): Promise<Member | null> {
  const url = gateway.app.internalUrl;
  const reply = await fetch(`${url}/sign-in`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Origin: url },
    body: JSON.stringify({ token: code }),
  });
  if (reply.status !== 200) return null;
  const { email, token } = (await reply.json()) as { email: string; token: string };
  const member = memberWith(gateway, '', email, token);
  return { ...member, id: (await member.data('{ me { id } }')).me.id };
}
